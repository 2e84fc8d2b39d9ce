import { TurnStoppedError, eventTable } from '@h/bridge';
import { deny, intercept, MessageList, retry, stop, type Handlers, type PipelineOperator } from '@h/turn';
import {
  Agent,
  agentLoop,
  type AgentEvent,
  type AgentMessage,
  type AgentOptions,
  type AgentTool,
  type StreamFn,
} from '@earendil-works/pi-agent-core';
import {
  contentText,
  createAssistantMessageEventStream,
  createFauxCore,
  fauxAssistantMessage,
  fauxText,
  fauxThinking,
  fauxToolCall,
  Type,
  type AssistantMessage,
  type AssistantMessageEventStream,
  type FauxResponseStep,
  type Message,
  type Model,
  type SimpleStreamOptions,
  type TranscriptContext,
} from '@earendil-works/pi-ai';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { attach, attachEvents, type AttachOptions } from './attach.js';

const operator = (handlers: Handlers): PipelineOperator => intercept('test', () => handlers);

interface Call {
  readonly model: Model<string>;
  readonly context: TranscriptContext;
  readonly options: SimpleStreamOptions;
}

/** The scripted model of pi, and the calls that it received. */
const scripted = (...responses: FauxResponseStep[]) => {
  const faux = createFauxCore({ tokenSize: { min: 1, max: 1 }, models: [{ id: 'one' }, { id: 'two' }] });
  faux.setResponses(responses);
  const calls: Call[] = [];
  const streamFn: StreamFn = (model, context, options = {}) => {
    calls.push({ model, context: structuredClone(context), options });
    return faux.streamSimple(model, context, options);
  };
  return { faux, calls, streamFn, model: faux.getModel() };
};

type ToolRun = (input: { readonly path: string }, signal: AbortSignal | undefined) => unknown;

const toolOf = (name: string, run: ToolRun, more: Partial<AgentTool> = {}): AgentTool => ({
  name,
  label: name,
  description: `Runs ${name}.`,
  parameters: Type.Object({ path: Type.String() }),
  execute: async (_id, params, signal) => ({
    content: [{ type: 'text', text: String(await run(params as { readonly path: string }, signal)) }],
    details: { from: name },
  }),
  ...more,
});

let ids = 0;
const call = (name: string, path: unknown = 'a.txt') =>
  fauxToolCall(name, { path } as never, { id: `call-${(ids += 1)}` });
const calling = (...names: readonly string[]): AssistantMessage =>
  fauxAssistantMessage(
    names.map((name) => call(name)),
    { stopReason: 'toolUse' },
  );
const done = (text = 'Done.'): AssistantMessage => fauxAssistantMessage(text);
const failing = (errorMessage: string, content = ''): AssistantMessage =>
  fauxAssistantMessage(content, { stopReason: 'error', errorMessage });

const agentWith = (
  { streamFn, model }: Pick<ReturnType<typeof scripted>, 'streamFn' | 'model'>,
  operators: readonly PipelineOperator[],
  tools: readonly AgentTool[] = [],
  more: Partial<AttachOptions<readonly AgentTool[]>> = {},
  host: Partial<AgentOptions> = {},
) => {
  const attached = attach({ streamFn, tools, ...more }, ...operators);
  return new Agent({ ...attached, initialState: { model, systemPrompt: 'Be brief.', tools: attached.tools }, ...host });
};

const textsOf = (messages: readonly AgentMessage[]): readonly string[] =>
  messages.map((message) => ('content' in message && contentText(message.content as string)) || message.role);
const lastOf = (agent: Agent): AssistantMessage => agent.state.messages.at(-1) as AssistantMessage;
const read = toolOf('read', () => 'text');

