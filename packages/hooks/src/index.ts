import './events.js';

export { coversCall } from './approvals/pattern.js';
export { fileApprovalRules, type FileApprovalRulesOptions } from './approvals/file-rules.js';
export { memoryApprovalRules, type ApprovalRule, type ApprovalRules, type MemoryApprovalRulesOptions } from './approvals/rules.js';
export { canonicalJson, hashCall } from './canonical.js';
export type * from './hook.js';
export { hooks } from './hooks.js';
export { lateHooks } from './late-hooks.js';
export type { HooksOptions, LateHooksOptions } from './options.js';
