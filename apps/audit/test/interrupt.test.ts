import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { audit } from '../src/audit.js';
import { run } from '../src/cli.js';
import { findFiles } from '../src/read/find-files.js';
import { bundleProgram } from './program.js';
import { claudeCode, type Step } from './transcripts.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'h-audit-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const steps = Array.from({ length: 500 }, (_, index): Step => ({
  name: 'Bash',
  input: { command: `echo ${index}` },
  result: `${index}`,
}));
const lines = claudeCode(steps);
const asDocument = `[${lines.trim().split('\n').join(',')}]`;

describe('an interrupt', () => {
  it('ends the process with 130, without a report, while a pipeline holds its turn', async () => {
    const program = await bundleProgram(folder);
    const stack = join(folder, 'stack.mjs');
    // The operator lets no event pass, its turn does not end when it is cancelled, and a timer keeps the process alive.
    await writeFile(
      stack,
      `import { writeSync } from 'node:fs';
       setInterval(() => {}, 1000);
       export default () => [(source) => ({ __proto__: source, subscribe: () => { writeSync(1, 'held'); return { unsubscribe() {} }; } })];`,
    );
    const transcripts = join(folder, 'transcripts');
    const page = join(folder, 'report.html');
    await mkdir(transcripts);
    await writeFile(join(transcripts, 'a.jsonl'), lines);
    await writeFile(page, 'before');
    const child = spawn(process.execPath, [program, transcripts, '--json', '--stack', stack, '--html', page]);
    const ended = once(child, 'exit');
    const errors = text(child.stderr);
    const [begun] = (await once(child.stdout, 'data')) as [Buffer];
    child.kill('SIGINT');
    expect({ ended: await ended, begun: begun.toString(), errors: await errors }).toEqual({
      ended: [130, null],
      begun: 'held',
      errors: '',
    });
    expect(await readFile(page, 'utf8')).toBe('before');
    expect((await readdir(folder)).toSorted()).toEqual(['h-audit.mjs', 'report.html', 'stack.mjs', 'transcripts']);
  });

  it.each([
    ['lines', 'a.jsonl', lines],
    ['one document', 'a.json', asDocument],
  ])('ends the analysis of %s between entries', async (_, name, content) => {
    await writeFile(join(folder, name), content);
    const abort = new AbortController();
    let priced = 0;
    const costOf = () => {
      priced += 1;
      if (priced === 1) setImmediate(() => abort.abort(new Error('Interrupted.')));
      return 0;
    };
    await expect(audit(await findFiles([folder]), { costOf, signal: abort.signal })).rejects.toThrow('Interrupted.');
    expect(priced).toBeLessThan(steps.length / 2);
  });

  it('ends a replay between model calls', async () => {
    await writeFile(join(folder, 'a.jsonl'), lines);
    const abort = new AbortController();
    let made = 0;
    const stack = () => {
      made += 1;
      setImmediate(() => abort.abort(new Error('Interrupted.')));
      return [];
    };
    await expect(audit(await findFiles([folder]), { stack, signal: abort.signal })).rejects.toThrow('Interrupted.');
    expect(made).toBe(1);
  });

  it('clears the progress bar and writes no report', async () => {
    await writeFile(join(folder, 'a.jsonl'), lines);
    let interrupt: () => void = () => undefined;
    let shown = '';
    const stderr = Object.assign(
      new Writable({
        write: (chunk: Buffer, _, done) => {
          shown += chunk.toString();
          interrupt();
          done();
        },
      }),
      { isTTY: true },
    );
    let printed = '';
    const stdout = new Writable({
      write: (chunk: Buffer, _, done) => {
        printed += chunk.toString();
        done();
      },
    });
    const page = join(folder, 'report.html');
    const code = await run([folder, '--html', page], {
      stdout,
      stderr,
      env: {},
      once: (_, listener) => {
        interrupt = listener;
      },
    });
    expect({ code, printed, isCleared: shown.endsWith('\r\u001B[K') }).toEqual({
      code: 130,
      printed: '',
      isCleared: true,
    });
    expect(await readdir(folder)).toEqual(['a.jsonl']);
  });
});
