import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repairHistory, reply, type Message } from '@h/turn';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bundleScript } from '../../../../tooling/vitest/bundle-script.js';
import { crashWorld, startAgain } from './crash-world.js';

const run = async (
  script: string,
  directory: string,
  last: string,
): Promise<{ readonly signal: string | null; readonly said: string }> => {
  const child = spawn(process.execPath, [script, directory, last], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (said += piece));
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { signal, said };
};

/** Returns the ids of the sub-agents in the results of spawn calls. */
const acceptedIn = (messages: readonly Message[]): readonly string[] =>
  messages.flatMap((message) =>
    message.role === 'tool'
      ? message.content.flatMap((part) =>
          part.type === 'tool-result' && part.toolName === 'spawn'
            ? [...JSON.stringify(part.output).matchAll(/child\\*":\\*"([0-9a-f-]{36})/g)].map(([, id = '']) => id)
            : [],
        )
      : [],
  );

const endsIn = (messages: readonly Message[]): readonly string[] =>
  [...JSON.stringify(messages).matchAll(/Sub-agent ([0-9a-f-]{36}) \(worker\) ended: ([a-z-]+)/g)].map(
    ([, id = '', status = '']) => `${id} ${status}`,
  );

/** Moments before a sub-agent begins, while it works, between its end and the delivery, and afterwards. */
const namedMoments = [
  ...['quick', 'slow', 'deep'].flatMap((task) => [
    `the beginning of ${task} is about to be stored`,
    `the beginning of ${task} is stored`,
    `${task}-work was done`,
    `the end of ${task} is about to be stored`,
    `the end of ${task} is stored`,
  ]),
  'boss-work was done',
  'a record is about to be deleted',
  'a record is deleted',
];

describe('a process that is killed while sub-agents run', () => {
  it('delivers each result to the parent once, and runs no call twice', async () => {
    const root = await mkdtemp(join(tmpdir(), 'h-orphans-'));
    onTestFinished(() => rm(root, { recursive: true, force: true }));
    const script = await bundleScript(new URL('./crash-child.ts', import.meta.url), root);
    const whole = join(root, 'whole');
    await mkdir(whole);
    const undisturbed = await run(script, whole, '');
    expect(undisturbed.signal).toBe(null);
    const moments = Number(undisturbed.said);
    expect(moments).toBeGreaterThan(100);
    const statuses = new Set<string>();

    const check = async (last: string): Promise<void> => {
      const directory = join(root, last.replaceAll(' ', '-'));
      await mkdir(directory);
      const { signal, said } = await run(script, directory, last);
      // File operations finish in a different order each time, so the number of moments varies.
      if (signal === null && !namedMoments.includes(last)) return;
      expect(signal, last).toBe('SIGKILL');
      const where = `moment ${last}: ${said}`;
      const world = crashWorld(directory);
      const orphans = await startAgain(world);
      expect(await world.agent.unfinished(), where).toEqual([]);
      await reply(world.agent.turn({ session: 'boss', input: 'And?' }));

      const messages = await world.sessions.messages('boss');
      expect(repairHistory(messages).repairs, where).toEqual([]);
      const ends = endsIn(messages);
      const told = ends.map((end) => end.split(' ')[0]);
      expect(new Set(told).size, `${where} tells twice`).toBe(told.length);
      for (const id of acceptedIn(messages)) expect(told, `${where}: the parent is notified of ${id}`).toContain(id);
      for (const { record } of orphans) {
        expect(ends, `${where}: the parent is notified of the orphan ${record.task}`).toContain(
          `${record.id} interrupted`,
        );
      }
      for (const end of ends) statuses.add(end.split(' ')[1] ?? '');

      const effects = (await readFile(join(directory, 'effects.txt'), 'utf8').catch(() => ''))
        .split('\n')
        .filter((line) => line !== '');
      expect(new Set(effects).size, `${where} works twice: ${effects.join(', ')}`).toBe(effects.length);

      expect(world.team.list('boss'), where).toEqual([]);
      const answers = await Promise.all(
        [1, 2, 3].map(() => world.team.spawn({ parent: 'boss', agent: 'worker', task: 'nothing' })),
      );
      expect(
        answers.map((answer) => (answer.status === 'refused' ? answer.code : answer.status)),
        where,
      ).toEqual(['accepted', 'accepted', 'max-children']);
      await world.team.close();
      expect(await world.store.list(), where).toEqual([]);
      await world.store.close();
    };

    // Starting a process is slow, so only a sample of the parent's moments is used; crash/crash.test.ts covers them.
    const every = 8;
    const queue = [
      ...namedMoments,
      ...Array.from({ length: Math.ceil(moments / every) }, (_, index) => String(1 + index * every)),
    ];
    const worker = async (): Promise<void> => {
      for (let last = queue.shift(); last !== undefined; last = queue.shift()) await check(last);
    };
    await Promise.all([worker(), worker()]);
    expect([...statuses].toSorted()).toEqual(['interrupted', 'ok']);
  }, 300_000);
});
