import { endOnClosedTerminal } from '@h/process';
import { parseArguments } from './arguments.js';
import { exitCodes, usageExitCode } from './exit-code.js';
import { oneLine } from './render/printable.js';
import { watchOutputs } from './signals.js';
import { UsageError } from './usage-error.js';

/** @returns the exit code */
const run = async (): Promise<number> => {
  const given = parseArguments(process.argv.slice(2));
  if ('text' in given) {
    process.stdout.write(given.text);
    return 0;
  }
  // The help does not need the rest of the app.
  const { runCoder } = await import('./coder.js');
  return runCoder(given, process);
};

const failedOutput = watchOutputs(process);
try {
  const code = await run();
  process.exitCode = failedOutput() ?? code;
} catch (error) {
  process.stderr.write(`${oneLine(error instanceof Error ? error.message : String(error))}\n`);
  process.exitCode = error instanceof UsageError ? usageExitCode : exitCodes.error;
}

endOnClosedTerminal(process);
