import { gitPushTool, gitTools } from '@h/git';
import { homeFolder } from '@h/process';
import { createSandbox, toolchain, type Sandbox, type SandboxOptions } from '@h/sandbox';
import {
  createRegistry,
  defineTool,
  readArtifact,
  toolDriver,
  type ArtifactStore,
  type RegistryDriver,
} from '@h/tools';
import type { Subagents } from '@h/subagents';
import { workspaceTools } from '@h/workspace';
import { commandPermissions } from '@h/shell/permissions';
import { bashConfig, bashTool } from '@h/workspace/bash';
import type { SandboxConfig, StationConfig } from '../config/schema.js';
import type { AgentFile } from './agent-file.js';
import type { Workplace } from './workplaces.js';

/** The tools of an agent and their resources. */
export interface Toolbox {
  readonly driver: RegistryDriver;
  close(): Promise<void>;
}

/** Options of {@link openToolbox}. */
export interface ToolboxOptions {
  readonly config: StationConfig;
  readonly file: AgentFile;
  readonly workplace: Workplace;
  readonly artifacts: ArtifactStore;
  readonly team: Subagents | undefined;
}

/** Creates the tools that an agent file lists, confined to the workplace. */
export const openToolbox = async ({ config, file, workplace, artifacts, team }: ToolboxOptions): Promise<Toolbox> => {
  const { settings } = file;
  const { permissions } = config.harness;
  const { root, repository } = workplace;
  const files = workspaceTools({
    root,
    externalDirectory: settings.policy.external_directory ?? permissions.external_directory,
  });
  const sandbox = settings.tools.includes('bash')
    ? await createSandbox(sandboxOptions(root, settings.harness_config.sandbox ?? config.harness.sandbox))
    : undefined;
  try {
    const bash = sandbox === undefined ? [] : [bashFor(config, file, files.workspace, sandbox)];
    const history =
      repository === undefined
        ? []
        : [...gitTools({ repository, paths: files.workspace.paths }), gitPushTool(repository)];
    const own = (team?.tools ?? []).map((tool) => defineTool(tool));
    const listed = [...settings.tools, 'read_artifact', ...own.map(({ name }) => name)];
    const registry = createRegistry({ toolsets: { agent: listed } }).register(
      files,
      readArtifact(artifacts),
      ...bash,
      ...history,
      ...own,
    );
    return {
      driver: toolDriver(registry, { toolset: 'agent' }),
      close: async () => sandbox?.close(),
    };
  } catch (error) {
    await sandbox?.close();
    throw error;
  }
};

/** The tool for commands. The permissions of the configuration and of the agent must both allow a command. */
const bashFor = (
  { harness: { permissions } }: StationConfig,
  { settings: { policy } }: AgentFile,
  workspace: Parameters<typeof bashTool>[0],
  sandbox: Sandbox,
): ReturnType<typeof bashTool> => {
  const own = policy.bash === undefined ? undefined : commandPermissions(bashConfig(policy.bash));
  return bashTool(workspace, { sandbox, permissions: { ...bashConfig(permissions.bash), judge: own } });
};

/** Converts the section `sandbox` to the options of a sandbox. */
export const sandboxOptions = (root: string, config: SandboxConfig): SandboxOptions => {
  const { mode, image, network, timeout: timeoutMs, memory, cpu, environment } = config;
  const common = { root, timeoutMs, environment };
  switch (mode) {
    case 'host':
      return { mode, ...common };
    case 'bubblewrap':
      return { mode, ...common, network, readOnlyPaths: toolchain(process.execPath, homeFolder(process.env)) };
    case 'docker':
      return { mode, ...common, network, image: image ?? '', memory, cpu };
    case 'e2b':
      return { mode, ...common, network, image };
  }
};
