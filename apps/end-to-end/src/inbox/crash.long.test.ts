import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { repairHistory } from '@h/turn';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bundleScript } from '../../../../tooling/vitest/bundle-script.js';
import { end, idle, live, mail, startAgain, worldIn, type World } from './world.js';

/** `CRASH_EVERY=1` kills at every moment. The default kills when a message moves, and at a few other moments. */
const every = Number(process.env['CRASH_EVERY'] ?? 40);

const isTransition = (name: string): boolean =>
  /^inbox: (?:half of m.* stored|.* done)$/.test(name) ||
  /^alice (?:turn.start|input.received|history.append|history.replace|turn.end) is stored$/.test(name);

/** Returns all user messages of a session, including those that a compaction has replaced. */
const delivered = async ({ sessions }: World, session: string): Promise<readonly unknown[]> => {
  const ids = mail.map(({ id }) => id);
  const found: unknown[] = [];
  for await (const { messages, endedAt } of sessions.archive(session)) {
    if (endedAt !== undefined) expect(repairHistory(messages).repairs).toEqual([]);
    for (const { role, content } of messages) {
      if (role === 'user' && ids.includes(content as string)) found.push(content);
    }
  }
  return found;
};

const all = async (world: World): Promise<readonly unknown[]> => [
  ...(await delivered(world, 'alice')),
  ...(await delivered(world, 'bob')),
];

const idsOf = (session: string): readonly string[] =>
  mail.flatMap((message) => (message.session === session ? [message.id] : []));

describe('a process with an inbox that is killed', () => {
  it('delivers each accepted message exactly once and in order', { timeout: 300_000 }, async () => {
    const root = await mkdtemp(join(tmpdir(), 'h-inbox-crash-'));
    onTestFinished(() => rm(root, { recursive: true, force: true }));
    const script = await bundleScript(new URL('./child.ts', import.meta.url), root);
    const runUntil = async (directory: string, moment: number): Promise<unknown> => {
      const child = spawn(process.execPath, [script, directory, String(moment)], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
      return signal ?? code;
    };
    expect(await runUntil(join(root, 'undisturbed'), 0)).toBe(0);

    const moments: string[] = [];
    const whole = worldIn(join(root, 'whole'), (name) => moments.push(name));
    await live(whole);
    expect([await delivered(whole, 'alice'), await delivered(whole, 'bob')]).toEqual([idsOf('alice'), idsOf('bob')]);
    for (const what of [
      'alice input.received is stored',
      'alice history.replace is stored',
      'inbox: half of m2 is stored',
      'inbox: removing m7 is done',
    ]) {
      expect(moments).toContain(what);
    }
    const places = moments.flatMap((name, index) => (isTransition(name) || index % every === 0 ? [index + 1] : []));
    expect(places.length).toBeGreaterThanOrEqual(50);

    const check = async (moment: number, lives: number): Promise<void> => {
      const policy = (['resume', 'resume', 'finish', 'leave'] as const)[moment % 4];
      const where = `moment ${moment}: ${moments[moment - 1]}, life ${lives}, ${policy}`;
      const directory = join(root, `${moment}-${lives}`);
      for (let life = 1; life <= lives; life += 1) {
        // File operations finish in a different order each time, so the number of moments varies.
        const ended = await runUntil(directory, life === 1 ? moment : (moment * 7 + life) % 40);
        expect(['SIGKILL', 0], where).toContain(ended);
      }
      const world = worldIn(directory);
      await startAgain(world, policy);
      await idle(world);
      const accepted = (await readFile(join(directory, 'accepted.txt'), 'utf8').catch(() => ''))
        .split('\n')
        .filter((id) => id !== '');
      const first = await all(world);
      for (const id of accepted) expect(first, where).toContain(id);
      expect(new Set(first).size, `${where}: ${first.join()}`).toBe(first.length);
      await end(world);
      const last = await all(world);
      expect(last, `${where}: ${last.join()} after ${first.join()}, accepted ${accepted.join()}`).toEqual([
        ...idsOf('alice'),
        ...idsOf('bob'),
      ]);
      if (policy !== 'leave') expect(await world.agent.unfinished(), where).toEqual([]);
    };

    // One process per processor, because most of the time is spent starting processes.
    const queue = places.map((moment, index) => ({ moment, lives: index % 10 === 0 ? 2 : 1 }));
    const failures: string[] = [];
    const worker = async (): Promise<void> => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        await check(next.moment, next.lives).catch((error: unknown) => failures.push(String(error)));
      }
    };
    await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, worker));
    expect(failures).toEqual([]);
  });

  it.runIf(process.platform === 'linux')(
    'keeps its messages from a second process until it is dead',
    { timeout: 60_000 },
    async () => {
      const root = await mkdtemp(join(tmpdir(), 'h-inbox-two-'));
      onTestFinished(() => rm(root, { recursive: true, force: true }));
      const script = await bundleScript(new URL('./child.ts', import.meta.url), root);
      const directory = join(root, 'both');
      // Stops once the first message is stored: moments 1 to 5 are the opening, half of the write and the write.
      const child = spawn(process.execPath, [script, directory, '5', 'SIGSTOP'], { stdio: 'ignore' });
      onTestFinished(() => void child.kill('SIGKILL'));
      const stateOf = async (): Promise<string> =>
        (await readFile(`/proc/${child.pid}/stat`, 'utf8').catch(() => '')).replace(/^.*\) /, '').charAt(0);
      await expect.poll(stateOf, { timeout: 30_000 }).toBe('T');
      const world = worldIn(directory);
      await expect(world.inbox.recover({ sessions: world.sessions })).rejects.toMatchObject({
        code: 'inbox-held',
        pid: child.pid,
      });
      const sent = world.inbox.send('alice', 'm1', { id: 'm1' });
      expect([await sent.accepted, await sent]).toMatchObject([
        false,
        { status: 'failed', error: { code: 'inbox-held' } },
      ]);
      expect(await all(world)).toEqual([]);
      child.kill('SIGKILL');
      await once(child, 'exit');
      await startAgain(world);
      await idle(world);
      expect(await all(world)).toEqual(['m1']);
      await end(world);
      expect(await all(world)).toEqual([...idsOf('alice'), ...idsOf('bob')]);
    },
  );
});
