import { skillTool, type SkillLibrary } from '@h/skills';
import {
  createRegistry,
  defineTool,
  readArtifact,
  toolDriver,
  UnknownToolsetError,
  type ArtifactStore,
  type RegistryDriver,
  type Tool,
} from '@h/tools';
import { gitPushTool, gitTools } from '@h/git';
import { type Sandbox } from '@h/sandbox';
import { workspaceTools, type WorkspaceTools } from '@h/workspace';
import { bashTool } from '@h/workspace/bash';
import type { CoderArguments } from './arguments.js';
import { connectServers } from './mcp/connect-servers.js';
import { permissionFor } from './outside.js';
import type { Repository } from './repository.js';
import { UsageError } from './usage-error.js';
import type { Questioner } from './view/questions.js';

/** The tools of the agent, and what stands behind them. */
export interface Toolbox {
  readonly driver: RegistryDriver;
  close(): Promise<void>;
}

/** What tools are made for. */
export interface Workplace {
  /** The folder, as an absolute path. */
  readonly root: string;
  readonly given: CoderArguments;
  /** Present if somebody can answer. */
  readonly questions: Questioner | undefined;
  /** Where results are kept that are too long to be read at once. */
  readonly artifacts: ArtifactStore;
  /** The git repository, where there is one. */
  readonly repository: Repository | undefined;
  readonly library: SkillLibrary;
  /** Where commands run. */
  readonly sandbox: Sandbox;
  /** Tools of other packages: for sub-agents, for a plan. */
  readonly others: readonly Tool[];
}

/**
 * Makes the tools of a folder.
 *
 * @throws UsageError where an MCP server does not work, or the toolset is unknown
 */
export const openToolbox = async ({
  root,
  given,
  questions,
  artifacts,
  repository,
  library,
  sandbox,
  others,
}: Workplace): Promise<Toolbox> => {
  const servers = await connectServers(given.mcp, root);
  try {
    const files = workspaceTools({ root, ...permissionFor(questions) });
    const history = repository === undefined ? [] : repositoryTools(repository, files);
    const registry = createRegistry().register(
      files,
      bashTool(files.workspace, { sandbox }),
      readArtifact(artifacts),
      ...history,
      ...(await skillTools(library)),
      ...others,
      ...servers.modules,
    );
    return { driver: toolDriver(registry, { toolset: given.toolset }), close: () => servers.close() };
  } catch (error) {
    await servers.close();
    throw error instanceof UnknownToolsetError ? new UsageError(error.message, { cause: error }) : error;
  }
};

/** Where there are no skills, the model need not hear of them. */
const skillTools = async (library: SkillLibrary): Promise<readonly Tool[]> => {
  const { skills } = await library.list();
  return skills.length === 0 ? [] : [defineTool(skillTool(library))];
};

/** Looking at the repository is always possible; pushing only what is on the agent's own branch. */
const repositoryTools = ({ repository, use }: Repository, { workspace }: WorkspaceTools): readonly Tool[] => [
  ...gitTools({ repository, paths: workspace.paths }),
  ...(use === 'branch' ? [gitPushTool(repository)] : []),
];
