import { openProject } from '@h/continuity';
import { endOnClosedTerminal } from '@h/process';
import { ContextWindow } from './context-window.js';
import { Conversation } from './conversation.js';
import { signalExitCodes, type EndSignal } from './exit-code.js';
import { runOneTurn } from './one-turn.js';
import { stateFolder } from './stored-sessions.js';
import { openAgent, type AgentJob, type OpenedAgent } from './agent/open-agent.js';
import { startPlan } from './plan/start-plan.js';
import { oneLine } from './render/printable.js';
import { isFull, onEndSignal } from './signals.js';
import type { Process } from './streams.js';

/** One run of the app. */
export interface Job extends AgentJob {
  /** The interrupted turn of the session, if no prompt is given. */
  readonly open?: string | undefined;
  /** The prompt; `undefined` for a conversation, and if a plan or a turn continues. */
  readonly prompt: string | undefined;
  /** Lines to print once the agent is ready. */
  readonly opening: readonly string[];
}

/** Time to clean up after a second Ctrl-C, in milliseconds. */
const patienceMs = 2000;

/**
 * Creates the agent, runs the job and closes all resources.
 *
 * @returns the exit code
 */
export const work = async (job: Job): Promise<number> => {
  const { process, display, opening } = job;
  const opened: (() => Promise<void>)[] = [];
  let stopListening = (): void => undefined;
  try {
    const ready = await openAgent(job, opened);
    display.view.say([
      ...opening,
      ...ready.rules.problems.map((problem) => display.palette.yellow(`! ${oneLine(problem)}`)),
    ]);
    const run = await start(ready, job);
    stopListening = listen(process, (signal) => run.interrupt(signal));
    return await run.done;
  } finally {
    display.view.close();
    // A failing or slow resource does not block the others; a second Ctrl-C still ends the process.
    await Promise.allSettled(opened.map((close) => close()));
    stopListening();
  }
};

interface Run {
  readonly done: Promise<number>;
  interrupt(signal: EndSignal): void;
}

const start = async (ready: OpenedAgent, job: Job): Promise<Run> => {
  const { agent, plan } = ready;
  const { prompt, open, session, display } = job;
  if (plan !== undefined) {
    const { given, process, workspace } = job;
    const useFile = `${stateFolder('plans', workspace, process.env)}.json`;
    return startPlan({ ...ready, plan }, { given, prompt, display, input: process.stdin, useFile });
  }
  if (prompt !== undefined) return runOneTurn(agent, { session, input: prompt }, display);
  if (open !== undefined && display.terminal?.questions === undefined) {
    return runOneTurn(agent, { resume: open }, display);
  }
  return converse(ready, job);
};

const converse = (
  { agent, lanes, team, counter }: OpenedAgent,
  { session, open, display, process, model, workspace }: Job,
): Run => {
  if (display.terminal === undefined) throw new Error('A conversation requires a terminal.');
  const context = new ContextWindow(counter, model.contextWindow());
  const tasks = { team, project: openProject({ folder: workspace }) };
  const conversation = new Conversation({
    agent,
    lanes,
    session,
    open,
    context,
    tasks,
    input: process.stdin,
    terminal: display.terminal,
    palette: display.palette,
  });
  return {
    done: conversation.run(),
    interrupt: (signal) => {
      if (signal === 'SIGINT') conversation.interrupt();
      else void conversation.stop(signalExitCodes[signal]);
    },
  };
};

/**
 * Interrupts the run on a signal, a closed terminal or a closed output. The second interrupt ends the process after a
 * delay.
 */
const listen = (process: Process, interrupt: Run['interrupt']): (() => void) => {
  let count = 0;
  const exit = (code: number): void => {
    endOnClosedTerminal(process);
    process.exit(code);
  };
  const interrupted = (signal: EndSignal): void => {
    count += 1;
    interrupt(signal);
    if (count > 1) setTimeout(exit, patienceMs, signalExitCodes[signal]).unref();
  };
  // A terminal that closes sends a signal and fails its input and outputs: together, they are one interrupt.
  const hungUp = (signal: EndSignal): void => {
    if (count === 0) interrupted(signal);
  };
  const failed = (error: Error): void => {
    if (!isFull(error)) hungUp('SIGPIPE');
  };
  const stop = onEndSignal(process, (signal) => (signal === 'SIGHUP' ? hungUp : interrupted)(signal));
  process.stdin.on('error', () => hungUp('SIGHUP'));
  process.stdout.on('error', failed);
  process.stderr.on('error', failed);
  return stop;
};
