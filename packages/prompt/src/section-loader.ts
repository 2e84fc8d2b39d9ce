import type { MaybePromise, NewEvent, OperatorContext } from '@h/turn';
import { isPromiseLike, loadAll } from './load.js';
import type { CheckedOptions, TurnFacts } from './options.js';
import { gather, type BatchJob, type Gathered } from './section-jobs.js';

/** Asks for the turn's own abort signal, which is made only then. */
export type TurnSignal = () => AbortSignal;

/** Loads sections under the deadline, and collects what is to be told about them. */
export interface SectionLoader {
  load(jobs: readonly BatchJob[], at: number, turnSignal: TurnSignal): MaybePromise<Gathered>;
  /** What is to be told since it was last asked for. */
  takeNotices(): readonly NewEvent[];
}

/** @param facts what the turn is about, when it is asked for */
export const sectionLoader = (
  options: CheckedOptions,
  operator: OperatorContext,
  facts: () => TurnFacts,
): SectionLoader => {
  const taken = new Set(
    [...options.frozen, ...options.session, ...options.volatile, ...options.bootstrap].map(({ id }) => id),
  );
  let notices: NewEvent[] = [];
  return {
    load: (jobs, at, turnSignal) => {
      const after: OperatorContext['after'] = (delayMs, callback) => operator.after(delayMs, callback);
      const results = loadAll(jobs, { deadlineMs: deadline(options, facts(), at), after, turnSignal });
      const finish = (loaded: Awaited<typeof results>): Gathered => {
        const gathered = gather(jobs, loaded, taken);
        if (gathered.notices.length > 0) notices.push(...gathered.notices);
        return gathered;
      };
      return whenThere(results, finish);
    },
    takeNotices: () => {
      const told = notices;
      if (told.length > 0) notices = [];
      return told;
    },
  };
};

/** Goes on when the value is there: at once, where it is there already. */
export const whenThere = <Value, Result>(
  value: MaybePromise<Value>,
  then: (value: Value) => Result,
): MaybePromise<Result> => (isPromiseLike(value) ? value.then(then) : then(value));

const deadline = ({ deadlineMs }: CheckedOptions, facts: TurnFacts, at: number): number => {
  if (typeof deadlineMs === 'number') return deadlineMs;
  const given = deadlineMs({ ...facts, at });
  return Number.isFinite(given) && given > 0 ? given : 0;
};
