import {
  harness,
  memorySessions,
  MessageList,
  reply,
  textOf,
  type Message,
  type ModelRequest,
  type TurnEvent,
} from '@h/turn';
import { call, event, failure, request, response, scriptedModel, scriptedTools, user } from '@h/turn/testing';
import { describeOperator } from '@h/turn/vitest';
import { lastValueFrom, of, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { PromptMemo } from './prompt-memo.js';
import { prompt } from './prompt.js';
import type { PromptOptions } from './options.js';
import type { PromptAnnotation } from './request-shaper.js';

const identity = { id: 'identity', text: 'You are a careful engineer.' };
const rules = { id: 'rules', text: 'Use tabs.' };
const clock = { id: 'time', text: ({ at }: { readonly at: number }) => `The time is ${at}.` };

/** What `prompt()` makes of one request. */
const shaped = async (options: PromptOptions, given: ModelRequest = request()): Promise<ModelRequest> => {
  const all = await lastValueFrom(
    of(event('model.request', { step: 1, attempt: 1, ...given })).pipe(prompt(options), toArray()),
  );
  return all.find((made) => made.type === 'model.request') as ModelRequest;
};

const runTurn = async (events: Parameters<typeof reply>[0]): Promise<readonly TurnEvent[]> =>
  lastValueFrom(events.pipe(toArray()));

const typesOf = (events: readonly TurnEvent[]): readonly string[] => events.map(({ type }) => type);

describe('prompt', () => {
  it('works without options', async () => {
    const all = await lastValueFrom(
      of(event('model.request', { step: 1, attempt: 1, ...request() })).pipe(prompt(), toArray()),
    );
    expect(all.map(({ type }) => type)).toEqual(['model.request']);
  });

  it('sends the stable tiers as system blocks and volatile facts after the history', async () => {
    const made = await shaped({
      frozen: [identity],
      session: [rules],
      volatile: [{ id: 'memory', text: 'Tests run with vitest.' }],
    });
    expect(made.system).toEqual([
      { text: 'You are a careful engineer.', cache: {} },
      { text: 'Use tabs.', cache: {} },
    ]);
    expect([...made.messages]).toEqual([user('Hi')]);
    expect(made.tail).toHaveLength(1);
    expect(textOf(made.tail[0] as Message)).toContain('<section id="memory">\nTests run with vitest.\n</section>');
    expect(made.tail[0]?.metadata).toEqual({ internal: true, kind: 'context' });
    expect(made.cacheMessages).toEqual({});
  });

  it('keeps existing system blocks before its own', async () => {
    const note = { role: 'user', content: 'A note.' } as const;
    const made = await shaped(
      { frozen: [identity], volatile: [{ id: 'memory', text: 'M' }] },
      request({ system: [{ text: 'From the harness.' }], tail: [note] }),
    );
    expect(made.system.map(({ text }) => text)).toEqual(['From the harness.', 'You are a careful engineer.']);
    expect(made.tail[0]).toBe(note);
    expect(made.tail).toHaveLength(2);
  });

  it('omits empty tiers', async () => {
    const made = await shaped({
      frozen: [{ id: 'empty', text: ' \r\n' }],
      session: [{ id: 'none', text: () => undefined }],
    });
    expect(made.system).toEqual([]);
    expect(made.tail).toEqual([]);
  });

  it('sends the same text without marks with caching: false', async () => {
    const options = { frozen: [identity], session: [rules], volatile: [{ id: 'memory', text: 'M' }] };
    const marked = await shaped(options);
    const bare = await shaped({ ...options, caching: false });
    expect(bare.system).toEqual(marked.system.map(({ text }) => ({ text })));
    expect(bare.cacheMessages).toBeUndefined();
    expect(bare.tail).toEqual(marked.tail);
  });

  it('requests the configured cache lifetimes', async () => {
    const made = await shaped({ frozen: [identity], caching: { stable: '1h' } });
    expect(made.system[0]?.cache).toEqual({ ttl: '1h' });
    expect(made.cacheMessages).toEqual({});
    const long = await shaped({ frozen: [identity], caching: { stable: '1h', messages: '1h' } });
    expect(long.cacheMessages).toEqual({ ttl: '1h' });
  });

  it('counts existing marks and drops its own by priority', async () => {
    const marked = { cache: {} };
    const system = [
      { text: 'A', ...marked },
      { text: 'B', ...marked },
    ];
    const two = await shaped({ frozen: [identity], session: [rules] }, request({ system }));
    expect(two.system.map(({ cache }) => cache !== undefined)).toEqual([true, true, false, true]);
    expect(two.cacheMessages).toEqual({});
    const cacheControl = { anthropic: { cacheControl: { type: 'ephemeral' } } };
    const tools = [
      { name: 'ls', description: 'Lists', inputSchema: { type: 'object' }, providerOptions: cacheControl },
    ];
    const one = await shaped({ frozen: [identity], session: [rules] }, request({ system, tools }));
    expect(one.system.map(({ cache }) => cache !== undefined)).toEqual([true, true, false, false]);
    expect(one.cacheMessages).toEqual({});
    const messages: Message[] = [{ ...user('Hi'), providerOptions: cacheControl }];
    const full = await shaped({ frozen: [identity], session: [rules] }, request({ system, tools, messages }));
    expect(full.cacheMessages).toBeUndefined();
    const none = await shaped({ frozen: [identity], session: [rules], caching: { maxMarks: 0 } });
    expect([none.system.some(({ cache }) => cache), none.cacheMessages]).toEqual([false, undefined]);
  });

  it('drops a mark after a short prefix first', async () => {
    const long = { id: 'long', text: 'word '.repeat(2000) };
    const options = { frozen: [long], session: [rules] };
    const usual = await shaped({ ...options, caching: { maxMarks: 2 } });
    expect(usual.system.map(({ cache }) => cache !== undefined)).toEqual([false, true]);
    const strict = await shaped({ frozen: [identity], session: [long], caching: { maxMarks: 2, minTokens: 100 } });
    expect(strict.system.map(({ cache }) => cache !== undefined)).toEqual([false, true]);
    const both = await shaped({ frozen: [identity], session: [rules], caching: { maxMarks: 1, minTokens: 0 } });
    expect([both.system.some(({ cache }) => cache), both.cacheMessages]).toEqual([false, {}]);
  });

  it('sorts tools by name, independent of their registration order', async () => {
    const tool = (name: string) => ({ name, description: name, inputSchema: { type: 'object' } });
    const [one, other] = await Promise.all([
      shaped({}, request({ tools: [tool('write'), tool('Read'), tool('bash')] })),
      shaped({}, request({ tools: [tool('bash'), tool('write'), tool('Read')] })),
    ]);
    expect(one.tools.map(({ name }) => name)).toEqual(['Read', 'bash', 'write']);
    expect(JSON.stringify(one)).toBe(JSON.stringify(other));
  });

  it('annotates each request with the hash of each tier', async () => {
    const hashesOf = (made: ModelRequest): PromptAnnotation['renderHash'] =>
      (made as ModelRequest & { annotations: { prompt: PromptAnnotation } }).annotations.prompt.renderHash;
    const base = { frozen: [identity], session: [rules], volatile: [{ id: 'memory', text: 'M' }] };
    const first = hashesOf(await shaped(base));
    expect(first.frozen).toMatch(/^[0-9a-f]{16}$/);
    expect(hashesOf(await shaped(base))).toEqual(first);
    expect(hashesOf(await shaped({ ...base, session: [{ id: 'rules', text: 'Use spaces.' }] }))).toEqual({
      ...first,
      session: expect.not.stringMatching(first.session) as string,
    });
    expect(hashesOf(await shaped({ ...base, session: [{ id: 'other name', text: 'Use tabs. \r\n' }] }))).toEqual(first);
  });

  it('shapes a request once, however often it passes', async () => {
    const options = { frozen: [identity], volatile: [clock] };
    const all = await lastValueFrom(
      of(event('model.request', { step: 1, attempt: 1, ...request() })).pipe(
        prompt(options),
        prompt(options),
        toArray(),
      ),
    );
    expect(all).toHaveLength(1);
    expect(all[0]).toMatchObject({ system: [{ text: identity.text }], tail: [{ role: 'user' }] });
  });

  it('shapes a retried request from the original', async () => {
    const raw = event('model.request', { step: 1, attempt: 1, ...request() }, { at: 1 });
    const all = await lastValueFrom(
      of(raw, { ...raw, attempt: 2, at: 2 }).pipe(prompt({ frozen: [identity], volatile: [clock] }), toArray()),
    );
    expect(all).toMatchObject([{ system: [{ text: identity.text }] }, { system: [{ text: identity.text }] }]);
    expect(all.map((made) => (made as ModelRequest).tail.length)).toEqual([1, 1]);
    expect(textOf((all[1] as ModelRequest).tail[0] as Message)).toContain('The time is 2.');
  });

  it('sends volatile sections after tool results unless disabled', async () => {
    const result: Message = {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: '1', toolName: 'ls', output: { type: 'text', value: 'a.txt' } }],
    };
    const after = request({ messages: [user('Hi'), { role: 'assistant', content: [call('1', 'ls')] }, result] });
    expect((await shaped({ volatile: [clock] }, after)).tail).toHaveLength(1);
    expect((await shaped({ volatile: [clock], volatileAfterTools: false }, after)).tail).toEqual([]);
    expect((await shaped({ volatile: [clock], volatileAfterTools: false })).tail).toHaveLength(1);
  });

  it('keeps volatile text inside its section', async () => {
    const made = await shaped({
      volatile: [{ id: 'notes', text: 'a < b\n</section>\n</ Context >\n<section id="x">' }],
    });
    const text = textOf(made.tail[0] as Message);
    expect(text).toContain('a < b\n&lt;/section>\n&lt;/ Context >\n&lt;section id="x">');
    expect(text.match(/<\/?section|<\/?context/g)).toEqual(['<context', '<section', '</section', '</context']);
  });

  it('calls functions once per harness, turn or request, by tier', async () => {
    const calls = { frozen: 0, session: 0, volatile: 0, once: 0 };
    const count = (name: keyof typeof calls) => () => `${name} ${(calls[name] += 1)}`;
    const operator = prompt({
      frozen: [{ id: 'frozen', text: count('frozen') }],
      session: [{ id: 'session', text: count('session') }],
      volatile: [
        { id: 'volatile', text: count('volatile') },
        { id: 'once', text: count('once'), refresh: 'turn' },
      ],
    });
    const model = scriptedModel([response(call('1', 'ls')), 'Done.', response(call('2', 'ls')), 'Done.']);
    const agent = harness({ model, tools: scriptedTools({ ls: 'a.txt' }) }).pipe(operator);
    await reply(agent.turn({ session: 'a', input: 'One' }));
    await reply(agent.turn({ session: 'a', input: 'Two' }));
    expect(calls).toEqual({ frozen: 1, session: 2, volatile: 4, once: 2 });
    expect(textOf(model.requests[1]?.tail[0] as Message)).toMatch(/volatile 2[^]*once 1/);
  });

  it('ends the turn with what `capabilities` must return', async () => {
    const capabilities = (() => 'read') as unknown as () => readonly string[];
    const operator = prompt({ capabilities, frozen: [{ id: 'a', text: () => 'x' }] });
    const events = await runTurn(
      harness({ model: scriptedModel(['Hi']) })
        .pipe(operator)
        .turn({ session: 'a', input: 'Hi' }),
    );
    expect(events.at(-1)).toMatchObject({
      outcome: 'error',
      reason: expect.stringMatching(/prompt\(\): .*capabilities\(\).* array/) as string,
    });
  });

  it('calls frozen functions again only for different capabilities', async () => {
    let calls = 0;
    const operator = prompt({
      capabilities: ({ metadata }) => JSON.stringify(metadata?.['can']).replaceAll('"', '').split(' '),
      frozen: [{ id: 'can', text: ({ capabilities }) => `${(calls += 1)}: ${capabilities.join(' ')}` }],
    });
    const model = scriptedModel(['1', '2', '3']);
    const agent = harness({ model }).pipe(operator);
    for (const can of ['write read', 'READ write read', 'read see']) {
      await reply(agent.turn({ session: 'a', input: 'Hi', metadata: { can } }));
    }
    expect(model.requests.map(({ system }) => system[0]?.text)).toEqual([
      '1: read write',
      '1: read write',
      '2: read see',
    ]);
  });

  it('passes facts of the turn and the request to functions', async () => {
    const seen: unknown[] = [];
    const operator = prompt({
      session: [
        {
          id: 's',
          text: ({ turn, session, trigger, metadata, startedAt }) =>
            void seen.push({ turn, session, trigger, metadata, startedAt }),
        },
      ],
      volatile: [
        {
          id: 'v',
          text: ({ session, step, attempt, model, messages, tools }) =>
            void seen.push({ session, step, attempt, model, length: messages.length, tools }),
        },
      ],
    });
    const agent = harness({ model: scriptedModel(['Hi']), defaultModel: 'm' }).pipe(operator);
    await reply(agent.turn({ id: 't', session: 'a', input: 'Hi', trigger: 'cron', metadata: { channel: 'mail' } }));
    expect(seen).toEqual([
      {
        turn: 't',
        session: 'a',
        trigger: 'cron',
        metadata: { channel: 'mail' },
        startedAt: expect.any(Number) as number,
      },
      { session: 'a', step: 1, attempt: 1, model: 'm', length: 1, tools: [] },
    ]);
  });

  it('shares only rendered text between sessions', async () => {
    const operator = prompt({ session: [{ id: 's', text: ({ session }) => `Session ${session}` }] });
    const model = scriptedModel(['1', '2']);
    const agent = harness({ model }).pipe(operator);
    await Promise.all(['a', 'b'].map((session) => reply(agent.turn({ session, input: 'Hi' }))));
    expect(model.requests.map(({ system }) => system[0]?.text)).toEqual(['Session a', 'Session b']);
  });

  it('uses the passed cache', async () => {
    const cache = new PromptMemo();
    await shaped({ frozen: [identity], session: [rules], cache });
    expect(cache.size).toBe(2);
    cache.clear();
    expect(cache.size).toBe(0);
  });

  it('puts sections of a source into their tiers', async () => {
    const made = await shaped({
      session: [
        {
          id: 'files',
          load: () => ({
            sections: [
              { id: 'file:A', text: 'A' },
              { id: 'file:M', text: 'M', tier: 'volatile' },
            ],
          }),
        },
        rules,
      ],
    });
    expect(made.system.map(({ text }) => text)).toEqual(['A\n\nUse tabs.']);
    expect(textOf(made.tail[0] as Message)).toContain('<section id="file:M">\nM\n</section>');
  });
});

