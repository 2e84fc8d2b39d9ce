export * from './contract/decisions.js';
export { describePipeline } from './operators/describe-pipeline.js';
export type { ErrorInfo } from './contract/error-info.js';
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
} from './contract/errors.js';
export { isNotice } from './checks/event-types.js';
export type * from './contract/events.js';
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
} from './operators/handlers.js';
export { intercept } from './operators/intercept.js';
export { iterate } from './iterate.js';
export type { JSONObject, JSONValue } from './contract/json.js';
export { fileSource, type FileSource } from './contract/file-source.js';
export { foldJournal, journalEvents } from './journal/journal.js';
export { LazyAbort } from './lazy-abort.js';
export * from './maybe-promise.js';
export { memorySessions, type MemorySessions } from './journal/memory-sessions.js';
export { MessageList } from './contract/message-list.js';
export { isMessage, isToolResultOutput } from './checks/message-checks.js';
export { textOf, toolCallsOf } from './contract/messages.js';
export type * from './contract/messages.js';
export type * from './contract/model.js';
export type { HarnessOptions, TurnInput } from './options.js';
export type { PipelineOperator } from './operators/pipeline.js';
export { repairHistory, type RepairedHistory } from './transcript/repair.js';
export type { Repair, RepairProblem } from './contract/messages.js';
export { reply, type Reply } from './reply.js';
export type * from './contract/session-store.js';
export type * from './contract/tool.js';
export { followTurn } from './operators/turn-context.js';
export { addUsage, noUsage, type Usage } from './contract/usage.js';
export { wellFormed } from './transcript/well-formed.js';
