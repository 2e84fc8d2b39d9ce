import {
  annotate,
  notice,
  retry,
  stop,
  type DecisionInput,
  type ErrorInfo,
  type NewEvent,
  type OperatorContext,
  type TurnEventOf,
} from '@h/turn';
import type { ErrorClass, ErrorReason } from '@h/provider-errors';
import { from, isObservable, map, Observable, of, switchMap } from 'rxjs';
import { decide, select, type Exhausted, type Selection } from './decide.js';
import type { FailoverTarget } from './events.js';
import { exhaustedError } from './exhausted.js';
import type { FailoverSettings } from './options.js';
import type { CredentialLease } from './pool/profile-picker.js';
import type { TurnPool } from './pool/turn-pool.js';
import { requestShaper } from './shape-request.js';
import { isSameTarget, ownName, verdictOf, type StepState, type TurnState } from './turn-state.js';

type Request = TurnEventOf<'model.request'>;
type Response = TurnEventOf<'model.response'>;
type Failure = TurnEventOf<'model.error'>;
type Answer = NewEvent | readonly NewEvent[] | undefined;
type Chosen = Extract<Selection, { kind: 'ask' }>;
/** The failed call that a request follows, or the request itself if no call has failed. */
type Place = Pick<Failure, 'step' | 'attempt'>;

/**
 * Carries out what {@link decide} and {@link select} decide.
 *
 * What was tried is in the state, which learns from events; only the lease of the call under way is kept here.
 */
export interface Router {
  /** Chooses the model and credential of a request; holds it while a retry is not due or all are in cooldown. */
  send(request: Request): DecisionInput;
  /** Decides about a failed call, or an answer that counts as failed. Passes the event if nothing can be done. */
  failed(given: Failure | Response, error: ErrorInfo): DecisionInput;
  /** The call under way has succeeded. */
  succeeded(): void;
  /** The call under way is over: other turns may probe what it was probing. */
  release(): void;
}

