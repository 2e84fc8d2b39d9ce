#!/usr/bin/env node
import { packageVersion } from '@h/files';
import { parseArguments, UsageError, usageText } from './arguments.js';
import { runConfigCommand } from './config/commands.js';
import { manageTokens, startProgram, type RunningProgram } from './program.js';

/** Exit code for wrong arguments. */
const usageExitCode = 2;
/** How long the program waits for running turns after SIGTERM, in milliseconds. Those that remain are resumed. */
const drainMs = 10_000;

const surroundings = {
  say: (text: string): void => void process.stdout.write(`${text}\n`),
  warn: (text: string): void => void process.stderr.write(`${text}\n`),
};

const run = async (): Promise<void> => {
  const given = parseArguments(process.argv.slice(2));
  if (given.command === 'help') return surroundings.say(usageText);
  if (given.command === 'version') return surroundings.say(packageVersion(import.meta.url));
  const code = runConfigCommand(given, process.env, surroundings);
  if (code !== undefined) return void (process.exitCode = code);
  if (given.command !== 'start') return manageTokens(given, surroundings);
  const starting = startProgram(given, surroundings);
  // A signal during the start takes effect after it.
  const stop = (): void => {
    // A second signal ends the process at once.
    process.once('SIGINT', () => process.exit(130));
    // Turns are not cancelled: the next process resumes them. The process also ends if something could not be stored.
    const finish = (program: RunningProgram): Promise<void> =>
      program
        .stop(drainMs)
        .catch(fail)
        .finally(() => process.exit());
    // `run` reports a start that fails.
    void starting.then(finish, () => undefined);
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  await starting;
};

const fail = (error: unknown): void => {
  surroundings.warn(error instanceof Error ? error.message : String(error));
  process.exitCode = error instanceof UsageError ? usageExitCode : 1;
};

// The reader of an output may leave: a terminal that is closed, a log collector. Turns continue.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);

await run().catch(fail);
