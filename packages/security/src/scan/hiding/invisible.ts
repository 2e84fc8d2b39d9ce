import {
  blackFlag,
  cancelTag,
  isBidi,
  isEmoji,
  isInvisible,
  isJoining,
  isOverride,
  isRightToLeft,
  isSpaceless,
  isTag,
  isVariation,
  isZeroWidth,
  mayHaveInvisible,
  zeroWidthJoiner,
  zeroWidthNonJoiner,
} from '../text/characters.js';
import type { Hit } from '../finding.js';

/** Minimum number of consecutive invisible characters that count as a message. */
const messageLength = 8;
const minVariations = 3;

/** A run of invisible characters without a typographic purpose, and its decoded text. */
export interface HiddenStretch extends Hit {
  /** The ASCII text that the tag characters encode. */
  readonly decoded?: string | undefined;
}

/**
 * Finds invisible characters and evaluates them by their neighbors.
 *
 * Legitimate are joiners between emoji or joining letters, zero-width spaces in scripts without spaces, direction marks
 * next to right-to-left letters, and flags made of tags. All others are reported, and long runs count as messages.
 */
export const findInvisible = (text: string): readonly HiddenStretch[] => {
  if (!mayHaveInvisible.test(text)) return [];
  const found: HiddenStretch[] = [];
  let index = 0;
  while (index < text.length) {
    const code = text.codePointAt(index) ?? 0;
    if (code < 0xad || !isInvisible(code)) {
      index += code > 65_535 ? 2 : 1;
      continue;
    }
    const end = endOfInvisible(text, index);
    const hit = judge(text, index, end);
    if (hit !== undefined) found.push(hit);
    index = end;
  }
  return found;
};

/** Removes the characters that {@link findInvisible} reports. */
export const stripInvisible = (text: string): string => {
  const found = findInvisible(text);
  if (found.length === 0) return text;
  let result = '';
  let last = 0;
  for (const { start, end } of found) {
    result += text.slice(last, start);
    last = end;
  }
  return result + text.slice(last);
};

const endOfInvisible = (text: string, start: number): number => {
  let end = start;
  while (end < text.length) {
    const code = text.codePointAt(end) ?? 0;
    if (!isInvisible(code)) break;
    end += code > 65_535 ? 2 : 1;
  }
  return end;
};

const judge = (text: string, start: number, end: number): HiddenStretch | undefined => {
  const codes = Array.from(text.slice(start, end), (character) => character.codePointAt(0) ?? 0);
  const before = codeBefore(text, start);
  const after = text.codePointAt(end) ?? 0;
  if (codes.some(isTag)) {
    if (before === blackFlag && codes.at(-1) === cancelTag && codes.length <= messageLength && codes.every(isTag)) {
      return undefined;
    }
    const decoded = String.fromCharCode(
      ...codes
        .slice(0, 4096)
        .filter(isTag)
        .map((code) => code - 0xe0000)
        .filter((code) => code >= 32 && code < 127),
    );
    return { rule: 'hidden-text', severity: 'malicious', start, end, decoded };
  }
  if (codes.every((code) => code === emojiStyle)) return undefined;
  if (codes.filter(isVariation).length >= minVariations || codes.filter(isZeroWidth).length >= messageLength) {
    return { rule: 'hidden-text', severity: 'malicious', start, end };
  }
  if (codes.some(isBidi)) {
    return isBeside(text, start, end, isRightToLeft) && !codes.some(isOverride)
      ? undefined
      : { rule: 'bidi', severity: 'suspicious', start, end };
  }
  if (codes.every((code) => !isZeroWidth(code)) || isWriting(codes, before, after)) return undefined;
  return { rule: 'invisible', severity: 'note', start, end };
};

const isWriting = (codes: readonly number[], before: number, after: number): boolean => {
  const hasJoiner = codes.includes(zeroWidthJoiner);
  if (hasJoiner && (isEmoji(before) || isEmoji(after))) return true;
  if ((hasJoiner || codes.includes(zeroWidthNonJoiner)) && (isJoining(before) || isJoining(after))) return true;
  return isSpaceless(before) || isSpaceless(after);
};

const codeBefore = (text: string, index: number): number => {
  const low = text.charCodeAt(index - 1);
  return low >= 0xdc00 && low <= 0xdfff ? (text.codePointAt(index - 2) ?? 0) : low || 0;
};

/** The selector after emojis; a repetition carries no data. */
const emojiStyle = 0xfe0f;
const maxDistance = 80;

/** Whether a character of this kind is next to the span. */
const isBeside = (text: string, start: number, end: number, isKind: (code: number) => boolean): boolean => {
  for (let index = Math.max(0, start - maxDistance); index < Math.min(text.length, end + maxDistance); index += 1) {
    if (isKind(text.charCodeAt(index))) return true;
  }
  return false;
};
