export { describeSessionStore } from './describe-session-store.js';
