import { outputWindow, type CheckRunner } from '@h/process';
import type { Sandbox } from '@h/sandbox';
import { toErrorInfo } from '@h/turn';

/** Runs checks in the sandbox, because they execute code that the model wrote. */
export const sandboxChecks =
  (sandbox: Sandbox): CheckRunner =>
  async ({ command, cwd, timeoutMs, maxChars, signal }) => {
    const window = outputWindow({ maxChars, headShare: 0 });
    try {
      const { ending, exitCode } = await sandbox.run({
        argv: ['/bin/sh', '-c', `exec 2>&1\n${command}`],
        cwd,
        timeoutMs,
        signal,
        onOutput: (chunk) => window.write(chunk),
      });
      const { text: output, omittedBytes } = window.read();
      const isTruncated = omittedBytes > 0;
      return ending === 'exited'
        ? { exitCode: exitCode ?? undefined, output, isTruncated }
        : { exitCode: undefined, output, isTruncated, failure: ending };
    } catch (error) {
      return { exitCode: undefined, output: '', failure: toErrorInfo(error).message };
    }
  };