describe('attach', () => {
  it('has a table of the events that it carries in its README', () => {
    expect(readFileSync(new URL('../README.md', import.meta.url), 'utf8')).toContain(eventTable(attachEvents));
  });

  it('ends the turn of a run that pi failed as an error, at the next run', async () => {
    const ends: string[] = [];
    const observing = operator({ observe: { 'turn.end': ({ outcome }) => void ends.push(outcome) } });
    let count = 0;
    const transformContext = async (messages: AgentMessage[]): Promise<AgentMessage[]> => {
      if ((count += 1) === 2) throw new Error('The policy service is down.');
      return messages;
    };
    const agent = agentWith(scripted(calling('read'), done()), [observing], [read], {}, { transformContext });
    await agent.prompt('Read.');
    expect(lastOf(agent).errorMessage).toBe('The policy service is down.');
    await agent.prompt('Again.');
    expect(ends).toEqual(['error', 'completed']);
  });

  it.each([
    [{}, /streamFn/],
    [{ streamFn: scripted().streamFn, tool: [] }, /tools/],
    [{ streamFn: scripted().streamFn, exitBehavior: 'throw' }, /exitBehavior.*"throw"/],
  ])('rejects the options %j', (options, message) => {
    expect(() => attach(options as never)).toThrow(message);
  });

  it('passes transcripts, options and answers by identity if no operator changes them', async () => {
    const answer = done();
    const given: unknown[] = [];
    const model = scripted(calling('read'));
    const stream = createAssistantMessageEventStream();
    stream.push({ type: 'start', partial: answer });
    stream.push({ type: 'done', reason: 'stop', message: answer });
    const streamFn: StreamFn = (
      one,
      context,
      options,
    ): AssistantMessageEventStream | Promise<AssistantMessageEventStream> => {
      given.push(context.messages[0]);
      return given.length === 1 ? model.streamFn(one, context, options) : stream;
    };
    const agent = agentWith({ ...model, streamFn }, [operator({})], [read]);
    await agent.prompt('Read.');
    expect(given.every((message) => message === agent.state.messages[0])).toBe(true);
    expect(lastOf(agent)).toBe(answer);
    expect(agent.state.messages.find(({ role }) => role === 'toolResult')).toMatchObject({ details: { from: 'read' } });
  });

  it('shows only text that left the operators, in partial messages too', async () => {
    const secret = 'sk-123456';
    const held = { text: '' };
    const redaction = operator({
      decide: {
        'model.delta': ({ delta, ...event }) => {
          if (delta.type !== 'text') return undefined;
          held.text += delta.text;
          const at = held.text.lastIndexOf(' ') + 1;
          const shown = held.text.slice(0, at).replace(secret, '[key]');
          held.text = held.text.slice(at);
          return shown === '' ? [] : [{ ...event, delta: { ...delta, text: shown } }];
        },
        'model.response': (event) => ({
          ...event,
          content: event.content.map((part) =>
            part.type === 'text' ? { ...part, text: part.text.replace(secret, '[key]') } : part,
          ),
        }),
      },
    });
    const model = scripted(
      fauxAssistantMessage([fauxThinking('I look for the key.'), fauxText(`The key is ${secret} as it seems to me.`)]),
    );
    const agent = agentWith(model, [redaction]);
    const seen: string[] = [];
    agent.subscribe((event) => void seen.push(JSON.stringify(event)));
    await agent.prompt('What is the key?');
    expect(seen.join('')).not.toContain(secret);
    expect(textsOf(agent.state.messages).at(-1)).toBe('The key is [key] as it seems to me.');
    expect(seen.filter((event) => event.includes('"text_delta"')).length).toBeGreaterThan(3);
    expect(seen.filter((event) => event.includes('"thinking_delta"')).length).toBeGreaterThan(1);
  });

  it('counts the tokens of an answer that an operator changed as pi does: cached ones beside the input', async () => {
    const changing = operator({
      decide: {
        'model.response': (event) => ({
          ...event,
          content: [{ type: 'text', text: 'Hi.' }],
          usage: { input: 100, output: 20, cacheRead: 30, cacheWrite: 40, reasoning: 5 },
        }),
      },
    });
    const agent = agentWith(scripted(done()), [changing]);
    await agent.prompt('Go.');
    const { usage } = lastOf(agent);
    expect(usage).toMatchObject({
      input: 30,
      output: 20,
      cacheRead: 30,
      cacheWrite: 40,
      reasoning: 5,
      totalTokens: 120,
    });
  });

  it('streams events that follow the protocol of pi', async () => {
    const model = scripted(
      fauxAssistantMessage([fauxThinking('Hm. Let me see.'), fauxText('I read it now.'), call('read')], {
        stopReason: 'toolUse',
      }),
      done(),
    );
    const agent = agentWith(model, [operator({})], [read]);
    const types: string[] = [];
    agent.subscribe((event: AgentEvent) => {
      if (event.type !== 'message_update') return;
      const { type } = event.assistantMessageEvent;
      if (types.at(-1) !== type) types.push(type);
    });
    await agent.prompt('Read.');
    expect(types).toEqual([
      'thinking_start',
      'thinking_delta',
      'thinking_end',
      'text_start',
      'text_delta',
      'text_end',
      'toolcall_start',
      'toolcall_delta',
      'toolcall_end',
      'text_start',
      'text_delta',
      'text_end',
    ]);
  });

  it('starts the partial message over when a call that failed in its answer is repeated', async () => {
    const model = scripted(failing('overloaded_error', 'Let me begin with'), done('Here it is.'));
    const agent = agentWith(model, [operator({ decide: { 'model.error': (event) => retry(event) } })]);
    const partials: string[] = [];
    const starts: string[] = [];
    agent.subscribe((event) => {
      if (event.type === 'message_start') starts.push(event.message.role);
      if (event.type === 'message_update') partials.push(...textsOf([event.message]));
    });
    await agent.prompt('Hi');
    expect(partials).toContain('Let me begin with');
    expect(partials.at(-1)).toBe('Here it is.');
    expect(starts).toEqual(['system', 'user', 'assistant'].slice(-starts.length));
    expect(textsOf(agent.state.messages)).toEqual(['Be brief.', 'Hi', 'Here it is.']);
  });

  it('reports status and delay of a failed call to operators', async () => {
    const seen: unknown[] = [];
    const observer = operator({ observe: { 'model.error': ({ error }) => void seen.push(error) } });
    const fail = (text: string) => agentWith(scripted(failing(text)), [observer]).prompt('Hi');
    await fail('429: {"message":"Slow down"}');
    await fail('Bedrock (503): busy');
    await fail('Connection error.');
    expect(seen).toMatchObject([{ status: 429 }, { status: 503 }, { message: 'Connection error.' }]);
    expect(seen[2]).not.toHaveProperty('status');
  });

  it('fails with the message of the model if no operator handles the failure', async () => {
    const agent = agentWith(scripted(failing('400: strange')), [operator({})]);
    await agent.prompt('Hi');
    expect(agent.state.errorMessage).toBe('400: strange');
    expect(lastOf(agent)).toMatchObject({ stopReason: 'error', errorMessage: '400: strange' });
  });

  it('fails with a message if streamFn throws or an operator fails', async () => {
    const { model } = scripted();
    const throwing = agentWith({ model, streamFn: () => Promise.reject(new Error('No key for faux.')) }, []);
    await throwing.prompt('Hi');
    expect(throwing.state.errorMessage).toBe('No key for faux.');
    const broken = operator({
      decide: {
        'model.request': () => {
          throw new RangeError('Out of range.');
        },
      },
    });
    const agent = agentWith(scripted(done()), [broken]);
    await agent.prompt('Hi');
    expect(agent.state.errorMessage).toMatch(/operator "test".*Out of range/);
    const error = { name: 'OperatorError', code: 'operator-failed' };
    expect(lastOf(agent).diagnostics).toMatchObject([{ type: 'h.error', error }]);
  });

  it('uses the key and the model that an operator chose', async () => {
    const choosing = operator({
      decide: { 'model.request': (event) => ({ ...event, model: 'two', credential: 'spare' }) },
    });
    const model = scripted(done());
    const agent = agentWith(
      model,
      [choosing],
      [],
      {
        resolve: ({ model: id, credential }) => ({
          model: model.faux.getModel(String(id)),
          apiKey: `key-${credential}`,
        }),
      },
      { getApiKey: () => 'own' },
    );
    await agent.prompt('Hi');
    expect(model.calls.map(({ model: { id }, options }) => [id, options.apiKey])).toEqual([['two', 'key-spare']]);
    const without = agentWith(scripted(done()), [choosing]);
    await without.prompt('Hi');
    expect(without.state.errorMessage).toMatch(/the model "two" and the credential "spare".*`resolve`/);
  });

  it('rejects settings that pi cannot express, and passes the others', async () => {
    const setting = (settings: object) =>
      operator({
        decide: { 'model.request': (event) => ({ ...event, settings: { ...event.settings, ...settings } }) },
      });
    const model = scripted(done());
    await agentWith(model, [
      setting({ temperature: 0.5, maxOutputTokens: 9, reasoning: 'low', toolChoice: 'none' }),
    ]).prompt('Hi');
    expect(model.calls[0]?.options).toMatchObject({
      temperature: 0.5,
      maxTokens: 9,
      reasoning: 'low',
      toolChoice: 'none',
    });
    const agent = agentWith(scripted(done()), [setting({ topK: 3 })]);
    await agent.prompt('Hi');
    expect(agent.state.errorMessage).toMatch(/topK to 3/);
  });

  it('sends changed prompts and tools, and keeps the given ones', async () => {
    const shaping = operator({
      decide: {
        'model.request': (event) => ({
          ...event,
          system: [...event.system, { text: 'Be kind.' }],
          tools: event.tools.filter(({ name }) => name !== 'rm'),
        }),
      },
    });
    const model = scripted(done());
    await agentWith(model, [shaping], [read, toolOf('rm', () => '')]).prompt('Hi');
    const [first] = model.calls[0]?.context.messages ?? [];
    expect(first).toMatchObject({ role: 'system', content: 'Be brief.\n\nBe kind.' });
    expect(first).toMatchObject({ toolsAdded: [{ name: 'read' }] });
    const adding = operator({
      decide: {
        'model.request': (event) => ({
          ...event,
          tools: [...event.tools, { name: 'fly', description: '', inputSchema: {} }],
        }),
      },
    });
    const agent = agentWith(scripted(done()), [adding]);
    await agent.prompt('Hi');
    expect(agent.state.errorMessage).toMatch(/the tool "fly"/);
  });

  it('declares tools that the agent adds later once an operator replaces the history', async () => {
    const summary = { role: 'user' as const, content: 'Summary.' };
    const replacing = operator({
      decide: {
        'model.request': (event) =>
          event.messages.length < 4
            ? undefined
            : [
                { type: 'history.replace', messages: [summary], origin: 'test' },
                { ...event, messages: MessageList.of([summary]) },
              ],
      },
    });
    const list = toolOf('list', () => 'a b');
    const model = scripted(done('One.'), done('Two.'), done('Three.'));
    const attached = attach({ streamFn: model.streamFn, tools: [read, list] }, replacing);
    const agent = new Agent({ ...attached, initialState: { model: model.model, tools: attached.tools.slice(0, 1) } });
    await agent.prompt('One?');
    agent.state.tools = attached.tools;
    await agent.prompt('Two?');
    await agent.prompt('Three?');
    const names = (context: TranscriptContext | undefined) =>
      context?.messages.flatMap((message) =>
        message.role === 'system' ? (message.toolsAdded ?? []).map(({ name }) => name) : [],
      );
    expect(model.calls.map(({ context }) => names(context))).toEqual([['read'], ['read', 'list'], ['read', 'list']]);
    expect(textsOf(model.calls[2]?.context.messages ?? []).filter((text) => text !== 'system')).toEqual(['Summary.']);
  });
});

