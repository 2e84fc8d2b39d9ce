export { editTool, multiEditTool } from './tools/edit.js';
export { globTool } from './tools/glob.js';
export { grepTool } from './tools/grep.js';
export { readTool } from './tools/read.js';
export { workspaceTools, type WorkspaceTools, type WorkspaceToolsOptions } from './tools/workspace-tools.js';
export { writeTool } from './tools/write.js';
export { createWorkspace, type Workspace, type WorkspaceLimits, type WorkspaceOptions } from './workspace.js';
