export type { Schema, SchemaNode } from './schema-index.js';
export { schemaValidator, type SchemaValidator, type SchemaValidatorOptions } from './schema-validator.js';
export type { SchemaIssue } from './schema-visit.js';
