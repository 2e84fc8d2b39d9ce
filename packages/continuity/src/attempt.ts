import { notice, toErrorInfo, type NewEvent, type TurnEvents } from '@h/turn';
import './events.js';

type Problem = TurnEvents['continuity.problem']['what'];

/** Does what may fail. */
export type Attempt = <Result>(what: Problem, work: () => PromiseLike<Result> | Result) => Promise<Result | undefined>;

/** Something of the state that could not be read or written, for observers. */
export const problem = (what: Problem, error: unknown): NewEvent =>
  notice('continuity.problem', { what, error: toErrorInfo(error) });

/** Does what may fail; then that is told, and nothing given back. */
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

/** What a callback gives back, which may be written without types. */
export const textOrNothing = (given: unknown, who: string): string | undefined => {
  if (given === undefined || given === null || typeof given === 'string') return given ?? undefined;
  throw new TypeError(`${who}() has to give back a text or nothing; it gave back ${typeof given}.`);
};
