export { attach, type Attached, type AttachOptions, type AttachStop } from './attach.js';
export { languageModel } from './language-model.js';
export type { LanguageModelOptions } from './model-source.js';
export type { AnyLanguageModel } from './model-version.js';
export { TurnStoppedError, UnsupportedOperatorError } from '@h/bridge';
export { wrapModel, type WrapModelOptions } from './wrap-model.js';
