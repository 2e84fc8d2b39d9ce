export { attach, type Attached, type AttachOptions } from './attach.js';
export type { AttachStop, ModelChoice } from '@h/bridge';
