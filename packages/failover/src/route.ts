import {
  notice,
  stop,
  type DecisionInput,
  type ErrorInfo,
  type NewEvent,
  type OperatorContext,
  type TurnEventOf,
} from '@h/turn';
import type { ErrorClass, ErrorReason } from '@h/provider-errors';
import { from, isObservable, map, Observable, of, switchMap } from 'rxjs';
import { decide, excludedModels, select, type Plan, type Selection } from './decide.js';
import type { FailoverTarget } from './events.js';
import { exhaustedError } from './exhausted.js';
import type { FailoverSettings } from './options.js';
import type { CredentialPool } from './pool/credential-pool.js';
import type { Lease } from './pool/profile-picker.js';
import { requestShaper } from './shape-request.js';
import type { TurnState } from './turn-state.js';

type Request = TurnEventOf<'model.request'>;
type Response = TurnEventOf<'model.response'>;
type Failure = TurnEventOf<'model.error'>;
type Answer = NewEvent | readonly NewEvent[] | undefined;
/** What the request or error that is being answered belongs to. */
type Place = Pick<Failure, 'step' | 'attempt'>;
/** A step that continues: at once, or after a wait. */
type Continuation =
  | Extract<Selection, { kind: 'ask' }>
  | { readonly kind: 'retry' | 'wait'; readonly to: FailoverTarget; readonly delayMs: number };

/** Carries out what {@link decide} and {@link select} decide: leases, cooldowns, delays, notices and requests. */
export interface Router {
  /** Chooses the model and credential of a request; waits if all are in cooldown. */
  send(request: Request): DecisionInput;
  /** Answers a failed call, or an answer that counts as failed. Passes the event if nothing can be done. */
  failed(given: Failure | Response, error: ErrorInfo): DecisionInput;
  succeeded(): void;
  /** Learns from a call that failed before a crash; its cooldowns last for what is left of them. */
  recall(failure: Failure): void;
  /** Lets other turns probe what this turn was probing. */
  release(): void;
}

