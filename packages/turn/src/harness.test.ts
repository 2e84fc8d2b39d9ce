import { InvalidOptionError } from '@h/options';
import { map } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { runTurn, watch, type Watched } from '../test/turns.js';
import { InvalidInputError } from './contract/errors.js';
import type { TurnEvent, TurnEventOf, TurnOperator } from './contract/events.js';
import { harness } from './harness.js';
import { intercept } from './operators/intercept.js';
import { memorySessions } from './journal/memory-sessions.js';
import type { UserMessage } from './contract/messages.js';
import type { HarnessOptions, TurnInput } from './options.js';
import { reply } from './reply.js';
import { call, response, scriptedModel, scriptedTools, user } from './testing/index.js';

const model = scriptedModel([]);

describe('the options of harness()', () => {
  it.each<[string, unknown, RegExp]>([
    [
      'a missing model',
      {},
      /^harness\(\): "model" is required; it must be a model driver, such as languageModel\(…\) of @h\/ai-sdk\.$/,
    ],
    ['a model that is not a function', { model: 'gpt' }, /"model" must be a model driver, such as .*; received "gpt"/],
    [
      'tools that are not a driver',
      { model, tools: { run: () => [] } },
      /"tools" must be a tool driver, such as toolDriver\(\[…\]\) of @h\/tools/,
    ],
    [
      'sessions that are not a store',
      { model, sessions: new Map() },
      /"sessions" must be an object with open\(\) and locate\(\) and unfinished\(\)/,
    ],
    ['a system prompt that is a number', { model, system: 7 }, /"system" must be .*; received 7/],
    ['a system block with an unknown key', { model, system: [{ text: 'x', cahce: {} }] }, /cahce/],
    ['an unknown setting', { model, settings: { temprature: 1 } }, /unknown option "settings\.temprature"/],
    [
      'a setting of the wrong type',
      { model, settings: { temperature: 'hot' } },
      /"settings\.temperature" must be a number .*; received "hot"/,
    ],
    [
      'an output limit of 0',
      { model, settings: { maxOutputTokens: 0 } },
      /"settings\.maxOutputTokens" must be .*; received 0/,
    ],
    [
      'an unknown reasoning effort',
      { model, settings: { reasoning: 'hard' } },
      /"settings\.reasoning" must be .*; received "hard"/,
    ],
    ['a cap of 0', { model, maxModelCalls: 0 }, /"maxModelCalls" must be an integer from 1 or Infinity; received 0/],
    ['a fractional cap', { model, maxModelCalls: 1.5 }, /"maxModelCalls" .*; received 1\.5/],
    ['a negative grace time', { model, closeGraceMs: -1 }, /"closeGraceMs" must be a number from 0; received -1/],
    [
      'an object that is not a scheduler',
      { model, scheduler: {} },
      /"scheduler" must be an object with schedule\(\) and now\(\)/,
    ],
    ['newId that is not a function', { model, newId: 'x' }, /"newId" must be a function; received "x"/],
    ['an unknown option', { model, maxSteps: 5 }, /maxSteps/],
    ['undefined', undefined, /options must be an object; received undefined/],
  ])('are rejected with the name, the value and what was expected: %s', (_, options, message) => {
    expect(() => harness(options as HarnessOptions)).toThrow(InvalidOptionError);
    expect(() => harness(options as HarnessOptions)).toThrow(message);
  });

  it('shape every request: system, settings, model and tools', async () => {
    const asked = scriptedModel(['Hi.']);
    const tools = scriptedTools({ ls: 'a' });
    await runTurn(
      harness({
        model: asked,
        tools,
        system: 'Be brief.',
        settings: { temperature: 0.5 },
        defaultModel: 'small',
      }).pipe(),
    );
    expect(asked.requests[0]).toMatchObject({
      system: [{ text: 'Be brief.' }],
      settings: { temperature: 0.5 },
      model: 'small',
      tail: [],
      tools: [{ name: 'ls' }],
    });
    const bare = scriptedModel(['Hi.']);
    await runTurn(harness({ model: bare }).pipe());
    expect(bare.requests[0]).toMatchObject({ system: [], settings: {}, tail: [], tools: [] });
    expect(bare.requests[0]).not.toHaveProperty('model');
    const blocks = scriptedModel(['Hi.']);
    await runTurn(harness({ model: blocks, system: [{ text: 'a', cache: { ttl: '1h' } }, { text: 'b' }] }).pipe());
    expect(blocks.requests[0]?.system).toEqual([{ text: 'a', cache: { ttl: '1h' } }, { text: 'b' }]);
  });

  it('default to a separate in-memory store for each agent', async () => {
    const first = harness({ model: scriptedModel(['One.', 'Two.']) }).pipe();
    await runTurn(first, 'first');
    expect((await runTurn(first, 'second')).all('session.loaded')[0]?.messages.length).toBe(2);
    const second = harness({ model: scriptedModel(['One.']) }).pipe();
    expect((await runTurn(second, 'first')).all('session.loaded')[0]?.messages.length).toBe(0);
  });

  it('generate the ids of turns and messages', async () => {
    let count = 0;
    const agent = harness({
      model: scriptedModel(['One.', 'Two.', 'Three.']),
      newId: () => `id-${(count += 1)}`,
    }).pipe();
    const { events, all } = await runTurn(
      agent,
      'Go.',
      ({ type }) => void (type === 'model.delta' && agent.steer('alice', 'More.')),
    );
    expect(events[0]?.turn).toBe('id-1');
    expect(all('input.received').map(({ id }) => id)).toEqual(['id-2', 'id-3', 'id-4']);
    const ids = new Set<string>();
    const free = harness({ model: scriptedModel(['One.', 'Two.']) }).pipe();
    for (const input of ['a', 'b']) ids.add((await runTurn(free, input)).events[0]?.turn ?? '');
    expect(ids.size).toBe(2);
  });
});

