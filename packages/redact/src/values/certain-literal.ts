import { endOfQuoted, quoteAt } from '../text/quotes.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { isPlaceholder } from './value.js';

/** Matches what passwords have and templates, paths and text do not. */
const literal = /^[\w!@#%^&*+=?~.-]{4,64}$/;
const maxLiteral = 65;

/** Finds the literal that begins here, where its context makes it a secret even if it is a word. */
export const findCertainLiteral = (reader: Reader, from: number): Secret | undefined => {
  const quote = quoteAt(reader, from);
  const end = quote === undefined ? undefined : endOfQuoted(reader, quote.end, quote.literal, maxLiteral);
  if (quote === undefined || end === undefined) return undefined;
  const value = reader.text.slice(quote.end, end);
  const isSecret = literal.test(value) && !isPlaceholder(value) && !value.includes(reader.replacement);
  return isSecret ? { kind: 'assignment', start: quote.end, end } : undefined;
};
