export type { Schema, SchemaNode } from './schema-index.js';
export {
  schemaValidator,
  type SchemaIssue,
  type SchemaValidator,
  type SchemaValidatorOptions,
} from './schema-validator.js';
