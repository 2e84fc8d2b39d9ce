export * from './define-tool.js';
export { toolDriver, type RegistryDriver, type ToolDriverOptions } from './driver.js';
export * from './errors.js';
export { withJsonSchema, type InferToolInput, type InputCheck, type ToolInput } from './input-schema.js';
export { LateResults, type LateResult } from './late-results.js';
export { createRegistry, ToolRegistry, type RegistryOptions, type ToolModule } from './registry.js';
export type { EffectiveTools, Toolset, ToolsetChoice } from './toolset.js';
export { truncate, truncation, type TruncateOptions, type Truncation } from './truncate.js';
export { planWaves, type PlannedCall } from './waves.js';
