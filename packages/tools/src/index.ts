export {
  ArtifactNotFoundError,
  ArtifactQuotaError,
  type ArtifactInput,
  type ArtifactRange,
  type ArtifactSlice,
  type ArtifactStore,
  type ArtifactStoreOptions,
} from './artifacts/store.js';
export { fileArtifacts, type FileArtifactsOptions } from './artifacts/file-artifacts.js';
export { memoryArtifacts } from './artifacts/memory-artifacts.js';
export { readArtifact } from './artifacts/read-artifact.js';
export {
  defineTool,
  toolOutput,
  type Tool,
  type ToolContext,
  type ToolOptions,
  type ToolOutput,
} from './define-tool.js';
export { toolDriver, type RegistryDriver, type ToolDriverOptions } from './driver.js';
export { ToolError, UnknownToolsetError, type ToolErrorOptions } from './errors.js';
export { withJsonSchema } from './input-schema.js';
export type { InputCheck } from './json-schema.js';
export { createRegistry, type ToolModule, type ToolRegistry } from './registry.js';
export { embeddingScorer, type ToolScorer } from './selection/scorers.js';
export { selectTools, type SelectToolsOptions } from './selection/select-tools.js';
export { tools, type ToolsOptions } from './tools.js';
export type { Toolset } from './toolset.js';
export { truncate, truncation, type TruncateOptions } from './truncate.js';
export type { PlannedCall } from './waves.js';
