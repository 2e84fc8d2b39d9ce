export { ConfigError, type ConfigProblem } from './config-error.js';
export { parseConfig, parseFrontmatter, type ConfigFile, type ConfigPath, type Frontmatter } from './config-file.js';
export { keysAt, keysOf, type SchemaKey } from './schema-keys.js';
