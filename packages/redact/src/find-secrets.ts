import { findAssignment } from './assignment.js';
import { findAnswer, mayBeAnswered } from './answers.js';
import { findCell, findFallback, findField, findNeighbor, findQuotedPair } from './cells.js';
import { is, stop, word } from './characters.js';
import { findCallArgument, findCharacters } from './calls.js';
import { findAlignedColumns, findRuledColumns, endOfColumn, findSeparatedColumns, mayEndColumns } from './columns.js';
import { findHereString, findNetUser, findPrinted, findSlashFlag } from './command-arguments.js';
import { findArgument, findFlag, findPasswordFlag } from './command-line.js';
import {
  findBearer,
  findBotToken,
  findPasswordFileEntry,
  findSlashPair,
  findUrlCredentials,
  findUserPair,
} from './credentials.js';
import { findBehindWideColon } from './foreign-names.js';
import { findElement } from './elements.js';
import { ledLetters, ledTails, mayEndKey, mayLead } from './key-name.js';
import { findKeyedCall, mayTakeKey } from './keyed-calls.js';
import { findCopied } from './inserts.js';
import { findLikely, mayBeLikely } from './likely.js';
import { findCompactData, findManifestData, mayBeManifest } from './manifests.js';
import { findHashDump } from './hash-dumps.js';
import { mayBeAtColon, mayBeNamed } from './may-be-named.js';
import { findOracleLogin } from './oracle.js';
import { findNativeHash, findPasswordHash, findSchemeHash } from './password-hashes.js';
import { findPrefixedToken, mayPrefix } from './prefixed-tokens.js';
import { findKerberosKey, findUserRule } from './protocol-logins.js';
import { findKeyTail, findPrivateKey, mayBeKeyLine } from './private-key.js';
import { findEncrypted, findGuessed } from './records.js';
import { findRemarked, findRemarkedItem, mayBeRemarked } from './remarks.js';
import { maxReach, Reader, type ReaderSettings } from './reader.js';
import { Repetition, type DecidesWithin } from './repetition.js';
import type { Finder, Place, Secret } from './replace.js';
import { findSpaced } from './spaced.js';
import { findSubstitution, mayBeSubstitution } from './substitutions.js';
import { findToken, isAnchor, mayBeToken } from './tokens.js';
import { bars } from './value-extent.js';

type Detector = (reader: Reader, index: number) => Secret | undefined;

const bracket = 93;
const equals = 61;
const percent = 37;
const lineFeed = 10;
const space = 32;
const colon = 58;
const slash = 47;
const brace = 123;
const hash = 35;
const star = 42;
const digit0 = 48;
const digit9 = 57;
const capitalA = 65;
const doubleQuote = 34;
const letterP = 112;
const letterS = 115;
const letterT = 116;
const letterX = 120;
/** Minimum length of a text that is copied to bytes. */
const minBytes = 1024;
/** Minimum distance of a secret ahead, from which the text before it may contain another one, such as the name of a user. */
const minBetween = 16;
const none: readonly Secret[] = [];

/** Whether a text that leads to a secret behind a space may end with this letter. */
const isSpacedEnd = (character: string): boolean =>
  /[\d_y]/i.test(character) || ledLetters.has(character.toLowerCase());

/** Finds a secret at a colon. What follows a colon rules out most detectors. */
const findAtColon: Detector = (reader, index) => {
  const next = reader.code(index + 1);
  const credentials = next === slash ? findUrlCredentials(reader, index) : undefined;
  if (credentials !== undefined || reader.starved) return credentials;
  if ((next === lineFeed || next === space || next === brace) && mayBeManifest(reader.text, index)) {
    const data = findManifestData(reader, index) ?? (reader.starved ? undefined : findCompactData(reader, index));
    if (data !== undefined || reader.starved) return data;
  }
  const hashes = next >= digit0 && next <= digit9 ? findHashDump(reader, index) : undefined;
  if (hashes !== undefined || reader.starved) return hashes;
  const guessed = findGuessed(reader, index);
  if (guessed !== undefined || reader.starved) return guessed;
  const token = next === capitalA ? findBotToken(reader, index) : undefined;
  if (token !== undefined || reader.starved) return token;
  // GitHub hides what follows.
  if (next === colon && reader.text.endsWith('::add-mask', index)) return findArgument(reader, index + 2);
  if (reader.text.charCodeAt(index - 1) === 114 && reader.text.endsWith(' /user', index)) {
    return findNetUser(reader, index);
  }
  if (reader.text.charCodeAt(index - 1) === 110 && reader.text.endsWith('oracle:thin', index)) {
    return findOracleLogin(reader, index + 1);
  }
  const last = reader.text.charCodeAt(index - 1);
  const isSlashFlag =
    (last === letterP && reader.text.endsWith(' /p', index)) ||
    (last === letterS && reader.text.endsWith(' /pass', index));
  const value = isSlashFlag
    ? findSlashFlag(reader, index)
    : mayBeNamed(reader.text, index)
      ? findAssignment(reader, index)
      : undefined;
  if (value !== undefined || reader.starved || is(next, stop)) return value;
  if (!isFieldEnd(reader.before(index))) return undefined;
  return findPasswordFileEntry(reader, index) ?? (reader.starved ? undefined : findUserPair(reader, index));
};

