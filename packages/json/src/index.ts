export { canonicalJson, hashJson } from './canonical-json.js';
export { schemaDraft, type SchemaDraft } from './schema/schema-draft.js';
