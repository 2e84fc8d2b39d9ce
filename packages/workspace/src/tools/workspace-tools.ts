import type { Tool, ToolModule } from '@h/tools';
import { createWorkspace, type Workspace, type WorkspaceOptions } from '../workspace.js';
import { editTool, multiEditTool } from './edit.js';
import { globTool } from './glob.js';
import { grepTool } from './grep.js';
import { readTool } from './read.js';
import { writeTool } from './write.js';

/** Options of {@link workspaceTools}. */
export type WorkspaceToolsOptions = WorkspaceOptions;

/** The tools of one workspace, to register together or separately. */
export interface WorkspaceTools extends ToolModule {
  readonly workspace: Workspace;
  readonly tools: readonly Tool[];
}

/**
 * Creates all file tools of a workspace. They share the record of read files and pending changes.
 *
 * @throws PathError if the folder does not exist; InvalidOptionError for an invalid option
 *
 * @example
 * ```ts
 * const registry = createRegistry().register(workspaceTools({ root: '/home/me/project' }));
 * const agent = harness({ model, tools: toolDriver(registry) }).pipe();
 * ```
 */
export const workspaceTools = (options: WorkspaceToolsOptions): WorkspaceTools => {
  const workspace = createWorkspace(options);
  const tools = [
    editTool(workspace),
    globTool(workspace),
    grepTool(workspace),
    multiEditTool(workspace),
    readTool(workspace),
    writeTool(workspace),
  ];
  return { workspace, tools, register: (registry) => void registry.register(...tools) };
};
