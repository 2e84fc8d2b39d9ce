import { notice, toErrorInfo, type NewEvent, type TurnEvents } from '@h/turn';
import '../events.js';

type Problem = TurnEvents['continuity.problem']['what'];

/** Runs work that may fail. */
export type Attempt = <Result>(what: Problem, work: () => PromiseLike<Result> | Result) => Promise<Result | undefined>;

/** A notice about a part of the state that could not be read or written. */
export const problem = (what: Problem, error: unknown): NewEvent =>
  notice('continuity.problem', { what, error: toErrorInfo(error) });

/** Runs work that may fail. A failure adds a notice and returns `undefined`. */
export const attemptWith =
  (notices: NewEvent[]): Attempt =>
  async (what, work) => {
    try {
      return await work();
    } catch (error) {
      notices.push(problem(what, error));
      return undefined;
    }
  };

/** Checks the result of a callback that may be written without types. */
export const textOrNothing = (given: unknown, callback: string): string | undefined => {
  if (given === undefined || given === null || typeof given === 'string') return given ?? undefined;
  throw new TypeError(`${callback}() must return a string or undefined; it returned a value of type ${typeof given}.`);
};
