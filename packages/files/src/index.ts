export { ensureFolder } from './ensure-folder.js';
export { LockHeldError, LockLostError, UnsafeFileError, type LockOwner } from './errors.js';
export { isLockName } from './lock-folder.js';
export type { FileLock } from './held-lock.js';
export { acquireLock, inspectLock, withLock, type LockOptions } from './lock.js';
export { errorCode, fileSize, ifExists, openRegularFile, readRegularFile, type FileContent } from './open-file.js';
export { packageVersion } from './package-version.js';
export { createFolder, replaceFile, syncFolder, type ReplaceOptions } from './replace-file.js';
export { sweepTemporaryFiles } from './temporary-files.js';
