export { archivedTurn, type ArchivedTurn } from './files/archive.js';
export { firstInputOf } from './files/head.js';
export { PastTurns } from './files/past-turns.js';
export { RecordReader, RecordWriter } from './files/records.js';
export { RecentSessions } from './recent-sessions.js';
export { sessionClosed, sessionTaken } from './session-errors.js';
export { createSlots, type Slots } from './slots.js';
export { decodeSnapshot, encodeSnapshot } from './snapshot.js';
export { WriteQueue, type WriteQueueOptions } from './write-queue.js';
