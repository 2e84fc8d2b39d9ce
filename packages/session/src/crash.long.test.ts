import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repairHistory, type Message } from '@h/turn';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { bundleScript } from '../../../tooling/vitest/bundle-script.js';
import { approving, crashWorld, watching } from '../test/crash-world.js';
import { fileSessions, recoverTurns, type FileSessions } from './index.js';

const effectsIn = async (directory: string): Promise<readonly string[]> =>
  (await readFile(join(directory, 'effects.txt'), 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');

const isUnknown = (output: unknown): boolean => JSON.stringify(output).includes('Interrupted');

/** The transcript without the results that a crash made unknown, removed on both sides. */
const comparable = (messages: readonly Message[], unknown: ReadonlySet<string>): unknown =>
  messages.map((message) =>
    message.role === 'tool'
      ? message.content.map((part) =>
          part.type === 'tool-result' && unknown.has(part.toolCallId) ? part.toolCallId : part,
        )
      : message,
  );

const unknownIn = (messages: readonly Message[]): ReadonlySet<string> =>
  new Set(
    messages.flatMap((message) =>
      message.role === 'tool'
        ? message.content.flatMap((part) =>
            part.type === 'tool-result' && isUnknown(part.output) ? [part.toolCallId] : [],
          )
        : [],
    ),
  );

const allMessages = async (store: FileSessions, session: string): Promise<readonly Message[]> => {
  const messages: Message[] = [];
  for await (const turn of store.archive(session)) messages.push(...turn.messages);
  return messages;
};

const runUntilKilled = async (script: string, directory: string, at: number, kind: 'after' | 'torn'): Promise<void> => {
  const child = spawn(process.execPath, [script, directory, String(at), kind], { stdio: 'ignore' });
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
  expect(signal, `the process at record ${at}`).toBe('SIGKILL');
};

describe('a process that is killed', () => {
  it('resumes from any point, after a record and within one', async () => {
    const root = temporaryFolder();
    const script = await bundleScript(new URL('../test/crash-child.ts', import.meta.url), root);

    // A process that is not killed writes the compiled script, with which the others start quickly.
    const undisturbed = join(root, 'undisturbed');
    await mkdir(undisturbed);
    const child = spawn(process.execPath, [script, undisturbed, '0', 'torn'], { stdio: 'ignore' });
    expect(await once(child, 'exit')).toEqual([0, null]);

    const whole = join(root, 'whole');
    await mkdir(whole);
    let records = 0;
    const reference = crashWorld(whole, (store) =>
      watching(store, { before: () => undefined, after: () => void (records += 1) }),
    );
    await new Promise<void>((resolve) => {
      reference.agent
        .turn({ session: 'main', input: 'Go.', id: 'turn-main' })
        .subscribe({ next: approving(reference.agent), complete: resolve });
    });
    const expected = await fileSessions({ directory: whole }).messages('main');
    const expectedChild = await fileSessions({ directory: whole }).messages('child');
    expect(await effectsIn(whole)).toHaveLength(9);
    expect(await fileSessions({ directory: undisturbed }).messages('main')).toEqual(expected);
    expect(expected[0]).toEqual({ role: 'user', content: 'Summary of what was before.' });

    const places = Array.from({ length: records }, (_, index) => index + 1);
    // Only a few of the records, because starting a process takes time. The end-to-end test covers all of them.
    const after = places.filter((at) => at % 4 === 1).map((at) => ({ at, kind: 'after' as const }));
    const torn = places.filter((at) => at % 6 === 0).map((at) => ({ at, kind: 'torn' as const }));
    const points = [...after, ...torn];
    expect(points.length).toBeGreaterThanOrEqual(20);

    const check = async ({ at, kind }: (typeof points)[number]): Promise<void> => {
      const where = `${kind} record ${at}`;
      const directory = join(root, `${kind}-${at}`);
      await mkdir(directory);
      await runUntilKilled(script, directory, at, kind);
      const before = await effectsIn(directory);
      const { agent } = crashWorld(directory);
      const recovered = await recoverTurns(agent, { policy: 'resume', onEvent: approving(agent) });
      const isMainBegun = kind === 'after' || at > 1;
      expect(recovered.some(({ turn }) => turn === 'turn-main') || before.length === 9, where).toBe(isMainBegun);
      for (const { outcome } of recovered) expect(outcome, where).toBe('completed');
      expect(await agent.unfinished(), where).toEqual([]);

      const effects = await effectsIn(directory);
      const repeated = effects.filter((id, index) => effects.indexOf(id) !== index);
      expect(
        repeated.filter((id) => !['r1', 'r2', 'cr1'].includes(id)),
        `${where} repeats effects`,
      ).toEqual([]);
      if (!isMainBegun) return;

      const store = fileSessions({ directory });
      const messages = await store.messages('main');
      // Compaction replaced some of the results; the archive contains all of them.
      const unknown = unknownIn(await allMessages(store, 'main'));
      expect(repairHistory(messages).repairs, where).toEqual([]);
      expect(comparable(messages, unknown), where).toEqual(comparable(expected, unknown));
      for (const id of unknown) expect(['w1', 'w2', 'w3', 'd1', 'a1'], where).toContain(id);
      const child = await store.messages('child');
      if (child.length > 0) {
        const unknownThere = unknownIn(child);
        expect(comparable(child, unknownThere), where).toEqual(comparable(expectedChild, unknownThere));
      }
      // Every call had its effect, except those whose outcome is reported as unknown.
      for (const id of ['r1', 'w1', 'r2', 'w2', 'w3', 'd1', 'a1']) {
        expect(unknown.has(id) || effects.includes(id), `${id} ${where}`).toBe(true);
      }
    };

    // Two at a time: every machine has at least two cores, and starting a process takes most of the time.
    const queue = [...points];
    const worker = async (): Promise<void> => {
      for (let point = queue.shift(); point; point = queue.shift()) await check(point);
    };
    await Promise.all([worker(), worker()]);
  }, 300_000);
});