export const createRouter = (
  settings: FailoverSettings,
  pools: TurnPool,
  state: TurnState,
  operator: OperatorContext,
): Router => {
  let lease: CredentialLease | undefined;
  const now = (): number => operator.now();
  /** The first model of the chain. */
  let preferred: FailoverTarget = {};
  const shape = requestShaper(() => state.home ?? preferred);
  const next = (step: StepState): Selection =>
    pools.existing === undefined && step.records.length === 0
      ? { kind: 'ask', position: step.current, lease: withoutCredential, reason: undefined }
      : select({ ...step, session: state.session }, pools.pool, now(), step.progress, settings);
  const release = (): void => {
    lease?.release();
    lease = undefined;
  };

  /** An abort that this turn has not asked for is a broken connection. */
  const classify = (error: ErrorInfo): ErrorClass => {
    const found = settings.classify(error, { now: now() });
    return found.reason === 'aborted' ? { ...found, reason: 'network', scope: 'service', retryable: true } : found;
  };

  /**
   * The request in the form that the selected model accepts. It notes the model that was requested, if that is another.
   */
  const shaped = (request: Request, step: StepState, { position, lease: acquired }: Chosen): Request => {
    lease = acquired;
    const { model, settings: modelSettings } = step.chain[position] ?? {};
    const credential = acquired.profile ?? (settings.pool === undefined ? request.credential : undefined);
    preferred = targetAt(step, 0, undefined);
    const { target } = state;
    const same = target !== undefined && isSameTarget(target, { model, credential }) ? target : undefined;
    const sent = shape(request, same ?? targetOf(model, credential), modelSettings);
    return model === request.model ? sent : annotate(sent, ownName, { requested: request.model ?? null });
  };

  const exhausted = ({ step, attempt }: Place, { records }: StepState, reason: ErrorReason, availableAt?: number) =>
    notice('failover.exhausted', {
      step,
      attempt,
      reason,
      attempts: records.length,
      ...(availableAt !== undefined && { availableAt }),
    });

  /** A single failure after which nothing else could be tried is reported as it is. */
  const finalError = ({ records }: StepState, found: Exhausted, last: ErrorInfo): ErrorInfo =>
    records.length === 1 && found.availableAt === undefined
      ? last
      : exhaustedError(records, records[0]?.error ?? last, found, settings);

  /** Ends the turn in the place of a request that cannot be sent. */
  const ended = (place: Place, step: StepState, found: Exhausted): readonly NewEvent[] => {
    const { chain, records } = step;
    const hasCredentials = chain.some(
      ({ provider }) => provider !== undefined && pools.pool.providers.includes(provider),
    );
    const subject = hasCredentials ? 'All credentials are' : chain.length > 1 ? 'All models are' : 'The model is';
    const inCooldown = { name: 'Error', message: `${subject} in cooldown after earlier failures.` };
    const error = finalError(step, found, records[0]?.error ?? inCooldown);
    return [
      exhausted(place, step, records[0]?.reason ?? 'unknown', found.availableAt),
      stop('error', error.message, error),
    ];
  };

  const sendNow = (request: Request): DecisionInput => {
    const step = state.before(request);
    const { latestFailure: failure } = state;
    const place: Place = { step: request.step, attempt: failure?.attempt ?? request.attempt };
    const { target } = state;

    const ask = (chosen: Chosen, failed: ErrorReason | undefined): readonly NewEvent[] => {
      const sent = shaped(request, step, chosen);
      const reason = failed ?? chosen.reason;
      const before = target ?? targetAt(step, 0, undefined);
      if (reason === undefined || (target !== undefined && isSameTarget(target, sent))) return [sent];
      const to = targetOf(sent.model, sent.credential);
      return [notice('failover.switched', { ...place, reason, from: before, to, delayMs: 0 }), sent];
    };
    const held = (
      kind: 'retrying' | 'waiting',
      to: FailoverTarget,
      delayMs: number,
      reason: ErrorReason,
    ): Observable<readonly NewEvent[]> =>
      afterWait(
        operator,
        [notice(`failover.${kind}`, { ...place, reason, from: target ?? {}, to, delayMs })],
        delayMs,
        {
          onWake: kind === 'retrying' ? undefined : (listener) => pools.pool.onChange(listener),
          next: () => {
            const selected = next(step);
            if (selected.kind === 'wait') return { waitMs: selected.delayMs };
            if (selected.kind === 'exhausted') return { events: ended(place, step, selected) };
            return {
              events: ask(selected, reason).map((event) =>
                event.type === 'model.request' ? { ...event, at: now() } : event,
              ),
            };
          },
        },
      );

    const retryAt = failure?.verdict.retryAt;
    if (failure && retryAt !== undefined) {
      return held('retrying', target ?? {}, Math.max(0, retryAt - now()), failure.reason);
    }
    const selected = next(step);
    if (selected.kind === 'exhausted') return ended(place, step, selected);
    if (selected.kind === 'wait') {
      const { position, profile, delayMs } = selected;
      return held('waiting', targetAt(step, position, profile), delayMs, failure?.reason ?? selected.reason);
    }
    const events = ask(selected, failure?.reason);
    if (events.length > 1) return events;
    return events[0] === request ? undefined : events[0];
  };

  return {
    send: (request) => {
      const refreshed = pools.existing?.refresh();
      if (refreshed === undefined) return sendNow(request);
      return from(refreshed).pipe(
        switchMap(() => {
          const answer = sendNow(request);
          return isObservable(answer)
            ? (answer as Observable<readonly NewEvent[]>)
            : of(answer as Answer).pipe(map((events) => listOf(events ?? request)));
        }),
      );
    },

    failed: (given, error) => {
      if (lease === undefined || !state.isAsked) return undefined;
      const at = now();
      const failure = classify(error);
      const record = (verdict: ReturnType<typeof verdictOf>) =>
        state.after(state.recordOf({ ...given, at }, error, verdict));
      const event: Failure = given.type === 'model.error' ? given : asFailure(given, error);
      const decided = (verdict: ReturnType<typeof verdictOf>): Failure => annotate(event, ownName, verdict);

      const passed = verdictOf(failure, 'pass');
      const plan = decide(failure, at, record(passed).progress, settings);
      if (plan.kind === 'pass') {
        release();
        return given.type === 'model.error' ? decided(passed) : undefined;
      }
      if (plan.kind === 'retry') {
        release();
        return retry(decided(verdictOf(failure, 'retry', { retryAt: at + plan.delayMs })));
      }
      const { model, credential } = state.target ?? {};
      const cooldown = pools.pool.failed(credential, model, failure, at);
      // Turns that wait for this outcome select now: the cooldown has begun.
      release();
      const verdict = verdictOf(failure, 'switch', { hasCooldown: cooldown !== undefined });
      const cooling =
        cooldown === undefined || cooldown === 'renewed'
          ? []
          : [
              notice('failover.cooling', {
                step: given.step,
                attempt: given.attempt,
                reason: cooldown.reason,
                scope: cooldown.scope,
                from: state.target ?? {},
                delayMs: cooldown.until - at,
                until: cooldown.until,
              }),
            ];
      const step = record(verdict);
      const selected = next(step);
      if (selected.kind === 'ask') selected.lease.release();
      if (selected.kind !== 'exhausted') return [retry(decided(verdict)), ...cooling];
      if (given.type === 'model.response') return [...cooling, given];
      const final = { ...decided(verdict), error: finalError(step, selected, error) };
      return [...cooling, exhausted(event, step, failure.reason, selected.availableAt), final];
    },

    succeeded: () => {
      const { target } = state;
      if (lease !== undefined && state.isAsked) pools.existing?.succeeded(target?.credential, target?.model);
      release();
    },

    release,
  };
};

