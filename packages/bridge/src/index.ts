export { describeError } from './describe-error.js';
export { bridge, type Bridge, type BridgeOptions } from './bridge.js';
export { convertHistory, type InHostFormat } from './convert-history.js';
export { denyCanary } from './canary.js';
export { FailedModelCall, TurnStoppedError } from './errors.js';
export {
  checkOperators,
  eventTable,
  UnsupportedOperatorError,
  type EventSupport,
  type HostEvents,
  type OperatorCheck,
} from './host-events.js';
export type {
  Approve,
  GivenApproval,
  HostFormat,
  HostModelCall,
  HostModelContext,
  HostModelRequest,
  HostModelResult,
  HostModelReturn,
  HostToolCall,
  HostToolResult,
  HostToolReturn,
} from './host.js';
export {
  hostOptionChecks,
  splitArguments,
  unknownChoice,
  type AttachStop,
  type HostArguments,
  type HostOptions,
  type ModelChoice,
} from './host-options.js';
export type { HostSession } from './host-session.js';
export { plainJSON } from './plain-json.js';
export { outputOrThrow, ToolCallError } from './tool-call-error.js';
export { ToolLock } from './tool-lock.js';
