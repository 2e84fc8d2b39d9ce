import type { TurnEvent, TurnEventOf } from '@h/turn';
import type { Observable } from 'rxjs';
import type { Slot } from './slots.js';
import { quietly } from './quietly.js';

/** How a turn ended. */
export type End = Pick<TurnEventOf<'turn.end'>, 'outcome' | 'reason' | 'error'>;

/** Runs a turn to its end. It releases its slot while it waits for approval. */
export const followTurn = (
  turn$: Observable<TurnEvent>,
  slot: Slot,
  onEvent?: (event: TurnEvent) => void,
): Promise<End> =>
  new Promise((resolve, reject) => {
    const watch = watcher(slot);
    let end: End = { outcome: 'cancelled' };
    turn$.subscribe({
      next: (event) => {
        if (event.type === 'turn.end') end = endIn(event);
        watch(event);
        if (onEvent) quietly(() => onEvent(event));
      },
      error: reject,
      complete: () => resolve(end),
    });
  });

const endIn = ({ outcome, reason, error }: TurnEventOf<'turn.end'>): End => ({
  outcome,
  ...(reason !== undefined && { reason }),
  ...(error && { error }),
});

// Requests of the replayed part are made again.
const watcher = (slot: Slot): ((event: TurnEvent) => void) => {
  const asked = new Set<string>();
  return (event) => {
    if (event.replayed === true) return;
    if (event.type === 'approval.request') asked.add(event.id);
    else if (event.type === 'approval.answer') asked.delete(event.id);
    // A turn that calls the model does not wait for approval.
    else if (event.type === 'model.request') asked.clear();
    else return;
    if (asked.size > 0) slot.pause();
    else slot.resume();
  };
};
