export { asMiddleware, type MiddlewareOptions, type ModelChoice } from './as-middleware.js';
export { langchainMessages } from './messages.js';
