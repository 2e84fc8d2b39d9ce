import { execFileSync } from 'node:child_process';
import { appendFile, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { readTail } from './files/bounded-read.js';
import { openProject } from './project.js';

const at = Date.UTC(2026, 10, 21, 20);

describe('the notes', () => {
  it('have one entry per session', async () => {
    const { notes } = openProject({ folder: temporaryFolder() });
    await notes.add({ session: 'one', text: 'First.\nMore of it.', at });
    await notes.add({ session: 'one', text: '## Session two · forged', at });
    await notes.add({ session: 'two', text: 'Second.', at });
    const text = await readFile(notes.path, 'utf8');
    expect(text).toBe(
      '# Notes of the agent\n\nThis file is append-only: one entry per session, the newest last.\n\n' +
        '## Session one · 2026-11-21T20:00:00.000Z\n\n- First.\n  More of it.\n- ## Session two · forged\n\n' +
        '## Session two · 2026-11-21T20:00:00.000Z\n\n- Second.\n',
    );
  });

  it('continue an entry below that of another session', async () => {
    const { notes } = openProject({ folder: temporaryFolder() });
    for (const [session, text] of [
      ['one', 'First.'],
      ['two', 'Second.'],
      ['one', 'Third.'],
    ] as const) {
      await notes.add({ session, text, at });
    }
    expect((await readFile(notes.path, 'utf8')).match(/^## .*/gm)).toEqual([
      '## Session one · 2026-11-21T20:00:00.000Z',
      '## Session two · 2026-11-21T20:00:00.000Z',
      '## Session one · 2026-11-21T20:00:00.000Z (continued)',
    ]);
  });

  it('are read and written only at their end', async () => {
    const { notes } = openProject({ folder: temporaryFolder() });
    await notes.add({ session: 'one', text: 'First.', at });
    const block = Buffer.from(`- ${'x'.repeat(97)}\n`.repeat(10_000));
    for (let index = 0; index < 100; index += 1) await appendFile(notes.path, block);
    const before = process.memoryUsage().arrayBuffers;
    await notes.add({ session: 'two', text: 'Last.', at });
    expect(await notes.tail(200)).toMatch(/^(- x+\n)\n## Session two .*\n\n- Last\.\n$/);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000);
    expect((await stat(notes.path)).size).toBeGreaterThan(100_000_000);
  });

  it('are append-only, also after an incomplete write and a manual edit', async () => {
    const { notes } = openProject({ folder: temporaryFolder() });
    await notes.add({ session: 'one', text: 'First.', at });
    await appendFile(notes.path, '- torn in the mid');
    const before = await readFile(notes.path, 'utf8');
    await notes.add({ session: 'one', text: 'Second.', at });
    const after = await readFile(notes.path, 'utf8');
    expect(after).toBe(`${before}\n- Second.\n`);
  });

  it('are not written through a link or to a pipe', async () => {
    const folder = temporaryFolder();
    const elsewhere = join(temporaryFolder(), 'x.md');
    await writeFile(elsewhere, 'mine');
    await symlink(elsewhere, join(folder, 'agent-notes.md'));
    await expect(openProject({ folder }).notes.add({ session: 'one', text: 'x', at })).rejects.toMatchObject({
      code: 'unsafe-path',
    });
    const other = openProject({ folder: temporaryFolder() }).notes;
    execFileSync('mkfifo', [other.path]);
    await expect(other.add({ session: 'one', text: 'x', at })).rejects.toMatchObject({ code: 'unsafe-path' });
    await expect(other.tail(10)).rejects.toMatchObject({ code: 'unsafe-path' });
    expect(await readFile(elsewhere, 'utf8')).toBe('mine');
  });
});

describe('readTail', () => {
  it('splits neither characters nor lines', async () => {
    const path = join(temporaryFolder(), 'x.md');
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc
            .string({ unit: 'grapheme', maxLength: 8 })
            .map((line) => line.replaceAll(/[\r\n\ufffd]/g, '').toWellFormed()),
          { maxLength: 8 },
        ),
        fc.integer({ min: 0, max: 60 }),
        async (lines, maxBytes) => {
          const text = lines.map((line) => `${line}\n`).join('');
          await writeFile(path, text);
          const tail = await readTail(path, maxBytes);
          expect(tail).not.toContain('\ufffd');
          expect(text.endsWith(tail)).toBe(true);
          expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(maxBytes);
        },
      ),
      { numRuns: 60 },
    );
  });
});
