import { foldJournal, harness, MessageList, reply, type Message, type SessionStore } from '@h/turn';
import { scriptedModel } from '@h/turn/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testSchema } from '../../test/database.js';
import { postgresSessions, type PostgresSessions } from './postgres-sessions.js';

const turn = async (sessions: SessionStore, input: string): Promise<void> => {
  await reply(
    harness({ model: scriptedModel(['Hello.']), sessions })
      .pipe()
      .turn({ session: 'alice', input }),
  );
};

const firstMessage = async (sessions: SessionStore): Promise<Message | undefined> => {
  const opened = await sessions.open('alice');
  await opened.close();
  return MessageList.of(opened.snapshot.messages).at(0);
};

const messages = async (sessions: SessionStore): Promise<readonly Message[]> => {
  const opened = await sessions.open('alice');
  await opened.close();
  const { snapshot, journal } = opened;
  return [...foldJournal(snapshot, journal).messages];
};

describe('a session that was closed before', () => {
  it('is opened without decoding its earlier turns again, unless another store has opened it', async () => {
    const schema = testSchema();
    const sessions = postgresSessions(schema.connect());
    for (const input of ['one', 'two', 'three']) await turn(sessions, input);
    const first = await firstMessage(sessions);
    for (const input of ['four', 'five']) {
      await turn(sessions, input);
      expect(await firstMessage(sessions)).toBe(first);
    }
    await firstMessage(postgresSessions(schema.connect()));
    expect(await firstMessage(sessions)).not.toBe(first);
    expect(await firstMessage(sessions)).toEqual(first);
  });

  it('has the same content as a session that is read from the database, whatever happens in between', async () => {
    const schema = testSchema();
    const [sessions, other, reader] = [schema.connect(), schema.connect(), schema.connect()].map((database) =>
      postgresSessions(database),
    ) as [PostgresSessions, PostgresSessions, PostgresSessions];
    const step = fc.record({
      kind: fc.constantFrom('turn', 'turn', 'open', 'other turn', 'other open', 'delete'),
      length: fc.constantFrom(1, 1_000, 40_000),
    });
    const run = async (steps: readonly { readonly kind: string; readonly length: number }[]): Promise<void> => {
      for (const [index, { kind, length }] of steps.entries()) {
        const store = kind.startsWith('other') ? other : sessions;
        if (kind === 'delete') await sessions.delete('alice');
        else if (kind.endsWith('turn')) await turn(store, `${index}`.padEnd(length, 'x'));
        else expect(await messages(store)).toEqual(await reader.messages('alice'));
      }
      expect(await messages(sessions)).toEqual(await reader.messages('alice'));
      await sessions.delete('alice');
    };
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 20 }), run), { numRuns: 25 });
  });

  it('is stored as it was read, even if a turn has changed its messages in memory', async () => {
    const schema = testSchema();
    const sessions = postgresSessions(schema.connect());
    for (const input of ['one', 'two', 'three']) await turn(sessions, input);
    for (const input of ['four', 'five', 'six', 'seven']) {
      await turn(sessions, input.padEnd(40_000, 'x'));
      Object.assign((await firstMessage(sessions)) ?? {}, { content: 'changed' });
    }
    expect((await postgresSessions(schema.connect()).messages('alice'))[0]).toEqual({ role: 'user', content: 'one' });
  });
});
