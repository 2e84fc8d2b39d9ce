import type { Agent, ApprovalDecision, TurnEventOf, TurnInput } from '@h/turn';
import type { View } from './view/view.js';

/** Asks a person whether something may happen. The signal says that the question is no longer open. */
export type Approver = (request: TurnEventOf<'approval.request'>, signal: AbortSignal) => Promise<ApprovalDecision>;

/** A turn that is being shown. */
export interface ShownTurn {
  /** Fulfilled when the turn is over; `undefined` if it was left. */
  readonly end: Promise<TurnEventOf<'turn.end'> | undefined>;
  /** Ends the turn; it says so itself. */
  cancel(reason: string): void;
  /** Stops everything at once. */
  leave(): void;
}

/** Starts a turn, shows its events and has its requests for approval answered. */
export const showTurn = (agent: Agent, input: Pick<TurnInput, 'session' | 'input'>, view: View, approve: Approver): ShownTurn => {
  const cancelled = new AbortController();
  const over = new AbortController();
  let last: TurnEventOf<'turn.end'> | undefined;
  let left = (): void => undefined;
  const end = new Promise<typeof last>((resolve, reject) => {
    const ask = async (request: TurnEventOf<'approval.request'>): Promise<void> => {
      agent.answer(request.id, await approve(request, over.signal));
    };
    const subscription = agent.turn({ ...input, signal: cancelled.signal }).subscribe({
      next: (event) => {
        if (event.type === 'turn.end') {
          last = event;
          over.abort();
        }
        view.event(event);
        if (event.type === 'approval.request') ask(event).catch(reject);
      },
      error: reject,
      complete: () => resolve(last),
    });
    left = () => {
      over.abort();
      subscription.unsubscribe();
      resolve(undefined);
    };
  });
  return { end, cancel: (reason) => cancelled.abort(reason), leave: () => left() };
};