describe('pipe()', () => {
  it('is named by a harness that is used without it', () => {
    const agent = harness({ model: scriptedModel([]) }) as never as { readonly turn: () => void };
    expect(() => agent.turn()).toThrow(
      'harness() returns no agent yet. Call pipe(), also without operators: harness({ model }).pipe().turn(…).',
    );
  });

  const factory = (): TurnOperator => intercept('made', () => ({}));
  const wantsOptions = (options: { readonly limit: number }): TurnOperator => {
    if (typeof options.limit !== 'number') throw new TypeError('"limit" must be a number.');
    return intercept('made', () => ({}));
  };

  it.each<[string, readonly unknown[], RegExp]>([
    ['undefined', [factory(), undefined], /^harness\(\)\.pipe\(\): operator 2 of 2 is undefined\. Pass an operator/],
    ['an array of operators', [[factory()]], /operator 1 of 1 is an array\. Spread it with "\.\.\."/],
    ['a factory', [factory], /operator 1 of 1 is not an operator: it returned a function\. .*call it: factory\(\)\./],
    [
      'a factory that needs options',
      [factory(), wantsOptions],
      /operator 2 of 2 is not an operator: it threw "\\"limit\\" must be a number\."\. .*call it: wantsOptions\(\)\./,
    ],
    [
      'a factory that lists all its options',
      [
        function limits() {
          throw new TypeError(`Known options: ${'option, '.repeat(50)}`);
        },
      ],
      /it threw "Known options: .{50,110}…"\. If limits makes an operator, call it: limits\(\)\.$/,
    ],
    ['an anonymous function', [() => 7], /it returned 7\. If it makes an operator, call it\.$/],
  ])('rejects %s with the position and the fix', (_, operators, message) => {
    const pipe = (): unknown => harness({ model }).pipe(...(operators as TurnOperator[]));
    expect(pipe).toThrow(InvalidOptionError);
    expect(pipe).toThrow(message);
  });

  it('accepts native operators and none', () => {
    expect(harness({ model }).pipe(map((event) => event)).operators).toHaveLength(1);
    expect(harness({ model }).pipe().operators).toHaveLength(0);
  });
});

describe('newId of harness()', () => {
  it.each<[string, () => string, object]>([
    [
      'throws',
      () => {
        throw new Error('No entropy.');
      },
      { code: 'new-id-failed', message: 'newId() of harness() threw "No entropy.". It must return a new id.' },
    ],
    ['returns an empty string', () => '', { code: 'invalid-input' }],
    ['returns a number', () => 7 as unknown as string, { code: 'invalid-input' }],
    ['rejects', () => Promise.reject(new Error('No entropy.')) as unknown as string, { code: 'invalid-input' }],
  ])('ends the turn with an error when it %s, and steer() throws', async (_, newId, error) => {
    const asked = scriptedModel(['Hi.']);
    const agent = harness({ model: asked, newId }).pipe();
    const { outcome, error: reported } = await reply(agent.turn({ session: 'alice', input: 'Hi' }));
    expect({ outcome, error: reported }).toMatchObject({ outcome: 'error', error });
    expect(asked.requests).toEqual([]);
    expect(agent.running()).toEqual([]);
    expect(() => agent.steer('alice', 'Hi')).toThrow(
      expect.objectContaining({ code: 'code' in error ? error.code : '' }),
    );
  });
});

