export * from './decisions.js';
export * from './describe-pipeline.js';
export type { ErrorInfo } from './error-info.js';
export * from './errors.js';
export { eventSchemas } from './event-schemas.js';
export type * from './events.js';
export { harness, type Agent, type Harness, type RunningTurn } from './harness.js';
export type {
  DecideContext,
  DecideHandlers,
  Decision,
  DecisionInput,
  Handlers,
  Interceptor,
  InterceptorPlace,
  ObserveHandlers,
  OperatorContext,
} from './handlers.js';
export { intercept } from './intercept.js';
export { iterate } from './iterate.js';
export type { JSONObject, JSONValue } from './json.js';
export { foldJournal } from './journal.js';
export { memorySessions, type MemorySessions } from './memory-sessions.js';
export { MessageList } from './message-list.js';
export { messageSchema, textOf, toolCallsOf, toolResultOutputSchema } from './messages.js';
export type * from './messages.js';
export type * from './model.js';
export type { HarnessOptions, TurnInput } from './options.js';
export type { PipelineOperator } from './pipeline.js';
export { decodeRecord, encodeRecord } from './record-codec.js';
export { repairHistory, type Repair, type RepairedHistory, type RepairProblem } from './repair.js';
export { reply, type Reply } from './reply.js';
export type * from './session-store.js';
export type * from './tool.js';
export { addUsage, noUsage, type Usage } from './usage.js';
export { wellFormed } from './well-formed.js';
