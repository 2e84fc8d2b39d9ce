import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { claudeCode, type Step } from './transcripts.js';

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url));
/** Less than a third of the transcripts, with the libraries of the program. */
const maxHeap = 96;
const size = 300_000_000;
const filesOf = 10;

/** Writes sessions that read different texts, until the files have the size together. */
function* sessions(file: number): Generator<string> {
  for (let bytes = 0, part = 0; bytes < size / filesOf; part += 1) {
    const steps = Array.from({ length: 40 }, (_, index): Step => {
      const number = (file * 10_000 + part) * 100 + index;
      const result = Array.from(
        { length: 200 },
        (_line, line) => `const value${number} = read(${line * number});`,
      ).join('\n');
      return { name: 'Bash', input: { command: `sed -n ${number}p a.ts` }, result };
    });
    const text = claudeCode(steps, { session: `${file}-${part}` });
    bytes += text.length;
    yield text;
  }
}

it('reads 300 MB with a heap of 96 MB', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'h-audit-'));
  try {
    for (let file = 0; file < filesOf; file += 1) {
      await pipeline(Readable.from(sessions(file)), createWriteStream(join(folder, `${file}.jsonl`)));
    }
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [`--max-old-space-size=${maxHeap}`, program, '--json', folder],
      { maxBuffer: 64_000_000 },
    );
    const { totals } = JSON.parse(stdout) as {
      readonly totals: { readonly sessions: number; readonly skipped: unknown[] };
    };
    expect(totals).toMatchObject({ sessions: filesOf, skipped: [] });
  } finally {
    await rm(folder, { recursive: true });
  }
});
