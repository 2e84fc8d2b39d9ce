export {
  contentFiles,
  ContentChangedError,
  type ContentFiles,
  type ContentFilesOptions,
  type FileSource,
  type StoredFile,
} from './content-files.js';
export { objectArtifacts, type ObjectArtifacts, type ObjectArtifactsOptions } from './object-artifacts.js';
export {
  checkKey,
  chunksOf,
  ObjectKeyError,
  ObjectStoreError,
  ObjectTooLargeError,
  type ByteRange,
  type ListedObject,
  type ObjectContent,
  type ObjectInfo,
  type ObjectSlice,
  type ObjectStore,
  type PutObjectOptions,
  type PutObjectResult,
} from './object-store.js';
