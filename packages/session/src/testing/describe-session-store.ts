import type { MaybePromise, SessionStore } from '@h/turn';
import { describe, it } from 'vitest';
import { sessionStoreChecks, type SessionStoreSubject } from './store-checks.js';

/**
 * Tests a session store against the contract. Every store calls it in its tests.
 *
 * @param factory - creates an empty store for each test. With `reopen`, the suite also reads the sessions as another
 * process would; `dispose` cleans up.
 *
 * @example
 * ```ts
 * describeSessionStore(() => memorySessions());
 * describeSessionStore(() => ({ store: fileSessions({ directory }), reopen: () => fileSessions({ directory }) }));
 * ```
 */
export const describeSessionStore = (factory: () => MaybePromise<SessionStore | SessionStoreSubject>): void => {
  describe('keeps the contract of session stores', () => {
    for (const { name, check } of sessionStoreChecks) {
      it(name, async () => {
        const made = await factory();
        const subject = 'store' in made ? made : { store: made };
        try {
          await check(subject);
        } finally {
          await subject.dispose?.();
        }
      });
    }
  });
};
