export { asMiddleware, type MiddlewareOptions, type OperatorMiddleware } from './as-middleware.js';
export { AgentRunError } from './run-agent.js';
export type { AttachStop, ModelChoice } from '@h/bridge';
