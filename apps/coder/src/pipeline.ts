import { compaction, summarizeWith, type TokenCounter } from '@h/compaction';
import { failover } from '@h/failover';
import { guardrails } from '@h/guardrails';
import { hooks } from '@h/hooks';
import { loopDetect } from '@h/loop-detect';
import { observe, record, type RecordOptions, type UsageMeter } from '@h/observe';
import { prompt, type PromptOptions } from '@h/prompt';
import { eventRedactor, type Redactor } from '@h/redact';
import { normalizeWraps, security } from '@h/security';
import { tools, type ArtifactStore, type RegistryDriver } from '@h/tools';
import { harness, type Agent, type ErrorInfo, type SessionStore, type TurnOperator } from '@h/turn';
import { git, type GitOptions } from '@h/git';
import type { RunBudget } from './budget.js';
import type { ChosenModel } from './model/choose-model.js';
import type { Plan } from './plan/open-plan.js';
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
  /** Limits of everything that the process does. */
  readonly budget?: RunBudget | undefined;
  /** The git repository that the turn works in, where it shall hear of it. */
  readonly repository: Repository | undefined;
  /** The file that turns are recorded in. */
  readonly recording: string | undefined;
  /** Stands around all else: the queue. */
  readonly outer?: readonly TurnOperator[];
  /** Gives tasks to sub-agents. */
  readonly team?: readonly TurnOperator[];
  /** Carries a project over many sessions. */
  readonly plan?: Pick<Plan, 'continuity' | 'handOff' | 'commitMessage'> | undefined;
  /** Stands inside of all else, and has the last word on tools. */
  readonly inner?: readonly TurnOperator[];
}

/**
 * An agent: the loop, and around it everything that decides what may happen. The order is the order of sight. Sub-agents are
 * made of the same.
 */
export const createAgent = (parts: AgentParts): Agent => {
  const {
    model,
    sessions,
    driver,
    artifacts,
    sections,
    counter,
    rules,
    redactor,
    meter,
    telemetry,
    maxSteps,
    repository,
    recording,
  } = parts;
  const { outer = [], team = [], plan, inner = [] } = parts;
  const { name, fallbacks, pool, classify, contextWindow } = model;
  const { redact } = redactor;
  const redactEvent = eventRedactor(redactor);
  const traced = telemetry.traceModel(model.driver);
  const summarize = summarizeWith(traced);
  const isOverflow = (error: ErrorInfo): boolean => classify(error).reason === 'context-overflow';
  return harness({
    model: traced,
    defaultModel: name,
    tools: telemetry.traceTools(driver),
    sessions,
    closeGraceMs,
  }).pipe(
    ...outer,
    hooks(rules.hooks, { approvalStore: rules.approvalStore }),
    ...team,
    guardrails({ maxSteps, ...parts.budget }),
    failover({ pool, models: fallbacks, classify }),
    prompt(sections),
    ...(plan?.continuity({ summarize }) ?? []),
    ...(repository === undefined ? [] : [git({ ...gitOptions(repository), message: plan?.commitMessage, redact })]),
    // Before compaction: the hand-off leaves the history to a last step, which loopDetect marks.
    loopDetect(),
    compaction({
      window: contextWindow,
      summarize,
      counter,
      // A summary need not keep the ids of the marks around external content.
      redact: (text) => redact(normalizeWraps(text)),
      archive: archiveIn(artifacts),
      isOverflow,
      lastResort: plan?.handOff,
    }),
    tools({ driver, contextWindow, artifacts, redact }),
    security({ redactor }),
    observe({
      sinks: telemetry.sinks,
      meter,
      harnessId: 'h-coder',
      channel: 'terminal',
      sideModel: name,
      redact: redactEvent,
    }),
    ...recorders(recording, redactEvent),
    ...inner,
  );
};

/** How long a commit may take, in milliseconds: large repositories take seconds. */
const commitTimeoutMs = 15_000;
/** How long all may take that is left to do at the end of a turn, in milliseconds: its notes and its commit. */
const closeGraceMs = 30_000;

const gitOptions = ({ repository, use }: Repository): GitOptions => ({
  repository,
  autoBranch: use === 'branch',
  autoCommit: use !== 'look',
  // The branch of a plan has nobody else's files: what is there was left by a session that was cut off.
  adoptUncommitted: use === 'plan',
  required: use !== 'look',
  commitTimeoutMs,
});

/** The full history stays where the model can read it up. */
const archiveIn =
  (artifacts: ArtifactStore) =>
  async ({
    session,
    messages,
  }: {
    readonly session: string;
    readonly messages: readonly unknown[];
  }): Promise<string> => {
    const { id } = await artifacts.put({
      session,
      content: messages.map((message) => JSON.stringify(message)).join('\n'),
    });
    return `artifact ${id}`;
  };

const recorders = (file: string | undefined, redact: NonNullable<RecordOptions['redact']>): readonly TurnOperator[] =>
  file === undefined ? [] : [record(file, { redact })];
