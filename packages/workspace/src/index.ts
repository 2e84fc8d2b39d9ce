// Files.
export { replaceText, type MatchKind, type Replacement, type ReplacementResult } from './files/replace-text.js';
export { WorkspaceOptionsError } from './options.js';
export * from './paths/index.js';
export { compileGlob, GlobPatternError, type GlobPattern } from './search/glob-pattern.js';
export { editTool, multiEditTool } from './tools/edit.js';
export { globTool } from './tools/glob.js';
export { grepTool } from './tools/grep.js';
export { readTool } from './tools/read.js';
export { writeTool } from './tools/write.js';
export { workspaceTools, type WorkspaceTools, type WorkspaceToolsOptions } from './tools/workspace-tools.js';
export { createWorkspace, type Workspace, type WorkspaceLimits, type WorkspaceOptions } from './workspace.js';

// Processes, sandbox and git.
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
export type { CommitSummary } from './git/commit-message.js';
export type { LeftOut } from './git/commit-rules.js';
export { branchName, slug, type BranchNameParts } from './git/branch-name.js';
export type { ChangedFile } from './git/finish-work.js';
export { GitError, type GitErrorCode } from './git/git-error.js';
export { git } from './git/git.js';
export type { GitIdentity } from './git/identity.js';
export { gitConfig, type GitOptions } from './git/options.js';
export { gitPushTool, type GitPushOptions } from './git/push.js';
export { createGitRepository, GitRepository, type GitRepositoryOptions, type WorkTreeState } from './git/repository.js';
export type { GitResult, GitRunner, GitRunOptions } from './git/runner.js';
export type { FileChange, GitHead, StatusEntry } from './git/status.js';
export { gitDiffTool, gitLogTool, gitStatusTool, gitTools, type GitToolsContext } from './git/tools.js';
export { addWorkTree, type AgentWorkTree, type WorkTreeOptions } from './git/work-tree.js';
export type { Environment } from './process/environment.js';
export { StartError } from './process/run-supervised.js';
export { createSandbox } from './sandbox/create-sandbox.js';
export { reapContainers } from './sandbox/docker-reaper.js';
export type {
  BubblewrapSandboxOptions,
  CommonSandboxOptions,
  DockerSandboxOptions,
  E2bSandboxOptions,
  HostSandboxOptions,
  SandboxOptions,
} from './sandbox/options.js';
export type { CommandEnd, Sandbox, SandboxCommand, SandboxMode } from './sandbox/sandbox.js';
export { SandboxError, UnsupportedSandboxOptionError, type SandboxErrorCode } from './sandbox/sandbox-error.js';
