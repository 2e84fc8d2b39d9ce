export { canonicalJson, hashJson } from './canonical-json.js';
