import './events.js';

export {
  memoryApprovalStore,
  type ApprovalStore,
  type MemoryApprovalStoreOptions,
  type RememberedApproval,
} from './approvals/store.js';
export type * from './hook.js';
export { hooks } from './hooks.js';
export type { HooksOptions } from './options.js';
export { checkAfterWrite, type CheckAfterWriteOptions } from './ready/check-after-write.js';
export { finalizers, type FinalizersOptions } from './ready/finalizers.js';
export { reflection, type Draft, type ReflectionOptions, type ReflectionVerdict } from './ready/reflection.js';
