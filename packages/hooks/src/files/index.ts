export { fileApprovalStore, type FileApprovalStoreOptions } from './approval-store.js';
export { commandHooks, type CommandHooks } from './command-hooks.js';
export type { CommandEvent, HookFileScope } from './definitions.js';
export type { CommandHooksOptions, HookFile } from './options.js';
export type { ToolName } from './tool-names.js';
export {
  trustFile,
  type HookTrust,
  type TrustContext,
  type TrustFileOptions,
  type TrustQuestion,
  type TrustRequest,
} from './trust.js';
