import type { ChildContext } from '@h/subagents';
import { createRegistry, readArtifact, toolDriver } from '@h/tools';
import type { Agent } from '@h/turn';
import { gitTools } from '@h/git';
import { workspaceTools } from '@h/workspace';
import { createAgent, type AgentParts } from './pipeline.js';
import { explorerIdentity, promptSections, type Surroundings } from './prompt-sections.js';
import type { Repository } from './repository.js';

/** Options of {@link createExplorer}. */
export interface ExplorerParts extends Omit<
  AgentParts,
  'driver' | 'sections' | 'repository' | 'outer' | 'team' | 'plan' | 'inner'
> {
  readonly surroundings: Omit<Surroundings, 'identity'>;
  /** The git repository, if the folder has one. */
  readonly repository: Repository | undefined;
}

/** Creates a sub-agent with read-only tools, confined to the workspace and without approvals. */
export const createExplorer = (
  { surroundings, repository, ...parts }: ExplorerParts,
  { guard }: ChildContext,
): Agent => {
  const files = workspaceTools({ root: surroundings.workspace, externalDirectory: 'deny' });
  const history =
    repository === undefined ? [] : gitTools({ repository: repository.repository, paths: files.workspace.paths });
  const registry = createRegistry().register(files, readArtifact(parts.artifacts), ...history);
  return createAgent({
    ...parts,
    driver: toolDriver(registry, { toolset: 'read-only' }),
    sections: promptSections({ ...surroundings, identity: explorerIdentity }),
    repository: undefined,
    inner: [guard],
  });
};
