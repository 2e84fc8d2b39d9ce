export { bashTool, type BashOptions } from './bash/bash-tool.js';
export { bashConfig, type BashPermissions, type CommandJudge } from './bash/permissions.js';