describe('the input of turn()', () => {
  const agent = harness({ model }).pipe();
  it.each<[string, unknown, RegExp]>([
    ['a missing session', { input: 'Hi' }, /^turn\(\): "session" is required; it must be a non-empty string\.$/],
    ['an empty session', { session: '', input: 'Hi' }, /"session" must be a non-empty string; received ""/],
    ['a missing input', { session: 's' }, /"input" is required/],
    ['an empty string', { session: 's', input: '' }, /"input" must be .*; received ""/],
    ['an empty list', { session: 's', input: [] }, /"input" must be .*; received \[\]/],
    [
      'an empty message',
      { session: 's', input: { role: 'user', content: '' } },
      /"input\.content" must be a non-empty string or a non-empty array of user parts; received ""/,
    ],
    [
      'an assistant message',
      { session: 's', input: { role: 'assistant', content: 'Hi' } },
      /"input\.role" must be "user"; received "assistant"/,
    ],
    ['a part without its text', { session: 's', input: [{ type: 'text' }] }, /"input\[0\]\.text" is required/],
    [
      'a part in a message without its text',
      { session: 's', input: { role: 'user', content: [{ type: 'text' }] } },
      /"input\.content\[0\]\.text" is required; it must be a string/,
    ],
    [
      'an unknown priority',
      { session: 's', input: 'Hi', priority: 'urgent' },
      /"priority" must be .*; received "urgent"/,
    ],
    [
      'an object that is not a signal',
      { session: 's', input: 'Hi', signal: {} },
      /"signal" must be an instance of AbortSignal/,
    ],
    [
      'metadata that is not JSON',
      { session: 's', input: 'Hi', metadata: { when: new Date() } },
      /"metadata" must be a JSON object/,
    ],
    ['an unknown member', { session: 's', input: 'Hi', user: 'alice' }, /user/],
    ['undefined', undefined, /must be an object; received undefined/],
  ])('is rejected before anything happens: %s', (_, input, message) => {
    expect(() => agent.turn(input as TurnInput)).toThrow(InvalidInputError);
    expect(() => agent.turn(input as TurnInput)).toThrow(message);
    expect(() => agent.turn(input as TurnInput)).toThrow(
      expect.objectContaining({ code: 'invalid-input', name: 'InvalidInputError' }),
    );
  });

  const image = { type: 'image', image: new URL('https://example.com/a.png') } as const;
  it.each<[string, TurnInput['input'], readonly UserMessage[]]>([
    ['a text', 'Hi', [user('Hi')]],
    [
      'parts',
      [{ type: 'text', text: 'Hi' }, image],
      [{ role: 'user', content: [{ type: 'text', text: 'Hi' }, image] }],
    ],
    [
      'a message',
      { role: 'user', content: 'Hi', metadata: { internal: true } },
      [{ role: 'user', content: 'Hi', metadata: { internal: true } }],
    ],
    ['messages', [user('a'), user('b')], [user('a'), user('b')]],
    ['lone surrogates', 'a\ud800', [user('a\ufffd')]],
  ])('accepts %s', async (_, input, messages) => {
    const sessions = memorySessions();
    const { messages: added } = await reply(
      harness({ model: scriptedModel(['Hello.']), sessions })
        .pipe()
        .turn({ session: 's', input }),
    );
    expect(added.slice(0, -1)).toEqual(messages);
    expect(sessions.messages('s').slice(0, -1)).toEqual(messages);
  });

  it('reaches the operators with all of its members', async () => {
    const watched = watch(
      harness({ model: scriptedModel(['Hi.']) })
        .pipe()
        .turn({
          session: 's',
          input: 'Hi',
          trigger: 'cron',
          priority: 'background',
          metadata: { channel: 'mail' },
          id: 'turn-9',
        }),
    );
    await watched.done;
    expect(watched.events[0]).toMatchObject({
      type: 'turn.start',
      turn: 'turn-9',
      session: 's',
      input: [user('Hi')],
      trigger: 'cron',
      priority: 'background',
      metadata: { channel: 'mail' },
    });
    const plain = await runTurn(harness({ model: scriptedModel(['Hi.']) }).pipe());
    expect(plain.events[0]).toMatchObject({ trigger: 'user' });
    expect(plain.events[0]).not.toHaveProperty('priority');
  });
});

