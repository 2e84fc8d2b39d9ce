export * from './decisions.js';
export { describePipeline } from './describe-pipeline.js';
export type { ErrorInfo } from './error-info.js';
export {
  DuplicateTurnError,
  InvalidInputError,
  OperatorError,
  SessionBusyError,
  SessionUnfinishedError,
  SessionStuckError,
  toErrorInfo,
  TurnError,
  UnknownTurnError,
} from './errors.js';
export { isNotice } from './event-shape.js';
export type * from './events.js';
export { harness, type Agent, type Harness } from './harness.js';
export type {
  DecideContext,
  DecideHandlers,
  Decision,
  DecisionInput,
  Handlers,
  Interceptor,
  ObserveHandlers,
  OperatorContext,
  SharedDecideHandlers,
  SharedHandlers,
  SharedObserveHandlers,
  SharedSetup,
} from './handlers.js';
export { intercept } from './intercept.js';
export { iterate } from './iterate.js';
export type { JSONObject, JSONValue } from './json.js';
export { fileSource, type FileSource } from './file-source.js';
export { foldJournal, journalEvents } from './journal.js';
export { LazyAbort } from './lazy-abort.js';
export * from './maybe-promise.js';
export { memorySessions, type MemorySessions } from './memory-sessions.js';
export { MessageList } from './message-list.js';
export { isMessage, isToolResultOutput } from './message-checks.js';
export { textOf, toolCallsOf } from './messages.js';
export type * from './messages.js';
export type * from './model.js';
export type { HarnessOptions, TurnInput } from './options.js';
export type { PipelineOperator } from './pipeline.js';
export { repairHistory, type RepairedHistory } from './repair.js';
export type { Repair, RepairProblem } from './messages.js';
export { reply, type Reply } from './reply.js';
export type * from './session-store.js';
export type * from './tool.js';
export { followTurn } from './turn-context.js';
export { addUsage, noUsage, type Usage } from './usage.js';
export { wellFormed } from './well-formed.js';
