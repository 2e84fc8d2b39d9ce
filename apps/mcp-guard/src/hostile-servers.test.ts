import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildFixture, eventually, guardedClient } from '../test/guard-client.js';

const plain = { security: { wrap: false } };
const folder = mkdtempSync(join(tmpdir(), 'mcp-guard-fixture-'));
let program: string;

beforeAll(async () => {
  program = await buildFixture(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a hostile server', () => {
  it('that hangs times out', async () => {
    const { call, text } = await guardedClient({ ...plain, results: { timeoutMs: 300 } });
    expect(await call('hang')).toMatchObject({ isError: true });
    expect(await text('echo', { text: 'a' })).toBe('a');
  });

  it('that hangs does not block other calls that may run beside', async () => {
    const { call, client, log } = await guardedClient({ ...plain, results: { lock: false } });
    const abort = new AbortController();
    const hanging = client.callTool({ name: 'hang' }, { signal: abort.signal }).catch((error: unknown) => error);
    await expect.poll(log, eventually).toContain('hang');
    expect(await call('echo', { text: 'a' })).not.toHaveProperty('isError');
    abort.abort();
    expect(await hanging).toBeInstanceOf(Error);
  });

  it('that dies is started again', async () => {
    const { call, text } = await guardedClient(plain, { program });
    expect(await text('die')).toContain('whether the call took effect is unknown');
    expect(await text('echo', { text: 'a' })).toBe('a');
    expect((await call('pid')).isError).not.toBe(true);
  });

  it('that returns 100 MB fails the call and continues to serve', async () => {
    const { text } = await guardedClient(plain, { program });
    expect(await text('big', { bytes: 104_000_000 })).toContain('more than 16777216 bytes');
    expect(await text('echo', { text: 'Still here' })).toBe('Still here');
  });

  it('that floods is survived', async () => {
    const { notes, text } = await guardedClient(plain, { program });
    expect(await text('flood')).toBe('flooded');
    expect(await text('echo', { text: 'a' })).toBe('a');
    expect(notes.filter((note) => note.includes('not a message'))).toHaveLength(1);
  });

  it('that lies about its schemas fails the call, and its other tools work', async () => {
    const { call, text } = await guardedClient(plain);
    expect(await call('lie')).toMatchObject({ isError: true });
    expect(await text('lie')).toContain('does not match its own output schema: count');
    expect(await text('echo', { text: 'a' })).toBe('a');
  });

  it('with an invalid keyword in a schema is called, since the keyword says nothing about the input', async () => {
    const { text } = await guardedClient(plain);
    expect(await text('odd', { text: 'a' })).toBe('odd');
  });

  it('that cannot be started is reported, and the others are offered', async () => {
    const servers = {
      gone: { command: '/nowhere/at-all' },
      it: { command: process.execPath, args: [program] },
    };
    const { notes, tools } = await guardedClient({ ...plain, servers });
    const names = await tools();
    expect(names).toContain('it__echo');
    expect(notes.join('\n')).toMatch(/"gone" cannot be reached/);
  });
});
