export { childRecord } from './child-record.js';
export { describeChildStore, type ChildStoreSubject } from './describe-child-store.js';
