export type { LoopCall, LoopOutcome } from './call.js';
export { createChantingDetector, type ChantingDetector, type ChantingOptions } from './chanting.js';
export { createLoopDetector, type LoopDetector } from './detector.js';
export { loopDetect } from './loop-detect.js';
export type { DetectorThresholds, LoopDetectOptions, LoopOptions, Thresholds, ToolLoopOptions } from './options.js';
export type { LoopDetectorName, LoopLevel, LoopVerdict } from './verdict.js';
