export { canonicalPath, errorCodeOf, isInside } from './canonical.js';
export { openInside, openVerifiedSync, type FileInside } from './descriptor.js';
export { PathError, type PathErrorCode } from './path-error.js';