/** The lease of a call before any has failed, without a pool. */
const withoutCredential: CredentialLease = { profile: undefined, isProbe: false, release: () => undefined };

const targetOf = (model: string | undefined, credential: string | undefined): FailoverTarget => ({
  ...(model !== undefined && { model }),
  ...(credential !== undefined && { credential }),
});

const targetAt = ({ chain }: StepState, position: number, profile: string | undefined): FailoverTarget =>
  targetOf(chain[position]?.model, profile);

/** What happens when a wait ends. */
interface AfterWait {
  /** The last events, or how much longer to wait. */
  readonly next: () => { readonly events: readonly NewEvent[] } | { readonly waitMs: number };
  /** Subscribes to what may end the wait early, and returns how to unsubscribe. */
  readonly onWake?: ((listener: () => void) => () => void) | undefined;
}

/** Emits events now, and more after a wait. Unsubscribing ends the wait. */
const afterWait = (
  operator: Pick<OperatorContext, 'after'>,
  first: readonly NewEvent[],
  delayMs: number,
  { next, onWake }: AfterWait,
): Observable<readonly NewEvent[]> =>
  new Observable((subscriber) => {
    let cancelTimer = (): void => undefined;
    let isLooking = false;
    const look = (): void => {
      // Acquiring a lease may itself notify the listener.
      if (isLooking || subscriber.closed) return;
      isLooking = true;
      const found = next();
      isLooking = false;
      cancelTimer();
      if ('waitMs' in found) {
        cancelTimer = operator.after(found.waitMs, look);
        return;
      }
      subscriber.next(found.events);
      subscriber.complete();
    };
    subscriber.next(first);
    cancelTimer = operator.after(delayMs, look);
    const stopListening = onWake?.(look);
    subscriber.add(() => {
      cancelTimer();
      stopListening?.();
    });
  });

/** An answer that counts as failed, as the failure that it is. */
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