describe('prompt, when a section fails', () => {
  it('leaves out sections that throw, reject or return a wrong type', async () => {
    const operator = prompt({
      frozen: [identity],
      session: [
        {
          id: 'throws',
          text: () => {
            throw new Error('No disk.');
          },
        },
        { id: 'nonsense', text: () => 7 as unknown as string },
        { id: 'source', load: () => undefined as never },
      ],
      volatile: [{ id: 'rejects', text: async () => Promise.reject(new Error('No net.')) }],
    });
    const model = scriptedModel(['Hi']);
    const events = await runTurn(harness({ model }).pipe(operator).turn({ session: 'a', input: 'Hi' }));
    expect(events.filter(({ type }) => type === 'prompt.skipped')).toMatchObject([
      { section: 'throws', tier: 'session', reason: 'failed', message: 'No disk.' },
      { section: 'nonsense', reason: 'failed' },
      { section: 'source', reason: 'failed' },
      { section: 'rejects', tier: 'volatile', reason: 'failed', message: 'No net.' },
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'completed' });
    expect(model.requests[0]?.system.map(({ text }) => text)).toEqual([identity.text]);
  });

  it('keeps the first of two sections with the same id', async () => {
    const found = {
      sections: [
        { id: 'rules', text: 'Mine.' },
        { id: 'x', text: 'One' },
        { id: 'x', text: 'Two' },
      ],
    };
    const operator = prompt({ session: [rules, { id: 'files', load: () => found }] });
    const events = await lastValueFrom(
      of(event('model.request', { step: 1, attempt: 1, ...request() })).pipe(operator, toArray()),
    );
    expect(events).toMatchObject([
      { type: 'prompt.skipped', section: 'rules', reason: 'duplicate' },
      { type: 'prompt.skipped', section: 'x', reason: 'duplicate' },
      { type: 'model.request', system: [{ text: 'Use tabs.\n\nOne' }] },
    ]);
  });

  it.each([
    ['a result without sections', {}],
    ['a section without a text', { sections: [{ id: 'a' }] }],
    ['a section of a tier that sources cannot add to', { sections: [{ id: 'a', text: 'A', tier: 'frozen' }] }],
    ['a section of an unknown tier', { sections: [{ id: 'a', text: 'A', tier: 'volatil' }] }],
  ])('tells what a source must return instead of %s', async (_, found) => {
    const operator = prompt({ session: [{ id: 'files', load: () => found as never }] });
    const events = await lastValueFrom(
      of(event('model.request', { step: 1, attempt: 1, ...request() })).pipe(operator, toArray()),
    );
    expect(events[0]).toMatchObject({
      type: 'prompt.skipped',
      section: 'files',
      reason: 'failed',
      message:
        'The source must return { sections: [{ id, text, tier? }] } with strings; "tier" is "session", "volatile" or "bootstrap".',
    });
  });

  it.each([5, { text: 5 }, {}])('tells what a function must return instead of %j', async (value) => {
    const operator = prompt({ session: [{ id: 'skills', text: () => value as never }] });
    const events = await lastValueFrom(
      of(event('model.request', { step: 1, attempt: 1, ...request() })).pipe(operator, toArray()),
    );
    expect(events[0]).toMatchObject({
      type: 'prompt.skipped',
      section: 'skills',
      reason: 'failed',
      message: 'The function of the section must return a string, { text: string }, null or undefined.',
    });
  });

  it('truncates a long function result with a visible note', async () => {
    const operator = prompt({ volatile: [{ id: 'memory', text: () => 'x'.repeat(300), maxChars: 200 }] });
    const events = await lastValueFrom(
      of(event('model.request', { step: 1, attempt: 1, ...request() })).pipe(operator, toArray()),
    );
    expect(events[0]).toMatchObject({ type: 'prompt.problem', section: 'memory', code: 'shortened' });
    expect(textOf((events[1] as ModelRequest).tail[0] as Message)).toMatch(
      /x\n\n\[Truncated: \d+ of 300 characters omitted\.\]/,
    );
  });

  it('emits problems that a section reports', async () => {
    const problems = [{ code: 'collision', message: 'Two are called git.', path: '/skills/git' }];
    const operator = prompt({ session: [{ id: 'skills', text: () => ({ text: 'git', problems }) }] });
    const events = await lastValueFrom(
      of(event('model.request', { step: 1, attempt: 1, ...request() })).pipe(operator, toArray()),
    );
    expect(events[0]).toMatchObject({ type: 'prompt.problem', section: 'skills', ...problems[0] });
  });
});

