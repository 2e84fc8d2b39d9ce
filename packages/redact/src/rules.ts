import { findAnswer, mayBeAnswered } from './named/answers.js';
import { findAssignment } from './named/assignment.js';
import { findAtColon, mayBeAtColon } from './commands/at-colon.js';
import { findCallArgument, findCharacters, mayBeCall } from './named/calls.js';
import {
  findBinaryPair,
  findCell,
  findFallback,
  findField,
  findNeighbor,
  findQuotedPair,
  findRowValue,
  mayBeBinaryPair,
  mayBeFallback,
  mayBeNeighbor,
} from './named/cells.js';
import { codeAt } from './text/characters.js';
import {
  findAlignedColumns,
  findRuledColumns,
  findSeparatedColumns,
  mayEndColumn,
  mayEndColumns,
} from './named/columns.js';
import { findHereString } from './commands/command-arguments.js';
import { findFlag, findPasswordFlag, mayBeFlag, mayBePasswordFlag } from './commands/command-line.js';
import { findBearer } from './commands/credentials.js';
import { findElement, mayBeElement } from './named/elements.js';
import { findBehindWideColon } from './names/foreign-names.js';
import { findCopied } from './named/inserts.js';
import { mayEndKey } from './names/key-name.js';
import { findKeyedCall, mayTakeKey } from './named/keyed-calls.js';
import { ledLetters, ledTails, mayLead } from './commands/led.js';
import { findLikely, mayBeLikely } from './likely/likely.js';
import { mayBeNamed } from './names/may-be-named.js';
import { findOneTimeCode, mayBeOneTimeCode } from './tokens/one-time-codes.js';
import { findNativeHash, findPasswordHash, findSchemeHash } from './tokens/password-hashes.js';
import { findPrefixedToken, mayPrefix } from './tokens/prefixed-tokens.js';
import { findKeyTail, findPrivateKey, mayBeKeyLine } from './tokens/private-key.js';
import { findPrinted, mayBePrompt } from './named/printed-values.js';
import { findKerberosKey, findUserRule } from './commands/protocol-logins.js';
import type { Reader } from './text/reader.js';
import { findEncrypted } from './named/records.js';
import { findRemarked, findRemarkedItem, mayBeRemarked } from './named/remarks.js';
import type { Secret } from './text/replace.js';
import { findSpaced } from './commands/spaced.js';
import { findSubstitution, mayBeSubstitution } from './named/substitutions.js';
import { findToken, isAnchor, mayBeToken } from './tokens/tokens.js';
import { findSlashPair } from './commands/user-pairs.js';
import { bars } from './values/value-extent.js';
import { findListBelow, findUserSection, mayBeUserSection } from './named/values-below.js';

const equals = 61;
const space = 32;
const percent = 37;
const hash = 35;
const slash = 47;
const digit0 = 48;

export type Detector = (reader: Reader, index: number) => Secret | undefined;

/**
 * Returns quickly whether a detector may find a secret at an offset. Most candidates are ruled out by the characters
 * around them. Returns `true` if that depends on text that has not arrived.
 */
export type Guard = (text: string, index: number) => boolean;

interface Test {
  test(character: string): boolean;
}

/** A detector, the two adjacent characters for which it is called, and its guard. */
type Rule = readonly [before: Test, character: Test, find: Detector, mayFind?: Guard];

/** Whether letters, in lower case, may be behind an offset. */
const mayContinue = (text: string, index: number, letters: string): boolean => {
  for (let offset = 0; offset < letters.length; offset += 1) {
    const code = codeAt(text, index + 1 + offset);
    if ((code | space) !== letters.charCodeAt(offset)) return Number.isNaN(code);
  }
  return true;
};

/** Returns a guard for the letters behind an offset, in lower case. */
const continuesWith =
  (letters: string, others = letters): Guard =>
  (text, index) =>
    mayContinue(text, index, letters) || mayContinue(text, index, others);

/** Whether a text that leads to a secret behind a space may end with this letter. */
const spacedEnd: Test = {
  test: (character) => /[\d_y]/i.test(character) || ledLetters.has(character.toLowerCase()),
};

/** Whether the last character of `%3D` or of `\\u003d` may be at an offset. */
const mayBeEncodedSign: Guard = (text, index) => {
  const before = codeAt(text, index - 2);
  return before === percent || before === digit0;
};

/** Rules out redirections to a file, comparisons and comments. */
const mayBeUserRule: Guard = (text, index) => {
  const next = codeAt(text, index + 1);
  return Number.isNaN(next) || (codeAt(text, index) === hash ? next > slash : next > space && next !== equals);
};

const mayBeField: Guard = (text, index) => mayEndKey(text, index) || mayEndColumn(text, index);

