import type { ChildContext } from '@h/subagents';
import { createRegistry, readArtifact, toolDriver } from '@h/tools';
import type { Agent } from '@h/turn';
import { gitTools } from '@h/git';
import { workspaceTools } from '@h/workspace';
import { createAgent, type AgentParts } from './pipeline.js';
import { explorerIdentity, promptSections, type Surroundings } from './prompt-sections.js';
import type { Repository } from './repository.js';

/** What an explorer is made of, besides what all agents of the app are made of. */
export interface ExplorerParts extends Omit<
  AgentParts,
  'driver' | 'sections' | 'repository' | 'outer' | 'team' | 'plan' | 'inner'
> {
  readonly surroundings: Omit<Surroundings, 'identity'>;
  /** The git repository, where there is one. */
  readonly repository: Repository | undefined;
}

/** A sub-agent that looks around: it has tools that read, nothing outside of the workspace, and nobody to ask. */
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
