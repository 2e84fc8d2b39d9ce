import { harness, memorySessions, MessageList, type AssistantPart, type Message } from '@h/turn';
import { call, response, scriptedModel, scriptedTools, user } from '@h/turn/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { askedOf, badRequest, models, poolOf, wrongKey } from '../../test/turns.js';
import { failover } from '../failover.js';
import { PortableHistory, withOrigin } from './portable-history.js';
import { toolCallIdsFor } from './tool-call-ids.js';

const thought: AssistantPart = {
  type: 'reasoning',
  text: 'Hm.',
  providerOptions: { anthropic: { signature: 'c2ln' } },
};
const said: AssistantPart = { type: 'text', text: 'Let me look.', providerOptions: { openai: { itemId: 'msg_1' } } };
const asked: AssistantPart = {
  ...call('toolu_01A.b:c', 'ls'),
  providerOptions: { google: { thoughtSignature: 'c2ln' } },
};
const searched: readonly AssistantPart[] = [
  { type: 'tool-call', toolCallId: 'srv_1', toolName: 'web_search', input: {}, providerExecuted: true },
  { type: 'tool-result', toolCallId: 'srv_1', toolName: 'web_search', output: { type: 'text', value: 'found' } },
];
const answer = (...content: readonly AssistantPart[]): Message => ({ role: 'assistant', content });
const result = (id: string): Message => ({
  role: 'tool',
  content: [
    {
      type: 'tool-result',
      toolCallId: id,
      toolName: 'ls',
      output: { type: 'text', value: 'a.txt' },
      providerOptions: { openai: { itemId: 'fc_1' } },
    },
  ],
});

const history = MessageList.of([user('Go.'), answer(thought, said, asked, ...searched), result('toolu_01A.b:c')]);
const home = { model: 'alpha/one', credential: 'a1' };
const read = (messages: MessageList, reader: { model: string; credential?: string }) =>
  new PortableHistory(reader, home).for(messages);

describe('a history', () => {
  it('is unchanged for its own model', () => {
    const own = MessageList.of([user('Go.'), answer(thought, said, call('toolu_1', 'ls')), result('toolu_1')]);
    expect(read(own, home)).toBe(own);
    expect(read(own, { ...home, credential: 'a1' })).toBe(own);
  });

  it('drops signatures and private parts for another model, and keeps calls with their results', () => {
    const [, message, results] = read(history, { model: 'beta/two' }).toArray();
    const content = message?.content as readonly AssistantPart[];
    expect(content).toMatchObject([
      { type: 'text', text: 'Let me look.' },
      { type: 'tool-call', toolName: 'ls' },
    ]);
    expect(JSON.stringify([message, results])).not.toMatch(/signature|itemId|Signature|web_search/);
    const id = (content[1] as { toolCallId: string }).toolCallId;
    expect(id).toMatch(/^[a-zA-Z0-9_-]{1,40}$/);
    expect(results?.content).toMatchObject([{ toolCallId: id }]);
    expect(history.at(1)).toEqual(answer(thought, said, asked, ...searched));
  });

  it('keeps reasoning for another credential, but no items that the other account stores', () => {
    const stored: AssistantPart = {
      type: 'reasoning',
      text: 'Hm.',
      providerOptions: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'x' } },
    };
    const [, message] = read(MessageList.of([user('Go.'), answer(thought, stored, said)]), {
      model: 'alpha/one',
      credential: 'a2',
    }).toArray();
    expect(message?.content).toEqual([
      thought,
      { type: 'text', text: 'Let me look.', providerOptions: { openai: {} } },
    ]);
  });

  it('recognizes the author of each message', () => {
    const mixed = MessageList.of([
      user('Go.'),
      answer(thought),
      withOrigin(answer(thought), { model: 'beta/two' }),
      user('And?'),
      answer(thought),
    ]);
    const lengths = (reader: string): readonly number[] =>
      read(mixed, { model: reader })
        .toArray()
        .filter(({ role }) => role === 'assistant')
        .map(({ content }) => content.length);
    expect(lengths('alpha/one')).toEqual([1, 0, 1]);
    expect(lengths('beta/two')).toEqual([0, 1, 0]);
  });

  it('checks each message once, however far it has grown', () => {
    const reader = new PortableHistory({ model: 'beta/two' }, home);
    let messages = history;
    let mapped = reader.for(messages);
    for (let step = 0; step < 200; step += 1) {
      messages = messages.append(answer(thought, call(`bad.id:${step}`, 'ls')), result(`bad.id:${step}`));
      const next = reader.for(messages);
      expect(next.startsWith(mapped)).toBe(true);
      expect(next.at(1)).toBe(mapped.at(1));
      mapped = next;
    }
    expect(mapped.toArray()).toEqual(read(messages, { model: 'beta/two' }).toArray());
    expect(reader.for(history).toArray()).toEqual(read(history, { model: 'beta/two' }).toArray());
  });

  it('is copied once when it first needs a change', () => {
    const reader = new PortableHistory({ model: 'beta/two' }, home);
    const fine = MessageList.of([user('Go.')]);
    expect(reader.for(fine)).toBe(fine);
    const grown = fine.append(answer(thought, { type: 'text', text: 'Hi.' }));
    expect(reader.for(grown).toArray()).toEqual([user('Go.'), answer({ type: 'text', text: 'Hi.' })]);
  });
});

