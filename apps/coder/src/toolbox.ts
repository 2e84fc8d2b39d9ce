import { createRegistry, toolDriver, UnknownToolsetError, type RegistryDriver } from '@h/tools';
import { bashTool, createSandbox, createWorkspace, editTool, globTool, multiEditTool, readTool, SandboxError, writeTool, type Sandbox } from '@h/workspace';
import type { CoderArguments } from './arguments.js';
import { permissionFor } from './outside.js';
import { sandboxOptions } from './sandbox.js';
import { UsageError } from './usage-error.js';
import type { Questions } from './view/questions.js';

/** The tools of the agent, and what stands behind them. */
export interface Toolbox {
  readonly driver: RegistryDriver;
  close(): Promise<void>;
}

/**
 * Opens the folder and makes its tools.
 *
 * @throws UsageError where the sandbox does not work here, or the toolset is unknown
 */
export const openToolbox = async (root: string, given: CoderArguments, questions: Questions | undefined): Promise<Toolbox> => {
  const sandbox = await openSandbox(root, given);
  try {
    const workspace = createWorkspace({ root, ...permissionFor(questions) });
    const registry = createRegistry().register(
      readTool(workspace),
      globTool(workspace),
      writeTool(workspace),
      editTool(workspace),
      multiEditTool(workspace),
      bashTool(workspace, { sandbox }),
    );
    return { driver: toolDriver(registry, { toolset: given.toolset }), close: () => sandbox.close() };
  } catch (error) {
    await sandbox.close();
    throw error instanceof UnknownToolsetError ? new UsageError(error.message, { cause: error }) : error;
  }
};

const openSandbox = async (root: string, given: CoderArguments): Promise<Sandbox> => {
  try {
    return await createSandbox(sandboxOptions(root, given));
  } catch (error) {
    if (error instanceof SandboxError) throw new UsageError(`--sandbox ${given.sandbox}: ${error.message}`, { cause: error });
    throw error;
  }
};
