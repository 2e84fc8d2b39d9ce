export type { LoopCall, LoopOutcome } from './reading/call.js';
export { createChantingDetector, type ChantingDetector } from './chanting.js';
export { createLoopDetector, type LoopDetector } from './detector.js';
export { loopDetect } from './loop-detect.js';
export type { ChantingOptions, LoopDetectOptions, LoopOptions, ToolLoopOptions } from './options.js';
export type { LoopVerdict } from './verdict.js';
