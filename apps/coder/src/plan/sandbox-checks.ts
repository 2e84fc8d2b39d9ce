import { StringDecoder } from 'node:string_decoder';
import type { CheckRunner } from '@h/continuity';
import type { Sandbox } from '@h/sandbox';

/** Runs checks where the commands of the model run: they execute what it has written. */
export const sandboxChecks =
  (sandbox: Sandbox): CheckRunner =>
  async ({ command, cwd, timeoutMs, maxChars, signal }) => {
    const decoder = new StringDecoder('utf8');
    let output = '';
    const onOutput = (chunk: Uint8Array): void => {
      output += decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      if (output.length > 2 * maxChars) output = output.slice(-maxChars);
    };
    try {
      const { ending, exitCode } = await sandbox.run({
        argv: ['/bin/sh', '-c', `exec 2>&1\n${command}`],
        cwd,
        timeoutMs,
        signal,
        onOutput,
      });
      const end = output.slice(-maxChars).toWellFormed();
      return ending === 'exited'
        ? { exitCode: exitCode ?? undefined, output: end }
        : { exitCode: undefined, output: end, failure: ending };
    } catch (error) {
      return { exitCode: undefined, output: '', failure: error instanceof Error ? error.message : String(error) };
    }
  };
