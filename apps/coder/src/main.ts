import { runCoder } from './coder.js';
import { exitCodes, usageExitCode } from './exit-code.js';
import { oneLine } from './render/printable.js';
import { UsageError } from './usage-error.js';

try {
  process.exitCode = await runCoder(process.argv.slice(2), process);
} catch (error) {
  process.stderr.write(`${oneLine(error instanceof Error ? error.message : String(error))}\n`);
  process.exitCode = error instanceof UsageError ? usageExitCode : exitCodes.error;
}
