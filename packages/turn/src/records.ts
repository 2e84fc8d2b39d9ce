export { decodeRecord, encodeRecord } from './journal/record-codec.js';