/** Whether a field of a password file may end with this code. */
const isFieldEnd = (code: number): boolean => is(code, word) || code === star;

/** What decides which detectors are called: two adjacent characters. */
type Rule = readonly [before: Test, character: Test, ...detectors: readonly Detector[]];
interface Test {
  test(character: string): boolean;
}

/** The detectors for two adjacent ASCII characters, in order. The first detector that finds a secret decides. */
const rules: readonly Rule[] = [
  [/[\da-zA-Z]/, /[_-]/, findPrefixedToken],
  [/[^:]/, /:/, findAtColon],
  [/[^=!<>]/, /=/, findAssignment],
  [/</, /-/, findAssignment],
  // The last characters of `%3D`, `%3A` and their escapes in JSON.
  [/3/, /[ad]/i, findAssignment],
  [/[- ]/, /B/, findPrivateKey],
  [/\W/, /b/i, findBearer],
  [/[\s"'`,[]/, /-/, findFlag],
  [/\s/, /\//, findSlashPair, findPasswordFlag],
  [{ test: isSpacedEnd }, /[ \t]/, findSpaced],
  [/"/, / /, findQuotedPair],
  [/ /, /\|/, findNeighbor],
  [/["'`]/, /,/, findNeighbor, findRemarked],
  [/["']/, /[; )]/, findRemarked],
  [/"/, /\./, findCharacters],
  [/\w/, /[;|]/, findSeparatedColumns],
  [/\w/, /\|/, findNeighbor],
  [/[\w"']/, />/, findElement],
  [/\w/, /,/, findField],
  [/\n/, /\$/, findPrinted],
  [/\n/, /-/, findRuledColumns, findRemarkedItem],
  [/[\w+/=]/, /\n/, findAlignedColumns, findKeyTail, findAnswer],
  [/["')\]]/, /\n/, findAnswer],
  [/n/, /;/, findCopied],
  [/[A-Z\d]/, /\}/, findSchemeHash],
  [/ /, /[>#]/, findUserRule],
  [/\(/, /0/, findKerberosKey],
  [/\*/, /[\dA-F]/, findNativeHash],
  [/\w/, /\t/, findEncrypted, findSeparatedColumns],
  [/\(/, /["'`]/, findCallArgument],
  [/\w/, /\(/, findKeyedCall],
  [/</, /</, findHereString],
  [/[\da-z]/i, /\$/, findPasswordHash],
  [/s/, /[/|#]/, findSubstitution],
  [/\|/, /\|/, findFallback],
  [/\?/, /\?/, findFallback],
  [/[a-z]/i, /\d/, findLikely],
  [/\d/, /[a-z]/i, findLikely],
];

/** Whether the three letters before a space may lead to a secret. */
const mayBeSpaced = (text: string, index: number): boolean => {
  const middle = ((text.charCodeAt(index - 3) & 31) << 5) | (text.charCodeAt(index - 2) & 31);
  return ledTails[(text.charCodeAt(index - 1) << 10) | middle] === 1 && mayLead(text, index);
};

/** The low bytes of the characters before which detectors of tables and wide colons are called. */
const lowBytes = { bars: new Set(Array.from(bars, (bar) => bar & 255)), wideColon: 0x1a };

/** Returns the detectors for a character after one beyond ASCII, of which only the low byte is known. */
const detectorsAfter = (low: number, character: string): readonly Detector[] => {
  if (low === lowBytes.wideColon && /[\w "'`]/.test(character)) return [findBehindWideColon];
  if (!lowBytes.bars.has(low)) return [];
  return low < 32 || character === ' ' ? [findCell] : [];
};

/** The lists of the most frequent candidates, nearly all of which the text around them rules out. */
const guarded: readonly (readonly Detector[])[] = [
  [findSpaced],
  [findToken],
  [findPrefixedToken],
  [findKeyedCall],
  [findAlignedColumns, findKeyTail, findAnswer],
  [findAnswer],
  [findUserRule],
  [findToken, findLikely],
  [findLikely],
  [findQuotedPair, findRemarked],
  [findRemarked],
  [findCharacters],
  [findKerberosKey],
  [findSubstitution],
  [findAtColon],
  [findAssignment],
  [findAssignment, findLikely],
  [findToken, findPrefixedToken],
  [findField],
  [findSeparatedColumns],
];

/** The number of the detector list of each character pair; 0, the empty list, for most. */
const { lists, listOf } = ((): { readonly lists: readonly (readonly Detector[])[]; readonly listOf: Uint8Array } => {
  const all: (readonly Detector[])[] = [[], ...guarded];
  const isEqual = (one: readonly Detector[], other: readonly Detector[]): boolean =>
    one.length === other.length && one.every((detector, index) => detector === other[index]);
  const table = new Uint8Array(65_536);
  for (let code = 0; code < 128; code += 1) {
    const character = String.fromCharCode(code);
    const ofCharacter = rules.filter(([, last]) => last.test(character));
    for (let before = 0; before < 256; before += 1) {
      const behind = detectorsAfter(before, character);
      if (before > 127 && behind.length === 0) {
        table[(before << 8) | code] = table[(space << 8) | code] ?? 0;
        continue;
      }
      const first = before < 128 ? before : space;
      const detectors = [
        ...(isAnchor(first, code) ? [findToken] : []),
        ...ofCharacter.flatMap(([test, , ...found]) => (test.test(String.fromCharCode(first)) ? found : [])),
        ...behind,
      ];
      if (detectors.length === 0) continue;
      const known = all.findIndex((list) => isEqual(list, detectors));
      table[(before << 8) | code] = known === -1 ? all.push(detectors) - 1 : known;
    }
  }
  return { lists: all, listOf: table };
})();

/** Whether the last character of `%3D` or of `\\u003d` may be at an offset. */
const mayBeEncodedSign = (text: string, index: number): boolean => {
  const before = text.charCodeAt(index - 2);
  return before === percent || before === digit0;
};

/** Whether another character than this one is at an offset; not at the end, where it may still arrive. */
const isOther = (text: string, index: number, code: number): boolean =>
  index < text.length && text.charCodeAt(index) !== code;

/** Returns whether the text around a candidate of one of the {@link guarded} lists rules it out. */
const isRuledOut = (list: number, text: string, index: number): boolean => {
  switch (list) {
    case 1:
      return !mayBeSpaced(text, index);
    case 2:
      return !mayBeToken(text, index);
    case 3:
      return !mayPrefix(text, index);
    case 4:
      return !mayTakeKey(text, index);
    case 5:
      return !mayBeKeyLine(text, index) && !mayEndColumns(text, index);
    case 6:
      return !mayBeAnswered(text, index);
    case 7:
      // A redirection, a comparison, an arrow or a comment.
      return text.charCodeAt(index + 1) <= (text.charCodeAt(index) === hash ? 47 : 61);
    case 8:
      return !mayBeToken(text, index) && !mayBeLikely(text, index);
    case 9:
      return !mayBeLikely(text, index);
    case 10:
      return isOther(text, index + 1, doubleQuote) && !mayBeRemarked(text, index);
    case 11:
      return !mayBeRemarked(text, index);
    case 12:
      return isOther(text, index + 1, letterT);
    case 13:
      return isOther(text, index + 1, letterX);
    case 14:
      return !mayBeSubstitution(text, index);
    case 15:
      return !mayBeAtColon(text, index);
    case 16:
      return text.charCodeAt(index) === equals && !mayBeNamed(text, index);
    case 17:
      return !mayBeEncodedSign(text, index) && !mayBeLikely(text, index);
    case 18:
      return !mayBeToken(text, index) && !mayPrefix(text, index);
    case 19:
      return !mayEndKey(text, index) && endOfColumn(text, index) === 0;
    default:
      return endOfColumn(text, index) === 0;
  }
};

/**
 * Returns the offset of the next possible secret. This loop runs for every character, so it has nothing else.
 *
 * @param bytes the low bytes of the text, which are read in half the time
 * @param first the code before `from`
 */
const nextCandidate = (
  text: string,
  bytes: Uint8Array | undefined,
  from: number,
  to: number,
  first: number,
): number => {
  let before = first;
  for (let index = from; index < to; index += 1) {
    const byte = bytes === undefined ? text.charCodeAt(index) & 255 : (bytes[index] ?? 0);
    const list = listOf[(before << 8) | byte] ?? 0;
    before = byte;
    if (list === 0) continue;
    if (list <= guarded.length && isRuledOut(list, text, index)) continue;
    if (text.charCodeAt(index) < 128) return index;
  }
  return to;
};

/**
 * Creates a finder for secrets by format. It makes one pass with a table lookup per character, and calls a detector
 * only at possible secrets. Each detector reads a bounded number of characters.
 *
 * @param replacement the replacement of secrets; a value that contains it is not a secret
 */
export const formFinder = (replacement: string): Finder => {
  const settings: ReaderSettings = { replacement };
  return (text, place) => {
    const { length } = text;
    const bytes = length - place.from > minBytes ? Buffer.from(text, 'latin1') : undefined;
    const repetition = new Repetition(text);
    const hasReplacements = text.includes(replacement, place.barrier);
    let reader: Reader | undefined;
    let secrets: Secret[] | undefined;
    let { ahead } = place;
    let limit = ahead[0]?.start ?? length;
    let before = place.isBeginning && place.from === 0 ? lineFeed : bracket;
    if (place.from > place.barrier) before = text.charCodeAt(place.from - 1) & 255;
    let from = place.from;
    while (from < length) {
      const index = nextCandidate(text, bytes, from, limit, before);
      if (index > from) before = text.charCodeAt(index - 1) & 255;
      if (index === length) break;
      reader ??= new Reader(text, settings, place);
      if (hasReplacements) reader.passReplacements(index);
      const isDecided = ahead.length === 0 && repetition.isDecided(index, reader.barrier);
      const later = isDecided ? repetition.skip(index, decidesWithin(reader, settings, place)) : index;
      if (later > index) {
        before = text.charCodeAt(later - 1) & 255;
        from = later;
        continue;
      }
      let found: Secret | undefined;
      if (index < limit) {
        reader.hasAhead = ahead.length > 0;
        found = detect(reader, index, lists[listOf[(before << 8) | text.charCodeAt(index)] ?? 0] ?? []);
        if (reader.starved) {
          return { secrets: secrets ?? none, settled: settledBefore(text, reader.barrier, index), ahead };
        }
        const more = found?.more ?? (found !== undefined && found.start - index >= minBetween ? [found] : undefined);
        if (found !== undefined && more !== undefined) {
          if (found.more !== undefined || found.start < limit) {
            ahead = [...ahead, ...more].toSorted((one, other) => one.start - other.start);
          }
          limit = ahead[0]?.start ?? length;
          found = undefined;
        } else if (found !== undefined && found.end > limit) {
          // What overlaps is replaced as one.
          found = found.start < limit ? { ...found, end: Math.max(found.end, ahead[0]?.end ?? 0) } : undefined;
        }
      } else found = ahead[0];
      if (found === undefined) {
        before = text.charCodeAt(index) & 255;
        from = index + 1;
        continue;
      }
      (secrets ??= []).push(found);
      reader.pass(found.end);
      from = found.end;
      before = bracket;
      if (ahead.length > 0) ahead = after(ahead, from);
      limit = ahead[0]?.start ?? length;
    }
    const settled = place.isWhole ? length : settledBefore(text, reader?.barrier ?? place.barrier, length);
    return { secrets: secrets ?? none, settled, ahead };
  };
};

/** Returns a function that makes the decisions about a range as if the text were still arriving. */
const decidesWithin =
  ({ text, barrier }: Reader, settings: ReaderSettings, place: Place): DecidesWithin =>
  (from, to, end) =>
    isDecided(new Reader(text.slice(0, end), settings, { ...place, isWhole: false, barrier }), from, to);

/** Whether the decisions about a range find nothing and do not depend on text that has not arrived. */
const isDecided = (reader: Reader, from: number, to: number): boolean => {
  const { text } = reader;
  for (let index = from; index < to; index += 1) {
    const before = text.charCodeAt(index - 1) & 255;
    index = nextCandidate(text, undefined, index, to, before);
    const detectors =
      lists[listOf[((text.charCodeAt(index - 1) & 255) << 8) | (text.charCodeAt(index) & 255)] ?? 0] ?? [];
    if (index < to && (detect(reader, index, detectors) !== undefined || reader.starved)) return false;
  }
  return true;
};

/** Returns the secrets behind an offset, without the empty ones there, which were passed. */
const after = (secrets: readonly Secret[], end: number): readonly Secret[] =>
  secrets.filter((secret) => secret.start >= end && secret.end > end);

const detect = (reader: Reader, index: number, detectors: readonly Detector[]): Secret | undefined => {
  for (const detector of detectors) {
    const found = detector(reader, index);
    if (found !== undefined || reader.starved) return found;
  }
  return undefined;
};

/** Returns the offset before which no detector called here or later can find a secret. */
const settledBefore = (text: string, barrier: number, end: number): number => {
  const floor = Math.max(barrier, end - maxReach);
  let index = end;
  while (index > floor && text.charCodeAt(index - 1) > 32) index -= 1;
  return index;
};
