export { attach, type Attached } from './attach.js';
export type { AttachOptions } from './options.js';
