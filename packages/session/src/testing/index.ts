export { describeSessionStore } from './describe-session-store.js';
export { sessionStoreChecks, type SessionStoreCheck, type SessionStoreSubject } from './store-checks.js';
