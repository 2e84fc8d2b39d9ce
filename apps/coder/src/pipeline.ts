import { compaction, summarizeWith, type TokenCounter } from '@h/compaction';
import { failover } from '@h/failover';
import { guardrails } from '@h/guardrails';
import { hooks, lateHooks } from '@h/hooks';
import { loopDetect } from '@h/loop-detect';
import { observe, record, type UsageMeter } from '@h/observe';
import { prompt, type PromptOptions } from '@h/prompt';
import { security, type Redactor } from '@h/security';
import { tools, type ArtifactStore, type RegistryDriver } from '@h/tools';
import { harness, type Agent, type SessionStore, type TurnOperator } from '@h/turn';
import { git, type GitOptions } from '@h/workspace';
import type { ChosenModel } from './model/choose-model.js';
import type { Repository } from './repository.js';
import type { Rules } from './rules.js';
import type { Telemetry } from './telemetry.js';

/** What the agent is made of. */
export interface AgentParts {
  readonly model: ChosenModel;
  readonly sessions: SessionStore;
  readonly driver: RegistryDriver;
  readonly artifacts: ArtifactStore;
  readonly sections: PromptOptions;
  readonly counter: TokenCounter;
  readonly rules: Rules;
  readonly redactor: Redactor;
  readonly meter: UsageMeter;
  readonly telemetry: Telemetry;
  readonly maxSteps: number;
  /** The git repository, where there is one. */
  readonly repository: Repository | undefined;
  /** The file that turns are recorded in. */
  readonly recording: string | undefined;
}

/** The agent: the loop, and around it everything that decides what may happen. The order is the order of sight. */
export const createAgent = ({ model, sessions, driver, artifacts, sections, counter, rules, redactor, meter, telemetry, maxSteps, repository, recording }: AgentParts): Agent => {
  const { name, fallbacks, pool, classify, contextWindow } = model;
  const { redact } = redactor;
  const traced = telemetry.traceModel(model.driver);
  return harness({ model: traced, defaultModel: name, tools: telemetry.traceTools(driver), sessions }).pipe(
    hooks(rules.hooks, { approvalStore: rules.approvalStore }),
    guardrails({ maxSteps }),
    ...(repository === undefined ? [] : [git(gitOptions(repository))]),
    failover({ pool, models: fallbacks, classify }),
    prompt(sections),
    compaction({ window: contextWindow, summarize: summarizeWith(traced), counter, redact, archive: archiveIn(artifacts), isOverflow: (error) => classify(error).reason === 'context-overflow' }),
    lateHooks(rules.hooks),
    loopDetect(),
    tools({ driver, contextWindow, artifacts, redact }),
    security({ redactor }),
    observe({ sinks: telemetry.sinks, meter, harnessId: 'h-coder', channel: 'terminal', sideModel: name, redact }),
    ...recorders(recording, redact),
  );
};

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

const recorders = (file: string | undefined, redact: (text: string) => string): readonly TurnOperator[] => (file === undefined ? [] : [record(file, { redact })]);
