export { captureProcess, type CapturedProcess, type CaptureOptions } from './capture-process.js';
export { endOnClosedTerminal, type TerminalProcess } from './closed-terminal.js';
export {
  checkEnvironment,
  minimalEnvironment,
  nonInteractive,
  withoutSecrets,
  type Environment,
} from './environment.js';
export { localChecks, type CheckEnd, type CheckRunner, type LocalChecksOptions } from './local-checks.js';
export { outputWindow, type CapturedOutput, type OutputWindow, type OutputWindowOptions } from './output-window.js';
export { ProcessError, type ProcessErrorCode } from './process-error.js';
export { markOf, processState, thisProcess, type ProcessMark } from './process-mark.js';
export {
  escalate,
  graceMs,
  runProcess,
  signalOf,
  stepMs,
  type ProcessEnd,
  type ProcessOptions,
} from './run-process.js';
export { supervised } from './supervisor.js';
export { homeFolder, userFolder } from './user-folders.js';
