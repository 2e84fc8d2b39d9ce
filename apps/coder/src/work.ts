import { resolve } from 'node:path';
import { createTokenCounter } from '@h/compaction';
import type { UsageMeter } from '@h/observe';
import { createRedactor } from '@h/security';
import { memoryArtifacts } from '@h/tools';
import type { Agent, SessionStore } from '@h/turn';
import type { CoderArguments } from './arguments.js';
import { ContextWindow } from './context-window.js';
import { Conversation } from './conversation.js';
import { signalExitCodes, type EndSignal } from './exit-code.js';
import { startFolder } from './folder.js';
import type { ChosenModel } from './model/choose-model.js';
import { runOneTurn } from './one-turn.js';
import { secretsIn } from './model/keys.js';
import { createAgent } from './pipeline.js';
import { openLibrary, promptSections } from './prompt-sections.js';
import { openRepository } from './repository.js';
import { openRules } from './rules.js';
import { oneLine } from './render/printable.js';
import { onEndSignal } from './signals.js';
import type { Display, Process } from './streams.js';
import { openTelemetry } from './telemetry.js';
import { openToolbox } from './toolbox.js';

/** A job for the agent. */
export interface Job {
  readonly given: CoderArguments;
  readonly process: Process;
  readonly display: Display;
  /** The folder, as an absolute path. */
  readonly workspace: string;
  readonly sessions: SessionStore;
  /** The name of the session. */
  readonly session: string;
  readonly model: ChosenModel;
  readonly meter: UsageMeter;
  /** What to do; `undefined` for a conversation. */
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
  const { given, process, display, workspace, sessions, session, model, meter, opening } = job;
  const artifacts = memoryArtifacts();
  const repository = await openRepository(workspace, given);
  const library = openLibrary(workspace);
  const questions = display.terminal?.questions;
  const opened: (() => Promise<void>)[] = [];
  let stopListening = (): void => undefined;
  try {
    const telemetry = await openTelemetry(given.otel, (text) => process.stderr.write(`${oneLine(text)}\n`));
    opened.push(() => telemetry.close());
    const rules = await openRules({ workspace, approve: given.approve, environment: process.env, questions });
    opened.push(() => rules.close(session));
    const toolbox = await openToolbox({ root: workspace, given, questions, artifacts, repository, library });
    opened.push(() => toolbox.close());
    display.view.say([...opening, ...rules.problems.map((problem) => display.palette.yellow(`! ${oneLine(problem)}`))]);
    const isReadOnly = toolbox.driver.definitions().every(({ effect }) => effect === 'read-only');
    const sections = promptSections({ workspace, platform: process.platform, isReadOnly, library });
    const counter = createTokenCounter();
    const redactor = createRedactor({ values: secretsIn(process.env) });
    const { driver } = toolbox;
    const { maxSteps } = given;
    const recording = given.record === undefined ? undefined : resolve(startFolder(process.env, process.cwd()), given.record);
    const agent = createAgent({ model, sessions, driver, artifacts, sections, counter, rules, redactor, meter, telemetry, maxSteps, repository, recording });
    const run = start(agent, job, new ContextWindow(counter, model.contextWindow()));
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

const start = (agent: Agent, { prompt, session, display, process }: Job, context: ContextWindow): Run => {
  if (prompt !== undefined) return runOneTurn(agent, session, prompt, display);
  if (display.terminal === undefined) throw new Error('A conversation needs a terminal.');
  const conversation = new Conversation({ agent, session, context, input: process.stdin, terminal: display.terminal, palette: display.palette });
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