/** The detectors for two adjacent ASCII characters, in order. The first detector that finds a secret decides. */
export const rules: readonly Rule[] = [
  [/[\da-zA-Z]/, /[_-]/, findPrefixedToken, mayPrefix],
  [/[^:]/, /:/, findAtColon, mayBeAtColon],
  [/[^=!<>]/, /=/, findAssignment, mayBeNamed],
  [/</, /-/, findAssignment],
  // The last characters of `%3D`, `%3A` and their escapes in JSON.
  [/3/, /[ad]/i, findAssignment, mayBeEncodedSign],
  [/[- ]/, /B/, findPrivateKey, continuesWith('egin ')],
  [/\W/, /b/i, findBearer, continuesWith('earer', 'asic')],
  [/[\s"'`,[]/, /-/, findFlag, mayBeFlag],
  [/\s/, /\//, findSlashPair, continuesWith(' ')],
  [/\s/, /\//, findPasswordFlag, mayBePasswordFlag],
  [spacedEnd, /[ \t]/, findSpaced, mayLead],
  [/"/, / /, findQuotedPair, continuesWith('"')],
  [/ /, /\|/, findNeighbor, mayBeNeighbor],
  [/["'`]/, /,/, findNeighbor, mayBeNeighbor],
  [/>/, /,/, findBinaryPair, mayBeBinaryPair],
  [/["'`]/, /,/, findRemarked, mayBeRemarked],
  [/["']/, /[; )]/, findRemarked, mayBeRemarked],
  [/"/, /\./, findCharacters, continuesWith('t')],
  [/\w/, /[;|]/, findSeparatedColumns, mayEndColumn],
  [/\w/, /[;|]/, findRowValue, mayEndKey],
  [/\w/, /\|/, findNeighbor, mayBeNeighbor],
  [/[\w"']/, />/, findElement, mayBeElement],
  [/\w/, /,/, findField, mayBeField],
  [/[\n \w~:)\]\\>*-]/, /[$#%>]/, findPrinted, mayBePrompt],
  [/\n/, /[-=]/, findRuledColumns],
  [/\n/, /-/, findRemarkedItem],
  [/[\w+/=]/, /\n/, findAlignedColumns, mayEndColumns],
  [/s/i, /\n/, findListBelow, mayEndColumns],
  [/\]/, /\n/, findUserSection, mayBeUserSection],
  [/[\w+/=]/, /\n/, findKeyTail, mayBeKeyLine],
  [/[\w+/="')\]]/, /\n/, findAnswer, mayBeAnswered],
  [/n/, /;/, findCopied, (text, index) => text.endsWith(' stdin', index)],
  [/[A-Z\d]/, /\}/, findSchemeHash],
  [/ /, /[>#]/, findUserRule, mayBeUserRule],
  [/\(/, /0/, findKerberosKey, continuesWith('x')],
  [/\*/, /[\dA-F]/, findNativeHash],
  [/\w/, /\t/, findEncrypted],
  [/\w/, /\t/, findSeparatedColumns, mayEndColumn],
  [/\(/, /["'`]/, findCallArgument, mayBeCall],
  [/\w/, /\(/, findKeyedCall, mayTakeKey],
  [/</, /</, findHereString],
  [/[\da-z]/i, /\$/, findPasswordHash],
  [/s/, /[/|#]/, findSubstitution, mayBeSubstitution],
  [/\|/, /\|/, findFallback, mayBeFallback],
  [/\?/, /\?/, findFallback, mayBeFallback],
  [/[ \n"=-]/, /\d/, findOneTimeCode, mayBeOneTimeCode],
  [/[a-z]/i, /\d/, findLikely, mayBeLikely],
  [/\d/, /[a-z]/i, findLikely, mayBeLikely],
];

/** The low bytes of the characters before which detectors of tables and wide colons are called. */
const lowBytes = { bars: new Set(Array.from(bars, (bar) => bar & 255)), wideColon: 0x1a };

/** A detector with its guard. */
interface GuardedDetector {
  readonly find: Detector;
  readonly mayFind: Guard;
}

const always: Guard = () => true;
const guarded = (find: Detector, mayFind: Guard = always): GuardedDetector => ({ find, mayFind });
const tokens = guarded(findToken, mayBeToken);
const wideColons = guarded(findBehindWideColon);
const cells = guarded(findCell);

/** Returns the detectors for a character after one beyond ASCII, of which only the low byte is known. */
const detectorsAfter = (low: number, character: string): readonly GuardedDetector[] => {
  if (low === lowBytes.wideColon && /[\w "'`]/.test(character)) return [wideColons];
  if (!lowBytes.bars.has(low)) return [];
  return low < 32 || character === ' ' ? [cells] : [];
};

/** The number of the list with only the detectors of what a space leads to. Those of the others are smaller. */
const ofSpace = 128;

/** The lists of detectors, and the number of the list of each pair of low bytes: 0, the empty list, for most. */
const { lists, listOf } = ((): {
  readonly lists: readonly (readonly GuardedDetector[])[];
  readonly listOf: Uint8Array;
} => {
  const all: (readonly GuardedDetector[])[] = [[]];
  const known = new Map<string, number>();
  const named = rules.map(([before, character, find, mayFind]) => ({ before, character, of: guarded(find, mayFind) }));
  const numberOf = (detectors: readonly GuardedDetector[]): number => {
    const name = detectors.map((detector) => ids.get(detector)).join(',');
    const found = known.get(name) ?? (name === spacedName ? ofSpace : known.size + 1);
    if (found >= ofSpace && name !== spacedName) throw new Error('Too many lists of detectors.');
    all[found] = detectors;
    known.set(name, found);
    return found;
  };
  const ids = new Map([tokens, wideColons, cells, ...named.map(({ of }) => of)].map((detector, id) => [detector, id]));
  const spacedName = String(ids.get(named.find(({ of }) => of.find === findSpaced)?.of ?? cells));
  const table = new Uint8Array(65_536);
  for (let code = 0; code < 128; code += 1) {
    const character = String.fromCharCode(code);
    const ofCharacter = named.filter((rule) => rule.character.test(character));
    for (let before = 0; before < 256; before += 1) {
      const behind = detectorsAfter(before, character);
      if (before > 127 && behind.length === 0) {
        table[(before << 8) | code] = table[(space << 8) | code] ?? 0;
        continue;
      }
      const first = before < 128 ? before : space;
      const detectors = [
        ...(isAnchor(first, code) ? [tokens] : []),
        ...ofCharacter.flatMap((rule) => (rule.before.test(String.fromCharCode(first)) ? [rule.of] : [])),
        ...behind,
      ];
      if (detectors.length > 0) table[(before << 8) | code] = numberOf(detectors);
    }
  }
  return { lists: all, listOf: table };
})();

/** The bits of the numbers of lists that count behind three letters: most words lead to no secret behind a space. */
const countedBits = ledTails.map((isLed) => (isLed === 1 ? 255 : ofSpace - 1));

/** Whether the guard of a detector in a list accepts an offset. */
const mayFindAt = (list: number, text: string, index: number): boolean => {
  if (codeAt(text, index) > 127) return false;
  const detectors = lists[list] ?? [];
  for (let place = 0; place < detectors.length; place += 1) {
    if (detectors[place]?.mayFind(text, index) === true) return true;
  }
  return false;
};

/** Calls the detectors for the character at an offset, if their guards accept it, until one finds a secret. */
export const detect = (reader: Reader, index: number, before: number): Secret | undefined => {
  for (const { find, mayFind } of lists[listOf[(before << 8) | codeAt(reader.text, index)] ?? 0] ?? []) {
    if (!mayFind(reader.text, index)) continue;
    const found = find(reader, index);
    if (found !== undefined || reader.starved) return found;
  }
  return undefined;
};

/** Creates a buffer for {@link Candidates}. */
export const candidateBuffer = (): Buffer => Buffer.allocUnsafeSlow(16_384);

/** Number of candidates that guards exclude in a row before one is returned, where a repetition of the text may be skipped. */
const maxExcluded = 256;

/** Searches a text for the characters for which detectors are called. */
export class Candidates {
  readonly #text: string;
  /** The low bytes of a range of the text, because they are read in a fourth of the time of its characters. */
  readonly #buffer: Buffer;
  #start = 0;
  #end = 0;

  /** @param buffer is used by one search at a time */
  constructor(text: string, buffer: Buffer) {
    this.#text = text;
    this.#buffer = buffer;
  }

  /**
   * Returns the offset of the next possible secret; `to` without one. After many candidates that cannot be secrets, it
   * returns the offset of one, because the caller may skip a repetition there.
   *
   * @param first the low byte before `from`
   */
  next(from: number, to: number, first: number): number {
    const text = this.#text;
    const buffer = this.#buffer;
    let before = first;
    let middle = ((codeAt(text, from - 3) & 31) << 5) | (codeAt(text, from - 2) & 31);
    let left = maxExcluded;
    for (let index = from; index < to;) {
      if (index < this.#start || index >= this.#end) this.#fill(index);
      const start = this.#start;
      const end = Math.min(to, this.#end);
      // This loop runs for every character, so it has nothing else.
      for (; index < end; index += 1) {
        const byte = buffer[index - start] ?? 0;
        const list = (listOf[(before << 8) | byte] ?? 0) & (countedBits[((before & 127) << 10) | middle] ?? 0);
        middle = ((middle << 5) | (before & 31)) & 1023;
        before = byte;
        if (list === 0) continue;
        left -= 1;
        if (mayFindAt(list, text, index) || (left <= 0 && codeAt(text, index) < 128)) return index;
      }
    }
    return to;
  }

  #fill(from: number): void {
    this.#start = from;
    this.#end = from + this.#buffer.write(this.#text.slice(from, from + this.#buffer.length), 'latin1');
  }
}
