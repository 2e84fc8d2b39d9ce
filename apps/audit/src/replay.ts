export { replay, type Replayed, type ReplayOptions } from './replay/replay.js';
export { messagesOfStep, runOf, type RecordedCall, type RecordedRun, type RecordedStep } from './replay/run.js';
