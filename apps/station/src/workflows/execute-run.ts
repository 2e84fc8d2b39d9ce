import type { JSONValue, TurnOutcome } from '@h/turn';
import { sessionOfStep } from '../agents/turn-metadata.js';
import type { RunStep, StoredRun } from './run-store.js';
import { endState, type AgentStep, type WorkflowState } from './schema.js';
import { nextState, render, type RunValues } from './values.js';

/** A turn of a step. */
export interface StepRequest {
  readonly tenant: string;
  readonly run: string;
  readonly workflow: string;
  readonly state: string;
  readonly agent: string;
  /** The session of the step, which has this turn alone. The same session is requested again after a crash. */
  readonly session: string;
  readonly input: string;
  /** Files of earlier steps that the workspace of this session must contain. */
  readonly files: readonly { readonly session: string; readonly paths: readonly string[] }[];
  readonly signal: AbortSignal;
}

/** How a turn ended. */
export interface StepAnswer {
  readonly outcome: TurnOutcome;
  readonly text: string;
  readonly reason?: string | undefined;
}

/** A question to a person. */
export interface ApprovalQuestion {
  /** The same id is asked again after a crash. */
  readonly id: string;
  readonly tenant: string;
  readonly run: string;
  readonly state: string;
  readonly message: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  readonly signal: AbortSignal;
}

/** What the steps of runs need. Both functions have one effect if they are called again with the same session or id. */
export interface StepRunner {
  /** Runs the turn of a session, or returns how it ended. */
  readonly runAgent: (request: StepRequest) => Promise<StepAnswer>;
  readonly askApproval: (question: ApprovalQuestion) => Promise<'approved' | 'denied'>;
  /** The id of a session. @defaultValue its name */
  readonly sessionId?: ((name: string, agent: string, tenant: string) => string) | undefined;
}

/** The reason with which the signal of a step is aborted at its time limit. */
export class StepTimedOut extends Error {}

/** The run belongs to another process, or this one is closing. */
export class RunReleased extends Error {}

/** Options of {@link executeRun}. */
export interface Execution extends StepRunner {
  readonly now: () => number;
  /** Aborted when the run is cancelled or released. */
  readonly signal: AbortSignal;
  /** Reads the run. @throws RunReleased if this process does not own it */
  readonly read: () => Promise<StoredRun>;
  /** Changes the run. @throws RunReleased if this process does not own it */
  readonly change: (change: (current: StoredRun) => StoredRun) => Promise<StoredRun>;
}

type Result = { readonly output: JSONValue } | { readonly error: string; readonly isDenied?: boolean };

/** Continues a run after its last recorded step, until it ends. */
export const executeRun = async (execution: Execution): Promise<void> => {
  for (;;) {
    const run = await execution.read();
    if (run.current === null) return;
    const state = run.workflow.states.find(({ name }) => name === run.current);
    if (state === undefined) return end(execution, 'failed', `The state "${run.current}" does not exist.`);
    if (run.visit > run.workflow.max_visits) {
      const message = `The state "${state.name}" was visited ${run.workflow.max_visits} times. Raise max_visits, or add an exit.`;
      return end(execution, 'failed', message);
    }
    const result = await resultOfVisit(execution, run, state);
    const { isCancelled, startedAt, workflow } = await execution.read();
    if (isCancelled) return end(execution, 'cancelled', 'A person or a program cancelled the run.');
    if (execution.now() >= deadlineOf({ startedAt, workflow })) {
      return end(execution, 'failed', `The run reached its time limit of ${workflow.timeout} ms.`);
    }
    const next = await targetOf(execution, state, result);
    if (next === undefined) return end(execution, 'failed', 'error' in result ? result.error : 'No choice applies.');
    if (next === endState) return end(execution, 'completed', null);
    await execution.change((current) => ({
      ...current,
      state: 'running',
      current: next,
      visit: visitsOf(current, next) + 1,
    }));
  }
};

/** A failure of a visit is a result; a run that was released has none. */
const resultOfVisit = async (execution: Execution, run: StoredRun, state: WorkflowState): Promise<Result> => {
  try {
    return await visit(execution, run, state);
  } catch (error) {
    if (error instanceof RunReleased) throw error;
    return { error: error instanceof Error ? error.message : String(error) };
  }
};

const targetOf = async (execution: Execution, state: WorkflowState, result: Result): Promise<string | undefined> => {
  if ('error' in result) {
    const denied = result.isDenied === true && state.type === 'approval' ? state.denied : undefined;
    return denied ?? state.on_error;
  }
  return nextState(state, valuesOf(await execution.read()));
};

