export { languageModel } from './language-model.js';
export type { LanguageModelOptions } from './model-source.js';
export type { AnyLanguageModel } from './model-version.js';
export { TurnStoppedError } from './turn-stopped-error.js';
export { UnsupportedOperatorError } from './supported-operators.js';
export { wrapModel, type WrapModelOptions } from './wrap-model.js';
