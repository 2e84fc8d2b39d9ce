export { buildTrace } from './build-trace.js';
export { formatTrace, type TracePaint } from './format-trace.js';
export { readTrace, type RecordedTurns, type TraceLine } from './read-trace.js';
export type { Trace, TraceNode, TraceStatus } from './trace.js';
export { traceHtml } from './html/trace-html.js';
