export { commandHooks, type CommandHooks } from './command-hooks.js';
export {
  commandEvents,
  parseHookFile,
  type CommandDefinition,
  type CommandEvent,
  type HookFileScope,
  type ParsedHookFile,
} from './definitions.js';
export type { CommandHooksOptions, HookFile } from './options.js';
export { standardToolNames, type ToolName } from './tool-names.js';
export { trustFile, type HookTrust, type TrustFileOptions, type TrustQuestion, type TrustRequest } from './trust.js';