const end = async (
  { change, now }: Execution,
  state: 'completed' | 'failed' | 'cancelled',
  error: string | null,
): Promise<void> => {
  const status = state === 'cancelled' ? 'cancelled' : 'failed';
  const endedAt = now();
  await change((run) => ({
    ...run,
    state,
    current: null,
    endedAt,
    error,
    owner: null,
    steps: run.steps.map((step) => (step.endedAt === null ? { ...step, status, endedAt } : step)),
  }));
};

const visitsOf = ({ steps }: StoredRun, state: string): number =>
  Math.max(0, ...steps.filter((step) => step.state === state).map(({ visit: number }) => number));

/** Executes the current visit of a state, or returns its result if it was executed before a crash. */
const visit = async (execution: Execution, run: StoredRun, state: WorkflowState): Promise<Result> => {
  switch (state.type) {
    case 'agent':
      return runStep(execution, state.name, null, state);
    case 'parallel': {
      const results = await Promise.all(
        state.branches.map(async (branch) => ({
          name: branch.name,
          result: await runStep(execution, state.name, branch.name, branch),
        })),
      );
      const failed = results.flatMap(({ name, result }) => ('error' in result ? [`${name}: ${result.error}`] : []));
      return failed.length > 0 ? { error: failed.join(' ') } : { output: null };
    }
    case 'approval':
      return ask(execution, run, state);
    case 'wait': {
      const { index, step } = await begin(execution, state.name, null, 'waiting', {});
      if (step.status === 'completed') return { output: null };
      const [endsAt, deadline] = [step.startedAt + state.for, deadlineOf(run)];
      await until(execution, Math.min(endsAt, deadline));
      if (!execution.signal.aborted && endsAt <= deadline) {
        await finish(execution, index, { status: 'completed', output: null });
      }
      return { output: null };
    }
  }
};

const ask = async (
  execution: Execution,
  run: StoredRun,
  state: Extract<WorkflowState, { type: 'approval' }>,
): Promise<Result> => {
  const approval = `${run.id}-${state.name}-${run.visit}`;
  const { index, step } = await begin(execution, state.name, null, 'waiting', { approval });
  const denial = { error: `The approval "${state.name}" was denied.`, isDenied: true };
  if (step.status === 'completed') return step.output === 'approved' ? { output: 'approved' } : denial;
  const decision = await execution.askApproval({
    id: approval,
    tenant: run.tenant,
    run: run.id,
    state: state.name,
    message: render(state.message, valuesOf(run)),
    expiresAt: Math.min(step.startedAt + state.timeout, deadlineOf(run)),
    signal: execution.signal,
  });
  await finish(execution, index, { status: 'completed', output: decision });
  return decision === 'approved' ? { output: decision } : denial;
};

/** Runs the attempts of an agent step. */
const runStep = async (
  execution: Execution,
  state: string,
  branch: string | null,
  settings: AgentStep,
): Promise<Result> => {
  for (;;) {
    const run = await execution.read();
    const last = stepsOf(run, state, branch).at(-1);
    if (last?.status === 'completed') return { output: last.output };
    if (execution.signal.aborted) return { error: 'The run was cancelled.' };
    if (last?.status === 'failed') {
      const retryAt = (last.endedAt ?? 0) + settings.retry.delay;
      const isLast = last.attempt >= settings.retry.attempts || retryAt >= deadlineOf(run);
      if (isLast) return { error: last.error ?? 'The step failed.' };
      await until(execution, retryAt);
    }
    if (execution.signal.aborted) return { error: 'The run was cancelled.' };
    await attempt(execution, state, branch, settings);
  }
};

const attempt = async (
  execution: Execution,
  state: string,
  branch: string | null,
  { agent, input, output, timeout }: AgentStep,
): Promise<void> => {
  const { index, step, run } = await begin(execution, state, branch, 'running', { agent });
  if (execution.signal.aborted) return;
  const deadline = Math.min(step.startedAt + timeout, deadlineOf(run));
  const timer = new AbortController();
  const limit = setTimeout(
    () => timer.abort(new StepTimedOut(timedOut(timeout))),
    Math.max(0, deadline - execution.now()),
  );
  const signal = AbortSignal.any([execution.signal, timer.signal]);
  try {
    const answer = await execution.runAgent({
      tenant: run.tenant,
      run: run.id,
      workflow: run.workflow.id,
      state,
      agent,
      session: step.session ?? '',
      input: render(input, valuesOf(run)),
      files: filesOf(run),
      signal,
    });
    if (execution.signal.aborted) return;
    await finish(execution, index, resultOf(answer, output, timer.signal.aborted ? timeout : undefined));
  } catch (error) {
    if (error instanceof RunReleased) throw error;
    if (execution.signal.aborted) return;
    const message = timer.signal.aborted ? timedOut(timeout) : error instanceof Error ? error.message : String(error);
    await finish(execution, index, { status: 'failed', error: message });
  } finally {
    clearTimeout(limit);
  }
};

