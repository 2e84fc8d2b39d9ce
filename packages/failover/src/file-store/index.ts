export { filePoolStore, type FilePoolStoreOptions } from './file-pool-store.js';
