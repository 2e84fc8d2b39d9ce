import { compaction, summarizeWith, type TokenCounter } from '@h/compaction';
import { failover } from '@h/failover';
import { guardrails } from '@h/guardrails';
import { hooks } from '@h/hooks';
import { loopDetect } from '@h/loop-detect';
import { observe, record, type RecordOptions, type UsageMeter } from '@h/observe';
import { prompt, type PromptOptions } from '@h/prompt';
import { reasoning } from '@h/reasoning';
import { eventRedactor, type Redactor } from '@h/redact';
import { normalizeWraps, security } from '@h/security';
import { tools, type ArtifactStore, type RegistryDriver } from '@h/tools';
import { harness, type Agent, type ErrorInfo, type SessionStore, type TurnOperator } from '@h/turn';
import { git, type GitOptions } from '@h/git';
import type { ReasoningMode } from '../arguments.js';
import { shareLeft, type RunBudget } from './budget.js';
import type { ChosenModel } from '@h/models';
import type { Plan } from '../plan/open-plan.js';
import type { Repository } from './repository.js';
import type { Rules } from './rules.js';
import type { Telemetry } from '@h/observe/otlp';

/** Options of {@link createAgent}. */
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
  readonly reasoning: ReasoningMode;
  /** Limits of the whole run. */
  readonly budget?: RunBudget | undefined;
  /** The git repository of the workspace, if the agent reports or commits changes. */
  readonly repository: Repository | undefined;
  /** The file to record turns in. */
  readonly recording: string | undefined;
  /** Outermost operators: the queue. */
  readonly outer?: readonly TurnOperator[];
  /** The operator that delegates tasks to sub-agents. */
  readonly team?: readonly TurnOperator[];
  /** Operators that continue a project over many sessions. */
  readonly plan?: Pick<Plan, 'continuity' | 'handOff' | 'commitMessage'> | undefined;
  /** Innermost operators, which have the final decision on tool calls. */
  readonly inner?: readonly TurnOperator[];
}

/**
 * Creates an agent from the harness and its operators.
 *
 * The operators decide in the order of the pipe. Sub-agents use the same pipeline.
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
    // Precedes compaction, whose hand-off must recognize the last step that loopDetect marks.
    loopDetect(),
    compaction({
      window: contextWindow,
      summarize,
      counter,
      // Normalizes the ids in the markers around external content: a summary need not contain them.
      redact: (text) => redact(normalizeWraps(text)),
      archive: archiveIn(artifacts),
      isOverflow,
      lastResort: plan?.handOff,
    }),
    reasoning({ effort: parts.reasoning, budgetLeft: () => shareLeft(parts.budget) }),
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

/** Timeout of a commit, in milliseconds; a commit to a large repository takes seconds. */
const commitTimeoutMs = 15_000;
/** Timeout of the work after a turn (notes and commit), in milliseconds. */
const closeGraceMs = 30_000;

const gitOptions = ({ repository, use }: Repository): GitOptions => ({
  repository,
  autoBranch: use === 'branch',
  autoCommit: use !== 'look',
  // Uncommitted files on the branch of a plan come from an interrupted session.
  adoptUncommitted: use === 'plan',
  required: use !== 'look',
  commitTimeoutMs,
});

/** Stores the full history as an artifact that the model can read. */
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
