export { classifyError, isContextOverflow, type ClassifyOptions, type ErrorClass } from './classify-error.js';
export { contextWindowIn } from './context-window.js';
export { errorReasons, type ErrorReason, type FailureScope, type ReasonDefaults } from './reasons.js';