describe('prompt, in a failing turn', () => {
  it('does not repeat notices when the request is retried', async () => {
    const model = scriptedModel([{ error: failure('Busy.') }]);
    const operator = prompt({
      session: [
        {
          id: 'bad',
          text: () => {
            throw new Error('No.');
          },
        },
      ],
    });
    const events = await runTurn(
      harness({ model, sessions: memorySessions() }).pipe(operator).turn({ session: 'a', input: 'Hi' }),
    );
    expect(typesOf(events).filter((type) => type === 'prompt.skipped')).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'error' });
  });
});

describe('prompt, with wrong options', () => {
  it.each<[string, PromptOptions]>([
    ['"forzen"', { forzen: [] } as PromptOptions],
    ['frozen', { frozen: 'You are' as never }],
    ['frozen[0].id', { frozen: [{ id: '', text: 'x' }] }],
    ['frozen[0]', { frozen: ['x' as never] }],
    ['session[0].id', { frozen: [identity], session: [identity] }],
    ['session[0].text', { session: [{ id: 'x', text: 7 as never }] }],
    ['session[0].tier', { session: [{ id: 'x', text: 'x', tier: 'volatile' }] }],
    ['session[0].timeoutMs', { session: [{ id: 'x', text: 'x', timeoutMs: -1 }] }],
    ['session[0].maxChars', { session: [{ id: 'x', text: 'x', maxChars: 0.5 }] }],
    ['session[0]', { session: [{ id: 'x', text: 'x', title: 'X' } as never] }],
    ['session[0].refresh', { session: [{ id: 'x', text: 'x', refresh: 'turn' } as never] }],
    ['volatile[0].refresh', { volatile: [{ id: 'x', text: 'x', refresh: 'day' as never }] }],
    ['volatile[0]', { volatile: [{ id: 'x', load: () => ({ sections: [] }) } as never] }],
    ['session[0].load', { session: [{ id: 'x', load: 7 as never }] }],
    ['capabilities', { capabilities: 'all' as never }],
    ['deadlineMs', { deadlineMs: Number.NaN }],
    ['volatileAfterTools', { volatileAfterTools: 1 as never }],
    ['cache', { cache: new Map() as never }],
    ['caching', { caching: { ttl: '1h' } as never }],
    ['caching.stable', { caching: { stable: '2h' as never } }],
    ['caching.messages', { caching: { messages: '1h' } }],
    ['caching.maxMarks', { caching: { maxMarks: -1 } }],
    ['caching.minTokens', { caching: { minTokens: 1.5 } }],
  ])('refuses %s and names it', (name, options) => {
    expect(() => prompt(options)).toThrow(
      expect.objectContaining({ code: 'invalid-option', message: expect.stringContaining(name) as string }),
    );
  });

  it('rejects a cache with maxEntries 0', () => {
    expect(() => new PromptMemo({ maxEntries: 0 })).toThrow(expect.objectContaining({ code: 'invalid-option' }));
  });
});

