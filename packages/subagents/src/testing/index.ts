export { describeChildStore, type ChildStoreSubject } from './describe-child-store.js';
