export { fileInboxStore, type FileInboxStoreOptions } from './file-inbox-store.js';
export { InboxHeldError } from './inbox-held-error.js';
