import type { MaybePromise, NewEvent, OperatorContext } from '@h/turn';
import { isPromiseLike, loadAll } from './load.js';
import type { CheckedOptions, TurnFacts } from './options.js';
import { gather, type BatchJob, type Gathered } from './section-jobs.js';

/** Returns the turn's abort signal, created on first use. */
export type TurnSignal = () => AbortSignal;

/** Loads sections within the deadline and collects notices about them. */
export interface SectionLoader {
  load(jobs: readonly BatchJob[], at: number, turnSignal: TurnSignal): MaybePromise<Gathered>;
  /** Returns the notices since the last call. */
  takeNotices(): readonly NewEvent[];
}

/** @param facts returns the facts of the current turn */
export const sectionLoader = (
  options: CheckedOptions,
  operator: OperatorContext,
  facts: () => TurnFacts,
): SectionLoader => {
  let notices: NewEvent[] | undefined;
  return {
    load: (jobs, at, turnSignal) => {
      const after: OperatorContext['after'] = (delayMs, callback) => operator.after(delayMs, callback);
      const results = loadAll(jobs, { deadlineMs: deadline(options, facts(), at), after, turnSignal });
      const finish = (loaded: Awaited<typeof results>): Gathered => {
        const gathered = gather(jobs, loaded, options.ids);
        if (gathered.notices.length > 0) (notices ??= []).push(...gathered.notices);
        return gathered;
      };
      return whenLoaded(results, finish);
    },
    takeNotices: () => {
      const pending = notices;
      notices = undefined;
      return pending ?? none;
    },
  };
};

const none: readonly NewEvent[] = [];

/** Calls `then` with the value: synchronously, unless the value is a promise. */
export const whenLoaded = <Value, Result>(
  value: MaybePromise<Value>,
  then: (value: Value) => Result,
): MaybePromise<Result> => (isPromiseLike(value) ? value.then(then) : then(value));

const deadline = ({ deadlineMs }: CheckedOptions, facts: TurnFacts, at: number): number => {
  if (typeof deadlineMs === 'number') return deadlineMs;
  const given = deadlineMs({ ...facts, at });
  return Number.isFinite(given) && given > 0 ? given : 0;
};
