/**
 * The parts of this package from which bridges to other hosts are built: hosts that call models of the SDK's
 * specification in a loop of their own.
 */
export { toErrorInfo } from './error-info.js';
export {
  fromCallOptions,
  promptFormat,
  type HostRequest,
  type PromptFormat,
  type PromptMessage,
} from './host-request.js';
export { generate, stream, type ExitBehavior, type ModelCall } from './model-call.js';
export { providerOf, type ModelSource } from './model-source.js';
export { canaryModel } from './canary-model.js';
