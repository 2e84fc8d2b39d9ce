export { connect, type Connection, type ConnectOptions } from './connect.js';
export { handledEvents, type HandledEvents } from './describe-pipeline.js';
