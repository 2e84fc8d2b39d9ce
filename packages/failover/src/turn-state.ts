import type { JSONValue, TurnEventOf } from '@h/turn';
import { chainOf, type Candidate } from './chain.js';
import type { StepProgress } from './decide.js';
import type { FailoverTarget } from './events.js';
import type { AttemptRecord } from './exhausted.js';
import type { FailoverSettings } from './options.js';

type Request = TurnEventOf<'model.request'>;

/** What failover knows during one turn. All of it follows from the events of the turn, so that a replay restores it. */
export class TurnState {
  session = '';
  /** The model that the user insists on. */
  chosen: string | undefined;
  chain: readonly Candidate[] = [];
  /** The position in the chain of the model in use. A turn stays with it. */
  current = 0;
  step = 0;
  startedAt = 0;
  /** The failed calls of the step. */
  records: readonly AttemptRecord[] = [];
  /** Models that the step no longer asks. */
  readonly excluded = new Set<string | undefined>();
  /** The model and credential of the latest request. */
  target: FailoverTarget | undefined;
  /** The model and credential that wrote the messages of the session that name no other. */
  home: FailoverTarget | undefined;
  isEnding = false;
  readonly #settings: FailoverSettings;
  #requested: string | undefined;
  /** Whether a call was under way when the process died. */
  #hasOpenCall = false;

  constructor(settings: FailoverSettings) {
    this.#settings = settings;
  }

  get progress(): StepProgress {
    const last = this.records.at(-1);
    const isLast = ({ model, credential }: AttemptRecord): boolean =>
      model === last?.model && credential === last?.credential;
    return {
      startedAt: this.startedAt,
      failedCalls: this.records.length,
      failuresOfLast: this.records.filter(isLast).length,
    };
  }

  /**
   * Records a request of the loop. A new step starts without failures and exclusions.
   *
   * @returns the failure that no other call followed before a crash, if there is one
   */
  begin({ step, model }: Pick<Request, 'step' | 'model'>, at: number): AttemptRecord | undefined {
    if (this.chain.length === 0 || model !== this.#requested) this.#buildChain(model);
    if (step === this.step) {
      // The time during which no process was running does not count.
      this.startedAt = at;
      return this.#hasOpenCall ? undefined : this.records.at(-1);
    }
    this.step = step;
    this.startedAt = at;
    this.records = [];
    this.excluded.clear();
    return undefined;
  }

  /** Records a request that was sent before a crash, with the model and credential that it names. */
  recall({ step, at, model, credential }: Request): void {
    if (this.chain.length === 0) this.#buildChain(undefined);
    if (step !== this.step) this.begin({ step, model: this.#requested }, at);
    this.setTarget(model, credential);
    this.#hasOpenCall = true;
    this.#stayWith(model);
  }

  /** The target for this model and credential: the same object as long as they are the same. */
  setTarget(model: string | undefined, credential: string | undefined): FailoverTarget {
    const { target } = this;
    if (target !== undefined && target.model === model && target.credential === credential) return target;
    return (this.target = { ...(model !== undefined && { model }), ...(credential !== undefined && { credential }) });
  }

  /** Records a failed call. */
  fail(failure: Omit<AttemptRecord, keyof FailoverTarget>): void {
    this.records = [...this.records, { ...this.target, ...failure }];
    this.#hasOpenCall = false;
  }

  recallHome(stored: JSONValue | undefined): void {
    const { model, credential } = (typeof stored === 'object' && stored !== null ? stored : {}) as Record<
      string,
      unknown
    >;
    if (typeof model === 'string') this.home = { model, ...(typeof credential === 'string' && { credential }) };
  }

  #buildChain(requested: string | undefined): void {
    const { models, pool } = this.#settings;
    const onlyProvider = pool?.providers.length === 1 ? pool.providers[0] : undefined;
    const chain = chainOf(this.chosen ?? requested, models, onlyProvider);
    this.chain = this.chosen === undefined ? chain : chain.slice(0, 1);
    const isRecalled = this.#requested === undefined && this.target !== undefined;
    this.#requested = requested;
    this.current = 0;
    if (isRecalled) this.#stayWith(this.target?.model);
  }

  #stayWith(model: string | undefined): void {
    const position = this.chain.findIndex((candidate) => candidate.model === model);
    if (position >= 0) this.current = position;
  }
}
