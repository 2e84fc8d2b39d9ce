import { is, key as keyClass } from './characters.js';
import { keyStrength, mayEndKey } from './key-name.js';
import { endOfQuoted, quoteAt } from './quotes.js';
import type { Reader } from './reader.js';
import type { Secret } from './replace.js';
import { isMixed, maxSpaces, valueOf, type Key } from './value-of-name.js';
import { isPlaceholder, looksRandom } from './value.js';

const closing = 41;
const comma = 44;
const maxName = 48;
const maxArgument = 128;
const verb = /^(?:with|set|add|use)_?(?=[A-Za-z])/i;

/** Finds the value in `setPassword("…")` and `.withApiKey("…")`. Called for the quote after the bracket. */
export const findCallArgument = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  const end = index - 1;
  if (end <= reader.barrier || !mayEndKey(text, end)) return undefined;
  let start = end;
  const floor = Math.max(reader.barrier, end - maxName);
  while (start > floor && is(text.charCodeAt(start - 1), keyClass)) start -= 1;
  const called = text.slice(start, end).replace(/^.*\./, '');
  const name = called.replace(verb, '');
  // A function that is called by the name of a secret may show, check or find one.
  if (name === called || keyStrength(name) !== 'strong') return undefined;
  const key: Key = { name, strength: 'strong', start, isQuoted: true, isTight: false };
  return chosen(reader, valueOf(reader, key, index, { isColon: true }));
};

/** Matches the arguments of an authentication before the password. */
const user =
  /(?:\bauth\s?[=:]\s?|(?:basic_?auth\w{0,14}|\blogin|\bauthenticate|passwordauthentication)\s?)\(\s?["'][^"'\n]{1,64}["']$/i;
/** Matches the arguments of a connection before the password. */
const account =
  /(?:getConnection|_connect|createConnection|new (?:Sequelize|PDO|mysqli))\([^()\n]{1,90},\s?["'][^"'\n]{1,64}["']$/;

/** Finds the password in `basicAuth("user", "…")` and `connect(host, "user", "…")`. Called for the comma after a quote. */
export const findCredentialArgument = (reader: Reader, index: number): Secret | undefined => {
  const quote = quoteAt(reader, reader.skipSpaces(index + 1, maxSpaces));
  const end = quote === undefined ? undefined : endOfQuoted(reader, quote.end, quote.literal, maxArgument);
  if (quote === undefined || end === undefined) return undefined;
  const next = reader.code(end + quote.literal.length);
  if (next !== closing && next !== comma) return undefined;
  const near = reader.text.slice(reader.floor(index), index);
  if (!near.includes('(') || !(user.test(near) || account.test(near))) return undefined;
  return chosen(reader, { kind: 'argument', start: quote.end, end });
};

const chosen = (reader: Reader, found: Secret | undefined): Secret | undefined => {
  if (found === undefined) return undefined;
  const value = reader.text.slice(found.start, found.end);
  const isChosen = value.length >= 6 && (looksRandom(value) || isMixed(value, { isQuoted: false }));
  return isChosen && !isPlaceholder(value) && !value.includes(reader.replacement) ? found : undefined;
};
