import {
  harness,
  reply,
  SessionBusyError,
  TurnError,
  type MaybePromise,
  type SessionStore,
  type TurnEvent,
} from '@h/turn';
import { call, event, response, scriptedModel, scriptedTools, user } from '@h/turn/testing';
import { expect } from 'vitest';
import { inSession, journalOf, messagesOf, openTurn, stateOf, wholeTurn, write } from './records.js';

/** A store under test. */
export interface SessionStoreSubject {
  readonly store: SessionStore;
  /** Opens the same sessions as another process would. */
  readonly reopen?: (() => MaybePromise<SessionStore>) | undefined;
  readonly dispose?: (() => MaybePromise<void>) | undefined;
}

/** One rule of the contract of session stores. */
export interface SessionStoreCheck {
  readonly name: string;
  readonly check: (subject: SessionStoreSubject) => Promise<void>;
}

/** Returns the error that an action throws or rejects with. */
const refusal = async (action: () => MaybePromise<unknown>): Promise<unknown> => {
  try {
    await action();
    return 'nothing was refused';
  } catch (error) {
    return error;
  }
};

const afterwards = async ({ store, reopen }: SessionStoreSubject): Promise<SessionStore> => (await reopen?.()) ?? store;

/** The checks of {@link describeSessionStore} for other test runners. */
export const sessionStoreChecks: readonly SessionStoreCheck[] = [
  {
    name: 'opens an unknown session as an empty one',
    check: async ({ store }) => {
      await inSession(store, 'nobody', ({ snapshot, journal }) => {
        expect([[...snapshot.messages], snapshot.state, [...journal]]).toEqual([[], {}, []]);
      });
      expect(await store.locate('turn-1')).toBeUndefined();
      expect(await store.unfinished()).toEqual([]);
    },
  },
  {
    name: 'returns the journal of the latest turn, ended or not, in order',
    check: async (subject) => {
      for (const [turn, events] of [
        ['turn-1', wholeTurn('turn-1', 'one')],
        ['turn-2', openTurn('turn-2', 'two')],
      ] as const) {
        await inSession(subject.store, 'alice', (open) => write(open, events));
        const journal = await journalOf(await afterwards(subject), 'alice');
        expect(journal.map(({ event: { type } }) => type)).toEqual(events.map(({ type }) => type));
        expect(journal.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
        expect(journal.every((record) => record.event.turn === turn)).toBe(true);
      }
    },
  },
  {
    name: 'looks up turns before the latest one, if it has pastTurn()',
    check: async (subject) => {
      for (const turn of ['turn-1', 'turn-2']) {
        await inSession(subject.store, 'alice', (open) => write(open, wholeTurn(turn, 'one')));
      }
      await inSession(await afterwards(subject), 'alice', (open) => {
        if (!open.pastTurn) return;
        const outcomes = ['turn-1', 'turn-3'].map((turn) => open.pastTurn?.(turn)?.outcome);
        expect(outcomes).toEqual(['completed', undefined]);
      });
    },
  },
  {
    name: 'folds the previous turn into the snapshot when the next one begins',
    check: async (subject) => {
      await inSession(subject.store, 'alice', (open) => write(open, wholeTurn('turn-1', 'one')));
      await inSession(subject.store, 'alice', (open) => write(open, wholeTurn('turn-2', 'two')));
      await inSession(await afterwards(subject), 'alice', ({ snapshot }) => {
        expect([[...snapshot.messages], { ...snapshot.state }]).toEqual([messagesOf('one'), { last: 'one' }]);
      });
    },
  },
  {
    name: 'keeps history and state over many turns, in one opening or in many',
    check: async (subject) => {
      for (let first = 0; first < 12; first += 3) {
        await inSession(subject.store, 'alice', async (open) => {
          for (let turn = first; turn < first + 3; turn += 1) {
            await write(open, (turn % 2 === 0 ? wholeTurn : openTurn)(`turn-${turn}`, `text ${turn}`));
          }
        });
      }
      const texts = Array.from({ length: 12 }, (_, turn) => `text ${turn}`);
      expect(await stateOf(await afterwards(subject), 'alice')).toEqual({
        messages: texts.flatMap(messagesOf),
        state: { last: 'text 11' },
      });
    },
  },
  {
    name: 'continues the journal of an unfinished turn',
    check: async (subject) => {
      const events = wholeTurn('turn-1', 'one');
      for (const [index, each] of events.entries()) {
        await inSession(subject.store, 'alice', (open) => {
          expect(open.journal).toHaveLength(index);
          return write(open, [each], index);
        });
      }
      expect((await stateOf(await afterwards(subject), 'alice')).messages).toEqual(messagesOf('one'));
    },
  },
  {
    name: 'keeps the order of records that are appended without waiting',
    check: async (subject) => {
      const notes = Array.from({ length: 300 }, (_, value): TurnEvent =>
        event('session.state', { key: `k${value}`, value }, { turn: 'turn-1' }),
      );
      await inSession(subject.store, 'alice', async (open) => {
        const given = [...openTurn('turn-1', 'one'), ...notes];
        await Promise.all(given.map(async (each, seq) => open.append({ v: 1, seq, event: each, derived: false })));
      });
      const journal = await journalOf(await afterwards(subject), 'alice');
      expect(
        journal.slice(6).map(({ event: each }) => (each.type === 'session.state' ? each.value : each.type)),
      ).toEqual(notes.map((_, index) => index));
    },
  },
  {
    name: 'closes only after all records are stored',
    check: async (subject) => {
      const open = await subject.store.open('alice');
      const written = wholeTurn('turn-1', 'one').map(async (each, seq) =>
        open.append({ v: 1, seq, event: each, derived: false }),
      );
      await open.close();
      expect(await journalOf(await afterwards(subject), 'alice')).toHaveLength(7);
      await Promise.all(written);
    },
  },
  {
    name: 'keeps bytes, URLs, lone surrogates, newlines and keys of any name in records',
    check: async (subject) => {
      const input: unknown = JSON.parse('{"__proto__":{"a":1},"$h":"url","a\\nb":"\\ud800\\u2028\\r\\n"}');
      const file = { type: 'file', data: new Uint8Array([0, 10, 255]), mediaType: 'image/png' } as const;
      const link = { type: 'file', data: new URL('https://example.com/a?b=c'), mediaType: 'image/png' } as const;
      const message = { role: 'user', content: [file, link] } as const;
      const given = [
        ...openTurn('turn-1', 'one'),
        event('input.received', { id: '1', message }),
        event('tool.call', { step: 1, index: 0, call: { id: '1', name: 'ls', input } }),
      ];
      await inSession(subject.store, 'alice', (open) => write(open, given));
      const journal = await journalOf(await afterwards(subject), 'alice');
      expect(journal.slice(6).map((record) => record.event)).toEqual(given.slice(6));
    },
  },
  {
    name: 'admits one writer at a time',
    check: async ({ store }) => {
      const first = await store.open('alice');
      expect(await refusal(() => store.open('alice'))).toBeInstanceOf(SessionBusyError);
      await inSession(store, 'bob', (open) => write(open, wholeTurn('turn-b', 'other')));
      await first.close();
      await inSession(store, 'alice', (open) => write(open, wholeTurn('turn-1', 'one')));
    },
  },
  {
    name: 'admits one of many writers that open at the same time',
    check: async ({ store }) => {
      const asked = await Promise.allSettled(Array.from({ length: 8 }, async () => store.open('alice')));
      const opened = asked.filter((each) => each.status === 'fulfilled');
      expect(opened).toHaveLength(1);
      for (const each of asked) if (each.status === 'rejected') expect(each.reason).toBeInstanceOf(SessionBusyError);
      await opened[0]?.value.close();
    },
  },
  {
    name: 'rejects records after close(), which may be called twice',
    check: async (subject) => {
      const { store } = subject;
      const first = await store.open('alice');
      await write(first, wholeTurn('turn-1', 'one'));
      await first.close();
      const second = await store.open('alice');
      await first.close();
      expect(await refusal(() => store.open('alice'))).toBeInstanceOf(SessionBusyError);
      expect(await refusal(() => write(first, openTurn('turn-late', 'late')))).toBeInstanceOf(TurnError);
      await write(second, wholeTurn('turn-2', 'two'));
      await second.close();
      expect((await stateOf(await afterwards(subject), 'alice')).messages).toEqual(['one', 'two'].flatMap(messagesOf));
    },
  },
  {
    name: 'locates the session of a turn while it has its journal',
    check: async (subject) => {
      await inSession(subject.store, 'alice', (open) => write(open, wholeTurn('turn-1', 'one')));
      await inSession(subject.store, 'bob', (open) => write(open, openTurn('turn-2', 'two')));
      const store = await afterwards(subject);
      expect([await store.locate('turn-1'), await store.locate('turn-2'), await store.locate('turn-3')]).toEqual([
        'alice',
        'bob',
        undefined,
      ]);
      await inSession(store, 'alice', (open) => write(open, openTurn('turn-3', 'three')));
      expect([await store.locate('turn-1'), await store.locate('turn-3')]).toEqual([undefined, 'alice']);
    },
  },
  {
    name: 'lists unfinished turns that no process runs, and no others',
    check: async (subject) => {
      const { store } = subject;
      await inSession(store, 'ended', (open) => write(open, wholeTurn('turn-1', 'one')));
      await inSession(store, 'left', (open) => write(open, openTurn('turn-2', 'two', 42)));
      const running = await store.open('running');
      await write(running, openTurn('turn-3', 'three'));
      const other = await afterwards(subject);
      expect(await other.unfinished()).toEqual([{ turn: 'turn-2', session: 'left', startedAt: 42 }]);
      await running.close();
      expect((await other.unfinished()).map(({ turn }) => turn).toSorted()).toEqual(['turn-2', 'turn-3']);
    },
  },
  {
    name: 'keeps sessions apart, whatever their names',
    check: async (subject) => {
      const names = [
        'a',
        'A',
        'a/b',
        'a-b',
        'a_b',
        '..',
        '.',
        '/etc/passwd',
        'con',
        '\u00e4',
        'a\u0308',
        '\ud800',
        '\ud801',
        '🙂',
        ' ',
        'a\u0000b',
        '__proto__',
        'x'.repeat(3000),
      ];
      for (const [index, name] of names.entries()) {
        await inSession(subject.store, name, (open) => write(open, wholeTurn(`turn-${index}`, `text ${index}`)));
      }
      const store = await afterwards(subject);
      for (const [index, name] of names.entries()) {
        expect((await stateOf(store, name)).messages, JSON.stringify(name.slice(0, 20))).toEqual(
          messagesOf(`text ${index}`),
        );
        expect(await store.locate(`turn-${index}`)).toBe(name);
      }
    },
  },
  {
    name: 'works in a harness: turns, history and a resumed turn',
    check: async (subject) => {
      const tools = scriptedTools({ ls: 'a.txt' }, { ls: { effect: 'read-only' } });
      const agentOf = (store: SessionStore, ...answers: Parameters<typeof scriptedModel>[0]) =>
        harness({ model: scriptedModel(answers), tools, sessions: store }).pipe();
      await reply(
        agentOf(subject.store, response(call('1', 'ls')), 'One file.').turn({
          session: 'alice',
          input: 'Look.',
          id: 'turn-1',
        }),
      );
      const ended = await journalOf(subject.store, 'alice');
      await inSession(subject.store, 'bob', async (open) => {
        for (const { event: each, ...record } of ended.slice(0, -4)) {
          await open.append({ ...record, event: { ...each, turn: 'turn-left' } });
        }
      });
      const store = await afterwards(subject);
      const [left] = await store.unfinished();
      expect(left).toMatchObject({ session: 'bob', turn: 'turn-left' });
      const again = await reply(
        agentOf(store, 'One file again.').turn({ session: 'alice', input: 'And now?', id: 'turn-2' }),
      );
      expect(again).toMatchObject({ outcome: 'completed', text: 'One file again.' });
      const { outcome } = await reply(agentOf(store, 'One file.').resume('turn-left'));
      expect(outcome).toBe('completed');
      expect((await stateOf(store, 'bob')).messages.map(({ role }) => role)).toEqual([
        'user',
        'assistant',
        'tool',
        'assistant',
      ]);
      expect((await stateOf(store, 'alice')).messages.slice(-2)).toMatchObject([
        user('And now?'),
        { role: 'assistant' },
      ]);
    },
  },
];
