export { createInbox, type Inbox } from './inbox.js';
export type { Delivery, InboxMode, SendOptions, Sent } from './delivery.js';
export type { InboxOptions } from './inbox-options.js';
export type { InboxContents, InboxStore, KeptMessage, KnownDelivery } from './inbox-store.js';
