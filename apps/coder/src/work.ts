import { openProject } from '@h/continuity';
import type { UsageMeter } from '@h/observe';
import type { ArtifactStore } from '@h/tools';
import type { SessionStore } from '@h/turn';
import type { CoderArguments } from './arguments.js';
import { ContextWindow } from './context-window.js';
import { Conversation } from './conversation.js';
import { signalExitCodes, type EndSignal } from './exit-code.js';
import type { ChosenModel } from './model/choose-model.js';
import { runOneTurn } from './one-turn.js';
import { openAgent, type OpenedAgent } from './open-agent.js';
import { startPlan } from './plan/start-plan.js';
import { oneLine } from './render/printable.js';
import { onEndSignal } from './signals.js';
import type { Children } from './stored-sessions.js';
import type { Display, Process } from './streams.js';

/** A job for the agent. */
export interface Job {
  readonly given: CoderArguments;
  readonly process: Process;
  readonly display: Display;
  /** The folder, as an absolute path. */
  readonly workspace: string;
  readonly sessions: SessionStore;
  /** What is kept of sub-agents. */
  readonly children: Children;
  /** Where is kept what is too long to be read at once. */
  readonly artifacts: ArtifactStore;
  /** The name of the session. */
  readonly session: string;
  readonly model: ChosenModel;
  readonly meter: UsageMeter;
  /** The turn of the session that was cut off when its process died, where there is nothing else to do. */
  readonly open?: string | undefined;
  /** What to do; `undefined` for a conversation, and for a plan or a turn that goes on. */
  readonly prompt: string | undefined;
  /** What is said first, once it is sure that the agent can work. */
  readonly opening: readonly string[];
}

/** How long the process may take to clean up after a second Ctrl-C, in milliseconds. */
const patienceMs = 2000;

/**
 * Makes the agent, has it do its job, and puts everything away.
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
    // One that fails, or takes its time, keeps none of the others; a second Ctrl-C still ends the process.
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
    return startPlan({ ...ready, plan }, { given: job.given, prompt, display, input: job.process.stdin });
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
  if (display.terminal === undefined) throw new Error('A conversation needs a terminal.');
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

/** Interrupts the run by signals, and when nobody reads its output any more. From the second one on, the process ends for sure. */
const listen = (process: Process, interrupt: Run['interrupt']): (() => void) => {
  let count = 0;
  const interrupted = (signal: EndSignal): void => {
    count += 1;
    interrupt(signal);
    if (count > 1) setTimeout(() => process.exit(signalExitCodes[signal]), patienceMs).unref();
  };
  const unread = (): void => {
    if (count === 0) interrupted('SIGPIPE');
  };
  const stop = onEndSignal(process, interrupted);
  process.stdout.on('error', unread);
  process.stderr.on('error', unread);
  return stop;
};
