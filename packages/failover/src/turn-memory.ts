import type { JSONValue, TurnEventOf } from '@h/turn';
import { chainOf, type Candidate } from './chain.js';
import type { Asked } from './events.js';
import type { AttemptRecord } from './exhausted.js';
import type { FailoverSettings } from './options.js';

type Request = TurnEventOf<'model.request'>;

/** What failover knows in the course of one turn. It can be told from the events of the turn alone. */
export class TurnMemory {
  session = '';
  /** The model that the user insists on. */
  chosen: string | undefined;
  chain: readonly Candidate[] = [];
  /** Place in the chain of who is asked; it stays where it is for the rest of the turn. */
  current = 0;
  step = 0;
  startedAt = 0;
  /** The failed calls of the step. */
  records: readonly AttemptRecord[] = [];
  /** Models that are not asked again in this step. */
  readonly givenUp = new Set<string | undefined>();
  asked: Asked | undefined;
  /** Who usually answers in this session: what does not say otherwise was written by them. */
  home: Asked | undefined;
  isEnding = false;
  readonly #settings: FailoverSettings;
  #requested: string | undefined;
  /** A call was under way when the process died. */
  #isOpen = false;

  constructor(settings: FailoverSettings) {
    this.#settings = settings;
  }

  /**
   * Takes note of a request that the loop makes. A new step begins with a clean slate.
   *
   * @returns the failure that was not followed by another call before a crash, if there is one
   */
  begin({ step, model }: Pick<Request, 'step' | 'model'>, at: number): AttemptRecord | undefined {
    if (this.chain.length === 0 || model !== this.#requested) this.#makeChain(model);
    if (step === this.step) {
      // The time in which no process was there does not count.
      this.startedAt = at;
      return this.#isOpen ? undefined : this.records.at(-1);
    }
    this.step = step;
    this.startedAt = at;
    this.records = [];
    this.givenUp.clear();
    return undefined;
  }

  /** Takes note of a request that was made before a crash: it says who was asked. */
  recall({ step, at, model, credential }: Request): void {
    if (this.chain.length === 0) this.#makeChain(undefined);
    if (step !== this.step) this.begin({ step, model: this.#requested }, at);
    this.asked = { ...(model !== undefined && { model }), ...(credential !== undefined && { credential }) };
    this.#isOpen = true;
    this.#stayWith(model);
  }

  /** Takes note of a call that has failed. */
  fail(failure: Omit<AttemptRecord, keyof Asked>): void {
    this.records = [...this.records, { ...this.asked, ...failure }];
    this.#isOpen = false;
  }

  /** How often the model and credential of the last failure have failed in this step. */
  failuresOfLast(): number {
    const last = this.records.at(-1);
    return this.records.filter(({ model, credential }) => model === last?.model && credential === last?.credential)
      .length;
  }

  recallHome(kept: JSONValue | undefined): void {
    const { model, credential } = (typeof kept === 'object' && kept !== null ? kept : {}) as Record<string, unknown>;
    if (typeof model === 'string') this.home = { model, ...(typeof credential === 'string' && { credential }) };
  }

  #makeChain(requested: string | undefined): void {
    const { models, pool } = this.#settings;
    const known = pool?.providers.length === 1 ? pool.providers[0] : undefined;
    this.chain =
      this.chosen === undefined ? chainOf(requested, models, known) : chainOf(this.chosen, models, known).slice(0, 1);
    const isRecalled = this.#requested === undefined && this.asked !== undefined;
    this.#requested = requested;
    this.current = 0;
    if (isRecalled) this.#stayWith(this.asked?.model);
  }

  #stayWith(model: string | undefined): void {
    const place = this.chain.findIndex((candidate) => candidate.model === model);
    if (place >= 0) this.current = place;
  }
}
