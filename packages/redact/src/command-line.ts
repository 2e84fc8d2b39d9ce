import { is, key as keyClass, stop, word } from './characters.js';
import { isMixed, valueOf, type Key } from './assignment.js';
import { keyStrength, mayEndKey } from './key-name.js';
import { quoteAt } from './quotes.js';
import type { Reader } from './reader.js';
import type { Secret } from './replace.js';
import { isPlaceholder, looksRandom } from './value.js';

const hyphen = 45;
const maxFlag = 40;

/** Short flags that carry a password, by the command that they belong to. */
const passwordFlags: readonly { readonly command: RegExp; readonly flag: RegExp }[] = [
  {
    command: /\b(?:mysql|mysqldump|mysqladmin|mysqlimport|mysqlsh|mariadb|mariadb-dump|7za?|rar|unrar)\b/,
    flag: /^-p(?=\S)/,
  },
  { command: /\bsshpass\b/, flag: /^-p ?/ },
  { command: /\b(?:docker|podman|buildah|skopeo|nerdctl|crane|oras|helm|az|oc|cf|argocd)\b.*\blogin\b/, flag: /^-p / },
  { command: /\b(?:mongo|mongosh|mongodump|mongorestore|mongoexport|mongoimport)\b/, flag: /^-p / },
  { command: /\b(?:zip|unzip|mosquitto_(?:pub|sub)|sqlcmd|bcp|isql)\b/, flag: /^-P ?/ },
  { command: /\bredis-cli\b/, flag: /^-a / },
  { command: /\bldap(?:search|modify|add|delete|passwd|whoami)\b/, flag: /^-w ?/ },
  { command: /\b(?:plink|pscp|psftp)\b/, flag: /^-pw / },
];
const clients = /\b(?:curl|wget|https?|xh|ab|hey|wrk|rclone)\b/;

/** What follows a flag such as `--password`, `-u` or `-p`. Called for a hyphen after a space or a quote. */
export const findFlag = (reader: Reader, index: number): Secret | undefined => {
  const second = reader.code(index + 1);
  const isLong = second === hyphen || is(reader.code(index + 2), keyClass);
  if (second !== hyphen && !is(second, word)) return undefined;
  if (isLong) {
    const found = findLongFlag(reader, index);
    if (found !== undefined || reader.starved) return found;
  }
  return second === hyphen ? undefined : findShortFlag(reader, index);
};

const findLongFlag = (reader: Reader, index: number): Secret | undefined => {
  const start = index + (reader.code(index + 1) === hyphen ? 2 : 1);
  const end = reader.endOfRun(start, keyClass, maxFlag);
  if (end - start < 4 || end === start + maxFlag) return undefined;
  const name = reader.text.slice(start, end);
  const isUser = /^(?:proxy-)?user$/.test(name);
  if (!isUser && !mayEndKey(name, name.length)) return undefined;
  const strength = isUser ? undefined : keyStrength(name);
  if (!isUser && strength === undefined) return undefined;
  const valueStart = startOfArgument(reader, end);
  if (valueStart === undefined) return undefined;
  if (isUser) return findUserPassword(reader, index, valueStart);
  const next = reader.code(valueStart);
  if (next === hyphen || next === 60 || next === 91) return undefined;
  const key: Key = { name, strength: 'strong', start, isQuoted: false, isTight: false };
  const found = valueOf(reader, key, valueStart, { isColon: true, isLiteral: true });
  if (found === undefined) return undefined;
  const value = reader.text.slice(found.start, found.end);
  return isChosen(value) ? { ...found, kind: 'command-line' } : undefined;
};

/** Letters alone may be a word of the help text. */
const isChosen = (value: string): boolean => isMixed(value, { isQuoted: false }) || looksRandom(value);

/** After a space, or in the next item of a list of arguments. */
const startOfArgument = (reader: Reader, end: number): number | undefined => {
  const quote = quoteAt(reader, end);
  let index = quote?.end ?? end;
  if (quote !== undefined && reader.code(index) === 44) index += 1;
  const start = reader.skipSpaces(index, 4);
  return start === end || (start === index && quote === undefined) ? undefined : start;
};

const findShortFlag = (reader: Reader, index: number): Secret | undefined => {
  const letter = reader.code(index + 1) | 32;
  const flags = reader.endOfRun(index + 1, word, 6);
  if (flags > index + 2 && (reader.code(flags - 1) | 32) === 117) {
    const found = findUserPassword(reader, index, reader.skipSpaces(flags, 4), true);
    if (found !== undefined || reader.starved) return found;
  }
  // Only -a, -p, -u and -w carry credentials.
  if (letter !== 97 && letter !== 112 && letter !== 117 && letter !== 119) return undefined;
  const line = lineBefore(reader, index);
  if (letter === 117 || (letter === 97 && !/\bredis-cli\b/.test(line))) {
    const start = reader.skipSpaces(index + 2, 4);
    const found = findUserPassword(reader, index, start);
    if (found !== undefined || letter === 117) return found;
  }
  for (const { command, flag } of passwordFlags) {
    if (!command.test(line)) continue;
    const written = flag.exec(reader.slice(index, index + 5))?.[0];
    if (written === undefined) continue;
    return findArgument(reader, index + written.length);
  }
  return undefined;
};

const lineBefore = (reader: Reader, index: number): string => {
  const before = reader.text.slice(reader.floor(index), index);
  return before.slice(before.lastIndexOf('\n') + 1);
};

const findArgument = (reader: Reader, from: number): Secret | undefined => {
  const { start, end } = argumentAt(reader, from);
  const value = reader.text.slice(start, end);
  if (value.length < 3 || value.startsWith('-') || value.includes(reader.replacement) || isPlaceholder(`${value}00`)) {
    return undefined;
  }
  return { kind: 'command-line', start, end };
};

/** Up to the closing quote, or to the next space. */
const argumentAt = (reader: Reader, from: number): { readonly start: number; readonly end: number } => {
  const quote = quoteAt(reader, from);
  const start = quote?.end ?? from;
  let end = start;
  while (end < start + 128) {
    const code = reader.code(end);
    if (Number.isNaN(code) || code === 10 || code === 13) break;
    if (quote === undefined ? code === 32 || code === 9 || is(code, stop) : reader.matches(quote.literal, end)) break;
    end += 1;
  }
  return { start, end };
};

const userPassword = /^([\w.@%+-]{1,64})[:%](?!\/\/)(.{3,})$/;

/** `user:password` after `-u`: always for a client of the web, else if the password cannot be a group or a port. */
const findUserPassword = (reader: Reader, index: number, from: number, needsClient = false): Secret | undefined => {
  const { start, end } = argumentAt(reader, from);
  const pair = userPassword.exec(reader.text.slice(start, end));
  const password = pair?.[2];
  if (pair === null || password === undefined || password.includes(reader.replacement)) return undefined;
  if (isPlaceholder(`${password}0`) || /^\d+(?::|$)/.test(password) || password.startsWith('/')) return undefined;
  if ((needsClient || !isChosen(password)) && !clients.test(lineBefore(reader, index))) return undefined;
  return { kind: 'command-line', start: end - password.length, end };
};
