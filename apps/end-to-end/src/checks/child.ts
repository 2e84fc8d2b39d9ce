/** A harness that runs a check of its own accord until it is killed: `<a line of shell>`. */
import { localChecks } from '@h/process';

const [, , command = ''] = process.argv;
void localChecks()({
  command,
  cwd: '.',
  timeoutMs: 3_600_000,
  maxChars: 1000,
  signal: new AbortController().signal,
}).then((end) => console.log(end));
