export { canonicalPath, errorCodeOf, isInside } from './canonical.js';
export { openInside, openVerifiedSync } from './descriptor.js';
export { sensitivePaths, type FilePermissions } from './file-permissions.js';
export { type OpenFolder } from './open-folder.js';
export { PathError, type PathErrorCode } from './path-error.js';
export { printable } from './printable.js';
export {
  createWorkspacePaths,
  type PathAccess,
  type WorkspacePaths,
  type WorkspacePathsOptions,
} from './workspace-paths.js';
export { FileChangedError, writeAtomically } from './write-atomically.js';
