export { boundedLabel } from './bounded-label.js';
export { characterStart, cutMiddle, cutText } from './cut-text.js';
export { jsonDepth } from './json-depth.js';
export { LruMap } from './lru-map.js';
