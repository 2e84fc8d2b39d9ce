import { firstValueFrom, last, tap } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { TurnEvent } from '../contract/events.js';
import { harness } from '../harness.js';
import { memorySessions } from '../journal/memory-sessions.js';
import type { Message } from '../contract/messages.js';
import type { OpenSession, PastTurn, SessionStore } from '../contract/session-store.js';
import { scriptedModel, user } from '../testing/index.js';

describe('a loaded session', () => {
  const turnOn = (messages: readonly Message[]) => {
    const sessions = memorySessions({ alice: messages });
    const agent = harness({ model: scriptedModel(['Hello.', 'Hello.']), sessions }).pipe();
    return { sessions, end: () => firstValueFrom(agent.turn({ session: 'alice', input: 'Hi' }).pipe(last())) };
  };

  it.each<[string, unknown, RegExp]>([
    [
      'a role that does not exist',
      { role: 'wizard', content: 'Hi' },
      /^The loaded session: "messages\[1\]\.role" must be .*; received "wizard"/,
    ],
    ['content of the wrong kind', { role: 'user', content: 7 }, /"messages\[1\]\.content" must be .*; received 7/],
    [
      'a part without its id',
      { role: 'assistant', content: [{ type: 'tool-call', toolName: 'ls', input: {} }] },
      /"messages\[1\]\.content\[0\]\.toolCallId" is required/,
    ],
    ['nothing at all', null, /"messages\[1\]" must be .*; received null/],
  ])('is rejected with the place if it contains %s, and is released', async (_, message, expected) => {
    const { sessions, end } = turnOn([user('Hi'), message as Message]);
    const ended = await end();
    expect(ended).toMatchObject({ type: 'turn.end', outcome: 'error', error: { code: 'invalid-input' } });
    expect(ended.type === 'turn.end' && ended.error?.message).toMatch(expected);
    expect(() => sessions.delete('alice')).not.toThrow();
  });

  it('accepts every valid kind of message', async () => {
    const { end } = turnOn([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }], metadata: { internal: true } },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.', providerOptions: { anthropic: { signature: 'x' } } },
          { type: 'text', text: 'Hi.' },
        ],
      },
    ]);
    expect(await end()).toMatchObject({ outcome: 'completed' });
  });
});

describe('a session that the agent has loaded before', () => {
  it('has only its new messages checked', async () => {
    let reads = 0;
    const watched: Message = {
      ...user('Hi'),
      get metadata() {
        reads += 1;
        return {};
      },
    };
    const store = memorySessions({ alice: [watched] });
    const added: Message[] = [];
    const sessions: SessionStore = {
      ...store,
      open: (session) => {
        const open = store.open(session) as OpenSession;
        return { ...open, snapshot: { ...open.snapshot, messages: [...open.snapshot.messages, ...added] } };
      },
    };
    const agent = harness({ model: scriptedModel(['One.', 'Two.']), sessions }).pipe();
    const end = (): Promise<TurnEvent> => firstValueFrom(agent.turn({ session: 'alice', input: 'Hi' }).pipe(last()));
    expect([await end(), reads > 0]).toMatchObject([{ outcome: 'completed' }, true]);
    reads = 0;
    expect([await end(), reads]).toMatchObject([{ outcome: 'completed' }, 0]);
    added.push({ role: 'user', content: 7 } as never);
    expect(await end()).toMatchObject({ outcome: 'error', error: { code: 'invalid-input' } });
  });
});

describe('a message that the caller changed after the agent had loaded it', () => {
  it.each<[string, object]>([
    ['content', { content: 7 }],
    ['content', { content: [{ type: 'nope' }] }],
    ['role', { role: 'wizard' }],
  ])('is checked again if its %s differs', async (name, change) => {
    const message = { role: 'user', content: 'Hello' } as const;
    const sessions = memorySessions({ alice: [message] });
    const agent = harness({ model: scriptedModel(['Hi.', 'Hi.']), sessions }).pipe();
    const run = () => firstValueFrom(agent.turn({ session: 'alice', input: 'Go' }).pipe(last()));
    expect(await run()).toMatchObject({ outcome: 'completed' });
    Object.assign(message, change);
    const reason = expect.stringContaining(`"messages[0].${name}`) as string;
    expect(await run()).toMatchObject({ outcome: 'error', reason });
  });
});

