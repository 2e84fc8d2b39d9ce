import { findAssignment } from '../named/assignment.js';
import { codeAt, is, kindOf, stop } from '../text/characters.js';
import { findNetUser, findSlashFlag } from './command-arguments.js';
import { findArgument } from './command-line.js';
import { findBotToken, findUrlCredentials, mayBeUrl } from './credentials.js';
import {
  findCaptured,
  findHashDump,
  findJoinToken,
  findNumberedKey,
  mayBeCaptured,
  mayBeHashDump,
  mayBeJoinToken,
  mayBeNumberedKey,
} from './hash-dumps.js';
import { findCompactData, findManifestData, mayBeManifest } from './manifests.js';
import { mayBeNamed } from '../names/may-be-named.js';
import { findOracleLogin } from './oracle.js';
import { findPathKey, mayHavePathKey } from '../tokens/path-keys.js';
import type { Reader } from '../text/reader.js';
import { findGuessed, mayBeGuessed } from '../named/records.js';
import type { Secret } from '../text/replace.js';
import { findPasswordFileEntry, findUserPair, mayBePair } from './user-pairs.js';

const lineFeed = 10;
const space = 32;
const slash = 47;
const colon = 58;
const capitalA = 65;
const letterE = 101;
const letterI = 105;
const letterN = 110;
const letterP = 112;
const letterR = 114;
const letterS = 115;
const brace = 123;
const letterD = 100;
const letterO = 111;
/** Matches the options of netdom for the password of the domain and of the object. */
const domainPassword = / \/p(?:assword)?[do]$/;
/** The kind of digits. */
const digit = 3;

const isQuote = (code: number): boolean => code === 34 || code === 39;

/** Whether an option of a command of Windows or the driver of Oracle is before the colon. */
const mayEndCommand = (text: string, index: number): boolean => {
  const before = codeAt(text, index - 2);
  switch (codeAt(text, index - 1)) {
    case letterR:
      return before === letterE && text.endsWith(' /user', index);
    case letterN:
      return before === letterI && text.endsWith('oracle:thin', index);
    case letterP:
      return before === slash && text.endsWith(' /p', index);
    case letterD:
    case letterO:
      return domainPassword.test(text.slice(index - 12, index));
    case letterS:
      return before === letterS && text.endsWith(' /pass', index);
    default:
      return false;
  }
};

/** Returns quickly whether a secret may be behind a colon. */
export const mayBeAtColon = (text: string, index: number): boolean => {
  const next = codeAt(text, index + 1);
  return (
    Number.isNaN(next) ||
    (next === slash && mayBeUrl(text, index)) ||
    mayHavePathKey(text, index) ||
    (next === capitalA && (codeAt(text, index + 2) === capitalA || index + 2 >= text.length)) ||
    (next === colon && text.endsWith('::add-mask', index)) ||
    ((next === lineFeed || next === space || next === brace) && mayBeManifest(text, index)) ||
    (kindOf(next) === digit && mayBeHashDump(text, index)) ||
    mayBeGuessed(text, index) ||
    mayBeNumberedKey(text, index) ||
    (next === colon && (mayBeCaptured(text, index) || mayBeJoinToken(text, index))) ||
    mayEndCommand(text, index) ||
    mayBeNamed(text, index) ||
    ((!is(next, stop) || isQuote(next)) && mayBePair(text, index))
  );
};

/** Finds a secret at a colon. What is beside a colon rules out most detectors. */
export const findAtColon = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  const next = reader.code(index + 1);
  const credentials = next === slash && mayBeUrl(text, index) ? findUrlCredentials(reader, index) : undefined;
  if (credentials !== undefined || reader.starved) return credentials;
  const pathKey = mayHavePathKey(text, index) ? findPathKey(reader, index) : undefined;
  if (pathKey !== undefined || reader.starved) return pathKey;
  if ((next === lineFeed || next === space || next === brace) && mayBeManifest(text, index)) {
    const data = findManifestData(reader, index) ?? (reader.starved ? undefined : findCompactData(reader, index));
    if (data !== undefined || reader.starved) return data;
  }
  const hashes = kindOf(next) === digit && mayBeHashDump(text, index) ? findHashDump(reader, index) : undefined;
  if (hashes !== undefined || reader.starved) return hashes;
  const numbered = mayBeNumberedKey(text, index) ? findNumberedKey(reader, index) : undefined;
  if (numbered !== undefined || reader.starved) return numbered;
  if (next === colon && mayBeJoinToken(text, index)) return findJoinToken(reader, index);
  const captured = next === colon && mayBeCaptured(text, index) ? findCaptured(reader, index) : undefined;
  if (captured !== undefined || reader.starved) return captured;
  const guessed = mayBeGuessed(text, index) ? findGuessed(reader, index) : undefined;
  if (guessed !== undefined || reader.starved) return guessed;
  const token = next === capitalA ? findBotToken(reader, index) : undefined;
  if (token !== undefined || reader.starved) return token;
  // GitHub hides what follows.
  if (next === colon && text.endsWith('::add-mask', index)) return findArgument(reader, index + 2);
  const isCommand = mayEndCommand(text, index);
  const last = codeAt(text, index - 1);
  if (isCommand && last === letterR) return findNetUser(reader, index);
  if (isCommand && last === letterN) return findOracleLogin(reader, index + 1);
  const value = isCommand
    ? findSlashFlag(reader, index)
    : mayBeNamed(text, index)
      ? findAssignment(reader, index)
      : undefined;
  if (value !== undefined || reader.starved || (is(next, stop) && !isQuote(next)) || !mayBePair(text, index)) {
    return value;
  }
  return findPasswordFileEntry(reader, index) ?? (reader.starved ? undefined : findUserPair(reader, index));
};
