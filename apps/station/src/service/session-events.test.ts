import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { openFileRecords } from './file-records.js';
import { fileStreams } from './file-streams.js';
import { numberOf, readSession } from './session-events.js';

const open = async () => {
  const records = await openFileRecords(temporaryFolder());
  onTestFinished(() => records.close());
  const events = fileStreams(temporaryFolder());
  /** Stores the record of a turn. */
  const save = (number: number, endedAt: number | null) =>
    records.update('turn', `s:${number}`, () => ({
      kind: 'turn',
      id: `s:${number}`,
      tenant: 'acme',
      at: 1,
      body: {
        turn: `turn-${number}`,
        session: 's',
        number,
        agent: 'helper',
        startedAt: 1,
        endedAt,
        outcome: null,
        usage: {},
        calls: {},
      },
    }));
  /** Stores an event of a turn, and leaves its stream without an end. */
  const write = async (number: number): Promise<void> => {
    const writer = events.write(`turn-${number}`);
    await writer.append({ type: `event-${number}` });
    await writer.flush();
    await writer.release?.();
  };
  const left = new AbortController();
  const read = async (until: number) => {
    const found: unknown[] = [];
    for await (const item of readSession({ records, events }, 's', { after: 0, signal: left.signal, keepMs: 1e9 })) {
      if (item.type === 'event' && found.push(item.event) === until) left.abort();
    }
    return found;
  };
  return { records, events, save, write, read };
};

it('continues after a turn that has ended although its stream has no end', async () => {
  const { save, write, read } = await open();
  await write(1);
  await save(1, Date.now());
  // Its stream was deleted.
  await save(2, Date.now());
  await write(3);
  await save(3, null);
  expect(await read(2)).toEqual([{ type: 'event-1' }, { type: 'event-3' }]);
});

it('continues after a turn whose stream does not receive its end while it is read', async () => {
  const { save, write, read } = await open();
  await write(1);
  await save(1, null);
  const reading = read(2);
  await write(2);
  await save(2, null);
  await save(1, Date.now());
  expect(await reading).toEqual([{ type: 'event-1' }, { type: 'event-2' }]);
});

it('resets a reader whose number is beyond the end, and continues with the latest turn', async () => {
  const { records, events, save, write } = await open();
  await write(1);
  await save(1, null);
  const types: string[] = [];
  const left = new AbortController();
  const after = numberOf(59, 7);
  for await (const item of readSession({ records, events }, 's', { after, signal: left.signal, keepMs: 1e9 })) {
    types.push(item.type);
    if (item.type === 'caught-up') left.abort();
  }
  expect(types).toEqual(['reset', 'event', 'caught-up']);
});
