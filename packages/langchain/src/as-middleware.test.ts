import { LLMock, type FixtureFileResponse, type FixtureResponse } from '@copilotkit/aimock';
import { deny, intercept, stop, type Handlers, type TurnOperator } from '@h/turn';
import { readFileSync } from 'node:fs';
import { eventTable, TurnStoppedError } from '@h/bridge';
import { AIMessage, HumanMessage, type BaseMessage, type UsageMetadata } from '@langchain/core/messages';
import { Command, interrupt, MemorySaver } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import {
  createAgent,
  createMiddleware,
  humanInTheLoopMiddleware,
  providerStrategy,
  tool,
  toolStrategy,
} from 'langchain';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { toResponse } from './answer.js';
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

  it('stores a result that an operator changed in the state of the agent', async () => {
    script = [calls('read'), { content: 'Done.' }];
    const redacting = operator({
      decide: { 'tool.result': (event) => ({ ...event, output: { type: 'text', value: '[redacted]' } }) },
    });
    const messages = await run(agentWith(asMiddleware(redacting), { read: () => 'the key' }), ask('Read.'));
    expect(contents(messages)).toEqual(['Read.', 'ai', '[redacted]', 'Done.']);
    expect(requests()[1]).toContain('[redacted]');
  });

  it('names itself and the position of what is no operator', () => {
    const factory = () => operator({});
    expect(() => asMiddleware({}, operator({}), factory as never)).toThrow(
      /^asMiddleware\(\): operator 2 of 2 is not an operator: .* call it: factory\(\)\.$/,
    );
  });

  it.each(['end', 'error'] as const)('reports a stop once with { exitBehavior: "%s" }', async (exitBehavior) => {
    const stops: unknown[] = [];
    const middleware = (limit: TurnOperator) =>
      asMiddleware({ exitBehavior, onStop: (given) => void stops.push(given) }, limit);
    const config = { configurable: { thread_id: 'alice' } };
    const before = operator({ decide: { 'model.request': () => stop('blocked', 'No.') } });
    await agentWith(middleware(before))
      .invoke(ask('Hi'), config)
      .catch(() => undefined);
    const after = operator({
      decide: { 'turn.stop': (event) => (event.outcome === 'completed' ? stop('max-steps', 'Enough.') : undefined) },
    });
    script = [{ content: 'A summary.' }];
    await agentWith(middleware(after))
      .invoke(ask('Hi'), config)
      .catch(() => undefined);
    expect(stops).toEqual([
      { session: 'alice', outcome: 'blocked', reason: 'No.' },
      { session: 'alice', outcome: 'max-steps', reason: 'Enough.' },
    ]);
  });

  it('rejects with the failure of an operator, which is no stop', async () => {
    const broken = operator({ decide: { 'model.request': () => stop('error', 'The log is full.') } });
    const stops: unknown[] = [];
    const agent = agentWith(asMiddleware({ onStop: (given) => void stops.push(given) }, broken));
    await expect(agent.invoke(ask('Hi'))).rejects.toThrow('The log is full.');
    expect(stops).toEqual([]);
  });

  it('rethrows an error of the model', async () => {
    script = [{ error: { message: 'No such key', type: 'invalid_request_error' }, status: 401 }];
    await expect(agentWith(asMiddleware()).invoke(ask('Hi'))).rejects.toMatchObject({
      cause: { status: 401 },
    });
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

  it('keeps the usage and the id of an answer that an operator changed', async () => {
    const shouting = operator({
      decide: { 'model.response': (event) => ({ ...event, content: [{ type: 'text', text: 'HELLO.' }] }) },
    });
    script = [{ content: 'Hello.' }, { content: 'Hello.' }];
    const usageOf = (messages: readonly BaseMessage[]) =>
      (messages.at(-1) as { readonly usage_metadata?: UsageMetadata }).usage_metadata;
    const given = usageOf(await run(agentWith(asMiddleware()), ask('Hi')));
    const changed = await run(agentWith(asMiddleware(shouting)), ask('Hi'));
    expect(changed.at(-1)).toMatchObject({ text: 'HELLO.', id: expect.stringMatching(/^chatcmpl-/) as string });
    expect(given?.input_tokens).toBeGreaterThan(0);
    expect(usageOf(changed)).toMatchObject({
      input_tokens: given?.input_tokens,
      output_tokens: given?.output_tokens,
      total_tokens: given?.total_tokens,
    });
  });

  it('accepts a usage without numbers, as servers without usage send it', () => {
    const message = Object.assign(new AIMessage('Hi.'), { usage_metadata: {} });
    expect(toResponse(message as AIMessage).usage).toMatchObject({ input: 0, output: 0 });
  });

  it('fails if an operator adds a tool that the agent does not have', async () => {
    const adding = operator({
      decide: {
        'model.request': (event) => ({
          ...event,
          tools: [...event.tools, { name: 'rm', description: '', inputSchema: {} }],
        }),
      },
    });
    await expect(agentWith(asMiddleware(adding)).invoke(ask('Go.'))).rejects.toMatchObject({
      cause: { code: 'unknown-tool', message: expect.stringContaining('"rm"') as string },
    });
    expect(mock.getRequests()).toHaveLength(0);
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
    script = [{ content: 'The summary.' }];
    await expect(agentWith(asMiddleware({ exitBehavior: 'error' }, limit)).invoke(ask('Go.'))).rejects.toMatchObject({
      cause: { outcome: 'max-steps', reason: 'Enough.' },
    });
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

  it.each(['deny', 'allow'])('judges a call whose input another middleware changed: %s', async (decision) => {
    const changing = createMiddleware({
      name: 'changing',
      wrapToolCall: (request, handler) =>
        handler({ ...request, toolCall: { ...request.toolCall, args: { path: 'b.txt' } } }),
    });
    const guard = operator({
      decide: {
        'tool.call': (event) =>
          decision === 'deny' && JSON.stringify(event.call.input).includes('b.txt') ? deny(event, 'Not b.') : undefined,
      },
    });
    const read: unknown[] = [];
    const look = tool((input) => (read.push(input), 'text'), {
      name: 'look',
      description: 'look',
      schema: z.object({ path: z.string() }),
    });
    script = [calls('look'), { content: 'Done.' }];
    const agent = agentWith(asMiddleware(guard), {}, { tools: [look], middleware: [changing, asMiddleware(guard)] });
    const messages = await run(agent, ask('Look.'));
    expect(read).toEqual(decision === 'deny' ? [] : [{ path: 'b.txt' }]);
    expect(messages[2]?.text).toBe(decision === 'deny' ? 'Denied: Not b.' : 'text');
    expect(contents(messages).at(-1)).toBe('Done.');
  });

  it('judges a call for which another middleware chose another tool', async () => {
    const guard = operator({
      decide: { 'tool.call': (event) => (event.call.name === 'drop' ? deny(event, 'Never.') : undefined) },
    });
    const ran: string[] = [];
    const running = (name: string) =>
      tool(() => (ran.push(name), 'done'), { name, description: name, schema: z.object({ path: z.string() }) });
    const choosing = createMiddleware({
      name: 'choosing',
      wrapToolCall: (request, handler) => handler({ ...request, tool: running('drop') }),
    });
    script = [calls('look'), { content: 'Done.' }];
    const agent = agentWith(
      asMiddleware(guard),
      {},
      {
        tools: [running('look')],
        middleware: [choosing, asMiddleware(guard)],
      },
    );
    const messages = await run(agent, ask('Look.'));
    expect(ran).toEqual([]);
    expect(messages[2]?.text).toBe('Denied: Never.');
  });

  it('judges a call that a person made another tool of', async () => {
    const guard = operator({
      decide: { 'tool.call': (event) => (event.call.name === 'drop' ? deny(event, 'Never.') : undefined) },
    });
    const ran: string[] = [];
    const tools = ['look', 'drop'].map((name) =>
      tool(() => (ran.push(name), 'done'), { name, description: name, schema: z.object({ path: z.string() }) }),
    );
    script = [calls('look'), { content: 'Done.' }];
    const approval = humanInTheLoopMiddleware({ interruptOn: { look: true } } as never);
    const middleware = [asMiddleware(guard), approval as never];
    const agent = agentWith(asMiddleware(guard), {}, { tools, middleware, checkpointer: new MemorySaver() });
    await agent.invoke(ask('Look.'), { configurable: { thread_id: 'edited' } });
    const edited = { type: 'edit', editedAction: { name: 'drop', args: { path: 'a.txt' } } };
    const configurable = { thread_id: 'edited' };
    const resumed: unknown = await agent.invoke(new Command({ resume: { decisions: [edited] } }), { configurable });
    const { messages } = resumed as { readonly messages: readonly BaseMessage[] };
    expect(ran).toEqual([]);
    expect(messages.map(({ text }) => text)).toContain('Denied: Never.');
  });

  describe('with a structured output', () => {
    const schema = {
      title: 'report',
      type: 'object' as const,
      properties: { count: { type: 'number' } },
      required: ['count'],
    };
    const reporting = (count: unknown, id: string): FixtureFileResponse => ({
      toolCalls: [{ name: 'report', arguments: JSON.stringify({ count }), id }],
    });
    const structuredOf = async (
      format: unknown,
      configurable: object,
      ...operators: readonly TurnOperator[]
    ): Promise<unknown> => {
      const outcomes: string[] = [];
      const log = operator({ observe: { 'turn.end': ({ outcome }) => void outcomes.push(outcome) } });
      const more = {
        responseFormat: format as never,
        ...(thread === configurable && { checkpointer: new MemorySaver() }),
      };
      const agent = agentWith(asMiddleware(log, ...operators), { look: () => 'a tree' }, more);
      const { structuredResponse } = (await agent.invoke(ask('Count.'), { configurable })) as {
        readonly structuredResponse?: unknown;
      };
      return { structuredResponse, outcomes };
    };
    const thread = { thread_id: 'report' };
    const expected = { structuredResponse: { count: 4 }, outcomes: ['completed'] };

    it.each([thread, {}])('returns what the model passed to its tool, also after an invalid one: %j', async (where) => {
      script = [calls('look'), reporting('four', 'first'), reporting(4, 'second')];
      expect(await structuredOf(toolStrategy(schema), where)).toEqual(expected);
    });

    it('returns what the model answered in the format of the provider', async () => {
      script = [calls('look'), { content: '{"count":4}' }];
      expect(await structuredOf(providerStrategy(schema), thread)).toEqual(expected);
    });

    it('rejects if an operator changed the answer, of which LangChain has read the original', async () => {
      const changing = operator({
        decide: { 'model.response': (event) => ({ ...event, content: [{ type: 'text', text: '{"count":5}' }] }) },
      });
      script = [{ content: '{"count":4}' }];
      await expect(structuredOf(providerStrategy(schema), thread, changing)).rejects.toThrow(
        /changed or continued an answer/,
      );
    });
  });

  it.each([{ onStop: 1 }, { maxSessions: 0 }, { exitBehaviour: 'end' }])('rejects the options %j', (options) => {
    const [name = ''] = Object.keys(options);
    expect(() => asMiddleware(options as object)).toThrow(new RegExp(`^asMiddleware\\(\\): .*"${name}"`));
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
