import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { watchOutputs, type OutputProcess } from './signals.js';

const watched = () => {
  const process = { stdout: new PassThrough(), stderr: new PassThrough() } satisfies OutputProcess;
  const outputs: typeof process & OutputProcess = process;
  return { process: outputs, code: watchOutputs(outputs) };
};

const failure = (code: string): Error => Object.assign(new Error(`write ${code}`), { code });

describe('watchOutputs', () => {
  it.each(['stdout', 'stderr'] as const)('returns the exit code of SIGPIPE if the reader closes %s', (output) => {
    const { process, code } = watched();
    process[output].emit('error', failure('EPIPE'));
    process[output].emit('error', failure('EPIPE'));
    expect(code()).toBe(141);
    expect(process.exitCode).toBe(141);
  });

  it('returns the exit code of an error for any other failure', () => {
    const { process, code } = watched();
    process.stdout.emit('error', failure('ENOSPC'));
    expect(code()).toBe(1);
    expect(process.exitCode).toBe(1);
  });

  it('reports once on standard error that the disk of standard output is full', () => {
    const { process } = watched();
    for (const output of [process.stdout, process.stdout, process.stderr]) output.emit('error', failure('ENOSPC'));
    expect(String(process.stderr.read())).toBe(
      'Standard output failed: write ENOSPC. Part of the output is missing. Free space on its disk.\n',
    );
  });

  it('returns undefined if all output was written', () => {
    expect(watched().code()).toBeUndefined();
  });
});