describe('ids of tool calls', () => {
  it.each([
    ['mistral/mistral-large-latest', /^[a-zA-Z0-9]{9}$/],
    ['openrouter/mistralai/devstral-small', /^[a-zA-Z0-9]{9}$/],
    ['anthropic/claude-sonnet-4-5', /^[a-zA-Z0-9_-]{1,40}$/],
    ['openai/gpt-5', /^[a-zA-Z0-9_-]{1,40}$/],
  ])('are such that %s takes them, different for different calls, and the same each time', (model, pattern) => {
    fc.assert(
      fc.property(
        fc.uniqueArray(
          fc.oneof(
            fc.string(),
            fc.string({ minLength: 9, maxLength: 9 }),
            fc.stringMatching(/^[a-zA-Z0-9]{9}$/),
            fc.constantFrom('toolu_01ABC', 'call_1', 'functions.ls:0'),
          ),
        ),
        (ids) => {
          const [make, again] = [toolCallIdsFor(model), toolCallIdsFor(model)];
          const made = ids.map(make);
          for (const id of made) expect(id).toMatch(pattern);
          expect(new Set(made).size).toBe(ids.length);
          expect(ids.map(again)).toEqual(made);
          expect(ids.map(make)).toEqual(made);
        },
      ),
    );
  });

  it('are unchanged if the model accepts them', () => {
    const make = toolCallIdsFor('openai/gpt-5');
    expect(make('toolu_01A')).toBe('toolu_01A');
    expect(toolCallIdsFor('mistral/small')('abcDEF123')).toBe('abcDEF123');
  });
});

describe('failover', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: 0 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('records the author of each answer and makes each history portable', async () => {
    const sessions = memorySessions();
    const tools = scriptedTools({ ls: 'a.txt' });
    const turn = async (...steps: Parameters<typeof scriptedModel>[0]) => {
      const model = scriptedModel(steps);
      harness({ model, tools, sessions })
        .pipe(failover({ pool: poolOf(), models, random: () => 0 }))
        .turn({ session: 'alice', input: 'Go.' })
        .subscribe();
      await vi.advanceTimersByTimeAsync(1_000);
      return model;
    };
    const first = await turn(
      response(thought, call('c1', 'ls')),
      { error: badRequest },
      response(thought, 'From beta.'),
    );
    expect(askedOf(first)).toEqual(['alpha/one with a1', 'alpha/one with a1', 'beta/two with b1']);
    expect(JSON.stringify(first.requests[1]?.messages)).toContain('c2ln');
    expect(JSON.stringify(first.requests[2]?.messages)).not.toContain('c2ln');
    expect(sessions.messages('alice').at(-1)?.metadata).toEqual({ failover: { model: 'beta/two', credential: 'b1' } });
    expect(sessions.messages('alice')[1]?.metadata).toBeUndefined();

    const second = await turn(response('From alpha.'));
    const seen = second.requests[0]?.messages.toArray() ?? [];
    expect(JSON.stringify(seen[1])).toContain('c2ln');
    expect(seen[3]?.content).toEqual([{ type: 'text', text: 'From beta.' }]);
    expect(sessions.messages('alice').filter(({ metadata }) => metadata !== undefined)).toHaveLength(1);
  });

  it('records another credential of the usual model too', async () => {
    const sessions = memorySessions();
    const pool = poolOf();
    const turn = async (...steps: Parameters<typeof scriptedModel>[0]) => {
      harness({ model: scriptedModel(steps), sessions })
        .pipe(failover({ pool, models }))
        .turn({ session: 'alice', input: 'Go.' })
        .subscribe();
      await vi.advanceTimersByTimeAsync(1_000);
    };
    await turn('One.');
    await turn({ error: wrongKey }, 'Two.');
    expect(sessions.messages('alice').map(({ metadata }) => metadata?.['failover'])).toEqual([
      undefined,
      undefined,
      undefined,
      { model: 'alpha/one', credential: 'a2' },
    ]);
  });
});
