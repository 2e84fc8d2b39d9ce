import { compaction, summarizeWith, type TokenCounter } from '@h/compaction';
import { guardrails } from '@h/guardrails';
import { prompt, type PromptOptions } from '@h/prompt';
import { tools, type ArtifactStore, type RegistryDriver } from '@h/tools';
import { harness, memorySessions, type Agent, type ModelDriver } from '@h/turn';
import { git, type GitOptions } from '@h/workspace';
import type { Repository } from './repository.js';

/** What the agent is made of. */
export interface AgentParts {
  readonly model: ModelDriver;
  readonly driver: RegistryDriver;
  readonly artifacts: ArtifactStore;
  readonly sections: PromptOptions;
  readonly counter: TokenCounter;
  readonly maxSteps: number;
  /** How many tokens the model takes in, where that is known. */
  readonly contextWindow: number | undefined;
  /** The git repository, where there is one. */
  readonly repository: Repository | undefined;
}

/** The agent: the loop, and around it everything that decides what may happen. The order is the order of sight. */
export const createAgent = ({ model, driver, artifacts, sections, counter, maxSteps, contextWindow, repository }: AgentParts): Agent =>
  harness({ model, tools: driver, sessions: memorySessions() }).pipe(
    guardrails({ maxSteps }),
    ...(repository === undefined ? [] : [git(gitOptions(repository))]),
    prompt(sections),
    compaction({ window: contextWindow, summarize: summarizeWith(model), counter, archive: archiveIn(artifacts) }),
    tools({ driver, contextWindow, artifacts, redact: false }),
  );

/** Without a branch of its own, git only tells what the turn has changed. */
const gitOptions = ({ repository, isBranched }: Repository): GitOptions => ({
  repository,
  autoBranch: isBranched,
  autoCommit: isBranched,
  required: isBranched,
});

/** The full history stays where the model can read it up. */
const archiveIn =
  (artifacts: ArtifactStore) =>
  async ({ session, messages }: { readonly session: string; readonly messages: readonly unknown[] }): Promise<string> => {
    const { id } = await artifacts.put({ session, content: messages.map((message) => JSON.stringify(message)).join('\n') });
    return `artifact ${id}`;
  };
