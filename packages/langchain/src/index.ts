export { asMiddleware, type MiddlewareOptions, type ModelChoice } from './as-middleware.js';
