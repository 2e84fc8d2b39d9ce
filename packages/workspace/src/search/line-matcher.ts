import { RE2JS, RE2JSException } from 're2js';
import { GrepPatternError, type GrepQuery } from './grep-query.js';

/** Returns whether a line matches, in time proportional to its length. */
export interface LineMatcher {
  test(line: string): boolean;
  /** The approximate position of the match in a matching line. */
  place(line: string): number;
  /** Worst-case cost of one character; 1 for plain text. */
  readonly cost: number;
}

/** Maximum number of states of a pattern's automaton; each may be visited for each character. */
const maxCost = 2_000;

/**
 * Compiles a pattern.
 *
 * A pattern of a few characters can block JavaScript's regular expressions for years. RE2 runs in linear time, and its
 * syntax is nearly that of ripgrep.
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
  throw new GrepPatternError('its repetitions make it too large; use smaller ones');
};

/**
 * Finds the end of the shortest matching prefix by bisection, because `test` is far faster than a search for the exact
 * position.
 */
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
