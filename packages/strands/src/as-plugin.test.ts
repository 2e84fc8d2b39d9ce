import { LLMock, type FixtureFileResponse, type FixtureResponse } from '@copilotkit/aimock';
import { eventTable, TurnStoppedError } from '@h/bridge';
import { deny, intercept, stop, type Handlers, type TurnOperator } from '@h/turn';
import {
  AfterToolsEvent,
  Agent,
  BeforeModelCallEvent,
  BeforeToolCallEvent,
  SessionManager,
  Swarm,
  tool,
  type JSONValue,
  type ToolContext,
} from '@strands-agents/sdk';
import { OpenAIModel } from '@strands-agents/sdk/models/openai';
import { InMemoryStorage } from '@strands-agents/sdk/storage';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pluginEvents } from './as-plugin.js';
import { asPlugin, type PluginOptions, type AttachStop } from './index.js';

let mock: LLMock;
let script: FixtureFileResponse[];
beforeEach(async () => {
  script = [];
  mock = new LLMock({ port: 0 });
  mock.on({ predicate: () => true }, () => (script.shift() ?? { content: 'The script has ended.' }) as FixtureResponse);
  await mock.start();
});
afterEach(() => mock.stop());

const operator = (handlers: Handlers): TurnOperator => intercept('test', () => handlers);
const calls = (...names: readonly string[]): FixtureFileResponse => ({
  toolCalls: names.map((name, index) => ({ name, arguments: '{"path":"a.txt"}', id: `${name}-${index}` })),
});
const lastRequest = (): string => JSON.stringify(mock.getRequests().at(-1)?.body);

interface Setup extends PluginOptions {
  readonly tools?: Readonly<Record<string, (context: ToolContext) => JSONValue>>;
  readonly storage?: InMemoryStorage;
  readonly id?: string;
}

const agentWith = ({ tools = {}, storage, id, ...options }: Setup, ...operators: TurnOperator[]): Agent =>
  new Agent({
    ...(id !== undefined && { id, name: id }),
    model: new OpenAIModel({
      modelId: 'gpt-4o',
      apiKey: 'test',
      clientConfig: { baseURL: `${mock.url}/v1`, maxRetries: 0 },
    }),
    tools: Object.entries(tools).map(([name, run]) =>
      tool({
        name,
        description: name,
        inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
        callback: (_input, context) => run(context),
      }),
    ),
    systemPrompt: 'Be brief.',
    printer: false,
    retryStrategy: null,
    plugins: [asPlugin(options, ...operators)],
    ...(storage && { sessionManager: new SessionManager({ sessionId: 'alice', storage }) }),
  });

/** Asks a person about every call, and denies those that are not approved. */
const asking = (): TurnOperator =>
  intercept('asking', ({ emit }) => {
    const held = new Map<string, (reason: string | undefined) => void>();
    return {
      decide: {
        'tool.call': (event) => {
          const { id, name, input } = event.call;
          emit({ type: 'approval.request', id: `ask-${id}`, reason: 'Sure?', call: { id, name, input } });
          return new Promise((resolve) => {
            held.set(`ask-${id}`, (reason) => resolve(reason === undefined ? undefined : deny(event, reason)));
          });
        },
      },
      observe: {
        'approval.answer': ({ id, decision, reason = 'No.' }) =>
          held.get(id)?.(decision === 'deny' ? reason : undefined),
      },
    };
  });

const limit = (): TurnOperator =>
  operator({ decide: { 'model.request': ({ step }) => (step > 2 ? stop('loop-detected', 'It loops.') : undefined) } });