export const createRouter = (
  settings: FailoverSettings,
  pool: CredentialPool,
  state: TurnState,
  operator: OperatorContext,
): Router => {
  let lease: Lease | undefined;
  let latest: Request | undefined;
  const targetAt = (position: number, profile: string | undefined): FailoverTarget => {
    const { model } = state.chain[position] ?? {};
    return { ...(model !== undefined && { model }), ...(profile !== undefined && { credential: profile }) };
  };
  const shape = requestShaper(() => state.home ?? targetAt(0, undefined));
  const now = (): number => operator.now();
  const next = (): Selection => select(state, pool, now(), state.progress, settings);
  const release = (): void => {
    lease?.release();
    lease = undefined;
  };

  /** An abort that this turn has not asked for is a broken connection. */
  const classify = (error: ErrorInfo): ErrorClass => {
    const found = settings.classify(error, { now: now() });
    return found.reason === 'aborted' ? { ...found, reason: 'network', scope: 'service', retryable: true } : found;
  };

  /** Records a failed call and starts its cooldown, if it gets one. Live and replayed failures go through here alike. */
  const settle = (attempt: number, error: ErrorInfo, at: number) => {
    const failure = classify(error);
    state.fail({ attempt, reason: failure.reason, at, error });
    const plan = decide(failure, at, state.progress, settings);
    if (plan.kind !== 'switch') return { failure, plan, cooldown: undefined };
    const { model, credential } = state.target ?? {};
    const cooldown = pool.failed(credential, model, failure, at);
    const excluded = excludedModels(failure, cooldown !== undefined, model, state.chain, settings.actions);
    for (const name of excluded) state.excluded.add(name);
    return { failure, plan, cooldown: cooldown === 'renewed' ? undefined : cooldown };
  };

  /** The request in the form that the selected model accepts. */
  const shaped = (request: Request, { position, lease: acquired }: Extract<Selection, { kind: 'ask' }>): Request => {
    state.current = position;
    lease = acquired;
    const { model, settings: modelSettings } = state.chain[position] ?? {};
    const credential = acquired.profile ?? (settings.pool === undefined ? request.credential : undefined);
    return shape(request, state.setTarget(model, credential), modelSettings);
  };

  const switched = (from: FailoverTarget, reason: ErrorReason, attempt: number): NewEvent =>
    notice('failover.switched', { step: state.step, attempt, reason, from, to: state.target ?? {}, delayMs: 0 });

  /** The events that continue a step: the notice of what happens, and the request at once or after the wait. */
  const proceed = (
    first: Continuation,
    before: readonly NewEvent[],
    { step, attempt }: Place,
    request: () => Request,
    reason: ErrorReason,
  ): DecisionInput => {
    const { target: from = {} } = state;
    const ask = (selected: Extract<Selection, { kind: 'ask' }>): readonly NewEvent[] => {
      const sent = shaped({ ...request(), at: now() }, selected);
      const isSame = from.model === sent.model && from.credential === sent.credential;
      return isSame ? [sent] : [switched(from, reason, attempt), sent];
    };
    if (first.kind === 'ask') return [...before, ...ask(first)];
    const { kind, to, delayMs } = first;
    const type = kind === 'retry' ? 'failover.retrying' : 'failover.waiting';
    const announced = notice(type, { step, attempt, reason, from, to, delayMs });
    return afterWait(operator, [...before, announced], delayMs, {
      onWake: kind === 'retry' ? undefined : (listener) => pool.onChange(listener),
      next: () => {
        const selected = next();
        if (selected.kind === 'wait') return { waitMs: selected.delayMs };
        return { events: selected.kind === 'ask' ? ask(selected) : ended({ step, attempt }, selected.availableAt) };
      },
    });
  };

  const exhausted = ({ step, attempt }: Place, reason: ErrorReason, availableAt: number | undefined): NewEvent =>
    notice('failover.exhausted', {
      step,
      attempt,
      reason,
      attempts: state.records.length,
      ...(availableAt !== undefined && { availableAt }),
    });

  /** A single failure after which nothing else could be tried is reported as it is. */
  const finalError = (availableAt: number | undefined, last: ErrorInfo): ErrorInfo =>
    state.records.length === 1 && availableAt === undefined
      ? last
      : exhaustedError(state.records, state.records[0]?.error ?? last, availableAt);

  /** Ends the turn if no call is open that the error could answer. */
  const ended = (place: Place, availableAt: number | undefined): readonly NewEvent[] => {
    const hasCredentials = state.chain.some(
      ({ provider }) => provider !== undefined && pool.providers.includes(provider),
    );
    const subject = hasCredentials ? 'All credentials are' : state.chain.length > 1 ? 'All models are' : 'The model is';
    const error = finalError(availableAt, { name: 'Error', message: `${subject} in cooldown after earlier failures.` });
    return [exhausted(place, state.records[0]?.reason ?? 'unknown', availableAt), stop('error', error.message, error)];
  };

  const waitFor = ({ position, profile, delayMs }: Extract<Selection, { kind: 'wait' }>): Continuation => ({
    kind: 'wait',
    to: targetAt(position, profile),
    delayMs,
  });
  const retryAfter = (delayMs: number): Continuation => ({ kind: 'retry', to: state.target ?? {}, delayMs });

  /** What was decided before a crash, as far as it has not happened. */
  const resumed = ({
    error,
    at,
  }: {
    readonly error: ErrorInfo;
    readonly at: number;
  }): Plan & { reason: ErrorReason } => {
    const failure = classify(error);
    const plan = decide(failure, at, state.progress, settings);
    return { ...plan, reason: failure.reason };
  };

  const sendNow = (request: Request): DecisionInput => {
    const before = state.target;
    const unanswered = state.begin(request, now());
    latest = request;
    const plan = unanswered && resumed(unanswered);
    if (plan?.kind === 'retry') {
      const leftMs = Math.max(0, (unanswered?.at ?? 0) + plan.delayMs - now());
      return proceed(retryAfter(leftMs), [], request, () => request, plan.reason);
    }
    const selected = next();
    if (selected.kind === 'exhausted') return ended(request, selected.availableAt);
    if (selected.kind === 'wait') {
      return proceed(waitFor(selected), [], request, () => request, plan?.reason ?? selected.reason);
    }
    const sent = shaped(request, selected);
    if (selected.because === undefined) return sent === request ? undefined : sent;
    return [switched(before ?? targetAt(0, undefined), selected.because, request.attempt), sent];
  };

  return {
    send: (request) => {
      state.isEnding = false;
      const refreshed = pool.refresh();
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
      const request = latest;
      if (request === undefined) return undefined;
      const at = now();
      const { failure, plan, cooldown } = settle(given.attempt, error, at);
      // Turns that wait for this outcome select now: the cooldown has begun.
      release();
      if (plan.kind === 'pass') return undefined;
      const { step, attempt } = given;
      const { target: from = {} } = state;
      const { reason } = failure;
      const cooling =
        cooldown === undefined
          ? []
          : [
              notice('failover.cooling', {
                step,
                attempt,
                reason: cooldown.reason,
                scope: cooldown.scope,
                from,
                delayMs: cooldown.until - at,
                until: cooldown.until,
              }),
            ];
      const event = given.type === 'model.error' ? given : asFailure(given, error);
      const selected = plan.kind === 'retry' ? retryAfter(plan.delayMs) : next();
      if (selected.kind !== 'exhausted') {
        const continuation = 'position' in selected && selected.kind === 'wait' ? waitFor(selected) : selected;
        const before = [{ ...event, retrying: true }, ...cooling];
        return proceed(continuation, before, event, () => operator.askAgain(request, event), reason);
      }
      if (given.type === 'model.response') return [...cooling, given];
      const { availableAt } = selected;
      return [...cooling, exhausted(event, reason, availableAt), { ...event, error: finalError(availableAt, error) }];
    },

    succeeded: () => {
      const { target } = state;
      if (target !== undefined) pool.succeeded(target.credential, target.model);
      release();
    },

    recall: ({ attempt, error, at }) => void settle(attempt, error, at),

    release,
  };
};

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
