export { attach, type Attached, type AttachOptions, type AttachStop, type ModelChoice } from './attach.js';
export type { AnyAgent } from './attach-agent.js';
