export { asMiddleware, type MiddlewareOptions } from './as-middleware.js';
export type { ModelChoice } from '@h/bridge';
export { langchainMessages } from './messages.js';
