import {
  notice,
  stop,
  type DecisionInput,
  type ErrorInfo,
  type NewEvent,
  type OperatorContext,
  type TurnEventOf,
} from '@h/turn';
import { from, isObservable, map, of, switchMap, type Observable } from 'rxjs';
import { availableAt, choose, type Free } from './choose.js';
import type { ErrorClass, ErrorReason } from '@h/provider-errors';
import type { Asked } from './events.js';
import { eventsLater } from './events-later.js';
import { exhaustedError } from './exhausted.js';
import type { FailoverSettings } from './options.js';
import type { CredentialPool } from './pool/credential-pool.js';
import type { Lease } from './pool/profile-picker.js';
import { RequestShaper } from './shape-request.js';
import type { TurnMemory } from './turn-memory.js';

type Request = TurnEventOf<'model.request'>;
type Response = TurnEventOf<'model.response'>;
type Failure = TurnEventOf<'model.error'>;
type Answer = NewEvent | readonly NewEvent[] | undefined;

/** What comes next. */
type Plan =
  | Free
  /** The same one after a while, or the first one that is free. */
  | { readonly kind: 'retry' | 'wait'; readonly to: Asked; readonly delayMs: number; readonly reason: ErrorReason }
  | { readonly kind: 'nobody'; readonly freeAt: number | undefined };

/** Decides about the model calls of one turn. */
export class TurnFailover {
  readonly #settings: FailoverSettings;
  readonly #pool: CredentialPool;
  readonly #memory: TurnMemory;
  readonly #operator: OperatorContext;
  readonly #shaper = new RequestShaper(() => this.#memory.home ?? this.#named(0, undefined));
  #lease: Lease | undefined;
  #request: Request | undefined;

  constructor(settings: FailoverSettings, pool: CredentialPool, memory: TurnMemory, operator: OperatorContext) {
    this.#settings = settings;
    this.#pool = pool;
    this.#memory = memory;
    this.#operator = operator;
  }

  /** Says who is asked; waits where all are left alone. */
  ask(request: Request): DecisionInput {
    this.#memory.isEnding = false;
    const refreshed = this.#pool.refresh();
    return refreshed === undefined ? this.#ask(request) : this.#askAfter(refreshed, request);
  }

  /** Something came of the call: whoever answered is trusted. */
  succeeded(): void {
    const { asked } = this.#memory;
    if (asked !== undefined) this.#pool.succeeded(asked.credential, asked.model);
    this.release();
  }

  /** Answers a failed call, or an answer that is none: the event passes where nothing can be done. */
  failed(given: Failure | Response, error: ErrorInfo): DecisionInput {
    const request = this.#request;
    if (request === undefined) return undefined;
    const kind = this.classify(error);
    const { reason } = kind;
    this.#memory.fail({ attempt: given.attempt, reason, at: this.#now(), error });
    const delayMs = this.#retryDelay(kind, this.#now());
    const cooling = delayMs === undefined ? this.#giveUp(kind, given) : [];
    // Those who wait for the outcome look now: what has failed is left alone by then.
    this.release();
    if (this.#isFinal(reason)) return undefined;
    const plan = delayMs === undefined ? this.#next(reason) : this.#retry(delayMs, reason);
    const failure: Failure = given.type === 'model.error' ? given : asFailure(given, error);
    if (plan.kind !== 'nobody') {
      return this.#follow(
        plan,
        [{ ...failure, retrying: true }, ...cooling],
        failure,
        () => this.#operator.askAgain(request, failure),
        reason,
      );
    }
    if (given.type === 'model.response') return [...cooling, given];
    return [
      ...cooling,
      this.#exhausted(failure, reason, plan.freeAt),
      { ...failure, error: this.#errorOf(plan.freeAt, error) },
    ];
  }

  /** Takes note of a call that failed before a crash, and leaves alone what was given up then for as long as is left of it. */
  recall({ attempt, error, at }: Failure): void {
    const kind = this.classify(error);
    this.#memory.fail({ attempt, reason: kind.reason, at, error });
    const { asked } = this.#memory;
    if (this.#isFinal(kind.reason) || this.#retryDelay(kind, at) !== undefined) return;
    this.#giveUpModels(kind, this.#pool.failed(asked?.credential, asked?.model, kind, at));
  }

  /** An abort that nobody here has asked for is a broken connection. */
  classify(error: ErrorInfo): ErrorClass {
    const kind = this.#settings.classify(error, { now: this.#now() });
    return kind.reason === 'aborted' ? { ...kind, reason: 'network', scope: 'service', retryable: true } : kind;
  }

  /** Lets others try what this turn has tried. */
  release(): void {
    this.#lease?.release();
    this.#lease = undefined;
  }

  #now(): number {
    return this.#operator.now();
  }

  #askAfter(refreshed: Promise<void>, request: Request): Observable<readonly NewEvent[]> {
    return from(refreshed).pipe(
      switchMap(() => {
        const answer = this.#ask(request);
        return isObservable(answer)
          ? (answer as Observable<readonly NewEvent[]>)
          : of(answer as Answer).pipe(map((events) => listOf(events ?? request)));
      }),
    );
  }