describe('attach, tools', () => {
  it('reports to the model why the changed input of a call does not match its schema', async () => {
    const ran: string[] = [];
    const rewriting = operator({
      decide: { 'tool.call': (event) => ({ ...event, call: { ...event.call, input: { path: [7] } } }) },
    });
    const agent = agentWith(
      scripted(calling('read'), done()),
      [rewriting],
      [toolOf('read', ({ path }) => ran.push(path))],
    );
    await agent.prompt('Read.');
    expect(ran).toEqual([]);
    expect(textsOf(agent.state.messages)[3]).toContain('to one that its schema rejects');
  });

  it('shows calls to operators that pi answers without running them', async () => {
    const results: string[] = [];
    const observer = operator({
      observe: { 'tool.result': ({ call: { name }, status }) => void results.push(`${name} ${status}`) },
    });
    const blocked = toolOf('rm', () => 'gone');
    const model = scripted(
      calling('unknown', 'rm', 'read'),
      fauxAssistantMessage([call('read', [1])], { stopReason: 'toolUse' }),
      done(),
    );
    const agent = agentWith(
      model,
      [observer],
      [read, blocked],
      {},
      {
        beforeToolCall: async ({ toolCall }) =>
          toolCall.name === 'rm' ? { block: true, reason: 'Not by this host.' } : undefined,
      },
    );
    await agent.prompt('Go.');
    expect(results.toSorted()).toEqual(['read failed', 'read ok', 'rm failed', 'unknown failed']);
    expect(textsOf(agent.state.messages).at(-1)).toBe('Done.');
  });

  it.each(['deny', 'allow'])('judges a call whose input a hook of pi changed: %s', async (decision) => {
    const policy = operator({
      decide: {
        'tool.call': (event) =>
          decision === 'deny' && JSON.stringify(event.call.input).includes('b.txt') ? deny(event, 'Not b.') : undefined,
      },
    });
    const paths: string[] = [];
    const model = scripted(calling('look'), done());
    const agent = agentWith(
      model,
      [policy],
      [toolOf('look', ({ path }) => paths.push(path))],
      {},
      {
        beforeToolCall: async ({ args }) => {
          (args as { path: string }).path = 'b.txt';
          return undefined;
        },
      },
    );
    await agent.prompt('Look.');
    expect(paths).toEqual(decision === 'deny' ? [] : ['b.txt']);
    expect(textsOf(agent.state.messages)[3]).toBe(decision === 'deny' ? 'Denied: Not b.' : '1');
  });

  it('answers the calls of an answer that was cut by its length, and continues', async () => {
    const ran: string[] = [];
    const model = scripted(fauxAssistantMessage([call('write')], { stopReason: 'length' }), calling('write'), done());
    const agent = agentWith(model, [operator({})], [toolOf('write', ({ path }) => ran.push(path))]);
    await agent.prompt('Write.');
    expect(ran).toEqual(['a.txt']);
    expect(textsOf(agent.state.messages).at(-1)).toBe('Done.');
  });

  it('keeps the images and the wish to end of a result', async () => {
    const content = [
      { type: 'text' as const, text: 'A picture:' },
      { type: 'image' as const, data: 'aGk=', mimeType: 'image/png' },
    ];
    const shot = toolOf('shot', () => '', { execute: async () => ({ content, details: undefined, terminate: true }) });
    const ends: string[] = [];
    const wrapping = operator({
      decide: {
        'tool.result': (event) =>
          event.output.type === 'content'
            ? {
                ...event,
                output: { ...event.output, value: [{ type: 'text', text: 'From a tool:' }, ...event.output.value] },
              }
            : undefined,
      },
      observe: { 'turn.end': ({ outcome }) => void ends.push(outcome) },
    });
    const model = scripted(calling('shot'));
    const agent = agentWith(model, [wrapping], [shot]);
    await agent.prompt('Look.');
    expect(agent.state.messages.at(-1)).toMatchObject({
      role: 'toolResult',
      content: [{ type: 'text', text: 'From a tool:' }, ...content],
    });
    expect(model.calls).toHaveLength(1);
    expect(ends).toEqual(['completed']);
  });

  it('ends the run after a tool at which an operator stops, and keeps follow-ups queued', async () => {
    const guard = operator({ decide: { 'tool.result': () => stop('blocked', 'Enough seen.') } });
    const stops: unknown[] = [];
    const model = scripted(calling('read'), done());
    const agent = agentWith(model, [guard], [read], { session: 'alice', onStop: (given) => void stops.push(given) });
    agent.followUp({ role: 'user', content: 'And then?', timestamp: 0 });
    await agent.prompt('Read.');
    expect(model.calls).toHaveLength(1);
    expect(stops).toEqual([{ session: 'alice', outcome: 'blocked', reason: 'Enough seen.' }]);
    expect(agent.hasQueuedMessages()).toBe(true);
  });

  it('answers with the reason, or fails with it, if an operator stops before a model call', async () => {
    const limit = () =>
      operator({
        decide: { 'model.request': ({ step }) => (step > 1 ? stop('max-steps', 'One step.') : undefined) },
      });
    const agent = agentWith(scripted(calling('read')), [limit()], [read], { finishTurn: () => undefined });
    await agent.prompt('Read.');
    expect(lastOf(agent)).toMatchObject({
      stopReason: 'stop',
      content: [{ type: 'text', text: 'One step.' }],
      diagnostics: [{ type: 'h.stop', details: { outcome: 'max-steps', reason: 'One step.' } }],
    });
    const failed = agentWith(scripted(calling('read')), [limit()], [read], { exitBehavior: 'error' });
    await failed.prompt('Read.');
    expect(failed.state.errorMessage).toBe(new TurnStoppedError({ outcome: 'max-steps', reason: 'One step.' }).message);
  });

  it('ends with the last answer of a turn that reached a limit, or fails with it', async () => {
    const limit = () =>
      operator({
        decide: { 'turn.stop': (event) => ({ ...event, outcome: 'max-steps' as const, reason: 'Enough.' }) },
      });
    const stops: unknown[] = [];
    const onStop = ({ outcome }: { readonly outcome: string }): void => void stops.push(outcome);
    const agent = agentWith(scripted(done('The summary.')), [limit()], [], { onStop });
    await agent.prompt('Go.');
    expect(textsOf(agent.state.messages).at(-1)).toBe('The summary.');
    expect(lastOf(agent).diagnostics).toMatchObject([{ type: 'h.stop', details: { outcome: 'max-steps' } }]);
    expect(stops).toEqual(['max-steps']);
    const failed = agentWith(scripted(done('The summary.')), [limit()], [], { exitBehavior: 'error' });
    await failed.prompt('Go.');
    expect(failed.state.errorMessage).toBe(new TurnStoppedError({ outcome: 'max-steps', reason: 'Enough.' }).message);
  });

  it('makes no further model call for a stopped run without finishTurn', async () => {
    const guard = operator({ decide: { 'tool.result': () => stop('blocked', 'Enough seen.') } });
    const model = scripted(calling('read'), done());
    const agent = agentWith(model, [guard], [read], {}, { finishTurn: () => undefined });
    await agent.prompt('Read.');
    expect(model.calls).toHaveLength(1);
    expect(textsOf(agent.state.messages).at(-1)).toBe('Enough seen.');
  });

  it('ends the turn when the finishTurn of the host ends the run', async () => {
    const ends: string[] = [];
    const observer = operator({ observe: { 'turn.end': ({ outcome }) => void ends.push(outcome) } });
    const agent = agentWith(scripted(calling('read')), [observer], [read], {
      finishTurn: () => ({ action: 'end' }),
    });
    await agent.prompt('Read.');
    expect(ends).toEqual(['completed']);
  });
});

