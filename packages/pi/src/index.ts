export { attach, type AttachOptions, type Attached } from './attach.js';
export type { AttachStop } from '@h/bridge';
export { piMessages } from './messages.js';
export type { ChosenModel, PiModelChoice, ResolveModel } from './model-call.js';
