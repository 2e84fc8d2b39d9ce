import { compaction, summarizeWith } from '@h/compaction';
import { failover } from '@h/failover';
import { git } from '@h/git';
import { guardrails, type Budget } from '@h/guardrails';
import { hooks, type ApprovalStore } from '@h/hooks';
import { loopDetect } from '@h/loop-detect';
import type { ChosenModel } from '@h/models';
import { observe, type UsageMeter } from '@h/observe';
import { contextFiles, prompt, type PromptOptions } from '@h/prompt';
import { eventRedactor, type Redactor } from '@h/redact';
import { externalContentRule, normalizeWraps, scanContext, security } from '@h/security';
import { tools, type ArtifactStore } from '@h/tools';
import { harness, type Agent, type SessionStore, type TurnEventOf, type TurnOperator } from '@h/turn';
import type { StationConfig } from '../config/schema.js';
import type { Telemetry } from '@h/observe/otlp';
import type { AgentFile } from './agent-file.js';
import { rulesOf } from './rules.js';
import type { Toolbox } from './toolbox.js';
import { runOf } from './turn-metadata.js';
import { recordUsage, type ChildUsages } from './record-usage.js';
import type { Workplace } from './workplaces.js';

/** Options of {@link createPipeline}. */
export interface PipelineParts {
  readonly config: StationConfig;
  readonly file: AgentFile;
  readonly model: ChosenModel;
  readonly workplace: Workplace;
  readonly toolbox: Toolbox;
  readonly sessions: SessionStore;
  readonly artifacts: ArtifactStore;
  readonly approvalStore: ApprovalStore;
  readonly redactor: Redactor;
  readonly meter: UsageMeter;
  readonly telemetry: Telemetry;
  readonly childUsages: ChildUsages;
  readonly isChild: boolean;
  readonly budget: (start: TurnEventOf<'turn.start'>) => Budget | undefined;
  /** The queue; empty for sub-agents, which run while their parent holds a lane. */
  readonly outer: readonly TurnOperator[];
  /** The operator that delegates tasks to sub-agents. */
  readonly team: readonly TurnOperator[];
  /** Innermost operators, which have the final decision on tool calls. */
  readonly inner: readonly TurnOperator[];
}

/** Timeout of the work after a turn, in milliseconds: a commit, and hooks of the end. */
const closeGraceMs = 30_000;
const commitTimeoutMs = 15_000;

/** Creates the agent of a file: its operators decide in the order of the pipe. */
export const createPipeline = (parts: PipelineParts): Agent => {
  const { config, file, model, workplace, toolbox, sessions, artifacts, redactor, meter, telemetry } = parts;
  const { compaction: compact, limits } = config.harness;
  const { harness_config: own } = file.settings;
  const { name, fallbacks, pool, classify, contextWindow } = model;
  const { redact } = redactor;
  const redactEvent = eventRedactor(redactor);
  const traced = telemetry.traceModel(model.driver);
  return harness({
    model: traced,
    defaultModel: name,
    tools: telemetry.traceTools(toolbox.driver),
    sessions,
    closeGraceMs,
  }).pipe(
    ...parts.outer,
    hooks(rulesOf(config, file, workplace.root), {
      approvalStore: parts.approvalStore,
      approvalTimeoutMs: config.approvals.timeout,
    }),
    ...parts.team,
    guardrails({
      maxSteps: own.max_steps ?? limits.max_steps,
      maxDurationMs: own.timeout ?? limits.timeout,
      ...turnAllowance(config, file),
      session: allowance(config.budgets.session),
      budget: parts.budget,
      costOf: meter.costOf,
    }),
    failover({ pool, models: fallbacks, classify }),
    prompt(sectionsOf(file, workplace)),
    ...gitFor(parts, redact),
    loopDetect({ doomLoopThreshold: own.doom_loop_threshold ?? limits.doom_loop_threshold }),
    ...(compact.enabled
      ? [
          compaction({
            window: contextWindow,
            threshold: compact.threshold,
            protectTokens: compact.protect_tokens,
            summarize: summarizeWith(traced),
            redact: (text) => redact(normalizeWraps(text)),
            archive: async ({ session, messages }) => {
              const content = messages.map((message) => JSON.stringify(message)).join('\n');
              return `artifact ${(await artifacts.put({ session, content })).id}`;
            },
            isOverflow: (error) => classify(error).reason === 'context-overflow',
          }),
        ]
      : []),
    tools({ driver: toolbox.driver, contextWindow, artifacts, redact }),
    security({ redactor }),
    observe({
      sinks: telemetry.sinks,
      meter,
      harnessId: config.telemetry.service_name,
      channel: 'station',
      sideModel: name,
      redact: redactEvent,
    }),
    recordUsage({
      costOf: meter.costOf,
      sideModel: name,
      children: parts.childUsages,
      isChild: parts.isChild,
    }),
    ...parts.inner,
  );
};

interface AllowanceConfig {
  readonly max_cost?: number;
  readonly max_tokens?: number;
}

const allowance = ({ max_cost: maxCost, max_tokens: maxTokens }: AllowanceConfig) => ({ maxCost, maxTokens });

/** The stricter limits of the configuration and of the agent. */
const turnAllowance = ({ budgets: { turn } }: StationConfig, { settings: { policy } }: AgentFile) => ({
  maxCost: least(turn.max_cost, policy.max_cost),
  maxTokens: least(turn.max_tokens, policy.max_tokens),
});

const least = (first = Infinity, second = Infinity): number | undefined =>
  Math.min(first, second) === Infinity ? undefined : Math.min(first, second);

const gitFor = ({ config, workplace }: PipelineParts, redact: (text: string) => string): readonly TurnOperator[] => {
  const { repository, hasOwnBranch } = workplace;
  if (repository === undefined) return [];
  const settings = config.harness.git;
  return [
    git({
      repository,
      autoBranch: settings.auto_branch && !hasOwnBranch,
      branchPrefix: settings.branch_prefix,
      autoCommit: settings.auto_commit,
      adoptUncommitted: hasOwnBranch,
      requireApproval: settings.require_approval,
      approvalTimeoutMs: config.approvals.timeout,
      workflowBranchStrategy: settings.workflow_branch_strategy,
      workflow: ({ session }) => runOf(session) ?? session,
      commitTimeoutMs,
      redact,
    }),
  ];
};

const sectionsOf = ({ prompt: identity }: AgentFile, { root }: Workplace): PromptOptions => ({
  frozen: [{ id: 'identity', text: identity }, externalContentRule],
  session: [
    {
      id: 'workspace',
      text: `You work in the folder ${JSON.stringify(root)}. Paths are relative to it.`,
    },
    contextFiles({ workspace: root, scan: scanContext }),
  ],
  volatile: [{ id: 'date', refresh: 'turn', text: ({ at }) => `Today is ${new Date(at).toISOString().slice(0, 10)}.` }],
  // The date does not change between steps, and some models drop their reasoning if a message follows tool results.
  volatileAfterTools: false,
});
