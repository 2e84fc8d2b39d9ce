/** The parts for bridges to other hosts that call models of the SDK's specification in their own loop. */
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
