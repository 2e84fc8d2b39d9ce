export { memorySessions, type MemorySessions } from '@h/turn';
export { finishTurn } from './finish-turn.js';
export { recoverTurns, type RecoverTurnsOptions, type RecoveredTurn } from './recover-turns.js';
export { fileSessions, type FileSessions, type SessionInfo } from './files/file-sessions.js';
export type { FileSessionsOptions, SessionProblem } from './files/options.js';
export { SessionHeldError } from './files/session-lock.js';
