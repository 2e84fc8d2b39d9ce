export { canonicalPath, errorCodeOf, isInside } from './canonical.js';
export { openInside, openVerifiedSync, type FileInside } from './descriptor.js';
export { protectedPaths, sensitivePaths, type FilePermissions, type PathRules } from './file-permissions.js';
export { type OpenFolder } from './open-folder.js';
export { PathError, type PathErrorCode } from './path-error.js';
export { printable } from './printable.js';
export {
  createWorkspacePaths,
  type ExternalAccess,
  type PathAccess,
  type WorkspacePaths,
  type WorkspacePathsOptions,
} from './workspace-paths.js';
export { FileChangedError, writeAtomically, type AtomicWrite } from './write-atomically.js';
