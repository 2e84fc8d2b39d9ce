import type { NewEvent, OperatorContext } from '@h/turn';
import { Observable } from 'rxjs';

/** What happens when a wait is over. */
export interface AfterWait {
  /** Events to end with, or how much longer to wait. */
  next(): { readonly events: readonly NewEvent[] } | { readonly waitMs: number };
  /** Subscribes to what may end the wait early. @returns how to stop it */
  readonly wakeUp?: ((listener: () => void) => () => void) | undefined;
}

/** Says something now, and more after a while. Leaving ends the wait at once. */
export const eventsLater = (
  operator: Pick<OperatorContext, 'after'>,
  now: readonly NewEvent[],
  delayMs: number,
  then: AfterWait,
): Observable<readonly NewEvent[]> =>
  new Observable((subscriber) => {
    let cancelTimer = (): void => undefined;
    let isLooking = false;
    const look = (): void => {
      // Looking may itself change who is free.
      if (isLooking || subscriber.closed) return;
      isLooking = true;
      const found = then.next();
      isLooking = false;
      cancelTimer();
      if ('waitMs' in found) {
        cancelTimer = operator.after(found.waitMs, look);
        return;
      }
      subscriber.next(found.events);
      subscriber.complete();
    };
    subscriber.next(now);
    cancelTimer = operator.after(delayMs, look);
    const stopListening = then.wakeUp?.(look);
    subscriber.add(() => {
      cancelTimer();
      stopListening?.();
    });
  });
