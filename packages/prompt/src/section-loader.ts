import { andThen, type MaybePromise, type NewEvent, type OperatorContext } from '@h/turn';
import { loadAll } from './load.js';
import type { CheckedOptions, TurnFacts } from './options.js';
import { gather, type BatchJob, type Gathered } from './section-jobs.js';
import type { TurnContexts } from './turn-contexts.js';

/** Returns the turn's abort signal, created on first use. */
export type TurnSignal = () => AbortSignal;

/** Loads sections within the deadline and collects notices about them. */
export class SectionLoader {
  readonly #options: CheckedOptions;
  readonly #operator: OperatorContext;
  readonly #contexts: TurnContexts;
  #notices: NewEvent[] | undefined;

  constructor(options: CheckedOptions, operator: OperatorContext, contexts: TurnContexts) {
    this.#options = options;
    this.#operator = operator;
    this.#contexts = contexts;
  }

  load(jobs: readonly BatchJob[], at: number, turnSignal: TurnSignal): MaybePromise<Gathered> {
    const after: OperatorContext['after'] = (delayMs, callback) => this.#operator.after(delayMs, callback);
    const deadlineMs = deadline(this.#options, this.#contexts.facts, at);
    return andThen(loadAll(jobs, { deadlineMs, after, turnSignal }), (loaded) => {
      const gathered = gather(jobs, loaded, this.#options.ids);
      if (gathered.notices.length > 0) (this.#notices ??= []).push(...gathered.notices);
      return gathered;
    });
  }

  /** Returns the notices since the last call. */
  takeNotices(): readonly NewEvent[] {
    const pending = this.#notices;
    this.#notices = undefined;
    return pending ?? none;
  }
}

const none: readonly NewEvent[] = [];

const deadline = ({ deadlineMs }: CheckedOptions, facts: TurnFacts, at: number): number => {
  if (typeof deadlineMs === 'number') return deadlineMs;
  const given = deadlineMs({ ...facts, at });
  return Number.isFinite(given) && given > 0 ? given : 0;
};
