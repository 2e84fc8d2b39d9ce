import type { Callbacks } from './callbacks.js';
import { abortError, LaneError, LaneTimeoutError } from './errors.js';
import type { Holder } from './holder.js';
import type { Ticket } from './ticket.js';

/** What {@link Stops} asks of those who keep the tickets. */
export interface StopsKeeper {
  now(): number;
  /** Sends somebody away who waits. */
  dismiss(ticket: Ticket, error: LaneError): void;
  /** Whoever waits for its place again waits no longer. */
  giveUpReturn(holder: Holder, error: LaneError): void;
  /** Takes its place away, for the next one, who is let in by {@link letIn}. */
  takeAway(holder: Holder): void;
  /** Lets in everybody for whom there is a slot. */
  letIn(): void;
  /** Something is due at another time. */
  dueChanged(holder: Holder): void;
}

/** Ends the work of those who are to stop: tells them, leaves them a grace, and takes the place away. */
export class Stops {
  readonly #keeper: StopsKeeper;
  readonly #callbacks: Callbacks;

  constructor(keeper: StopsKeeper, callbacks: Callbacks) {
    this.#keeper = keeper;
    this.#callbacks = callbacks;
  }

  /** Who waits is sent away; who has a place is told to stop, once. */
  abort(ticket: Ticket, reason: unknown): void {
    if (ticket.state === 'over') return;
    const { holder } = ticket;
    if (!holder) this.#keeper.dismiss(ticket, asError(ticket, reason));
    else if (!holder.stopError) this.#stop(holder, asError(ticket, reason));
  }

  /** Does what is due for somebody who has a place. */
  expire(holder: Holder): void {
    const now = this.#keeper.now();
    if (!holder.isCurrent || holder.dueAt > now) return;
    if (holder.stopError) {
      this.#force(holder, holder.stopError);
      return;
    }
    const { session, ticket, waitingChildren } = holder;
    const { idleTimeoutMs, deadlineMs } = ticket.limits;
    const [ranMs, idleMs] = [now - holder.startedAt, now - holder.progressAt];
    const isDeadline = ranMs >= deadlineMs;
    if (!isDeadline && this.#isPaused(ticket)) {
      holder.progressAt = now;
      return;
    }
    const [kind, limitMs] = isDeadline ? (['deadline', deadlineMs] as const) : (['idle', idleTimeoutMs] as const);
    this.abort(ticket, new LaneTimeoutError(session, kind, limitMs, ranMs, idleMs, waitingChildren));
  }

  /** Somebody whose place was taken away has come to its end. */
  cameLate(holder: Holder): void {
    if (holder.lostAt === undefined) return;
    const lateMs = this.#keeper.now() - holder.lostAt;
    holder.lostAt = undefined;
    this.#callbacks.report({
      type: 'late',
      session: holder.session,
      label: holder.ticket.request.label,
      fence: holder.fence,
      lateMs,
    });
  }

  #stop(holder: Holder, error: LaneError): void {
    const { ticket, session } = holder;
    const { graceMs } = ticket.limits;
    holder.stopError = error;
    holder.graceUntil = this.#keeper.now() + graceMs;
    this.#callbacks.report({ type: 'aborted', session, label: ticket.request.label, error });
    this.#keeper.giveUpReturn(holder, error);
    this.#callbacks.call(ticket, signal, error);
    this.#callbacks.call(ticket, tellAborted, error);
    if (!holder.isCurrent) return;
    if (graceMs <= 0) this.#force(holder, error);
    else this.#keeper.dueChanged(holder);
  }

  /** Others get its place, and what it does from now on does not count. */
  #force(holder: Holder, error: LaneError): void {
    const { ticket, session, fence } = holder;
    holder.lostAt = this.#keeper.now();
    this.#keeper.giveUpReturn(holder, error);
    this.#keeper.takeAway(holder);
    this.#callbacks.report({ type: 'lost', session, label: ticket.request.label, fence, error });
    this.#callbacks.call(ticket, tellLost, error);
    this.#keeper.letIn();
  }

  #isPaused(ticket: Ticket): boolean {
    const answer = { isPaused: false };
    this.#callbacks.call(ticket, askWhetherPaused, answer);
    return answer.isPaused;
  }
}

const asError = ({ session }: Ticket, reason: unknown): LaneError =>
  reason instanceof LaneError ? reason : abortError(session, reason);

const signal = ({ holder }: Ticket, error: LaneError): void => holder?.signalStop(error);

const tellAborted = ({ listener }: Ticket, error: LaneError): void => listener.aborted?.(error);

const tellLost = ({ listener }: Ticket, error: LaneError): void => listener.lost?.(error);

const askWhetherPaused = ({ listener }: Ticket, answer: { isPaused: boolean }): void => {
  const pause = listener.isPaused?.();
  answer.isPaused = pause === true || pause === 'at-work';
};
