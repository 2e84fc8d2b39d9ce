export { bashTool, type BashOptions, type CommandRequest } from './bash/bash-tool.js';
export {
  bashConfig,
  createCommandPolicy,
  type BashPermissions,
  type CommandJudge,
  type CommandJudgement,
  type CommandPolicy,
  type CommandVerdict,
} from './bash/permissions.js';
