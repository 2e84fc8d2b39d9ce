import { mayEndKey } from './key-name.js';
import { readKey } from './key.js';
import type { Reader } from './reader.js';
import type { Secret } from './replace.js';
import { valueStop } from './characters.js';
import { endsLine } from './gaps.js';
import { isPlaceholder, isPublicIdentifier, looksRandomBase64 } from './value.js';

const minValue = 16;
const maxValue = 512;

/** Matches the beginning of a line with a label in brackets. */
const label = /(?:^|\n)[ \t]{0,40}\[[\w -]{3,48}$/;

/** Returns quickly whether a label that names a secret may end before a space. */
export const mayBeLabeled = (text: string, index: number): boolean => mayEndKey(text, index - 1);

/** Finds the random value that is behind a label, as in `[Recovery Key] …`. Called for the space. */
export const findLabeled = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  const key = mayEndKey(text, index - 1) ? readKey(reader, index - 1, index - 1) : undefined;
  if (key === undefined || !label.test(text.slice(reader.floor(index), index - 1))) return undefined;
  const start = index + 1;
  const end = reader.endOfRun(start, valueStop, maxValue, false);
  const value = text.slice(start, end);
  if (value.length < minValue || !looksRandomBase64(value) || !endsLine(reader, end)) return undefined;
  const isHidden = isPlaceholder(value) || value.includes(reader.replacement);
  return isHidden || isPublicIdentifier(value) ? undefined : { kind: 'assignment', start, end };
};
