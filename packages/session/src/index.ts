export { memorySessions, type MemorySessions } from '@h/turn';
export { finishTurn } from './finish-turn.js';
export { recoverTurns, type RecoverTurnsOptions, type RecoveredTurn, type RecoveryAction } from './recover-turns.js';
export type { ArchivedTurn } from './files/archive.js';
export { fileSessions, type FileSessions, type SessionInfo } from './files/file-sessions.js';
export type { FileSessionsOptions, FsyncPolicy } from './files/options.js';
export { SessionHeldError } from './lock/session-held-error.js';
export type { SessionProblem } from './files/problem.js';