describe('a turn id that is used again', () => {
  const ended = async (sessions: SessionStore, id: string, model = scriptedModel(['Hello.'])): Promise<TurnEvent> =>
    firstValueFrom(harness({ model, sessions }).pipe().turn({ session: 'alice', input: 'Hi', id }).pipe(last()));

  const expectRejected = (end: TurnEvent, message: RegExp): void => {
    expect(end).toMatchObject({ type: 'turn.end', outcome: 'error', error: { code: 'duplicate-turn' } });
    expect(end.type === 'turn.end' && end.error?.message).toMatch(message);
  };

  it('is rejected if it is that of the latest turn, and nothing runs', async () => {
    const sessions = memorySessions();
    await ended(sessions, 'turn-1');
    const model = scriptedModel(['Hello.']);
    expectRejected(
      await ended(sessions, 'turn-1', model),
      /"turn-1" of session "alice" began at .* ended with .* completed/,
    );
    expect(model.requests).toEqual([]);
    expect(sessions.messages('alice')).toHaveLength(2);
    expect(await ended(sessions, 'turn-2')).toMatchObject({ outcome: 'completed' });
  });

  it('is rejected if it is older than the latest turn and the store remembers it', async () => {
    const sessions = memorySessions();
    const past = new Map<string, PastTurn>([['turn-0', { turn: 'turn-0', startedAt: 1000, outcome: 'cancelled' }]]);
    const remembering: SessionStore = {
      locate: (turn) => sessions.locate(turn),
      unfinished: () => sessions.unfinished(),
      open: async (session) => Object.assign(await sessions.open(session), { pastTurn: (id: string) => past.get(id) }),
    };
    await ended(remembering, 'turn-1');
    expectRejected(
      await ended(remembering, 'turn-0'),
      /"turn-0" .* 1970-01-01T00:00:01.000Z and ended with .* cancelled/,
    );
    expect(sessions.messages('alice')).toHaveLength(2);
    expect(await ended(sessions, 'turn-0')).toMatchObject({ outcome: 'completed' });
  });
});

describe('a turn after one that never ended', () => {
  it('ends with the error of a store that rejects the end of the earlier one', async () => {
    const sessions = memorySessions();
    const open = await sessions.open('alice');
    const event = { turn: 'lost', at: 5, session: 'alice', input: [user('Hi')], trigger: 'user' } as const;
    await open.append({ v: 1, seq: 0, derived: false, event: { type: 'turn.start', ...event } });
    await open.close();
    let rejections = 0;
    const full: SessionStore = {
      locate: (turn) => sessions.locate(turn),
      unfinished: () => sessions.unfinished(),
      open: async (session) =>
        Object.assign(await sessions.open(session), {
          append: () => {
            rejections += 1;
            return Promise.reject(new Error('The disk is full.'));
          },
        }),
    };
    // The test fails upon a rejection that is not observed.
    const turn = harness({ model: scriptedModel([]), sessions: full })
      .pipe()
      .turn({ session: 'alice', input: 'Go.' });
    expect(await firstValueFrom(turn.pipe(last()))).toMatchObject({
      outcome: 'error',
      error: { message: 'The disk is full.' },
    });
    expect(rejections).toBeGreaterThan(1);
  });
});

describe('a turn that is cancelled while its session is opened', () => {
  it('observes each rejection of a store, also one that comes before that of an earlier record', async () => {
    const wait = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));
    const sessions = memorySessions();
    let records = 0;
    const failing: SessionStore = {
      locate: (turn) => sessions.locate(turn),
      unfinished: () => sessions.unfinished(),
      open: async (session) => {
        await wait(20);
        return Object.assign(await sessions.open(session), {
          append: async () => {
            records += 1;
            if (records === 1) await wait(20);
            throw new Error('The disk is full.');
          },
        });
      },
    };
    const abort = new AbortController();
    const agent = harness({ model: scriptedModel(['Hello.']), sessions: failing }).pipe();
    const ended = firstValueFrom(agent.turn({ session: 'alice', input: 'Go.', signal: abort.signal }).pipe(last()));
    setTimeout(() => abort.abort(), 5);
    expect(await ended).toMatchObject({ outcome: 'error', error: { message: 'The disk is full.' } });
  });
});

describe('a message that an operator has replaced by null', () => {
  it('ends the turn, and leaves no rejection of a store that fails', async () => {
    const rejections: unknown[] = [];
    const collect = (error: unknown): void => void rejections.push(error);
    process.on('unhandledRejection', collect);
    onTestFinished(() => void process.off('unhandledRejection', collect));
    const sessions = memorySessions();
    const failing: SessionStore = {
      ...sessions,
      open: async (session) =>
        Object.assign(await sessions.open(session), { append: () => Promise.reject(new Error('The disk is full.')) }),
    };
    const change = tap((event: TurnEvent) => {
      if (event.type === 'turn.start') (event.input as unknown[])[0] = null;
    });
    const agent = harness({ model: scriptedModel(['Hello.']), sessions: failing }).pipe(change);
    const end = await firstValueFrom(agent.turn({ session: 'alice', input: 'Go.' }).pipe(last()));
    await new Promise((resolve) => void setImmediate(resolve));
    expect(end).toMatchObject({ outcome: 'error' });
    expect(rejections).toEqual([]);
  });
});
