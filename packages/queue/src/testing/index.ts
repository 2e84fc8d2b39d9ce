export { describeInboxStore, type InboxStoreSubject } from './describe-inbox-store.js';
export { describeLanes } from './describe-lanes.js';
