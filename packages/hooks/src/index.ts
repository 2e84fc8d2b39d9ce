import './events.js';

export { coversCall } from './approvals/pattern.js';
export { fileApprovalStore, type FileApprovalStoreOptions } from './approvals/file-store.js';
export {
  memoryApprovalStore,
  type RememberedApproval,
  type ApprovalStore,
  type MemoryApprovalStoreOptions,
} from './approvals/store.js';
export { hashCall } from './approvals/subject.js';
export type * from './hook.js';
export { hooks } from './hooks.js';
export type { HooksOptions } from './options.js';
export { checkAfterWrite, type CheckAfterWriteOptions } from './ready/check-after-write.js';
export { namedSources, type Citation, type SourcesOf } from './ready/citations.js';
export {
  finalizers,
  type FinalizerContext,
  type FinalizersOptions,
  type FinishedTurn,
  type LoggedDecision,
  type TurnFailure,
} from './ready/finalizers.js';
export {
  reflect,
  reflection,
  type Draft,
  type ReflectionContext,
  type ReflectionOptions,
  type ReflectionResult,
  type ReflectionVerdict,
  type RemainingBudget,
} from './ready/reflection.js';