const timedOut = (ms: number): string => `The step reached its time limit of ${ms} ms.`;

const resultOf = (
  { outcome, text, reason }: StepAnswer,
  output: AgentStep['output'],
  expiredMs: number | undefined,
): StepEnd => {
  if (outcome !== 'completed' && outcome !== 'replied') {
    const why =
      expiredMs === undefined ? (reason ?? `The turn ended with the outcome ${outcome}.`) : timedOut(expiredMs);
    return { status: 'failed', error: why };
  }
  if (output === 'text') return { status: 'completed', output: text };
  const json = /```(?:json)?\s*([\s\S]*?)```/.exec(text)?.[1] ?? text;
  try {
    return { status: 'completed', output: JSON.parse(json) as JSONValue };
  } catch {
    return { status: 'failed', error: `The answer is not JSON: ${text.slice(0, 200)}` };
  }
};

type StepEnd =
  | { readonly status: 'completed'; readonly output: JSONValue }
  | { readonly status: 'failed'; readonly error: string };

/** Returns the step that runs, or adds the next attempt to the record. */
const begin = async (
  { change, now, sessionId = (name) => name }: Execution,
  state: string,
  branch: string | null,
  status: 'running' | 'waiting',
  { agent, approval = null }: { readonly agent?: string; readonly approval?: string | null },
): Promise<{ readonly index: number; readonly step: RunStep; readonly run: StoredRun }> => {
  const isOpen = (run: StoredRun): RunStep | undefined =>
    stepsOf(run, state, branch).find(({ status: known }) => known !== 'failed');
  const run = await change((current) => {
    if (isOpen(current) !== undefined) return current;
    const name = sessionOfStep(current.id, current.steps.length, branch ?? state);
    const step: RunStep = {
      state,
      branch,
      visit: current.visit,
      attempt: stepsOf(current, state, branch).length + 1,
      status,
      startedAt: now(),
      endedAt: null,
      session: agent === undefined ? null : sessionId(name, agent, current.tenant),
      approval,
      output: null,
      error: null,
    };
    return { ...current, state: status, steps: [...current.steps, step] };
  });
  const step = isOpen(run);
  if (step === undefined) throw new RunReleased();
  return { index: run.steps.indexOf(step), step, run };
};

const finish = async ({ change, now }: Execution, index: number, ending: StepEnd): Promise<void> => {
  await change((run) => ({
    ...run,
    steps: run.steps.map((step, position) => (position === index ? { ...step, ...ending, endedAt: now() } : step)),
  }));
};

/** The attempts at the current visit of a state. */
const stepsOf = ({ steps, visit: current }: StoredRun, state: string, branch: string | null): readonly RunStep[] =>
  steps.filter((step) => step.state === state && step.branch === branch && step.visit === current);

/** The input and the outputs that steps and conditions refer to. */
const valuesOf = ({ input, steps }: StoredRun): RunValues => {
  const completed = steps.filter(({ status }) => status === 'completed');
  const outputOf = (state: string): JSONValue => {
    const own = completed.filter((step) => step.state === state);
    const whole = own.findLast(({ branch }) => branch === null);
    if (whole !== undefined) return whole.output;
    return Object.fromEntries(own.map(({ branch, output }): [string, JSONValue] => [branch ?? '', output]));
  };
  const names = new Set(completed.map(({ state }) => state));
  return { input, ...Object.fromEntries([...names].map((name) => [name, outputOf(name)])) };
};

const filesOf = ({ steps, workflow }: StoredRun): StepRequest['files'] =>
  steps.flatMap(({ state, branch, status, session }) => {
    const found = workflow.states.find(({ name }) => name === state);
    const settings =
      found?.type === 'parallel'
        ? found.branches.find(({ name }) => name === branch)
        : found?.type === 'agent'
          ? found
          : undefined;
    const paths = settings?.files ?? [];
    return status === 'completed' && session !== null && paths.length > 0 ? [{ session, paths }] : [];
  });

/** When a run reaches its time limit, in milliseconds since 1970. */
const deadlineOf = ({ startedAt, workflow }: Pick<StoredRun, 'startedAt' | 'workflow'>): number =>
  startedAt + workflow.timeout;

/** Waits until a time, or until the run is cancelled or released. */
const until = ({ now, signal }: Execution, at: number): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, Math.max(0, at - now()));
    signal.addEventListener('abort', done, { once: true });
  });
