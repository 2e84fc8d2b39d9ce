export { connect, connector, type Connection, type ConnectOptions } from './operators/connect.js';
export { handledEvents, mayDecide, type HandledEvents } from './operators/describe-pipeline.js';
export { ingestCall, ingestOutcome } from './loop/ingest.js';
export { checkDecision } from './checks/event-checks.js';
export { checkOperators } from './operators/pipeline.js';
export { captureTurn } from './operators/turn-context.js';
