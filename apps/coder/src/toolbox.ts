import { createRegistry, toolDriver, type RegistryDriver } from '@h/tools';
import { createWorkspace, editTool, multiEditTool, readTool, writeTool } from '@h/workspace';
import type { CoderArguments } from './arguments.js';

/** The tools of the agent, and what stands behind them. */
export interface Toolbox {
  readonly driver: RegistryDriver;
  close(): Promise<void>;
}

/** Opens the folder and makes its tools. */
export const openToolbox = async (root: string, { toolset }: CoderArguments): Promise<Toolbox> => {
  const workspace = createWorkspace({ root });
  const registry = createRegistry().register(readTool(workspace), writeTool(workspace), editTool(workspace), multiEditTool(workspace));
  return { driver: toolDriver(registry, { toolset }), close: () => Promise.resolve() };
};
