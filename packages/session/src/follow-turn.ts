import type { TurnEvent, TurnEventOf } from '@h/turn';
import type { Observable } from 'rxjs';
import type { Place } from './places.js';
import { quietly } from './quietly.js';

/** How a turn ended. */
export type End = Pick<TurnEventOf<'turn.end'>, 'outcome' | 'reason' | 'error'>;

/** Runs a turn to its end. While it waits for a person, somebody else may have its place. */
export const followTurn = (
  turn$: Observable<TurnEvent>,
  place: Place,
  onEvent?: (event: TurnEvent) => void,
): Promise<End> =>
  new Promise((resolve, reject) => {
    const watch = watcher(place);
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

/** Steps aside while a person is asked. What was asked before the process died is asked again. */
const watcher = (place: Place): ((event: TurnEvent) => void) => {
  const asked = new Set<string>();
  return (event) => {
    if (event.replayed === true) return;
    if (event.type === 'approval.request') asked.add(event.id);
    else if (event.type === 'approval.answer') asked.delete(event.id);
    // Who asks the model waits for nobody, whatever has become of the question.
    else if (event.type === 'model.request') asked.clear();
    else return;
    if (asked.size > 0) place.stepAside();
    else place.goOn();
  };
};
