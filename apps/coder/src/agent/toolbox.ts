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
import type { CoderArguments } from '../arguments.js';
import { connectServers } from '../mcp/connect-servers.js';
import { permissionFor } from './outside.js';
import type { Repository } from './repository.js';
import { UsageError } from '../usage-error.js';
import type { Questioner } from '../view/questions.js';

/** The tools of the agent and their resources. */
export interface Toolbox {
  readonly driver: RegistryDriver;
  close(): Promise<void>;
}

/** Options of {@link openToolbox}. */
export interface Workplace {
  /** The folder to work in, as an absolute path. */
  readonly root: string;
  readonly given: CoderArguments;
  /** Present if a terminal is attached. */
  readonly questions: Questioner | undefined;
  /** Stores long tool results. */
  readonly artifacts: ArtifactStore;
  /** The git repository, if the folder has one. */
  readonly repository: Repository | undefined;
  readonly library: SkillLibrary;
  /** Runs the commands. */
  readonly sandbox: Sandbox;
  /** Further tools, for sub-agents and plans. */
  readonly others: readonly Tool[];
}

/**
 * Creates the tools of a workspace.
 *
 * @throws UsageError if an MCP server does not work or the toolset is unknown
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

/** The skill tool, if the library has skills. */
const skillTools = async (library: SkillLibrary): Promise<readonly Tool[]> => {
  const { skills } = await library.list();
  return skills.length === 0 ? [] : [defineTool(skillTool(library))];
};

/** Read-only git tools, and the push tool on the agent's own branch. */
const repositoryTools = ({ repository, use }: Repository, { workspace }: WorkspaceTools): readonly Tool[] => [
  ...gitTools({ repository, paths: workspace.paths }),
  ...(use === 'branch' ? [gitPushTool(repository)] : []),
];
