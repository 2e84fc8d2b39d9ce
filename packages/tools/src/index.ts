export * from './define-tool.js';
export * from './errors.js';
export { withJsonSchema, type InferToolInput, type ToolInput } from './input-schema.js';
