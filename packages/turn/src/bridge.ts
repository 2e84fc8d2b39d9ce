export { connect, connector, type Connection, type ConnectOptions } from './connect.js';
export { handledEvents, type HandledEvents } from './describe-pipeline.js';
export { ingestCall, ingestOutcome } from './ingest.js';
export { checkDecision } from './event-checks.js';
export { checkOperators } from './pipeline.js';
export { captureTurn } from './turn-context.js';
