import './events.js';
export type { LoopCall, LoopOutcome } from './call.js';
export { createChantingDetector, type ChantingDetector, type ChantingOptions } from './chanting.js';
export { createLoopDetector, type LoopDetector } from './detector.js';
export { loopDetect } from './loop-detect.js';
export type { LoopDetectOptions, LoopOptions, ToolLoopOptions } from './options.js';
export type { DetectorThresholds, Thresholds } from './thresholds.js';
export type { LoopDetectorName, LoopLevel, LoopVerdict } from './verdict.js';
export { withoutVolatile } from './volatile.js';
