import type { Unsubscribable } from 'rxjs';

/** Ends a subscription. What its teardown throws is nobody's to hear: the turn ends all the same, and lets its session go. */
export const endQuietly = (subscription: Unsubscribable | undefined): void => {
  try {
    subscription?.unsubscribe();
  } catch {
    // What was given up has nothing more to say.
  }
};
