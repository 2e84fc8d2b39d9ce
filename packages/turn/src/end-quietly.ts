import type { Unsubscribable } from 'rxjs';

/** Unsubscribes and ignores errors of the teardown, so that the turn can end and release its session. */
export const endQuietly = (subscription: Unsubscribable | undefined): void => {
  try {
    subscription?.unsubscribe();
  } catch {
    // The subscription has ended either way.
  }
};
