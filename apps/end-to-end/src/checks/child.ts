/** Runs a check, given as a shell command in the first argument, until the process is killed. */
import { localChecks } from '@h/process';

const [, , command = ''] = process.argv;
void localChecks()({
  command,
  cwd: '.',
  timeoutMs: 3_600_000,
  maxChars: 1000,
  signal: new AbortController().signal,
}).then((end) => console.log(end));
