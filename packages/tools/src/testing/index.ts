export { describeArtifactStore } from './describe-artifact-store.js';
export { describeObjectStore, type ObjectStoreSubject } from './describe-object-store.js';
