import { cp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MessageList, type Message } from '@h/turn';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { place, turns, type Place } from '../../test/place.js';
import { fileSessions } from '../index.js';
import { inSession, messagesOf, stateOf } from '../testing/records.js';

const firstMessage = (store: Place['store']): Promise<Message | undefined> =>
  inSession(store, 'alice', ({ snapshot }) => MessageList.of(snapshot.messages).at(0));

/** The first message of a session after a turn, which leaves its history in memory. */
const firstAfterTurn = async (store: Place['store'], text: string): Promise<Message | undefined> => {
  await turns(store, text);
  return firstMessage(store);
};

describe('a session that was closed before', () => {
  it('is opened without decoding its earlier turns again', async () => {
    const { store } = await place();
    await turns(store, 'one', 'two', 'three');
    const messages: (Message | undefined)[] = [];
    for (const text of ['four', 'five', 'six']) {
      messages.push(await firstAfterTurn(store, text), await firstMessage(store));
    }
    expect(new Set(messages).size).toBe(1);
    expect(messages[0]).toEqual(messagesOf('one')[0]);
  });

  it('is read again if another store has opened it', async () => {
    const { store, directory } = await place();
    await turns(store, 'one', 'two', 'three');
    const before = await firstMessage(store);
    await stateOf(fileSessions({ directory }), 'alice');
    expect(await firstMessage(store)).not.toBe(before);
  });

  it('has the same content as a session that is read from its files, whatever happens in between', async () => {
    const step = fc.record({
      kind: fc.constantFrom('turn', 'open', 'other turn', 'other open', 'delete', 'cut', 'damage', 'drop'),
      file: fc.constantFrom('journal', 'snapshot', 'head'),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
      length: fc.constantFrom(1, 1_000, 150_000),
    });
    const run = async (steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[]) => {
      const { store, directory, files } = await place();
      const other = fileSessions({ directory, fsync: 'never' });
      for (const [index, { kind, file, share, length }] of steps.entries()) {
        const text = `${index}`.padEnd(length, 'x');
        const path = files[file];
        const size = await stat(path).then(
          (stats) => stats.size,
          () => 0,
        );
        const at = Math.min(size - 1, Math.floor(share * size));
        if (kind === 'turn') await turns(store, text);
        else if (kind === 'open') await stateOf(store, 'alice');
        else if (kind === 'other turn') await turns(other, text);
        else if (kind === 'other open') await stateOf(other, 'alice');
        else if (kind === 'delete') await (share < 0.5 ? store : other).delete('alice');
        else if (size === 0) continue;
        else if (kind === 'drop') await rm(path);
        else if (kind === 'cut') await truncate(path, at);
        else {
          const bytes = await readFile(path);
          bytes[at] = (bytes[at] ?? 0) ^ 1;
          await writeFile(path, bytes);
        }
        const copy = join(temporaryFolder(), 'copy');
        await cp(directory, copy, { recursive: true }).catch(() => undefined);
        const expected = await stateOf(fileSessions({ directory: copy, fsync: 'never' }), 'alice');
        if (share < 0.8) expect(await stateOf(store, 'alice')).toEqual(expected);
      }
    };
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 12 }), run), { numRuns: 40 });
  });

  it('is stored as it was read, even if a turn has changed its messages in memory', async () => {
    const { store, directory } = await place();
    await turns(store, 'one', 'two', 'three');
    for (const text of ['four', 'five', 'six'].map((each) => each.padEnd(200_000, 'x'))) {
      Object.assign((await firstAfterTurn(store, text)) ?? {}, { content: 'changed' });
    }
    const { messages } = await stateOf(fileSessions({ directory }), 'alice');
    expect(messages.slice(0, 2)).toEqual(messagesOf('one'));
  });
});