describe('a turn', () => {
  it('is cold: it starts when subscribed to, and every subscription runs it once', async () => {
    const asked = scriptedModel(['One.', 'Two.']);
    const agent = harness({ model: asked }).pipe();
    const turn$ = agent.turn({ session: 's', input: 'Hi' });
    expect([asked.requests.length, agent.running().length]).toEqual([0, 0]);
    const texts = [(await reply(turn$)).text, (await reply(turn$)).text];
    expect(texts).toEqual(['One.', 'Two.']);
  });

  it('is listed with its activity while it runs', async () => {
    const states: string[] = [];
    let admit = (): void => undefined;
    const queue: TurnOperator = intercept('queue', () => ({
      decide: { 'turn.start': () => new Promise<undefined>((resolve) => (admit = () => resolve(undefined))) },
    }));
    const ask: TurnOperator = intercept('ask', ({ emit }) => {
      let allow = (): void => undefined;
      return {
        observe: { 'approval.answer': () => allow() },
        decide: {
          'tool.call': (event) => {
            emit({ type: 'approval.request', id: 'a1', reason: 'May I?' });
            return new Promise<typeof event>((resolve) => (allow = () => resolve(event)));
          },
        },
      };
    });
    const tools = scriptedTools({ ls: () => new Promise((resolve) => setTimeout(() => resolve('a'), 5)) });
    const agent = harness({
      model: scriptedModel([response(call('1', 'ls')), 'Done.'], { delayMs: 1 }),
      tools,
      newId: () => 'turn-1',
    }).pipe(queue, ask);
    const look = (): void =>
      void states.push(
        agent
          .running()
          .map(({ turn, session, state, step }) => [turn, session, state, step].join(' '))
          .join(),
      );
    const watched: Watched = watch(agent.turn({ session: 'alice', input: 'Hi' }), (event) => {
      if (event.type === 'model.request') look();
      if (event.type !== 'approval.request') return;
      setTimeout(() => {
        look();
        agent.answer('a1', 'once');
        setTimeout(look, 1);
      }, 1);
    });
    look();
    admit();
    await watched.done;
    expect(states).toEqual([
      'turn-1 alice queued 1',
      'turn-1 alice running 1',
      'turn-1 alice waiting-for-input 1',
      'turn-1 alice waiting-for-tool 1',
      'turn-1 alice running 2',
    ]);
    expect(agent.running()).toEqual([]);
  });
});

