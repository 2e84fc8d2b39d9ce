import type { Tool, ToolModule } from '@h/tools';
import { bashTool, type BashOptions } from '../bash/bash-tool.js';
import type { GitRepository } from '../git/repository.js';
import { gitTools } from '../git/tools.js';
import { createWorkspace, type Workspace, type WorkspaceOptions } from '../workspace.js';
import { editTool, multiEditTool } from './edit.js';
import { globTool } from './glob.js';
import { grepTool } from './grep.js';
import { readTool } from './read.js';
import { writeTool } from './write.js';

/** Options of {@link workspaceTools}. */
export interface WorkspaceToolsOptions extends WorkspaceOptions {
  /** Adds the tool `bash`. Without it, nothing is run. */
  readonly bash?: BashOptions | undefined;
  /** Adds the tools `git_status`, `git_diff` and `git_log`. */
  readonly git?: GitRepository | undefined;
}

/** The tools of one workspace, to be registered or taken one by one. */
export interface WorkspaceTools extends ToolModule {
  readonly workspace: Workspace;
  readonly tools: readonly Tool[];
}

/**
 * All tools of a workspace, which share what they know: that a file was read, and which change of it is under way.
 *
 * @throws PathError if the folder is missing; WorkspaceOptionsError for an option that is unknown or wrong.
 *
 * @example
 * ```ts
 * const registry = createRegistry().register(workspaceTools({ root: '/home/me/project' }));
 * const agent = harness({ model, tools: toolDriver(registry) }).pipe();
 * ```
 */
export const workspaceTools = ({ bash, git, ...options }: WorkspaceToolsOptions): WorkspaceTools => {
  const workspace = createWorkspace(options);
  const tools = [
    editTool(workspace),
    globTool(workspace),
    grepTool(workspace),
    multiEditTool(workspace),
    readTool(workspace),
    writeTool(workspace),
    ...(bash === undefined ? [] : [bashTool(workspace, bash)]),
    ...(git === undefined ? [] : gitTools({ repository: git, paths: workspace.paths })),
  ];
  return { workspace, tools, register: (registry) => void registry.register(...tools) };
};
