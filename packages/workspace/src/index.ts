// Files.
export { replaceText, type MatchKind, type Replacement, type ReplacementResult } from './files/replace-text.js';
export { WorkspaceOptionsError } from './options.js';
export * from './paths/index.js';
export { editTool, multiEditTool } from './tools/edit.js';
export { readTool } from './tools/read.js';
export { writeTool } from './tools/write.js';
export { createWorkspace, type Workspace, type WorkspaceLimits, type WorkspaceOptions } from './workspace.js';

// Processes, sandbox and git.
