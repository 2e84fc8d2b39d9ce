export { createInbox, type Inbox, type InboxSnapshot } from './inbox.js';
export type {
  Delivered,
  Delivery,
  InboxMode,
  InboxOptions,
  RecoverOptions,
  SendOptions,
  Sent,
} from './inbox-options.js';
export type { InboxContents, InboxStore, KeptMessage, KnownDelivery } from './inbox-store.js';
export type { RecoveredMessage } from './kept-inbox.js';
