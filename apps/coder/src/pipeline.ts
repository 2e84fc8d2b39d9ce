import { guardrails } from '@h/guardrails';
import { tools, type ArtifactStore, type RegistryDriver } from '@h/tools';
import { harness, memorySessions, type Agent, type ModelDriver } from '@h/turn';
import { git, type GitOptions } from '@h/workspace';
import type { Repository } from './repository.js';

/** What the agent is made of. */
export interface AgentParts {
  readonly model: ModelDriver;
  readonly driver: RegistryDriver;
  readonly artifacts: ArtifactStore;
  readonly system: string;
  readonly maxSteps: number;
  /** How many tokens the model takes in, where that is known. */
  readonly contextWindow: number | undefined;
  /** The git repository, where there is one. */
  readonly repository: Repository | undefined;
}

/** The agent: the loop, and around it everything that decides what may happen. The order is the order of sight. */
export const createAgent = ({ model, driver, artifacts, system, maxSteps, contextWindow, repository }: AgentParts): Agent =>
  harness({ model, tools: driver, sessions: memorySessions(), system }).pipe(
    guardrails({ maxSteps }),
    ...(repository === undefined ? [] : [git(gitOptions(repository))]),
    tools({ driver, contextWindow, artifacts, redact: false }),
  );

/** Without a branch of its own, git only tells what the turn has changed. */
const gitOptions = ({ repository, isBranched }: Repository): GitOptions => ({
  repository,
  autoBranch: isBranched,
  autoCommit: isBranched,
  required: isBranched,
});
