import type { Callbacks } from './callbacks.js';
import { abortError, LaneError, LaneTimeoutError } from '../errors.js';
import type { SlotHolder, Waiter } from './waiter.js';

/** The operations of the keeper that {@link Stops} calls. */
export interface StopsKeeper {
  now(): number;
  /** Refuses a waiting request. */
  dismiss(waiter: Waiter, error: LaneError): void;
  /** Cancels the wait of a holder for its lent slot. */
  cancelReturn(holder: SlotHolder, error: LaneError): void;
  /** Revokes the slot of a holder; {@link admitAll} assigns it to the next request. */
  revoke(holder: SlotHolder): void;
  /** Admits all requests that have a free slot. */
  admitAll(): void;
  /** The time limit that ends next has changed. */
  dueChanged(holder: SlotHolder): void;
}

/** Stops work: asks it to stop, waits for the grace period, then revokes its slot. */
export class Stops {
  readonly #keeper: StopsKeeper;
  readonly #callbacks: Callbacks;

  constructor(keeper: StopsKeeper, callbacks: Callbacks) {
    this.#keeper = keeper;
    this.#callbacks = callbacks;
  }

  /** Refuses a waiting request; asks a holder to stop, once. */
  abort(waiter: Waiter, reason: unknown): void {
    if (waiter.state === 'over') return;
    const { holder } = waiter;
    if (!holder) this.#keeper.dismiss(waiter, asError(waiter, reason));
    else if (!holder.stopError) this.#stop(holder, asError(waiter, reason));
  }

  /** Applies the timeouts of a holder. */
  expire(holder: SlotHolder): void {
    const now = this.#keeper.now();
    if (!holder.isCurrent || holder.dueAt > now) return;
    if (holder.stopError) {
      this.#force(holder, holder.stopError);
      return;
    }
    const { session, waiter, waitingChildren } = holder;
    const { idleTimeoutMs, deadlineMs } = waiter.limits;
    const [ranMs, idleMs] = [now - holder.startedAt, now - holder.progressAt];
    const isDeadline = ranMs >= deadlineMs;
    if (!isDeadline && this.#isAtWork(waiter)) {
      holder.progressAt = now;
      return;
    }
    const [kind, limitMs] = isDeadline ? (['deadline', deadlineMs] as const) : (['idle', idleTimeoutMs] as const);
    this.abort(waiter, new LaneTimeoutError(session, kind, limitMs, ranMs, idleMs, waitingChildren));
  }

  /** Asks a holder to stop and revokes its slot, because the slot was given to another process. */
  lose(holder: SlotHolder, error: LaneError): void {
    const { waiter, session } = holder;
    if (!holder.stopError) {
      holder.stopError = error;
      this.#callbacks.report({ type: 'aborted', session, label: waiter.request.label, error });
      this.#callbacks.call(waiter, signal, error);
      this.#callbacks.call(waiter, notifyAborted, error);
    }
    if (waiter.state === 'admitted') this.#force(holder, error);
  }

  /** Reports work that ended after its slot was lost. */
  endedLate(holder: SlotHolder): void {
    if (holder.lostAt === undefined) return;
    const lateMs = this.#keeper.now() - holder.lostAt;
    holder.lostAt = undefined;
    this.#callbacks.report({
      type: 'late',
      session: holder.session,
      label: holder.waiter.request.label,
      fence: holder.fence,
      lateMs,
    });
  }

  #stop(holder: SlotHolder, error: LaneError): void {
    const { waiter, session } = holder;
    const { graceMs } = waiter.limits;
    holder.stopError = error;
    holder.graceUntil = this.#keeper.now() + graceMs;
    this.#callbacks.report({ type: 'aborted', session, label: waiter.request.label, error });
    this.#keeper.cancelReturn(holder, error);
    this.#callbacks.call(waiter, signal, error);
    this.#callbacks.call(waiter, notifyAborted, error);
    if (!holder.isCurrent) return;
    if (graceMs <= 0) this.#force(holder, error);
    else this.#keeper.dueChanged(holder);
  }

  /** Revokes the slot; later results are ignored. */
  #force(holder: SlotHolder, error: LaneError): void {
    const { waiter, session, fence } = holder;
    holder.lostAt = this.#keeper.now();
    this.#keeper.cancelReturn(holder, error);
    this.#keeper.revoke(holder);
    this.#callbacks.report({ type: 'lost', session, label: waiter.request.label, fence, error });
    this.#callbacks.call(waiter, notifyLost, error);
    this.#keeper.admitAll();
  }

  #isAtWork(waiter: Waiter): boolean {
    const answer = { isAtWork: false };
    this.#callbacks.call(waiter, askWhetherAtWork, answer);
    return answer.isAtWork;
  }
}

const asError = ({ session }: Waiter, reason: unknown): LaneError =>
  reason instanceof LaneError ? reason : abortError(session, reason);

const signal = ({ holder }: Waiter, error: LaneError): void => holder?.signalStop(error);

const notifyAborted = ({ listener }: Waiter, error: LaneError): void => listener.aborted?.(error);

const notifyLost = ({ listener }: Waiter, error: LaneError): void => listener.lost?.(error);

const askWhetherAtWork = ({ listener }: Waiter, answer: { isAtWork: boolean }): void => {
  answer.isAtWork = listener.isAtWork?.() === true;
};
