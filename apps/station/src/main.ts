#!/usr/bin/env node
import { packageVersion } from '@h/files';
import { parseArguments, UsageError, usageText } from './arguments.js';
import { runConfigCommand } from './config/commands.js';
import { manageTokens, startProgram, type RunningProgram } from './program.js';

/** Exit code for wrong arguments. */
const usageExitCode = 2;
/** How long the program waits for running turns after SIGTERM, in milliseconds. Those that remain are resumed. */
const drainMs = 10_000;
/** How long a start that is interrupted may take to close what it has opened, in milliseconds. */
const closeMs = 2_000;

const surroundings = {
  say: (text: string): void => void process.stdout.write(`${text}\n`),
  warn: (text: string): void => void process.stderr.write(`${text}\n`),
};

const run = async (): Promise<void> => {
  const given = parseArguments(process.argv.slice(2));
  if (given.command === 'help') return surroundings.say(usageText);
  if (given.command === 'version') return surroundings.say(packageVersion(import.meta.url));
  const code = await runConfigCommand(given, process.env, surroundings);
  if (code !== undefined) return void (process.exitCode = code);
  if (given.command !== 'start') return manageTokens(given, surroundings);
  const interrupted = new AbortController();
  let program: RunningProgram | undefined;
  // Turns are not cancelled: the next process resumes them. The process also ends if something could not be stored.
  const finish = (running: RunningProgram): Promise<void> => {
    surroundings.say(`Stopping. Running turns have ${drainMs / 1000} s to end. Ctrl-C ends the process at once.`);
    return running
      .stop(drainMs)
      .catch(fail)
      .finally(() => process.exit());
  };
  const stop = (code: number): void => {
    // A second signal ends the process at once.
    process.once('SIGINT', () => process.exit(130));
    if (program) return void finish(program);
    process.exitCode = code;
    interrupted.abort(new Error('The start was interrupted by a signal.'));
    setTimeout(() => process.exit(), closeMs);
  };
  process.once('SIGINT', () => stop(130));
  process.once('SIGTERM', () => stop(143));
  try {
    program = await startProgram(given, surroundings, interrupted.signal);
  } catch (error) {
    if (interrupted.signal.aborted) process.exit();
    throw error;
  }
  if (interrupted.signal.aborted) await finish(program);
};

const fail = (error: unknown): void => {
  surroundings.warn(error instanceof Error ? error.message : String(error));
  process.exitCode = error instanceof UsageError ? usageExitCode : 1;
};

// The reader of an output may leave: a terminal that is closed, a log collector. Turns continue.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);

await run().catch(fail);
