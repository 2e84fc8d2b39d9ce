/** What a token with digits is: a number, a time, an id, or a name that has digits in it. */
import {
  address,
  behindDurations,
  behindFraction,
  behindGroups,
  behindLeftOut,
  behindUnit,
  clock,
  duration,
  elementRef,
  hexadecimal,
  isCountOfCalls,
  isDigitCode,
  isIdOfCall,
  isLabelOfId,
  isMixedId,
  isRemaining,
  isTemporary,
  isVolatileNumber,
  localServer,
  maxDigits,
  plainNumber,
  random,
  randomGroups,
  scoreLabel,
  shareAt,
  shareLabel,
  shareNext,
  shortestClock,
  shortestId,
  sized,
  temporaryFolder,
  timeInName,
  uuid,
  uuidLength,
  volatileId,
} from './volatile.js';

/** A token with digits, and what is around it. */
export interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly hasLetter: boolean;
  /** How many groups of digits it has. */
  readonly digitGroups: number;
  /** Whether it has a dot, a hyphen or a colon. */
  readonly hasSign: boolean;
  /** The word before it, if that may be its label. */
  readonly label: string;
}

/** What a token is. */
export interface Figure {
  /** Whether it differs from run to run, has a value, or is a name of which the letters count too. */
  readonly kind: 'volatile' | 'value' | 'name';
  /** Where it ends, with its unit. */
  readonly end: number;
  readonly value?: string;
  readonly number?: number;
  /** The share that it and the number behind it state, from 0 to 1. */
  readonly ratio?: number;
  /** Whether it depends on the question and not on what was found. */
  readonly isScore?: boolean;
}

/** Minimum length of a name with a time, and of an id with digits and letters in both cases. */
const [shortestTimeName, shortestMixed] = [15, 10];
const maxToken = 100;
const [percent, blank, slash, backslash] = [37, 32, 47, 92];

const volatile = (end: number): Figure => ({ kind: 'volatile', end });

/** Returns what a token with digits is. */
export const figureOf = (token: Token): Figure => {
  const { text, start, end, hasLetter, hasSign, label } = token;
  const value = text.slice(start, Math.min(end, start + maxToken));
  if (isLabelOfId(label) && volatileId.test(text.slice(Math.max(0, start - 24), start))) return volatile(end);
  if (!hasLetter && (hasSign ? plainNumber.test(value) : value.length <= maxDigits)) return numberOf(token, value);
  if (!hasLetter || isDigitCode(value.charCodeAt(0))) {
    if (hasLetter && isCountOfCalls(text, start, end)) return volatile(end);
    if (hasLetter && duration.test(value)) return volatile(behindDurations(text, end));
    if (value.length >= shortestClock && clock.test(value)) return volatile(behindFraction(text, end));
    if (hasLetter ? address.test(value) : localServer.test(value)) return volatile(end);
    const size = hasLetter ? sized.exec(value) : null;
    if (size !== null) return { kind: 'value', end, value, number: Number(size[1]) };
  }
  if (label === 'ref' && elementRef.test(value)) return volatile(end);
  const isInFolder = text.charCodeAt(start - 1) === slash || text.charCodeAt(start - 1) === backslash;
  if (isInFolder && temporaryFolder.test(text.slice(Math.max(0, start - 6), start))) return volatile(end);
  if (value.length < shortestId) return { kind: 'name', end, value };
  if ((value.length === uuidLength && uuid.test(value)) || isTemporary(value)) return volatile(end);
  if (value.length >= shortestTimeName && timeInName.test(value)) return volatile(end);
  const isRandom =
    hexadecimal.test(value) ||
    (token.digitGroups >= randomGroups && random.test(value)) ||
    (value.length >= shortestMixed && isMixedId(value));
  if ((isRandom || value.length >= 16 || /^(?:r|req)[-_]/i.test(value)) && isIdOfCall(text, value, start, label)) {
    return volatile(end);
  }
  return { kind: isRandom ? 'value' : 'name', end, value };
};

const numberOf = ({ text, start, end: last, label }: Token, digits: string): Figure => {
  const end = behindGroups(text, last);
  const value = end === last ? digits : text.slice(start, end).replaceAll(',', '');
  const next = text.charCodeAt(end);
  if (isVolatileNumber(text, value, start, end, label)) {
    return volatile(shareAt(text, end) === undefined ? behindUnit(text, end) : shareNext.lastIndex);
  }
  if (next === blank) {
    const unitEnd = behindUnit(text, end);
    if (unitEnd > end && !isRemaining(text, unitEnd, label)) return volatile(behindDurations(text, unitEnd));
    const noticeEnd = behindLeftOut(text, end);
    if (noticeEnd > end) return volatile(noticeEnd);
  }
  const number = Number(value);
  const whole = text.charCodeAt(start - 1) === slash ? undefined : shareAt(text, end);
  const isPercent = next === percent || (next === blank && text.charCodeAt(end + 1) === percent);
  const isShare = isPercent || (whole === undefined && label !== '' && shareLabel.test(label));
  const all = isShare ? 100 : (whole ?? 0);
  const isScore = label !== '' && scoreLabel.test(label);
  // What is complete, as a bar that was drawn before, says nothing about the rest.
  const isRatio = isPercent ? number !== all : number < all;
  return isRatio
    ? { kind: 'value', end, value, ratio: number / all, isScore }
    : { kind: 'value', end, value, number, isScore };
};
