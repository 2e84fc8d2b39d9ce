import type { TurnEvent } from '@h/turn';
import { event, usage } from '@h/turn/testing';
import { expect, it, onTestFinished } from 'vitest';
import { createSchema } from '../test/database.js';
import { liveEvents, postgresSessions } from './index.js';
import { TurnStreams } from './turn-streams.js';

const open = () => {
  const schema = createSchema();
  onTestFinished(() => schema.dispose());
  const database = schema.connect();
  const live = liveEvents(database, { batchMs: 0 });
  const problems: unknown[] = [];
  const sessions = postgresSessions(database);
  const streams = new TurnStreams(live, sessions, (error) => problems.push(error));
  const stored = async (): Promise<readonly unknown[]> => {
    await streams.close();
    const found: unknown[] = [];
    for await (const item of live.read('turn-1')) {
      if (item.type !== 'event') return [...found, item.type];
      const { type, position } = item.event as { readonly type: string; readonly position?: number };
      found.push(position === undefined ? type : `${type} ${position}`);
    }
    return found;
  };
  const count = async (): Promise<number> => (await database.query(`select 1 from ${database.name('stream')}`)).length;
  return { add: (each: TurnEvent) => streams.add(each), stored, count, problems, sessions };
};

const envelope = { turn: 'turn-1', at: 1 };
const waiting = (position: number): TurnEvent =>
  ({ ...envelope, type: 'queue.waiting', session: 'alice', for: 'slot', position, waitedMs: 1 }) as never;
const begin = event('turn.start', { session: 'alice', input: [], trigger: 'user' }, envelope);
const loaded = event('session.loaded', { session: 'alice', messages: [] as never, state: {}, repairs: [] }, envelope);
const end = event('turn.end', { outcome: 'completed', steps: 0, usage: usage() }, envelope);

it('leaves no stream of a turn that waits when its worker dies, because another worker begins a new turn', async () => {
  const { add, stored, count, problems } = open();
  for (const position of [3, 2, 1]) add(waiting(position));
  expect([await stored(), await count()]).toEqual([['caught-up'], 0]);
  add(begin);
  expect(await count()).toBe(0);
  add(loaded);
  const types = ['queue.waiting 1', 'turn.start', 'session.loaded'];
  expect([await stored(), await count()]).toEqual([[...types, 'caught-up'], 1]);
  add(end);
  expect([await stored(), problems]).toEqual([[...types, 'turn.end', 'ended'], []]);
});

it('stores the events of a turn that ends while it waits', async () => {
  const { add, stored } = open();
  add(waiting(1));
  add(end);
  expect(await stored()).toEqual(['queue.waiting 1', 'turn.end', 'ended']);
});

it('stores the wait of a resumed turn at once, because its stream exists', async () => {
  const { add, stored, sessions } = open();
  const session = await sessions.open('alice');
  const replayed = { ...begin, replayed: true } as const;
  add(replayed);
  add(waiting(1));
  expect(await stored()).toEqual(['turn.start', 'queue.waiting 1', 'caught-up']);
  await session.close();
});
