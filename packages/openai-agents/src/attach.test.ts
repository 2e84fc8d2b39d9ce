import { eventTable, TurnStoppedError, UnsupportedOperatorError } from '@h/bridge';
import { deny, intercept, stop, type Handlers, type PipelineOperator, type TurnError, type TurnEvent } from '@h/turn';
import {
  Agent,
  handoff,
  MaxTurnsExceededError,
  MemorySession,
  ModelBehaviorError,
  RunContext,
  RunState,
  run as runPlain,
  setTraceProcessors,
  shellTool,
  tool,
  webSearchTool,
  type MCPServer,
  type Model,
} from '@openai/agents';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import type { AgentSeams } from './attach-agent.js';
import { attach, attachEvents, type AttachOptions } from './attach.js';

// Without its exporter, whose timer would run on in the test files that follow.
setTraceProcessors([]);

const operator = (handlers: Handlers): PipelineOperator => intercept('test', () => handlers);
const spy = () => {
  const events: TurnEvent[] = [];
  return { events, operator: intercept('spy', () => ({ observe: { '*': (event) => void events.push(event) } })) };
};
const say = (text: string) => [assistantMessage(text)];
let nextId = 0;
const calls = (...names: readonly string[]) =>
  names.map((name) => functionCall(name, { path: 'a.txt' }, { callId: `${name}-${(nextId += 1)}` }));
const toolOf = (name: string, execute: () => unknown, more: object = {}) =>
  tool({ name, description: name, parameters: z.object({ path: z.string() }), execute: () => execute(), ...more });
type Script = NonNullable<ConstructorParameters<typeof ScriptedModel>[0]>;
const agentWith = (model: ScriptedModel, more: object = {}) =>
  new Agent({ name: 'Main', instructions: 'Be brief.', model, ...more });
const scripted = (...answers: readonly (Script extends Iterable<infer Step> ? Step : never)[]) =>
  new ScriptedModel(answers);
const denying = (name: string): PipelineOperator =>
  operator({ decide: { 'tool.call': (event) => (event.call.name === name ? deny(event, 'Not here.') : undefined) } });
/** Asks a person about the calls of a tool. */
const asking = (name: string): PipelineOperator =>
  intercept('asking', ({ emit }) => {
    let answer: (decision: string) => void;
    return {
      decide: {
        'tool.call': async (event) => {
          if (event.call.name !== name) return undefined;
          const { id, input } = event.call;
          emit({ type: 'approval.request', id, reason: 'Sure?', call: { id, name, input } });
          const decision = await new Promise<string>((resolve) => {
            answer = resolve;
          });
          return decision === 'deny' ? deny(event, 'Not here.') : undefined;
        },
      },
      observe: { 'approval.answer': ({ decision }) => answer(decision) },
    };
  });
/** Returns the texts of the input of a model call. */
const inputOf = (model: ScriptedModel, index: number): string => JSON.stringify(model.calls[index]?.request.input);

