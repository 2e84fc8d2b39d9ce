export { bridge, type Bridge, type BridgeOptions } from './bridge.js';
export { TurnStoppedError } from './errors.js';
export type {
  Approve,
  HostFormat,
  HostModelCall,
  HostModelContext,
  HostModelRequest,
  HostToolCall,
  HostToolResult,
  HostToolReturn,
} from './host.js';
export type { HostSession } from './host-session.js';
