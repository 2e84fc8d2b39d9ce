import { LLMock, type FixtureFileResponse, type FixtureResponse } from '@copilotkit/aimock';
import { deny, intercept, MessageList, retry, stop, type Handlers, type Message, type TurnOperator } from '@h/turn';
import { readFileSync } from 'node:fs';
import { eventTable, TurnStoppedError } from '@h/bridge';
import { HumanMessage, type BaseMessage } from '@langchain/core/messages';
import { Command, interrupt, MemorySaver } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool } from 'langchain';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { middlewareEvents } from './as-middleware.js';
import { asMiddleware } from './index.js';

interface WireMessage {
  readonly role: string;
  readonly content: unknown;
}

let mock: LLMock;
let script: (FixtureFileResponse | ((messages: readonly WireMessage[]) => FixtureFileResponse))[];

beforeEach(async () => {
  script = [];
  mock = new LLMock({ port: 0 });
  mock.on({ predicate: () => true }, (request) => {
    const next = script.shift() ?? { content: 'The script has ended.' };
    return (typeof next === 'function' ? next(request.messages) : next) as FixtureResponse;
  });
  await mock.start();
});
afterEach(() => mock.stop());

const operator = (handlers: Handlers): TurnOperator => intercept('test', () => handlers);
const calls = (...names: readonly string[]): FixtureFileResponse => ({
  toolCalls: names.map((name, index) => ({ name, arguments: '{"path":"a.txt"}', id: `${name}-${index}` })),
});
/** Returns the messages of each model request. */
const requests = (): readonly (readonly string[])[] =>
  mock
    .getRequests()
    .map(({ body }) =>
      (body as unknown as { messages: readonly WireMessage[] }).messages.map(({ role, content }) =>
        typeof content === 'string' && content !== '' ? content : textIn(content) || role,
      ),
    );
const textIn = (content: unknown): string =>
  Array.isArray(content) ? content.map(({ text = '' }: { readonly text?: string }) => text).join('') : '';
const contents = (messages: readonly BaseMessage[]): readonly string[] =>
  messages.map(({ text, type }) => text || type);

const agentWith = (
  middleware: ReturnType<typeof asMiddleware>,
  tools: Readonly<Record<string, () => unknown>> = {},
  more: Partial<Parameters<typeof createAgent>[0]> = {},
) =>
  createAgent({
    model: new ChatOpenAI({
      model: 'gpt-4o',
      apiKey: 'test',
      maxRetries: 0,
      configuration: { baseURL: `${mock.url}/v1` },
    }),
    tools: Object.entries(tools).map(([name, run]) =>
      tool(() => run() as string, { name, description: name, schema: z.object({ path: z.string() }) }),
    ),
    systemPrompt: 'Be brief.',
    middleware: [middleware],
    ...more,
  });
type ToyAgent = ReturnType<typeof agentWith>;
const run = async (agent: ToyAgent, ...input: Parameters<ToyAgent['invoke']>): Promise<readonly BaseMessage[]> =>
  ((await agent.invoke(...input)) as { readonly messages: readonly BaseMessage[] }).messages;
const ask = (text: string) => ({ messages: [new HumanMessage(text)] });

