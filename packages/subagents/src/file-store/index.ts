export {
  fileChildStore,
  type ChildStoreProblem,
  type FileChildStore,
  type FileChildStoreOptions,
} from './file-child-store.js';
