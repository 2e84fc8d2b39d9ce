export { decodeRecord, encodeRecord } from './record-codec.js';
