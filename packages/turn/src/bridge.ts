export { connect, type Connection, type ConnectOptions } from './connect.js';
