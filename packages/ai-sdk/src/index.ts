export { attach, type Attached, type AttachOptions } from './attach.js';
export type { AttachStop } from '@h/bridge';
export { languageModel } from './language-model.js';
export type { LanguageModelOptions } from './model-source.js';
export type { AnyLanguageModel } from './model-version.js';
export { TurnStoppedError, UnsupportedOperatorError } from '@h/bridge';
export { wrapModel, type WrapModelOptions } from './wrap-model.js';
