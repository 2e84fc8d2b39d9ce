export { characterStart, cutMiddle, cutText } from './cut-text.js';
export { LruMap } from './lru-map.js';