describe('answer()', () => {
  const asking = (idOf: (event: TurnEventOf<'tool.call'>) => string): TurnOperator =>
    intercept('asking', ({ emit }) => {
      const waiting = new Map<string, (decision: string) => void>();
      return {
        observe: { 'approval.answer': ({ id, decision }) => waiting.get(id)?.(decision) },
        decide: {
          'tool.call': (event) => {
            emit({ type: 'approval.request', id: idOf(event), reason: 'May I?' });
            return new Promise((resolve) => waiting.set(idOf(event), () => resolve(undefined)));
          },
        },
      };
    });
  const untilAsked = (agent: ReturnType<ReturnType<typeof harness>['pipe']>, session: string): Promise<Watched> =>
    new Promise((resolve) => {
      const watched: Watched = watch(agent.turn({ session, input: 'Go.' }), (event: TurnEvent) => {
        if (event.type === 'approval.request' || event.type === 'turn.end') queueMicrotask(() => resolve(watched));
      });
    });
  const agentOf = (idOf: (event: TurnEventOf<'tool.call'>) => string, ...others: readonly TurnOperator[]) =>
    harness({
      model: (_, { step }) => [
        { type: 'response', response: step === 1 ? response(call('1', 'ls')) : response('Done.') },
      ],
      tools: scriptedTools({ ls: 'a' }),
    }).pipe(asking(idOf), ...others);

  it('accepts a decision once, with or without a reason, while the turn waits', async () => {
    const agent = agentOf(({ turn }) => `${turn}:1`);
    const watched = await untilAsked(agent, 'alice');
    const id = watched.all('approval.request')[0]?.id ?? '';
    expect(agent.answer('somebody-else', 'once')).toBe(false);
    expect(agent.answer(id, { decision: 'session', pattern: 'ls *', reason: 'It is safe.' })).toBe(true);
    expect(agent.answer(id, 'deny')).toBe(false);
    await watched.done;
    expect(watched.all('approval.answer')).toMatchObject([
      { id, decision: 'session', pattern: 'ls *', reason: 'It is safe.' },
    ]);
    expect(agent.answer(id, 'once')).toBe(false);
  });

  it.each(['an operator holds the first answer', 'an operator has answered'])('returns false if %s', async (kind) => {
    const other = intercept('other', ({ emit }) => ({
      decide: {
        'approval.answer': () => (kind.includes('holds') ? new Promise<undefined>(() => undefined) : undefined),
        'tool.result': () => new Promise<undefined>(() => undefined),
      },
      observe: {
        'approval.request': ({ id }) => {
          if (!kind.includes('holds')) emit({ type: 'approval.answer', id, decision: 'once' });
        },
      },
    }));
    const agent = agentOf(() => 'a1', other);
    const watched = await untilAsked(agent, 'alice');
    expect(agent.answer('a1', 'once')).toBe(kind.includes('holds'));
    expect(agent.answer('a1', 'deny')).toBe(false);
    watched.subscription.unsubscribe();
  });

  it('returns false once the turn is stopping', async () => {
    const agent = agentOf(({ turn }) => turn);
    const controller = new AbortController();
    const watched = watch(agent.turn({ session: 'alice', input: 'Go.', signal: controller.signal }));
    await new Promise((resolve) => setTimeout(resolve, 1));
    const id = watched.all('approval.request')[0]?.id ?? '';
    controller.abort();
    expect(agent.answer(id, 'once')).toBe(false);
  });

  it.each<[unknown, RegExp]>([
    ['yes', /^answer\(\): "decision\.decision" must be "once" or .*; received "yes"/],
    [{ decision: 'once', why: 'x' }, /why/],
    [undefined, /received undefined/],
  ])('rejects %j', (decision, message) => {
    expect(() => agentOf(() => 'x').answer('x', decision as 'once')).toThrow(message);
  });

  it('ends the second turn that requests an approval with an id in use', async () => {
    const agent = agentOf(() => 'the-same');
    const first = await untilAsked(agent, 'alice');
    const second = await untilAsked(agent, 'bob');
    await second.done;
    expect(second.end).toMatchObject({ outcome: 'error', error: { code: 'approval-id-in-use' } });
    expect(agent.answer('the-same', 'once')).toBe(true);
    await first.done;
    expect(first.end.outcome).toBe('completed');
  });
});

describe('resume(), steer() and unfinished()', () => {
  const agent = harness({ model }).pipe();
  it('reject input of the wrong shape', () => {
    expect(() => agent.resume('')).toThrow(/^resume\(\): "turn" must be a non-empty string; received ""/);
    expect(() => agent.steer('s', '')).toThrow(/^steer\(\): "message" must be a non-empty string; received ""/);
    expect(() => agent.steer('s', { role: 'user', content: [] })).toThrow(
      /"message\.content" must be .*; received \[\]/,
    );
    expect(() => agent.steer('s', 7 as unknown as string)).toThrow(/received 7/);
  });

  it('never list a turn that runs here, whatever the store says', async () => {
    const listed = ['mine', 'lost'].map((turn) => ({ turn, session: turn, startedAt: 1 }));
    const sessions = { ...memorySessions(), unfinished: () => listed };
    const own = harness({ model: scriptedModel([{ never: [] }]), sessions }).pipe();
    const running = watch(own.turn({ session: 'alice', input: 'Go.', id: 'mine' }));
    expect(await own.unfinished()).toEqual([listed[1]]);
    running.subscription.unsubscribe();
    expect(await own.unfinished()).toEqual(listed);
  });

  it('list turns without an end, except running ones', async () => {
    const sessions = memorySessions();
    const running = watch(
      harness({ model: scriptedModel([{ never: [] }]), sessions })
        .pipe()
        .turn({ session: 'alice', input: 'Go.' }),
    );
    expect(await agent.unfinished()).toEqual([]);
    expect(await harness({ model, sessions }).pipe().unfinished()).toEqual([]);
    running.subscription.unsubscribe();
    const open = await sessions.open('bob');
    await open.append({
      v: 1,
      seq: 0,
      derived: false,
      event: { type: 'turn.start', turn: 'lost', at: 5, session: 'bob', input: [user('Hi')], trigger: 'user' },
    });
    await open.close();
    expect(await harness({ model, sessions }).pipe().unfinished()).toEqual([
      { turn: 'lost', session: 'bob', startedAt: 5 },
    ]);
  });
});
