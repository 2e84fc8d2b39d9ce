export { describeHost } from './describe-host.js';
export {
  schemaOf,
  type HostInput,
  type HostReply,
  type HostSetup,
  type HostUnderTest,
  type Pause,
  type RunningHost,
  type SuiteTool,
  type Wire,
} from './host-under-test.js';
export { ModelServer, type Answer, type ModelRequestRecord, type ScriptStep } from './model-server.js';
export { asking } from './operators.js';