describe('asPlugin', () => {
  it.each(['deny', 'allow'])('judges a call whose input a hook changed: %s', async (decision) => {
    const isDenied = decision === 'deny';
    const guard = operator({
      decide: {
        'tool.call': (event) =>
          isDenied && JSON.stringify(event.call.input).includes('b.txt') ? deny(event, 'Not b.') : undefined,
      },
    });
    const read: unknown[] = [];
    const look = ({ toolUse }: ToolContext): string => {
      read.push(toolUse.input);
      return 'text';
    };
    script = [calls('look'), { content: 'Done.' }];
    const agent = agentWith({ tools: { look } }, guard);
    agent.addHook(BeforeToolCallEvent, (event) => {
      event.toolUse = { ...event.toolUse, input: { path: 'b.txt' } };
    });
    await agent.invoke('Look.');
    expect(read).toEqual(isDenied ? [] : [{ path: 'b.txt' }]);
    expect(lastRequest()).toContain(isDenied ? 'Not b.' : 'text');
  });

  it.each<[string, (event: BeforeToolCallEvent, other: BeforeToolCallEvent['selectedTool']) => void]>([
    ['name', (event) => void (event.toolUse = { ...event.toolUse, name: 'drop' })],
    ['selectedTool', (event, other) => void (event.selectedTool = other)],
  ])('judges a call that a hook made another tool of, by its %s', async (_, change) => {
    const guard = operator({
      decide: { 'tool.call': (event) => (event.call.name === 'drop' ? deny(event, 'Never.') : undefined) },
    });
    const ran: string[] = [];
    script = [calls('look'), { content: 'Done.' }];
    const agent = agentWith({ tools: { look: () => ran.push('look'), drop: () => ran.push('drop') } }, guard);
    agent.addHook(BeforeToolCallEvent, (event) => change(event, agent.toolRegistry.get('drop')));
    await agent.invoke('Look.');
    expect(ran).toEqual([]);
    expect(lastRequest()).toContain('Never.');
  });

  it('has a table of the events that it carries in its README', () => {
    expect(readFileSync(new URL('../README.md', import.meta.url), 'utf8')).toContain(eventTable(pluginEvents));
  });

  it('rejects options that are not valid', () => {
    expect(() => asPlugin({ exitBehavior: 'stop' as never })).toThrow(/exitBehavior/);
    expect(() => asPlugin({}, 1 as never)).toThrow(/operator 1/);
  });

  it('ends a stopped invocation with the reason and the outcome', async () => {
    script = [calls('read'), calls('read'), calls('read')];
    const stops: AttachStop[] = [];
    const agent = agentWith({ tools: { read: () => 'x' }, onStop: (given) => void stops.push(given) }, limit());
    const { stopReason, lastMessage } = await agent.invoke('Read.');
    expect(stopReason).toBe('loop-detected');
    expect(lastMessage).toMatchObject({
      content: [{ text: 'It loops.' }],
      metadata: { custom: { h: { outcome: 'loop-detected', reason: 'It loops.' } } },
    });
    expect(stops).toEqual([{ session: agent.sessionId, outcome: 'loop-detected', reason: 'It loops.' }]);
    expect(mock.getRequests()).toHaveLength(2);
  });

  it('rejects with the stop if that is asked for', async () => {
    script = [calls('read'), calls('read'), calls('read')];
    const stops: string[] = [];
    const onStop = ({ outcome }: AttachStop): void => void stops.push(outcome);
    const agent = agentWith({ tools: { read: () => 'x' }, exitBehavior: 'error', onStop }, limit());
    await expect(agent.invoke('Read.')).rejects.toThrow(TurnStoppedError);
    expect(stops).toEqual(['loop-detected']);
    const withAnswer = operator({
      decide: { 'turn.stop': (event) => (event.outcome === 'completed' ? stop('max-steps', 'Enough.') : undefined) },
    });
    script = [{ content: 'The summary.' }];
    await expect(agentWith({ exitBehavior: 'error', onStop }, withAnswer).invoke('Go.')).rejects.toThrow('Enough.');
    expect(stops).toEqual(['loop-detected', 'max-steps']);
  });

  const decisions: readonly (readonly [JSONValue, boolean])[] = [
    [true, true],
    ['once', true],
    [{ decision: 'always' }, true],
    [{ decision: 'deny', reason: 'No way.' }, false],
    [false, false],
    ['maybe', false],
  ];
  describe.each(['the same process', 'another process'])('an approval by an interrupt, in %s', (where) => {
    it.each(decisions)('takes the response %j (runs: %s)', async (response, isApproved) => {
      const storage = new InMemoryStorage();
      const ran: string[] = [];
      const make = () => agentWith({ storage, tools: { rm: () => ran.push('rm') } }, asking());
      script = [calls('rm'), { content: 'Done.' }];
      const agent = make();
      const { stopReason, interrupts = [] } = await agent.invoke('Remove it.');
      expect(stopReason).toBe('interrupt');
      expect(interrupts).toMatchObject([
        { name: 'h.approval', reason: { reason: 'Sure?', tool: 'rm', input: { path: 'a.txt' } } },
      ]);
      expect(ran).toEqual([]);
      const resumed = where === 'the same process' ? agent : make();
      const interruptId = interrupts[0]?.id ?? '';
      const { lastMessage } = await resumed.invoke([{ interruptResponse: { interruptId, response } }]);
      expect(lastMessage).toMatchObject({ content: [{ text: 'Done.' }] });
      expect(ran).toEqual(isApproved ? ['rm'] : []);
      if (typeof response === 'object') expect(lastRequest().includes('No way.')).toBe(!isApproved);
    });
  });

  it.each(['the same process', 'another process'])('passes the interrupt of a tool, in %s', async (where) => {
    const storage = new InMemoryStorage();
    const statuses: string[] = [];
    const observing = operator({ observe: { 'tool.result': ({ status }) => void statuses.push(status) } });
    const book = ({ interrupt }: ToolContext): JSONValue => `Seat ${String(interrupt({ name: 'seat' }))}`;
    const make = () => agentWith({ storage, tools: { book } }, observing);
    script = [calls('book'), { content: 'Booked.' }];
    const agent = make();
    const { stopReason, interrupts = [] } = await agent.invoke('Book.');
    expect([stopReason, statuses]).toEqual(['interrupt', []]);
    const resumed = where === 'the same process' ? agent : make();
    await resumed.invoke([{ interruptResponse: { interruptId: interrupts[0]?.id ?? '', response: '12A' } }]);
    expect(statuses).toEqual(['ok']);
    expect(lastRequest()).toContain('Seat 12A');
  });

  it('ends a cancelled invocation as Strands does', async () => {
    const ends: string[] = [];
    const observing = operator({ observe: { 'turn.end': ({ outcome }) => void ends.push(outcome) } });
    const agent: Agent = agentWith({ tools: { read: () => (agent.cancel(), 'x') } }, observing);
    script = [calls('read'), { content: 'Never.' }];
    expect((await agent.invoke('Read.')).stopReason).toBe('cancelled');
    expect(ends).toEqual(['cancelled']);
    expect(mock.getRequests()).toHaveLength(1);
  });

  it('cancels the turn of an invocation that is cancelled between a tool call and the next model call', async () => {
    const ends: string[] = [];
    const observing = operator({ observe: { 'turn.end': ({ outcome }) => void ends.push(outcome) } });
    const agent = agentWith({ tools: { read: () => 'x' } }, observing);
    agent.addHook(AfterToolsEvent, () => agent.cancel());
    script = [calls('read'), { content: 'Never.' }];
    expect((await agent.invoke('Read.')).stopReason).toBe('cancelled');
    expect(ends).toEqual(['cancelled']);
    expect(mock.getRequests()).toHaveLength(1);
  });

  it('emits the deltas and the blocks that left the operators', async () => {
    const shouting = operator({
      decide: {
        'model.delta': (event) => ({ ...event, delta: { ...event.delta, text: event.delta.text.toUpperCase() } }),
        'model.response': (event) => ({ ...event, content: [{ type: 'text', text: 'HELLO THERE.' }] }),
      },
    });
    script = [{ content: 'Hello there.' }];
    let text = '';
    const blocks: unknown[] = [];
    for await (const event of agentWith({}, shouting).stream('Hi')) {
      if (event.type === 'contentBlockEvent') blocks.push(event.contentBlock);
      if (event.type !== 'modelStreamUpdateEvent' || event.event.type !== 'modelContentBlockDeltaEvent') continue;
      if (event.event.delta.type === 'textDelta') text += event.event.delta.text;
    }
    expect(text).toBe('HELLO THERE.');
    expect(blocks).toMatchObject([{ text: 'HELLO THERE.' }]);
  });

  it('ends the turns of invocations that end with a structured output, such as those of a swarm', async () => {
    const events: string[] = [];
    const spy = operator({
      observe: {
        'turn.start': ({ type }) => void events.push(type),
        'turn.end': ({ type, outcome }) => void events.push(`${type} ${outcome}`),
      },
    });
    const output = (id: string, input: object): FixtureFileResponse => ({
      toolCalls: [{ name: 'strands_structured_output', arguments: JSON.stringify(input), id }],
    });
    script = [output('a', { agentId: 'second', message: 'Continue.' }), output('b', { message: 'Done.' })];
    const nodes = ['first', 'second'].map((id) => ({ agent: agentWith({ id }, spy) }));
    const { status } = await new Swarm({ nodes, start: 'first', maxSteps: 4 }).invoke('Go.');
    expect(status).toBe('COMPLETED');
    expect(events).toEqual(['turn.start', 'turn.end completed', 'turn.start', 'turn.end completed']);
  });

  it('cancels the turn of an invocation that a hook failed, at the next one', async () => {
    const ends: string[] = [];
    const observing = operator({ observe: { 'turn.end': ({ outcome }) => void ends.push(outcome) } });
    const agent = agentWith({ tools: { read: () => 'x' } }, observing);
    let count = 0;
    agent.addHook(BeforeModelCallEvent, () => {
      if ((count += 1) === 2) throw new Error('The policy service is down.');
    });
    script = [calls('read'), { content: 'Done.' }];
    await expect(agent.invoke('Read.')).rejects.toThrow('The policy service is down.');
    await agent.invoke('Again.');
    expect(ends).toEqual(['cancelled', 'completed']);
  });

  it('ends the turn when the consumer of a stream leaves', async () => {
    const ends: string[] = [];
    const observing = operator({ observe: { 'turn.end': ({ outcome }) => void ends.push(outcome) } });
    script = [{ content: 'Hello there.' }];
    for await (const event of agentWith({}, observing).stream('Hi')) {
      if (event.type === 'modelStreamUpdateEvent' && event.event.type === 'modelContentBlockDeltaEvent') break;
    }
    await expect.poll(() => ends).toEqual(['cancelled']);
  });

  it('shows operators the status of a failed call', async () => {
    const seen: unknown[] = [];
    const observing = operator({ observe: { 'model.error': ({ error }) => void seen.push(error.status) } });
    script = [{ error: { message: 'Slow down', type: 'rate_limit' }, status: 429 }];
    await expect(agentWith({}, observing).invoke('Hi')).rejects.toThrow();
    script = [{ error: { message: 'No such key', type: 'invalid_request_error' }, status: 401 }];
    await expect(agentWith({}, observing).invoke('Hi')).rejects.toThrow();
    expect(seen).toEqual([429, 401]);
  });

  it('rejects a model or a credential that it cannot provide', async () => {
    const choosing = operator({ decide: { 'model.request': (event) => ({ ...event, credential: 'second' }) } });
    await expect(agentWith({}, choosing).invoke('Hi')).rejects.toThrow(/the credential "second".*`resolve`/);
  });
});
