import { RE2JS, RE2JSException } from 're2js';
import { GrepPatternError, type GrepQuery } from './grep-query.js';

/** Tells whether a line matches, in time that grows with the length of the line and no faster. */
export interface LineMatcher {
  test(line: string): boolean;
  /** About where in a matching line the match is. */
  place(line: string): number;
  /** How much work a character is in the worst case; 1 for plain text. */
  readonly cost: number;
}

/** The most states of the automaton of a pattern; each can be visited for each character. */
const maxCost = 2_000;

/**
 * The matcher of a pattern.
 *
 * JavaScript's own regular expressions can be kept busy for years by a pattern of a few characters. RE2 cannot, and it reads
 * nearly the same language as ripgrep.
 *
 * @throws GrepPatternError
 */
export const lineMatcher = ({
  pattern,
  isLiteral,
  ignoreCase,
}: Pick<GrepQuery, 'pattern' | 'isLiteral' | 'ignoreCase'>): LineMatcher => {
  if (isLiteral && !ignoreCase) {
    return { test: (line) => line.includes(pattern), place: (line) => line.indexOf(pattern), cost: 1 };
  }
  const machine = compile(isLiteral ? RE2JS.quote(pattern) : pattern, ignoreCase);
  const test = (line: string): boolean => machine.test(line);
  return { test, place: (line) => placeOf(line, test), cost: machine.programSize() };
};

const compile = (pattern: string, ignoreCase: boolean): RE2JS => {
  try {
    const machine = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    if (machine.programSize() <= maxCost) return machine;
  } catch (error) {
    if (error instanceof RE2JSException) throw new GrepPatternError(error.message, { cause: error });
    throw error;
  }
  throw new GrepPatternError('its repetitions make it too large');
};

/** Finds the end of the shortest beginning that matches by halving: `test` is far faster than a search for the exact place. */
const placeOf = (line: string, test: (line: string) => boolean): number => {
  let low = 0;
  let high = line.length;
  while (high - low > 64) {
    const middle = (low + high) >>> 1;
    if (test(line.slice(0, middle))) high = middle;
    else low = middle;
  }
  return low;
};
