import { resolve } from 'node:path';
import { createTokenCounter, type TokenCounter } from '@h/compaction';
import { createLanes, queue, type Lanes } from '@h/queue';
import { createRedactor } from '@h/redact';
import type { ChildSnapshot, Subagents } from '@h/subagents';
import { defineTool } from '@h/tools';
import type { Agent } from '@h/turn';
import { budgetFor } from './budget.js';
import { createExplorer, type ExplorerParts } from './explorer.js';
import { startFolder } from './folder.js';
import { secretsIn } from './model/keys.js';
import { createAgent } from './pipeline.js';
import { holdPlan } from './plan/hold-plan.js';
import { openPlan, type Plan } from './plan/open-plan.js';
import { coderIdentity, openLibrary, promptSections, readerIdentity } from './prompt-sections.js';
import { oneLine } from './render/printable.js';
import { openRepository, type Repository } from './repository.js';
import { openRules, type Rules } from './rules.js';
import { openSandbox } from './sandbox.js';
import { createTeam } from './team.js';
import { openTelemetry } from './telemetry.js';
import { openToolbox } from './toolbox.js';
import type { Job } from './work.js';

/** An agent that is ready to work, and what belongs to it. */
export interface OpenedAgent {
  readonly agent: Agent;
  readonly lanes: Lanes;
  readonly team: Subagents;
  readonly counter: TokenCounter;
  /** What many sessions work on, where that is asked for. */
  readonly plan: Plan | undefined;
  readonly repository: Repository | undefined;
  readonly rules: Rules;
}

/**
 * Makes the agent of a job, with its tools, its rules and its sub-agents.
 *
 * @param opened what has to be closed in the end; it is added to as things are opened, so that none is forgotten if a later one fails
 * @throws UsageError for what the user can put right
 */
export const openAgent = async (job: Job, opened: (() => Promise<void>)[]): Promise<OpenedAgent> => {
  const { given, process, display, workspace, sessions, children, artifacts, session, model, meter } = job;
  const questions = display.terminal?.approver;
  const warn = (text: string): void => void process.stderr.write(`${oneLine(text)}\n`);
  const repository = await openRepository(workspace, given);
  const telemetry = await openTelemetry(given.otel, warn);
  opened.push(() => telemetry.close());
  const rules = await openRules({ workspace, approve: given.approve, environment: process.env, questions });
  opened.push(async () => {
    try {
      // The sessions of a plan have ended one by one.
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
  return { agent, lanes, team, counter: common.counter, plan, repository, rules };
};

/** Tools have their own deadlines: only a model without output is idle. */
const isToolAtWork = (agent: Agent, turn: string): boolean =>
  agent.running().some((one) => one.turn === turn && one.state === 'waiting-for-tool');

/** What an agent with a fresh context has to know of its sub-agents: their results will still come. */
const childFacts = (children: readonly ChildSnapshot[]): Readonly<Record<string, string>> =>
  children.length === 0
    ? {}
    : {
        'Sub-agents whose results are still to come': children
          .map(({ agent, id, task }) => `${agent} ${id}: ${task}`)
          .join('\n'),
      };