const changes = ['model.request', 'session.state', 'history.append'];
// Not the clock: a resumed turn reads another time.
const step = { id: 'step', text: (request: { readonly step: number }) => `This is step ${request.step}.` };
describeOperator(() => prompt({ frozen: [identity], session: [rules], volatile: [step] }), { changes });
describeOperator(
  () =>
    prompt({
      frozen: [{ id: 'identity', text: async () => Promise.resolve('You are.') }],
      session: [{ id: 'never', text: async () => new Promise<string>(() => undefined), timeoutMs: 50 }],
      bootstrap: [{ id: 'tour', text: 'Look around.' }],
      volatile: [{ id: 'memory', text: async () => Promise.resolve('M') }],
    }),
  { changes: [...changes, 'prompt.skipped'] },
);

describe('a session’s history', () => {
  it('never contains volatile sections', async () => {
    const sessions = memorySessions();
    const agent = harness({ model: scriptedModel(['Hi']), sessions }).pipe(
      prompt({ frozen: [identity], volatile: [clock] }),
    );
    await reply(agent.turn({ session: 'a', input: 'Hello' }));
    expect(sessions.messages('a').map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(JSON.stringify(sessions.messages('a'))).not.toContain('The time is');
    expect(MessageList.of(sessions.messages('a'))).toHaveLength(2);
  });
});