describe('attach', () => {
  it('has a table of the events that it carries in its README', () => {
    expect(readFileSync(new URL('../README.md', import.meta.url), 'utf8')).toContain(eventTable(attachEvents));
  });

  it('answers a call of an unknown tool, which ends a run without it', async () => {
    const script = () => scripted(calls('missing'), say('I see.'));
    await expect(runPlain(agentWith(script()), 'Go.')).rejects.toThrow(ModelBehaviorError);
    const { operator: observer, events } = spy();
    const model = script();
    const { finalOutput } = await attach({ agent: agentWith(model) }, observer).run('Go.');
    expect(finalOutput).toBe('I see.');
    expect(inputOf(model, 1)).toMatch(/missing.*not found/);
    expect(events.filter(({ type }) => type === 'tool.result')).toMatchObject([{ call: { name: 'missing' } }]);
  });

  it('does not run a call of a streamed answer that was truncated', async () => {
    const ran: string[] = [];
    const answers = [
      { finish_reason: 'length', output: calls('read') },
      { finish_reason: 'stop', output: [assistantMessage('I see.')] },
    ];
    const seen: string[] = [];
    const model: Model = {
      getResponse: () => Promise.reject(new Error('The run streams.')),
      async *getStreamedResponse(request) {
        seen.push(JSON.stringify(request.input));
        const { finish_reason, output } = answers.shift() ?? { finish_reason: 'stop', output: [] };
        yield { type: 'model', event: { choices: [{ delta: {}, finish_reason }] } };
        const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
        yield { type: 'response_done', response: { id: '1', output, usage } };
      },
    };
    const agent = new Agent({ name: 'Main', model, tools: [toolOf('read', () => ran.push('read'))] });
    const result = await attach({ agent }).run('Go.', { stream: true });
    await result.completed;
    expect(ran).toEqual([]);
    expect(seen[1]).toMatch(/truncated/);
    expect(result.finalOutput).toBe('I see.');
  });

  it('rejects a second run of a session, and leaves the first one alone', async () => {
    let release = (): void => undefined;
    const second = new Promise<undefined>((resolve) => {
      release = () => resolve(undefined);
    });
    const { events, operator: observer } = spy();
    const holding = operator({ decide: { 'model.request': () => second } });
    const attached = attach({ agent: agentWith(scripted(say('Done.'))), session: 'alice' }, observer, holding);
    const first = attached.run('One.');
    await expect(attached.run('Two.')).rejects.toMatchObject({ code: 'session-busy' });
    release();
    expect((await first).finalOutput).toBe('Done.');
    expect(events.flatMap((event) => (event.type === 'turn.end' ? [event.outcome] : []))).toEqual(['completed']);
  });

  it('ends a loop with the work done so far, which a run without it throws away', async () => {
    const script = () => scripted(...Array.from({ length: 20 }, () => calls('read')));
    const tools = [toolOf('read', () => 'text')];
    await expect(runPlain(agentWith(script(), { tools }), 'Go.')).rejects.toThrow(MaxTurnsExceededError);
    const limit = operator({
      decide: { 'model.request': ({ step }) => (step > 3 ? stop('loop-detected', 'It goes in circles.') : undefined) },
    });
    const stops: unknown[] = [];
    const model = script();
    const attached = attach(
      { agent: agentWith(model, { tools }), session: 'alice', onStop: (given) => stops.push(given) },
      limit,
    );
    const result = await attached.run('Go.');
    expect(result.finalOutput).toBe('It goes in circles.');
    expect(result.rawResponses.at(-1)?.providerData).toEqual({
      h: { outcome: 'loop-detected', reason: 'It goes in circles.' },
    });
    expect(stops).toEqual([{ session: 'alice', outcome: 'loop-detected', reason: 'It goes in circles.' }]);
    expect(model.calls).toHaveLength(3);
  });

  it.each([
    ['the option asks for errors', { exitBehavior: 'error' as const }, {}],
    ['the output is structured', {}, { outputType: z.object({ answer: z.string() }) }],
  ])('rejects with the stop if %s', async (_, options, more) => {
    const guard = operator({ decide: { 'model.request': () => stop('blocked', 'No.') } });
    const run = attach({ agent: agentWith(scripted(), more), ...options }, guard).run('Go.');
    await expect(run).rejects.toThrow(TurnStoppedError);
  });

  it.each([false, true])('reports the outcome of a turn that ends with an answer (stream: %s)', async (isStreamed) => {
    const limited = operator({
      decide: {
        'turn.stop': (event) => ({ ...event, outcome: 'max-steps' as const, reason: 'Enough.' }),
      },
    });
    const stops: unknown[] = [];
    const options = { agent: agentWith(scripted(say('The summary.'))), onStop: (given: unknown) => stops.push(given) };
    const { run } = attach(options, limited);
    const result = isStreamed ? await run('Go.', { stream: true }) : await run('Go.');
    if ('completed' in result) await result.completed;
    expect(result.finalOutput).toBe('The summary.');
    // The SDK drops this field of a streamed answer.
    const data = isStreamed ? undefined : { h: { outcome: 'max-steps', reason: 'Enough.' } };
    expect(result.rawResponses[0]?.providerData).toEqual(data);
    expect(stops).toEqual([{ session: 'run-1', outcome: 'max-steps', reason: 'Enough.' }]);
    const failing = { ...options, agent: agentWith(scripted(say('The summary.'))), exitBehavior: 'error' as const };
    await expect(attach(failing, limited).run('Go.')).rejects.toMatchObject({ outcome: 'max-steps' });
  });

  it('passes interruptions of needsApproval, and resumes the turn with the state', async () => {
    const { operator: observer, events } = spy();
    const ran: string[] = [];
    const model = scripted(calls('rm', 'read'), say('Done.'));
    const tools = [toolOf('rm', () => ran.push('rm'), { needsApproval: true }), toolOf('read', () => ran.push('read'))];
    const { run } = attach({ agent: agentWith(model, { tools }) }, observer);
    const paused = await run('Remove it.');
    expect(paused.interruptions).toHaveLength(1);
    for (const interruption of paused.interruptions) paused.state.approve(interruption);
    const { finalOutput } = await run(paused.state);
    expect(finalOutput).toBe('Done.');
    expect(ran.toSorted()).toEqual(['read', 'rm']);
    expect(events.filter(({ type }) => type === 'turn.start')).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'completed' });
  });

  it.each([
    ['asks a person', () => 'once' as const, ['a', 'b']],
    ['denies by default', undefined, ['a']],
  ])('%s about a call that the SDK makes after another one has its result', async (_, approve, expected) => {
    const ran: string[] = [];
    const tools = ['a', 'b'].map((name) => toolOf(name, () => ran.push(name)));
    const model = scripted(calls('a', 'b'), say('Done.'));
    const runner = { toolExecution: { maxFunctionToolConcurrency: 1 } };
    const attached = attach({ agent: agentWith(model, { tools }), approve, runner }, asking('b'));
    const { finalOutput } = await attached.run('Go.');
    expect([finalOutput, ran]).toEqual(['Done.', expected]);
  });

  it('judges the tools of an agent that takes over, in the same session and turn', async () => {
    const { operator: observer, events } = spy();
    const ran: string[] = [];
    const second = agentWith(scripted(calls('rm'), say('Sorry.')), {
      name: 'Second',
      tools: [toolOf('rm', () => ran.push('rm'))],
    });
    const first = agentWith(scripted([functionCall('transfer_to_Second', {}, { callId: 'hand' })]), {
      handoffs: [second],
    });
    const result = await attach({ agent: first, session: 'alice' }, denying('rm'), observer).run('Go.');
    expect(result.finalOutput).toBe('Sorry.');
    expect(result.lastAgent?.name).toBe('Second');
    expect(ran).toEqual([]);
    expect(events.filter(({ type }) => type === 'turn.start')).toMatchObject([{ session: 'alice' }]);
    const results = events.flatMap((event) => (event.type === 'tool.result' ? [[event.call.name, event.status]] : []));
    expect(results).toEqual([
      ['transfer_to_Second', 'ok'],
      ['rm', 'denied'],
    ]);
  });

  it.each([false, true])('ends the turn as an error if a handoff throws (stream: %s)', async (stream) => {
    const { operator: observer, events } = spy();
    const onHandoff = (): never => {
      throw new Error('The desk is closed.');
    };
    const first = agentWith(scripted([functionCall('transfer_to_Second', {}, { callId: 'hand' })]), {
      handoffs: [handoff(agentWith(scripted(), { name: 'Second' }), { onHandoff })],
    });
    const { run } = attach({ agent: first }, observer);
    const running = stream ? run('Go.', { stream }).then(({ completed }) => completed) : run('Go.');
    await expect(running).rejects.toThrow('The desk is closed.');
    await expect.poll(() => events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'error' });
    expect(events.at(-1)).toMatchObject({ error: { message: 'The desk is closed.' } });
  });

  it('does not hand over if an operator denies the handoff', async () => {
    const entered: string[] = [];
    const model = scripted(say('Never.'));
    const second = agentWith(model, { name: 'Second' });
    const first = agentWith(scripted([functionCall('transfer_to_Second', {}, { callId: 'hand' })]), {
      handoffs: [handoff(second, { onHandoff: () => void entered.push('Second') })],
    });
    const run = attach({ agent: first }, denying('transfer_to_Second')).run('Go.');
    await expect(run).rejects.toMatchObject({
      code: 'handoff-denied',
      message: expect.stringMatching(/Not here/) as string,
    });
    expect(entered).toEqual([]);
    expect(model.calls).toEqual([]);
  });

  it.each([
    ['allowed, in the same process', [], false, 'Taken over.'],
    ['allowed, in another process', [], true, 'Taken over.'],
    ['denied, in the same process', ['transfer_to_Second'], false, 'handoff-denied'],
    ['denied, in another process', ['transfer_to_Second'], true, 'handoff-denied'],
  ])('judges a handoff beside a call that waits for an approval: %s', async (_, denied, isOther, expected) => {
    const { operator: observer, events } = spy();
    const entered: string[] = [];
    const model = scripted([...calls('rm'), functionCall('transfer_to_Second', {}, { callId: 'hand' })]);
    const taking = scripted(say('Taken over.'));
    const process = () => {
      const second = agentWith(taking, { name: 'Second' });
      const agent = agentWith(model, {
        tools: [toolOf('rm', () => entered.push('rm'), { needsApproval: true })],
        handoffs: [handoff(second, { onHandoff: () => void entered.push('Second') })],
      });
      return { agent, run: attach({ agent, session: 'alice' }, observer, ...denied.map(denying)).run };
    };
    const first = process();
    const other = isOther ? process() : first;
    const { state: paused } = await first.run('Go.');
    const state = isOther ? await RunState.fromString(other.agent, paused.toString()) : paused;
    for (const interruption of state.getInterruptions()) state.approve(interruption);
    const result = await other.run(state).then(
      ({ finalOutput }) => finalOutput,
      ({ code }: TurnError) => code,
    );
    expect(result).toBe(expected);
    expect(entered).toEqual(denied.length > 0 ? ['rm'] : ['rm', 'Second']);
    const turns = events.filter(({ type }) => type === 'turn.start').length;
    if (!isOther) expect(turns).toBe(1);
  });

  it.each([
    [false, ['transfer_to_Second'], []],
    [true, ['transfer_to_Second'], []],
    [false, [], ['Second', 'Taken over.']],
    [true, [], ['Second', 'Taken over.']],
  ])(
    'judges a handoff of an agent within a tool call (approval: %s, denied: %j)',
    async (needsApproval, denied, expected) => {
      const entered: (string | undefined)[] = [];
      const second = agentWith(scripted(say('Taken over.')), { name: 'Second' });
      const inner = agentWith(scripted([...calls('rm'), functionCall('transfer_to_Second', {}, { callId: 'hand' })]), {
        name: 'Inner',
        tools: [toolOf('rm', () => entered.push('rm'), { needsApproval })],
        handoffs: [handoff(second, { onHandoff: () => void entered.push('Second') })],
      });
      const worker = inner.asTool({
        toolName: 'work',
        toolDescription: 'Works.',
        customOutputExtractor: ({ finalOutput }) => (entered.push(finalOutput), 'done'),
      });
      const model = scripted([functionCall('work', { input: 'Go.' }, { callId: 'work-1' })], say('Done.'));
      const { run } = attach({ agent: agentWith(model, { tools: [worker] }) }, ...denied.map(denying));
      const { state, interruptions, finalOutput } = await run('Go.');
      for (const interruption of interruptions) state.approve(interruption);
      expect(needsApproval ? (await run(state)).finalOutput : finalOutput).toBe('Done.');
      expect(entered.filter(Boolean)).toEqual(['rm', ...expected]);
    },
  );

  it('judges an agent that is a tool as one call, and its model calls in a separate session', async () => {
    const { operator: observer, events } = spy();
    const outer = scripted([functionCall('ask', { input: 'What?' }, { callId: 'one' })], say('Done.'));
    const helper = new Agent({ name: 'Inner', model: 'inner' });
    const agent = agentWith(outer, { tools: [helper.asTool({ toolName: 'ask', toolDescription: 'Asks.' })] });
    const modelProvider = { getModel: () => scripted(say('Forty-two.')) };
    const { finalOutput } = await attach({ agent, session: 'alice', runner: { modelProvider } }, observer).run('Go.');
    expect(finalOutput).toBe('Done.');
    expect(inputOf(outer, 1)).toContain('Forty-two.');
    const sessions = events.flatMap((event) => (event.type === 'turn.start' ? [event.session] : []));
    expect(sessions).toEqual(['alice', 'alice/one']);
    const ends = events.flatMap((event) => (event.type === 'turn.end' ? [event.outcome] : []));
    expect(ends).toEqual(['completed', 'completed']);
  });

  it.each(['name', 'object'])('judges the tools of an agent that is a tool and has its model as %s', async (kind) => {
    const ran: string[] = [];
    const inner = scripted(calls('rm'), say('Sorry.'));
    const outer = scripted([functionCall('ask', { input: 'Remove it.' }, { callId: 'one' })], say('Done.'));
    const helper = new Agent({
      name: 'Inner',
      model: kind === 'name' ? 'inner' : inner,
      tools: [toolOf('rm', () => ran.push('rm'))],
    });
    const tools = [helper.asTool({ toolName: 'ask', toolDescription: 'Asks.' })];
    const modelProvider = { getModel: () => inner };
    const { run } = attach({ agent: agentWith(outer, { tools }), runner: { modelProvider } }, denying('rm'));
    expect((await run('Go.')).finalOutput).toBe('Done.');
    expect(ran).toEqual([]);
    expect(inputOf(inner, 1)).toContain('Not here.');
  });

  it('leaves agents alone that run outside of it', async () => {
    const ran: string[] = [];
    const tools = [toolOf('rm', () => ran.push('rm'))];
    await attach({ agent: agentWith(scripted(say('Hello.'))) }, denying('rm')).run('Hi');
    await runPlain(agentWith(scripted(calls('rm'), say('Done.')), { tools }), 'Go.');
    expect(ran).toEqual(['rm']);
  });

  it('judges tools in each loaded copy of the module', async () => {
    const path = './attach-agent.js?second';
    const second = (await import(path)) as typeof import('./attach-agent.js');
    const ran: string[] = [];
    const tools = [toolOf('rm', () => ran.push('rm'))];
    const agent = agentWith(scripted(calls('rm'), say('Sorry.')), { tools });
    await attach({ agent }, denying('rm')).run('Go.');
    const seen: string[] = [];
    const seams = { onTool: (name: string) => seen.push(name) } as unknown as AgentSeams;
    await second.runWrapper(seams)(async () => agent.getAllTools(new RunContext()));
    expect(seen).toEqual(['rm']);
    const again = agentWith(scripted(calls('rm'), say('Sorry.')), { tools });
    await attach({ agent: again }, denying('rm')).run('Go.');
    expect(ran).toEqual([]);
  });

  it.each([
    ['complete', {}],
    ['streamed', { onStream: () => undefined }],
  ])('refuses a %s model call with a tool that does not pass through the operators', async (_, streaming) => {
    class Own extends Agent {
      override getAllTools = () => Promise.resolve(own);
    }
    const ran: string[] = [];
    const own = [toolOf('rm', () => ran.push('rm'))];
    const inner = scripted(calls('rm'), say('Done.'));
    const helper = new Own({ name: 'Inner', model: 'inner' });
    const model = scripted([functionCall('ask', { input: 'Remove it.' }, { callId: 'one' })], say('I see.'));
    const ask = helper.asTool({ toolName: 'ask', toolDescription: 'Asks.', ...streaming });
    const runner = { modelProvider: { getModel: () => inner } };
    await attach({ agent: agentWith(model, { tools: [ask] }), runner }, denying('rm')).run('Go.');
    // The SDK shows the model no more of the error.
    expect(inputOf(model, 1)).toContain('An error occurred');
    expect([ran, inner.calls]).toEqual([[], []]);
  });

  it('judges the tools of an MCP server', async () => {
    const ran: string[] = [];
    const server = {
      name: 'files',
      cacheToolsList: false,
      connect: () => Promise.resolve(),
      close: () => Promise.resolve(),
      listTools: () =>
        Promise.resolve([
          {
            name: 'rm',
            description: 'Removes.',
            inputSchema: { type: 'object', properties: {}, required: [], additionalProperties: false },
          },
        ]),
      callTool: (name: string) => (ran.push(name), Promise.resolve([{ type: 'text', text: 'Removed.' }])),
      invalidateToolsCache: () => Promise.resolve(),
    } as unknown as MCPServer;
    const run = async (...operators: readonly PipelineOperator[]) => {
      const model = scripted([functionCall('rm', {}, { callId: 'one' })], say('Done.'));
      await attach({ agent: agentWith(model, { mcpServers: [server] }) }, ...operators).run('Go.');
      return inputOf(model, 1);
    };
    expect(await run()).toContain('Removed.');
    expect(ran).toEqual(['rm']);
    expect(await run(denying('rm'))).toContain('Not here.');
    expect(ran).toEqual(['rm']);
  });

  it('applies the timeout of a tool to the tool, and continues the turn', async () => {
    const { operator: observer, events } = spy();
    const model = scripted(calls('slow'), say('Too slow.'));
    const slow = toolOf('slow', () => new Promise(() => undefined), { timeoutMs: 5 });
    const { finalOutput } = await attach({ agent: agentWith(model, { tools: [slow] }) }, observer).run('Go.');
    expect(finalOutput).toBe('Too slow.');
    expect(inputOf(model, 1)).toMatch(/timed out after 5ms/);
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'completed' });
  });

  it.each(['model.delta', '*'])('passes deltas through `%s`, and no raw events beside changed ones', async (type) => {
    const shout = (event: TurnEvent) =>
      event.type === 'model.delta' && event.delta.type === 'text'
        ? { ...event, delta: { ...event.delta, text: event.delta.text.toUpperCase() } }
        : undefined;
    const shouting = operator({ decide: { [type]: shout } });
    const script = scripted(say('All is well.'));
    const model: Model = {
      getResponse: (request) => script.getResponse(request),
      async *getStreamedResponse(request) {
        yield { type: 'model', event: { text: 'All is well.' } };
        yield* script.getStreamedResponse(request);
      },
    };
    const agent = new Agent({ name: 'Main', model });
    const result = await attach({ agent }, shouting).run('Hi', { stream: true });
    let text = '';
    const raw: string[] = [];
    for await (const event of result) {
      if (event.type !== 'raw_model_stream_event') continue;
      raw.push(event.data.type);
      if (event.data.type === 'output_text_delta') text += event.data.delta;
    }
    expect(text).toBe('ALL IS WELL.');
    expect(raw).not.toContain('model');
  });

  it('names the session after the session of the SDK, and gives other runs separate sessions', async () => {
    const { operator: observer, events } = spy();
    const model = scripted(say('One.'), say('Two.'), say('Three.'));
    const { run } = attach({ agent: agentWith(model) }, observer);
    await run('Hi', { session: new MemorySession({ sessionId: 'alice' }) });
    await Promise.all([run('Hi'), run('Hi')]);
    const sessions = events.flatMap((event) => (event.type === 'turn.start' ? [event.session] : []));
    expect(sessions).toEqual(['alice', 'run-1', 'run-2']);
  });

  it('ends the turn as an error if the SDK ends the run at its own limit', async () => {
    const { operator: observer, events } = spy();
    const agent = agentWith(scripted(calls('read'), calls('read')), { tools: [toolOf('read', () => 'text')] });
    await expect(attach({ agent }, observer).run('Go.', { maxTurns: 1 })).rejects.toThrow(MaxTurnsExceededError);
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'error' });
  });

  it('cancels the turn of a stream that is aborted between a tool call and the next model call', async () => {
    const { operator: observer, events } = spy();
    const agent = agentWith(scripted(calls('read'), say('Never.')), { tools: [toolOf('read', () => 'text')] });
    const abort = new AbortController();
    const result = await attach({ agent }, observer).run('Go.', { stream: true, signal: abort.signal });
    for await (const event of result) {
      if (event.type === 'run_item_stream_event' && event.name === 'tool_output') abort.abort();
    }
    await result.completed;
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'cancelled' });
  });

  it('rejects operators that judge tool calls beside tools without a seam, and names the tools', () => {
    const shell = shellTool({ shell: { run: () => Promise.reject(new Error('Never.')) } });
    const helper = agentWith(scripted(), { name: 'Helper', tools: [shell] });
    const agent = agentWith(scripted(), { tools: [webSearchTool()], handoffs: [helper] });
    expect(() => attach({ agent }, denying('shell'))).toThrow(UnsupportedOperatorError);
    expect(() => attach({ agent }, denying('shell'))).toThrow(/"web_search", "shell".*Replace them by function tools/);
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    try {
      attach({ agent, partial: true }, denying('shell'));
      expect(warn.mock.calls[0]?.[0]).toMatch(/"test" handles tool\.call.*"web_search".*never arrive/);
    } finally {
      warn.mockRestore();
    }
    expect(() => attach({ agent }, operator({ observe: { 'turn.end': () => undefined } }))).not.toThrow();
  });

  it('rejects an agent in place of options', () => {
    expect(() => attach(agentWith(scripted()) as never)).toThrow(
      /^attach\(\): the first argument is an agent.*Pass { agent }\.$/,
    );
  });

  it('rejects histories that OpenAI stores', async () => {
    const { run } = attach({ agent: agentWith(scripted()) });
    await expect(run('Hi', { conversationId: 'conv_1' })).rejects.toMatchObject({ code: 'unsupported-option' });
  });

  it('rejects a model or a credential that it cannot provide', async () => {
    const choosing = operator({ decide: { 'model.request': (event) => ({ ...event, credential: 'second' }) } });
    await expect(attach({ agent: agentWith(scripted()) }, choosing).run('Hi')).rejects.toThrow(/"second".*`resolve`/);
  });

  it.each<readonly [string, unknown, RegExp]>([
    ['no agent', {}, /agent/],
    ['an object instead of an agent', { agent: { name: 'Main' } }, /"agent" must be an Agent of @openai\/agents/],
    ['an unknown option', { agent: agentWith(scripted()), tool: [] }, /tool/],
    ['an empty session', { agent: agentWith(scripted()), session: '' }, /session/],
  ])('rejects %s', (_, options, message) => {
    expect(() => attach(options as AttachOptions)).toThrow(
      expect.objectContaining({ code: 'invalid-option', message: expect.stringMatching(message) as string }),
    );
  });
});
