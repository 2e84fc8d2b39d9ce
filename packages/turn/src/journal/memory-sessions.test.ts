import { describe, expect, it } from 'vitest';
import { SessionBusyError, TurnError } from '../contract/errors.js';
import type { TurnEvent } from '../contract/events.js';
import { harness } from '../harness.js';
import { memorySessions } from './memory-sessions.js';
import { reply } from '../reply.js';
import type { OpenSession, SessionStore } from '../contract/session-store.js';
import { event, scriptedModel, user } from '../testing/index.js';

const open = (store: SessionStore, session = 'alice'): OpenSession => store.open(session) as OpenSession;
const write = ({ append }: OpenSession, turn: string, ...events: readonly TurnEvent[]): void => {
  for (const [seq, given] of events.entries()) void append({ v: 1, seq, event: { ...given, turn }, derived: false });
};
const turnOf = (text: string): readonly TurnEvent[] => [
  event('turn.start', { session: 'alice', input: [user(text)], trigger: 'user' }, { at: 7 }),
  event('session.loaded', { session: 'alice', messages: [] as never, state: {}, repairs: [] }),
  event('history.append', { origin: 'input', messages: [user(text)] }),
  event('session.state', { key: 'last', value: text }),
];
const end = event('turn.end', {
  outcome: 'completed',
  steps: 0,
  usage: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 },
});

const duplicateOf = async (sessions: SessionStore, id: string): Promise<string | undefined> => {
  const { error } = await reply(
    harness({ model: scriptedModel([]), sessions })
      .pipe()
      .turn({ session: 'alice', input: 'Hi', id }),
  );
  return error?.code === 'duplicate-turn' ? error.message : undefined;
};

describe('memorySessions', () => {
  it('starts with the given histories', () => {
    const store = memorySessions({ alice: [user('Earlier.')] });
    expect(store.messages('alice')).toEqual([user('Earlier.')]);
    expect(store.messages('bob')).toEqual([]);
    expect([...open(store, 'bob').snapshot.messages]).toEqual([]);
  });

  it('admits one writer at a time', () => {
    const store = memorySessions();
    const first = open(store);
    expect(() => open(store)).toThrow(SessionBusyError);
    expect(() => open(store)).toThrow(expect.objectContaining({ code: 'session-busy', session: 'alice' }));
    expect(() => open(store, 'bob')).not.toThrow();
    void first.close();
    expect(() => open(store)).not.toThrow();
  });

  it('rejects records of a closed writer, which may close twice', () => {
    const store = memorySessions();
    const first = open(store);
    void first.close();
    const second = open(store);
    void first.close();
    expect(() => open(store)).toThrow(SessionBusyError);
    expect(() => write(first, 'turn-1', ...turnOf('late'))).toThrow(TurnError);
    write(second, 'turn-2', ...turnOf('Hi'));
    expect(store.messages('alice')).toEqual([user('Hi')]);
  });

  it('stores the journal of the latest turn, and everything before it as history and state', () => {
    const store = memorySessions();
    const first = open(store);
    write(first, 'turn-1', ...turnOf('one'), end);
    void first.close();
    const second = open(store);
    expect([...second.snapshot.messages]).toEqual([]);
    expect(second.journal).toHaveLength(5);
    write(second, 'turn-2', ...turnOf('two'));
    void second.close();
    const third = open(store);
    expect([...third.snapshot.messages]).toEqual([user('one')]);
    expect(third.snapshot.state).toEqual({ last: 'one' });
    expect(third.journal.map((record) => record.event.turn)).toEqual(Array.from({ length: 4 }, () => 'turn-2'));
    expect(store.messages('alice')).toEqual([user('one'), user('two')]);
  });

  it('finds the session of a turn while its journal is stored', () => {
    const store = memorySessions();
    const writer = open(store);
    write(writer, 'turn-1', ...turnOf('one'), end);
    expect(store.locate('turn-1')).toBe('alice');
    write(writer, 'turn-2', ...turnOf('two'));
    expect([store.locate('turn-1'), store.locate('turn-2'), store.locate('turn-3')]).toEqual([
      undefined,
      'alice',
      undefined,
    ]);
  });

  it('lists turns without an end whose writer is gone', () => {
    const store = memorySessions();
    const [alice, bob] = [open(store), open(store, 'bob')];
    write(alice, 'turn-1', ...turnOf('one'));
    write(bob, 'turn-2', ...turnOf('two'), end);
    expect(store.unfinished()).toEqual([]);
    void alice.close();
    void bob.close();
    expect(store.unfinished()).toEqual([{ turn: 'turn-1', session: 'alice', startedAt: 7 }]);
  });

  it('remembers the last 1,000 turns by their ids, so that an id is used once', async () => {
    const sessions = memorySessions();
    const writer = open(sessions);
    for (let turn = 0; turn <= 1001; turn += 1) write(writer, `turn-${turn}`, ...turnOf('Hi.'), end);
    void writer.close();
    const reader = open(sessions);
    expect(reader.pastTurn?.('turn-0')).toBeUndefined();
    void reader.close();
    expect(await duplicateOf(sessions, 'turn-1')).toContain('ended with the outcome');
  });

  it('deletes a session, unless a turn runs in it', () => {
    const store = memorySessions({ alice: [user('Earlier.')] });
    const writer = open(store);
    write(writer, 'turn-1', ...turnOf('one'));
    expect(() => store.delete('alice')).toThrow(SessionBusyError);
    void writer.close();
    store.delete('alice');
    store.delete('nobody');
    expect(store.messages('alice')).toEqual([]);
    expect(store.locate('turn-1')).toBeUndefined();
    expect(store.unfinished()).toEqual([]);
  });
});
