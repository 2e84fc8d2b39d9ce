#!/usr/bin/env node
import { parseArguments, UsageError, usageText } from './arguments.js';
import { manageTokens, startProgram } from './program.js';

/** Exit code for wrong arguments. */
const usageExitCode = 2;
/** How long the program waits for running turns after SIGTERM, in milliseconds. Those that remain are resumed. */
const drainMs = 10_000;

const surroundings = {
  say: (text: string): void => void process.stdout.write(`${text}\n`),
  warn: (text: string): void => void process.stderr.write(`${text}\n`),
};

const run = async (): Promise<void> => {
  const given = parseArguments(process.argv.slice(2), process.env);
  if (given.command === 'help') return surroundings.say(usageText);
  if (given.command !== 'start') return manageTokens(given, surroundings);
  const program = await startProgram(given, surroundings);
  const stop = (): void => {
    // A second signal ends the process at once.
    process.once('SIGINT', () => process.exit(130));
    // Turns are not cancelled: the next process resumes them.
    void program.stop(drainMs).then(() => process.exit(0));
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
};

await run().catch((error: unknown) => {
  surroundings.warn(error instanceof Error ? error.message : String(error));
  process.exitCode = error instanceof UsageError ? usageExitCode : 1;
});