describe('asMiddleware', () => {
  it('has a table of the events that it carries in its README', () => {
    expect(readFileSync(new URL('../README.md', import.meta.url), 'utf8')).toContain(eventTable(middlewareEvents));
  });

  it('changes nothing without operators', async () => {
    script = [calls('read', 'list'), { content: 'Done.' }];
    const messages = await run(agentWith(asMiddleware(), { read: () => 'text', list: () => 'a b' }), ask('Look.'));
    expect(contents(messages)).toEqual(['Look.', 'ai', 'text', 'a b', 'Done.']);
    expect(requests()).toEqual([
      ['Be brief.', 'Look.'],
      ['Be brief.', 'Look.', 'assistant', 'text', 'a b'],
    ]);
  });

  it('does not run a call that an operator denies', async () => {
    const ran: string[] = [];
    script = [calls('rm', 'read'), { content: 'Done.' }];
    const denying = operator({
      decide: { 'tool.call': (event) => (event.call.name === 'rm' ? deny(event, 'Not here.') : undefined) },
    });
    const tools = { rm: () => ran.push('rm'), read: () => ran.push('read') };
    const messages = await run(agentWith(asMiddleware(denying), tools), ask('Clean up.'));
    expect(ran).toEqual(['read']);
    expect(messages[2]).toMatchObject({ status: 'error', content: 'Denied: Not here.' });
  });

  it('stores a result that an operator changed in the state of the agent', async () => {
    script = [calls('read'), { content: 'Done.' }];
    const redacting = operator({
      decide: { 'tool.result': (event) => ({ ...event, output: { type: 'text', value: '[redacted]' } }) },
    });
    const messages = await run(agentWith(asMiddleware(redacting), { read: () => 'the key' }), ask('Read.'));
    expect(contents(messages)).toEqual(['Read.', 'ai', '[redacted]', 'Done.']);
    expect(requests()[1]).toContain('[redacted]');
  });

  it('repeats a failed model call if an operator retries it', async () => {
    script = [{ error: { message: 'Slow down', type: 'rate_limit' }, status: 429 }, { content: 'Here.' }];
    const seen: unknown[] = [];
    const retrying = operator({
      decide: {
        'model.error': (event) => {
          seen.push(event.error.status);
          return retry(event);
        },
      },
    });
    const messages = await run(agentWith(asMiddleware(retrying)), ask('Hi'));
    expect(contents(messages)).toEqual(['Hi', 'Here.']);
    expect(seen).toEqual([429]);
  });

  it('rethrows an error of the model', async () => {
    script = [{ error: { message: 'No such key', type: 'invalid_request_error' }, status: 401 }];
    await expect(agentWith(asMiddleware()).invoke(ask('Hi'))).rejects.toMatchObject({
      cause: { status: 401 },
    });
  });

  it('keeps a replaced history across the steps and invocations of a thread', async () => {
    let isCompacted = false;
    const compacting = operator({
      decide: {
        'model.request': (event) => {
          if (isCompacted || event.messages.length < 5) return undefined;
          isCompacted = true;
          const messages: readonly Message[] = [{ role: 'user', content: 'Summary.' }, ...event.messages.slice(-2)];
          return [
            { type: 'history.replace', messages, origin: 'test' },
            { ...event, messages: MessageList.of(messages) },
          ];
        },
      },
    });
    script = [calls('read'), calls('list'), { content: 'Done.' }, { content: 'Yes.' }];
    const agent = agentWith(
      asMiddleware(compacting),
      { read: () => 'text', list: () => 'a b' },
      { checkpointer: new MemorySaver() },
    );
    const config = { configurable: { thread_id: 'alice' } };
    await agent.invoke(ask('Look.'), config);
    const messages = await run(agent, ask('Sure?'), config);
    expect(contents(messages)).toEqual(['Look.', 'ai', 'text', 'ai', 'a b', 'Done.', 'Sure?', 'Yes.']);
    expect(requests().slice(2)).toEqual([
      ['Be brief.', 'Summary.', 'assistant', 'a b'],
      ['Be brief.', 'Summary.', 'assistant', 'a b', 'Done.', 'Sure?'],
    ]);
  });

  it('ends the agent with the reason of an operator, or rejects with that reason', async () => {
    const limit = operator({
      decide: { 'model.request': ({ step }) => (step > 2 ? stop('loop-detected', 'It goes in circles.') : undefined) },
    });
    script = [calls('read'), calls('read'), calls('read')];
    const messages = await run(agentWith(asMiddleware(limit), { read: () => 'text' }), ask('Read.'));
    expect(contents(messages).at(-1)).toBe('It goes in circles.');
    expect(messages.at(-1)?.response_metadata).toEqual({
      h: { outcome: 'loop-detected', reason: 'It goes in circles.' },
    });
    expect(mock.getRequests()).toHaveLength(2);
    script = [calls('read'), calls('read')];
    const throwing = agentWith(asMiddleware({ exitBehavior: 'error' }, limit), { read: () => 'text' });
    await expect(throwing.invoke(ask('Read.'))).rejects.toMatchObject({
      cause: expect.any(TurnStoppedError) as unknown,
    });
  });

  it('ends the agent with the last answer of a turn that reached a limit', async () => {
    const limit = operator({
      decide: {
        'turn.stop': (event) => (event.outcome === 'completed' ? stop('max-steps', 'Enough.') : undefined),
      },
    });
    script = [{ content: 'A summary.' }];
    const messages = await run(agentWith(asMiddleware(limit)), ask('Read.'));
    expect(contents(messages)).toEqual(['Read.', 'A summary.']);
    expect(messages[1]?.response_metadata).toMatchObject({ h: { outcome: 'max-steps', reason: 'Enough.' } });
  });

  it('requests approval with an interrupt and continues with the answer', async () => {
    const asking = intercept('asking', ({ emit }) => {
      const held = new Map<string, () => void>();
      return {
        decide: {
          'tool.call': ({ call: { id, name, input } }) => {
            emit({ type: 'approval.request', id: `ask-${id}`, reason: 'Sure?', call: { id, name, input } });
            return new Promise((resolve) => held.set(`ask-${id}`, () => resolve(undefined)));
          },
        },
        observe: { 'approval.answer': ({ id }) => held.get(id)?.() },
      };
    });
    script = [calls('rm'), { content: 'Removed.' }];
    const ran: string[] = [];
    const middleware = asMiddleware({ approve: ({ reason }) => ({ decision: interrupt(reason) }) }, asking);
    const agent = agentWith(middleware, { rm: () => ran.push('rm') }, { checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: 'alice' } };
    const paused = (await agent.invoke(ask('Remove it.'), config)) as { readonly __interrupt__?: unknown };
    expect(paused.__interrupt__).toMatchObject([{ value: 'Sure?' }]);
    expect(ran).toEqual([]);
    const messages = await run(agent, new Command({ resume: 'once' }), config);
    expect(ran).toEqual(['rm']);
    expect(contents(messages).at(-1)).toBe('Removed.');
  });

  it('passes the error of a tool to the model', async () => {
    script = [calls('read'), { content: 'I see.' }];
    const seen: string[] = [];
    const agent = agentWith(
      asMiddleware(operator({ observe: { 'tool.result': ({ status }) => void seen.push(status) } })),
      {
        read: () => {
          throw new RangeError('no such file');
        },
      },
    );
    const messages = await run(agent, ask('Read.'));
    expect(messages[2]?.text).toMatch(/no such file/);
    expect(seen).toEqual(['failed']);
  });

  it('isolates the state of two threads', async () => {
    const counts: string[] = [];
    const counting = intercept('counting', () => {
      let session = '';
      let steps = 0;
      return {
        observe: {
          'turn.start': (event) => void ({ session } = event),
          'model.response': () => void (steps += 1),
          'turn.end': () => void counts.push(`${session} ${steps}`),
        },
      };
    });
    const answer = (messages: readonly WireMessage[]): FixtureFileResponse => {
      const text = JSON.stringify(messages);
      return messages.length < (text.includes('long') ? 6 : 4) ? calls('read') : { content: 'Done.' };
    };
    script = Array.from({ length: 5 }, () => answer);
    const agent = agentWith(asMiddleware(counting), { read: () => 'text' }, { checkpointer: new MemorySaver() });
    await Promise.all(['long', 'short'].map((name) => agent.invoke(ask(name), { configurable: { thread_id: name } })));
    expect(counts.toSorted()).toEqual(['long 3', 'short 2']);
  });

  it('cancels with the signal of the agent', async () => {
    const controller = new AbortController();
    const ends: string[] = [];
    const agent = agentWith(
      asMiddleware(operator({ observe: { 'turn.end': ({ outcome }) => void ends.push(outcome) } })),
      {
        read: () => {
          controller.abort(new Error('left'));
          return new Promise(() => undefined);
        },
      },
    );
    script = [calls('read')];
    await expect(agent.invoke(ask('Read.'), { signal: controller.signal })).rejects.toThrow();
    expect(ends).toEqual(['cancelled']);
  });

  it('streams the answer', async () => {
    script = [calls('read'), { content: 'All is well.' }];
    let text = '';
    const stream = await agentWith(asMiddleware(), { read: () => 'text' }).stream(ask('Read.'), {
      streamMode: 'messages',
    });
    for await (const [chunk] of stream) if (chunk.type === 'ai') text += chunk.text;
    expect(text).toBe('All is well.');
  });

  it('rejects a model or a credential that it cannot provide', async () => {
    const choosing = operator({ decide: { 'model.request': (event) => ({ ...event, credential: 'second' }) } });
    await expect(agentWith(asMiddleware(choosing)).invoke(ask('Hi'))).rejects.toThrow(
      /the credential "second".*`resolve`/,
    );
    script = [{ content: 'From the second.' }];
    const model = new ChatOpenAI({
      model: 'gpt-4o-mini',
      apiKey: 'second',
      configuration: { baseURL: `${mock.url}/v1` },
    });
    const chosen: unknown[] = [];
    const resolving = asMiddleware({ resolve: (choice) => (chosen.push(choice), model) }, choosing);
    const messages = await run(agentWith(resolving), ask('Hi'));
    expect(contents(messages)).toEqual(['Hi', 'From the second.']);
    expect(chosen).toEqual([{ model: undefined, credential: 'second' }]);
  });
});
