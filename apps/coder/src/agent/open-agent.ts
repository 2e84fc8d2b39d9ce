import { resolve } from 'node:path';
import { createTokenCounter, type TokenCounter } from '@h/compaction';
import { createLanes, queue, type Lanes } from '@h/queue';
import { createRedactor } from '@h/redact';
import type { ChildSnapshot, Subagents } from '@h/subagents';
import type { UsageMeter } from '@h/observe';
import { defineTool, type ArtifactStore } from '@h/tools';
import type { Agent, SessionStore } from '@h/turn';
import { budgetFor, type RunBudget } from './budget.js';
import { createExplorer, type ExplorerParts } from './explorer.js';
import { startFolder } from '../folder.js';
import { secretsIn, type ChosenModel } from '@h/models';
import { createAgent } from './pipeline.js';
import { holdPlan } from '../plan/hold-plan.js';
import { openPlan, type Plan } from '../plan/open-plan.js';
import { coderIdentity, openLibrary, promptSections, readerIdentity } from './prompt-sections.js';
import { oneLine } from '../render/printable.js';
import { openRepository, type Repository } from './repository.js';
import { openRules, type Rules } from './rules.js';
import { openSandbox } from './sandbox.js';
import { createTeam } from './team.js';
import { openTelemetry } from '../telemetry.js';
import { openToolbox } from './toolbox.js';
import type { Children } from '../stored-sessions.js';
import type { Display, Process } from '../streams.js';
import type { CoderArguments } from '../arguments.js';

/** Options of {@link openAgent}. */
export interface AgentJob {
  readonly given: CoderArguments;
  readonly process: Process;
  readonly display: Display;
  /** The folder to work in, as an absolute path. */
  readonly workspace: string;
  readonly sessions: SessionStore;
  /** The stored state of sub-agents. */
  readonly children: Children;
  /** Stores long tool results. */
  readonly artifacts: ArtifactStore;
  /** The name of the session. */
  readonly session: string;
  readonly model: ChosenModel;
  readonly meter: UsageMeter;
}

/** An agent with the resources that it uses. */
export interface OpenedAgent {
  readonly agent: Agent;
  readonly lanes: Lanes;
  readonly team: Subagents;
  readonly counter: TokenCounter;
  /** The plan of `--plan`. */
  readonly plan: Plan | undefined;
  /** The budget of the run. */
  readonly budget: RunBudget;
  readonly repository: Repository | undefined;
  readonly rules: Rules;
}

/**
 * Creates the agent of a job with its tools, rules and sub-agents.
 *
 * @param opened receives the close function of each resource as it opens, so that a later failure leaks none
 * @throws UsageError for a problem that the user can fix
 */
export const openAgent = async (job: AgentJob, opened: (() => Promise<void>)[]): Promise<OpenedAgent> => {
  const { given, process, display, workspace, sessions, children, artifacts, session, model, meter } = job;
  const questions = display.terminal?.approver;
  const warn = (text: string): void => void process.stderr.write(`${oneLine(text)}\n`);
  const repository = await openRepository(workspace, given, warn);
  const telemetry = await openTelemetry(given.otel, warn);
  opened.push(() => telemetry.close());
  const rules = await openRules({ workspace, approve: given.approve, environment: process.env, questions });
  opened.push(async () => {
    try {
      // A plan ends each of its sessions itself.
      if (!given.plan) await rules.endSession(session);
    } finally {
      rules.close();
    }
  });
  const sandbox = await openSandbox(workspace, given);
  opened.push(() => sandbox.close());
  const lanes = createLanes();
  if (given.plan) opened.push(await holdPlan(sessions));
  const plan = given.plan
    ? await openPlan({
        workspace,
        check: given.check,
        sandbox,
        questions,
        facts: ({ session: one }) => childFacts(team.list(one)),
      })
    : undefined;
  const surroundings = { workspace, platform: process.platform, library: openLibrary(workspace) };
  const common = {
    model,
    artifacts,
    counter: createTokenCounter(),
    rules,
    redactor: createRedactor({ values: secretsIn(process.env) }),
    meter,
    telemetry,
    maxSteps: given.maxSteps,
    reasoning: given.reasoning,
    budget: budgetFor(given, meter),
    recording: given.record === undefined ? undefined : resolve(startFolder(process.env, process.cwd()), given.record),
  };
  const explorer: ExplorerParts = { ...common, sessions: children.sessions, surroundings, repository };
  const team = createTeam({
    workspace,
    lanes,
    artifacts,
    children,
    createExplorer: (context) => createExplorer(explorer, context),
    onEvent: (child, event) => display.view.child(child, event),
  });
  opened.push(async () => {
    try {
      await team.close();
    } finally {
      await children.close();
    }
  });
  await team.recover({ unfinished: () => children.sessions.unfinished(), sessions: (one) => one === session });
  const others = [...team.tools.map((tool) => defineTool(tool)), ...(plan?.tools ?? [])];
  const toolbox = await openToolbox({
    root: workspace,
    given,
    questions,
    artifacts,
    repository,
    library: surroundings.library,
    sandbox,
    others,
  });
  opened.push(() => toolbox.close());
  const { driver } = toolbox;
  const isReadOnly = driver.definitions().every(({ effect }) => effect === 'read-only');
  const agent: Agent = createAgent({
    ...common,
    sessions,
    driver,
    sections: promptSections({ ...surroundings, identity: isReadOnly ? readerIdentity : coderIdentity }),
    repository,
    outer: [queue(lanes, { isAtWork: (turn) => isToolAtWork(agent, turn) })],
    team: [team],
    plan,
  });
  return { agent, lanes, team, counter: common.counter, plan, budget: common.budget, repository, rules };
};

/** Whether a tool is running: tools have their own deadlines, so the turn is not idle. */
const isToolAtWork = (agent: Agent, turn: string): boolean =>
  agent.running().some((one) => one.turn === turn && one.state === 'waiting-for-tool');

/** The facts about running sub-agents that a fresh context receives. */
const childFacts = (children: readonly ChildSnapshot[]): Readonly<Record<string, string>> =>
  children.length === 0
    ? {}
    : {
        'Sub-agents whose results are pending': children
          .map(({ agent, id, task }) => `${agent} ${id}: ${task}`)
          .join('\n'),
      };
