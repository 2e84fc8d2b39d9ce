export { fileChildStore, type FileChildStore, type FileChildStoreOptions } from './file-child-store.js';
