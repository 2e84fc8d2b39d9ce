export { attach, type AttachOptions, type Attached, type AttachStop } from './attach.js';
export { piMessages } from './messages.js';
export type { ChosenModel, ModelChoice, ResolveModel } from './model-call.js';