describe('attach, sessions', () => {
  const counting = () => {
    const turns: string[] = [];
    const counter = intercept('counter', () => {
      let session = '';
      let steps = 0;
      return {
        observe: {
          'turn.start': (event) => void ({ session } = event),
          'model.response': () => void (steps += 1),
          'turn.end': () => void turns.push(`${session} ${steps}`),
        },
      };
    });
    return { turns, counter };
  };

  it('gives each agent a separate session if none is named, also with equal call ids', async () => {
    const { turns, counter } = counting();
    const denying = operator({
      decide: {
        'tool.call': (event) =>
          (event.call.input as { path: string }).path === 'b.txt' ? deny(event, 'Not b.') : undefined,
      },
    });
    const answers = (path: string) => (context: TranscriptContext) =>
      context.messages.some(({ role }) => role === 'toolResult')
        ? done(path)
        : fauxAssistantMessage([fauxToolCall('read', { path }, { id: 'call_0' })], { stopReason: 'toolUse' });
    const faux = createFauxCore({});
    const ran: string[] = [];
    const streamFn: StreamFn = (model, context, options) => {
      const core = createFauxCore({});
      const isFirst = JSON.stringify(context.messages).includes('First');
      core.setResponses([answers(isFirst ? 'a.txt' : 'b.txt')(context)]);
      return core.streamSimple(model, context, options);
    };
    const attached = attach({ streamFn, tools: [toolOf('read', ({ path }) => ran.push(path))] }, denying, counter);
    const agents = ['First', 'Second'].map(
      () => new Agent({ ...attached, initialState: { model: faux.getModel(), tools: attached.tools } }),
    );
    await Promise.all(agents.map((agent, index) => agent.prompt(index === 0 ? 'First' : 'Second')));
    await Promise.all(agents.map((agent, index) => agent.prompt(index === 0 ? 'First again' : 'Second again')));
    expect(ran).toEqual(['a.txt']);
    expect(turns.toSorted()).toEqual(['transcript-1 1', 'transcript-1 2', 'transcript-2 1', 'transcript-2 2']);
  });

  it('gives a copy of a transcript a separate session while the original runs', async () => {
    const { turns, counter } = counting();
    const model = scripted(
      done('One.'),
      calling('read'),
      done('Copied.'),
      done('Read.'),
      done('Again.'),
      done('Last.'),
    );
    let release = (): void => undefined;
    const held = new Promise<string>((resolve) => {
      release = () => resolve('text');
    });
    const attached = attach({ streamFn: model.streamFn, tools: [toolOf('read', () => held)] }, counter);
    const agentOf = (messages: AgentMessage[]) =>
      new Agent({ ...attached, initialState: { model: model.model, tools: attached.tools, messages } });
    const original = agentOf([]);
    await original.prompt('One?');
    const copy = agentOf([...original.state.messages]);
    const running = original.prompt('Read.');
    await copy.prompt('And the copy?');
    release();
    await running;
    expect(textsOf(original.state.messages).slice(-2)).toEqual(['text', 'Read.']);
    await copy.prompt('Again?');
    await original.prompt('Last?');
    expect(turns).toEqual(['transcript-1 1', 'transcript-2 1', 'transcript-1 2', 'transcript-2 1', 'transcript-1 1']);
  });

  it('begins a turn with each prompt and each follow-up, and continues it after steering', async () => {
    const { turns, counter } = counting();
    const model = scripted(calling('read'), done('Steered.'), done('Followed.'));
    const agent = agentWith(model, [counter], [toolOf('read', () => agent.steer(message('Faster.')))]);
    const message = (content: string): Message => ({ role: 'user', content, timestamp: 0 });
    agent.followUp(message('And now?'));
    await agent.prompt('Read.');
    expect(turns).toEqual(['transcript-1 2', 'transcript-1 1']);
    expect(textsOf(model.calls[1]?.context.messages ?? []).at(-1)).toBe('Faster.');
  });

  it('runs with agentLoop, and fails without a signal or a session', async () => {
    const { turns, counter } = counting();
    const run = async (model: ReturnType<typeof scripted>, session: string | undefined, signal?: AbortSignal) => {
      const { streamFn, finishTurn, tools } = attach({ streamFn: model.streamFn, tools: [read], session }, counter);
      const config = { model: model.model, convertToLlm: (given: AgentMessage[]) => given as Message[], finishTurn };
      const prompt = { role: 'user' as const, content: 'Read.', timestamp: 0 };
      return agentLoop([prompt], { messages: [], tools }, config, signal, streamFn).result();
    };
    const named = await run(scripted(calling('read'), done()), 'alice');
    const signaled = await run(scripted(calling('read'), done()), undefined, new AbortController().signal);
    for (const messages of [named, signaled]) expect(textsOf(messages).at(-1)).toBe('Done.');
    expect(turns).toEqual(['alice 2', 'transcript-1 2']);
    const [, , failed] = await run(scripted(), undefined);
    expect(failed).toMatchObject({
      stopReason: 'error',
      errorMessage: expect.stringMatching(/signal.*`session`/) as string,
    });
  });

  it('forgets a session', async () => {
    let isReplaced = false;
    const summary = { role: 'user' as const, content: 'Summary.' };
    const replacing = operator({
      decide: {
        'model.request': (event) => {
          if (isReplaced) return undefined;
          isReplaced = true;
          return [
            { type: 'history.replace', messages: [summary], origin: 'test' },
            { ...event, messages: MessageList.of([summary]) },
          ];
        },
      },
    });
    const model = scripted(done('1'), done('2'), done('3'));
    const { forget, ...attached } = attach({ streamFn: model.streamFn, session: 'alice' }, replacing);
    const agent = new Agent({ ...attached, initialState: { model: model.model } });
    await agent.prompt('One');
    await agent.prompt('Two');
    forget('alice');
    await agent.prompt('Three');
    expect(model.calls.map(({ context }) => textsOf(context.messages))).toEqual([
      ['Summary.'],
      ['Summary.', '1', 'Two'],
      ['One', '1', 'Two', '2', 'Three'],
    ]);
  });

  it('continues an agent whose transcript was stored, with another process', async () => {
    const { turns, counter } = counting();
    const first = agentWith(scripted(calling('read'), done('One.')), [counter], [read], { session: 'alice' });
    await first.prompt('One?');
    const stored = JSON.parse(JSON.stringify(first.state.messages)) as AgentMessage[];
    const model = scripted(done('Two.'));
    const attached = attach({ streamFn: model.streamFn, tools: [read], session: 'alice' }, counter);
    const second = new Agent({
      ...attached,
      initialState: { model: model.model, tools: attached.tools, messages: stored },
    });
    await second.prompt('Two?');
    expect(model.calls[0]?.context.messages.slice(0, stored.length)).toEqual(stored);
    expect(turns).toEqual(['alice 2', 'alice 1']);
  });
});