  #ask(request: Request): DecisionInput {
    const memory = this.#memory;
    const before = memory.asked;
    const unanswered = memory.begin(request, this.#now());
    this.#request = request;
    const plan = unanswered === undefined ? this.#next('unknown') : this.#resume(unanswered.error, unanswered.at);
    if (plan.kind === 'nobody') return this.#stopped(request, plan.freeAt);
    if (plan.kind !== 'ask') return this.#follow(plan, [], request, () => request, plan.reason);
    const sent = this.#send(request, plan);
    if (plan.because === undefined) return sent === request ? undefined : sent;
    return [this.#switched(before ?? this.#named(0, undefined), plan.because, request.attempt), sent];
  }

  /** What was planned before a crash, as far as it has not happened. */
  #resume(error: ErrorInfo, since: number): Plan {
    const kind = this.classify(error);
    const delayMs = this.#retryDelay(kind, since);
    return delayMs === undefined
      ? this.#next(kind.reason)
      : this.#retry(Math.max(0, since + delayMs - this.#now()), kind.reason);
  }

  #isFinal(reason: ErrorReason): boolean {
    const { retry, rotate, fallBack } = this.#settings.actions[reason];
    return !retry && !rotate && !fallBack;
  }

  /** After how long the same one is asked again; nothing when it is given up. */
  #retryDelay({ reason, retryable, retryAfterMs = 0 }: ErrorClass, now: number): number | undefined {
    const { retry, maxRetries = Infinity } = this.#settings.actions[reason];
    const failures = this.#memory.failuresOfLast();
    if (!retry || !retryable || failures > Math.min(maxRetries, this.#settings.maxRetries)) return undefined;
    const delayMs = Math.max(this.#settings.backoff(failures, this.#settings.random()), retryAfterMs);
    return this.#isUsedUp(now) || !this.#isWorthWaiting(delayMs, now) ? undefined : delayMs;
  }

  #isUsedUp(now: number): boolean {
    const { records, startedAt } = this.#memory;
    return records.length >= this.#settings.maxAttempts || now - startedAt > this.#settings.maxElapsedMs;
  }

  #isWorthWaiting(delayMs: number, now: number): boolean {
    return delayMs <= this.#settings.maxWaitMs && now + delayMs - this.#memory.startedAt <= this.#settings.maxElapsedMs;
  }

  /** Leaves alone who has failed: for a while where the pool says so, else for this step. */
  #giveUp(kind: ErrorClass, { step, attempt }: Pick<Failure, 'step' | 'attempt'>): readonly NewEvent[] {
    if (this.#isFinal(kind.reason)) return [];
    const { asked = {} } = this.#memory;
    const at = this.#now();
    const window = this.#pool.failed(asked.credential, asked.model, kind, at);
    this.#giveUpModels(kind, window);
    if (window === undefined || window === 'renewed') return [];
    const { reason, until, scope } = window;
    return [notice('failover.cooling', { step, attempt, reason, scope, from: asked, delayMs: until - at, until })];
  }

  /** Without a cooldown, or where another credential must not be tried, the model itself is out; without a fallback all others are. */
  #giveUpModels({ reason, scope }: ErrorClass, window: ReturnType<CredentialPool['failed']>): void {
    const { givenUp, asked, chain } = this.#memory;
    const { rotate, fallBack } = this.#settings.actions[reason];
    if (window === undefined || (!rotate && scope !== 'service')) givenUp.add(asked?.model);
    if (!fallBack) for (const { model } of chain) if (model !== asked?.model) givenUp.add(model);
  }

  #retry(delayMs: number, reason: ErrorReason): Plan {
    return { kind: 'retry', to: this.#memory.asked ?? {}, delayMs, reason };
  }

  #next(reason: ErrorReason): Plan {
    const memory = this.#memory;
    if (memory.records.length > 0 && this.#isUsedUp(this.#now())) {
      return { kind: 'nobody', freeAt: availableAt(memory, this.#pool) };
    }
    const found = choose(memory, this.#pool);
    if (found === undefined) return { kind: 'nobody', freeAt: undefined };
    if ('lease' in found) return found;
    const delayMs = found.until === undefined ? this.#settings.maxWaitMs : Math.max(0, found.until - this.#now());
    if (!this.#isWorthWaiting(delayMs, this.#now())) return { kind: 'nobody', freeAt: found.until };
    return {
      kind: 'wait',
      to: this.#named(found.place, found.profile),
      delayMs,
      reason: reason === 'unknown' ? found.reason : reason,
    };
  }

  /** Says what comes next, and lets the request follow at once or after a while. */
  #follow(
    plan: Exclude<Plan, { kind: 'nobody' }>,
    before: readonly NewEvent[],
    { step, attempt }: Pick<Failure, 'step' | 'attempt'>,
    again: () => Request,
    reason: ErrorReason,
  ): DecisionInput {
    const { asked: from = {} } = this.#memory;
    const ask = (free: Free): readonly NewEvent[] => {
      const sent = this.#send({ ...again(), at: this.#now() }, free);
      const isSame = from.model === sent.model && from.credential === sent.credential;
      return isSame ? [sent] : [this.#switched(from, reason, attempt), sent];
    };
    if (plan.kind === 'ask') return [...before, ...ask(plan)];
    const { kind, to, delayMs } = plan;
    const said = notice(kind === 'retry' ? 'failover.retrying' : 'failover.waiting', {
      step,
      attempt,
      reason,
      from,
      to,
      delayMs,
    });
    return eventsLater(this.#operator, [...before, said], delayMs, {
      wakeUp: kind === 'retry' ? undefined : (listener) => this.#pool.onChange(listener),
      next: () => {
        const then = this.#next(reason);
        if (then.kind === 'ask') return { events: ask(then) };
        return then.kind === 'nobody'
          ? { events: this.#stopped({ step, attempt }, then.freeAt) }
          : { waitMs: then.delayMs };
      },
    });
  }

  /** The request for who is asked, in a form that they take. */
  #send(request: Request, { place, lease }: Free): Request {
    const memory = this.#memory;
    memory.current = place;
    this.#lease = lease;
    const { model, settings } = memory.chain[place] ?? {};
    const credential = lease.profile ?? (this.#settings.pool === undefined ? request.credential : undefined);
    if (memory.asked === undefined || memory.asked.model !== model || memory.asked.credential !== credential) {
      memory.asked = { ...(model !== undefined && { model }), ...(credential !== undefined && { credential }) };
    }
    return this.#shaper.shape(request, memory.asked, settings);
  }

  #named(place: number, profile: string | undefined): Asked {
    const { model } = this.#memory.chain[place] ?? {};
    return { ...(model !== undefined && { model }), ...(profile !== undefined && { credential: profile }) };
  }

  #switched(from: Asked, reason: ErrorReason, attempt: number): NewEvent {
    const { step, asked: to = {} } = this.#memory;
    return notice('failover.switched', { step, attempt, reason, from, to, delayMs: 0 });
  }

  #exhausted(
    { step, attempt }: Pick<Failure, 'step' | 'attempt'>,
    reason: ErrorReason,
    freeAt: number | undefined,
  ): NewEvent {
    const attempts = this.#memory.records.length;
    return notice('failover.exhausted', {
      step,
      attempt,
      reason,
      attempts,
      ...(freeAt !== undefined && { availableAt: freeAt }),
    });
  }

  /** A single failure after which nobody else could be asked is told as it is. */
  #errorOf(freeAt: number | undefined, last: ErrorInfo): ErrorInfo {
    const { records } = this.#memory;
    return records.length === 1 && freeAt === undefined
      ? last
      : exhaustedError(records, records[0]?.error ?? last, freeAt);
  }

  /** Ends the turn where no call is open that could be answered. */
  #stopped(place: Pick<Failure, 'step' | 'attempt'>, freeAt: number | undefined): readonly NewEvent[] {
    const error = this.#errorOf(freeAt, {
      name: 'Error',
      message: 'All credentials are left alone after earlier failures.',
    });
    return [
      this.#exhausted(place, this.#memory.records[0]?.reason ?? 'unknown', freeAt),
      stop('error', error.message, error),
    ];
  }
}

/** An answer that is none, as the failure that it is. */
const asFailure = ({ turn, at, step, attempt, usage }: Response, error: ErrorInfo): Failure => ({
  type: 'model.error',
  turn,
  at,
  step,
  attempt,
  usage,
  error,
});

const listOf = (events: NewEvent | readonly NewEvent[]): readonly NewEvent[] => ('type' in events ? [events] : events);
