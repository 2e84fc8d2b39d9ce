import type { ErrorInfo, JSONObject, JSONValue, TurnEventOf } from '@h/turn';
import type { ErrorClass, ErrorReason, FailureScope } from '@h/provider-errors';
import { chainOf, type Candidate } from './chain.js';
import { excludedModels, type ExcludedModels, type StepProgress } from './decide.js';
import type { FailoverTarget } from './events.js';
import type { AttemptRecord } from './exhausted.js';
import type { FailoverSettings } from './options.js';

type Request = TurnEventOf<'model.request'>;
type Failure = TurnEventOf<'model.error'>;

/** The name of the annotations of failover. */
export const ownName = 'failover';

/** What was decided about a failed call, as it is annotated to the event. */
export interface Verdict {
  readonly reason: ErrorReason;
  readonly scope: FailureScope;
  readonly retryable: boolean;
  readonly retryAfterMs?: number | undefined;
  /** `retry`: the same target again; `switch`: another one; `pass`: nothing that this operator can do. */
  readonly kind: 'retry' | 'switch' | 'pass';
  /** When the same target is asked again, in milliseconds since 1970. */
  readonly retryAt?: number | undefined;
  /** Whether the credential or model got a cooldown. */
  readonly hasCooldown: boolean;
}

/** A failed call of the step, and what was decided about it. */
export interface DecidedFailure extends AttemptRecord {
  readonly verdict: Verdict;
}

/** Everything that the next decision of a step depends on. */
export interface StepState {
  readonly chain: readonly Candidate[];
  /** The position in the chain of the model in use. */
  readonly current: number;
  readonly records: readonly DecidedFailure[];
  readonly excluded: ExcludedModels;
  readonly progress: StepProgress;
}

const noModels: ExcludedModels = { has: () => false };

/** What failover knows during one turn. It learns from events alone, so that a resumed turn knows the same. */
export class TurnState {
  session = '';
  /** The model that the user insists on. */
  chosen: string | undefined;
  isEnding = false;
  /** Whether a request has left and is not answered yet. */
  isAsked = false;
  /** The model and credential of the latest request. */
  target: FailoverTarget | undefined;
  /** The model and credential that wrote the messages of the session that name no other. */
  home: FailoverTarget | undefined;
  /** The failure that the next request follows. */
  latestFailure: DecidedFailure | undefined;
  readonly #settings: FailoverSettings;
  #chain: { readonly first: string | undefined; readonly candidates: readonly Candidate[] } | undefined;
  #step = 0;
  #startedAt = 0;
  #records: readonly DecidedFailure[] = [];
  /** The model that the latest request named before failover chose one. */
  #requested: string | undefined;
  /** When a step began whose first request waits. */
  #begun: { readonly step: number; readonly at: number } | undefined;

  constructor(settings: FailoverSettings) {
    this.#settings = settings;
  }

  /** The state in which a request is decided. A new step starts without failures. */
  before({ step, model, at }: Pick<Request, 'step' | 'model' | 'at'>): StepState {
    if (step === this.#step) return this.#stepState(model, this.#records, this.#startedAt);
    if (this.#begun?.step !== step) this.#begun = { step, at };
    return this.#stepState(model, [], this.#begun.at);
  }

  /** The state after a failed call of the current step. */
  after(failure: DecidedFailure): StepState {
    return this.#stepState(this.#requested, [...this.#records, failure], this.#startedAt);
  }

  /** A failed call, as it is recorded once its event has left. */
  recordOf({ attempt, at }: Pick<Failure, 'attempt' | 'at'>, error: ErrorInfo, verdict: Verdict): DecidedFailure {
    return { ...this.target, attempt, reason: verdict.reason, at, error, verdict };
  }

  asked({ step, at, model, credential, annotations }: Request): void {
    const own = annotations?.[ownName] as { readonly requested?: string | null } | undefined;
    this.#requested = own?.requested === undefined ? model : (own.requested ?? undefined);
    if (step !== this.#step) {
      this.#startedAt = this.#begun?.step === step ? this.#begun.at : at;
      this.#records = [];
    }
    this.#step = step;
    this.#begun = undefined;
    this.isAsked = true;
    this.latestFailure = undefined;
    if (this.target?.model !== model || this.target?.credential !== credential) {
      this.target = { ...(model !== undefined && { model }), ...(credential !== undefined && { credential }) };
    }
  }

  /** @returns what was decided about the failure, if failover decided about it */
  failed(event: Failure): DecidedFailure | undefined {
    this.isAsked = false;
    const verdict = event.annotations?.[ownName] as Verdict | undefined;
    if (verdict === undefined) return undefined;
    const failure = this.recordOf(event, event.error, verdict);
    this.#records = [...this.#records, failure];
    this.latestFailure = failure;
    return failure;
  }

  /** The time during which no process was running does not count. */
  resumed(at: number): void {
    this.isAsked = false;
    this.#startedAt = at;
  }

  recallHome(stored: JSONValue | undefined): void {
    const { model, credential } = (typeof stored === 'object' && stored !== null ? stored : {}) as Record<
      string,
      unknown
    >;
    if (typeof model === 'string') this.home = { model, ...(typeof credential === 'string' && { credential }) };
  }

  #stepState(requested: string | undefined, records: readonly DecidedFailure[], startedAt: number): StepState {
    const chain = this.#chainOf(requested);
    // A turn stays with the model that it fell back to, until another one is requested.
    const stays = this.target !== undefined && requested === this.#requested;
    const place = stays ? chain.findIndex(({ model }) => model === this.target?.model) : 0;
    if (records.length === 0) {
      const progress = { startedAt, failedCalls: 0, failuresOfLast: 0 };
      return { chain, current: Math.max(0, place), records, excluded: noModels, progress };
    }
    const last = records.at(-1);
    return {
      chain,
      current: Math.max(0, place),
      records,
      excluded: new Set(records.flatMap((record) => this.#excludedAfter(record, chain))),
      progress: {
        startedAt,
        failedCalls: records.length,
        failuresOfLast: records.filter((record) => isSameTarget(record, last)).length,
      },
    };
  }

  #excludedAfter({ model, verdict }: DecidedFailure, chain: readonly Candidate[]): readonly (string | undefined)[] {
    if (verdict.kind !== 'switch') return [];
    return excludedModels(verdict, verdict.hasCooldown, model, chain, this.#settings.actions);
  }

  #chainOf(requested: string | undefined): readonly Candidate[] {
    const first = this.chosen ?? requested;
    if (this.#chain !== undefined && this.#chain.first === first) return this.#chain.candidates;
    const { models, pool } = this.#settings;
    const onlyProvider = pool?.providers.length === 1 ? pool.providers[0] : undefined;
    const chain = chainOf(first, models, onlyProvider);
    const candidates = this.chosen === undefined ? chain : chain.slice(0, 1);
    this.#chain = { first, candidates };
    return candidates;
  }
}

/** The verdict as JSON, for an annotation. */
export const verdictOf = (
  { reason, scope, retryable, retryAfterMs }: ErrorClass,
  kind: Verdict['kind'],
  { retryAt, hasCooldown = false }: { readonly retryAt?: number; readonly hasCooldown?: boolean } = {},
): Verdict & JSONObject => ({
  reason,
  scope,
  retryable,
  kind,
  hasCooldown,
  ...(retryAfterMs !== undefined && { retryAfterMs }),
  ...(retryAt !== undefined && { retryAt }),
});

export const isSameTarget = (one: FailoverTarget | undefined, other: FailoverTarget | undefined): boolean =>
  one?.model === other?.model && one?.credential === other?.credential;
