import { createOpenAI } from '@ai-sdk/openai';
import { LLMock, type FixtureFileResponse, type FixtureResponse } from '@copilotkit/aimock';
import { eventTable, TurnStoppedError } from '@h/bridge';
import { deny, intercept, retry, stop, type Handlers, type TurnEvent, type TurnOperator } from '@h/turn';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core';
import { MockMemory } from '@mastra/core/memory';
import type { Processor } from '@mastra/core/processors';
import { InMemoryStore } from '@mastra/core/storage';
import { createTool, type ToolHooks } from '@mastra/core/tools';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { attachEvents } from './attach.js';
import { attach, type AttachOptions, type AttachStop } from './index.js';

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
/** Returns the messages of the latest model request. */
const lastRequest = (): string => JSON.stringify(mock.getRequests().at(-1)?.body);

type Execute = (input: { readonly path: string }, context: ToolContext) => unknown;
type ToolContext = Parameters<NonNullable<ReturnType<typeof createTool>['execute']>>[1];

interface Setup extends AttachOptions {
  readonly tools?: Readonly<Record<string, Execute>>;
  readonly hooks?: ToolHooks;
  readonly inputProcessors?: Processor[] | (() => Processor[]);
  readonly outputProcessors?: Processor[];
  readonly storage?: InMemoryStore;
}

const agentWith = (
  { tools = {}, hooks, inputProcessors, outputProcessors, storage, ...options }: Setup,
  ...operators: TurnOperator[]
) => {
  const settings = {
    id: 'test',
    name: 'Test',
    instructions: 'Be brief.',
    model: createOpenAI({ baseURL: `${mock.url}/v1`, apiKey: 'test' }).chat('gpt-4o') as never,
    tools: Object.fromEntries(
      Object.entries(tools).map(([id, execute]) => [
        id,
        createTool({
          id,
          description: id,
          inputSchema: z.object({ path: z.string() }),
          execute: async (input, context) => execute(input, context),
        }),
      ]),
    ),
    ...(hooks && { hooks }),
    ...(inputProcessors && { inputProcessors }),
    ...(outputProcessors && { outputProcessors }),
    ...(storage && { memory: new MockMemory({ storage }) }),
  };
  const agent = new Agent(attach(settings, options, ...operators));
  // An agent without this object cannot store suspended runs.
  return storage ? new Mastra({ agents: { test: agent }, storage, logger: false }).getAgent('test') : agent;
};
const memory = { thread: 'alice', resource: 'test' };

/** Asks a person about every call, and denies those that are not approved. */
const asking = (tool?: string): TurnOperator =>
  intercept('asking', ({ emit }) => {
    const held = new Map<string, (reason: string | undefined) => void>();
    return {
      decide: {
        'tool.call': (event) => {
          const { id, name, input } = event.call;
          if (tool !== undefined && name !== tool) return undefined;
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

describe('attach', () => {
  it('has a table of the events that it carries in its README', () => {
    expect(readFileSync(new URL('../README.md', import.meta.url), 'utf8')).toContain(eventTable(attachEvents));
  });

  it('rejects settings and options that are not valid', () => {
    expect(() => attach({})).toThrow(/settings of an agent with a model/);
    const agent = new Agent({ id: 'coder', name: 'Coder', instructions: 'Be brief.', model: 'openai/gpt-5' });
    expect(() => attach(agent)).toThrow(/but is an instance of Agent\. Pass what new Agent\(\) accepts/);
    expect(() => attach({ model: 'a/b' }, { exitBehavior: 'stop' as never })).toThrow(/exitBehavior/);
    expect(() => attach({ model: 'a/b' }, {}, 1 as never)).toThrow(/operator 1/);
  });

  it('calls the hooks of the agent for calls that the operators allow', async () => {
    const seen: string[] = [];
    const hooks: ToolHooks = {
      beforeToolCall: ({ toolName }) => void seen.push(`before ${toolName}`),
      afterToolCall: ({ toolName, output }) => void seen.push(`after ${toolName} ${String(output)}`),
    };
    const denying = operator({
      decide: { 'tool.call': (event) => (event.call.name === 'rm' ? deny(event, 'Not here.') : undefined) },
    });
    const tools = { read: () => 'text', rm: () => seen.push('rm ran') };
    script = [calls('read', 'rm'), { content: 'Done.' }];
    await agentWith({ tools, hooks }, denying).generate('Clean up.');
    expect(seen).toEqual(['before read', 'after read text']);
    expect(lastRequest()).toContain('Denied: Not here.');
  });

  it.each(['array', 'function'])('keeps the processors of the agent (%s)', async (kind) => {
    const own: Processor = {
      id: 'own',
      processLLMRequest: ({ prompt }) => ({ prompt: [...prompt, { role: 'system', content: 'From the processor.' }] }),
    };
    const seen: number[] = [];
    const counting = operator({ observe: { 'model.request': () => void seen.push(1) } });
    await agentWith({ inputProcessors: kind === 'array' ? [own] : () => [own] }, counting).generate('Hi');
    expect(seen).toHaveLength(1);
    expect(lastRequest()).toContain('From the processor.');
  });

  it.each([true, false])(
    'ends the turn of a run at the limit of steps of Mastra (streamed: %s)',
    async (isStreamed) => {
      script = [calls('read')];
      const outcomes: string[] = [];
      const seen: string[] = [];
      const outputProcessors: Processor[] = [
        { id: 'own', processOutputResult: ({ messages }) => (seen.push('own'), messages) },
      ];
      const spy = operator({ observe: { 'turn.end': ({ outcome }) => void outcomes.push(outcome) } });
      const agent = agentWith({ tools: { read: () => 'x' }, outputProcessors }, spy);
      const given = { maxSteps: 1 };
      if (isStreamed) await (await agent.stream('Read.', given)).getFullOutput();
      else await agent.generate('Read.', given);
      expect(outcomes).toEqual(['completed']);
      expect(seen).toEqual(['own']);
    },
  );

  describe.each([true, false])('streamed: %s', (isStreamed) => {
    const runWith = async (agent: ReturnType<typeof agentWith>) => {
      if (!isStreamed) return agent.generate('Read.');
      const output = await agent.stream('Read.');
      return output.getFullOutput();
    };
    const limit = () =>
      operator({
        decide: { 'model.request': ({ step }) => (step > 2 ? stop('loop-detected', 'It loops.') : undefined) },
      });

    it('ends a stopped run with an answer that gives the reason', async () => {
      script = [calls('read'), calls('read'), calls('read')];
      const stops: AttachStop[] = [];
      const agent = agentWith({ tools: { read: () => 'x' }, onStop: (given) => void stops.push(given) }, limit());
      const { steps, finishReason, tripwire } = await runWith(agent);
      expect(steps.at(-1)?.text).toBe('It loops.');
      expect([finishReason, tripwire]).toEqual(['stop', undefined]);
      expect(stops).toEqual([{ session: 'run 1', outcome: 'loop-detected', reason: 'It loops.' }]);
      expect(mock.getRequests()).toHaveLength(2);
    });

    it('trips a wire if that is asked for', async () => {
      script = [calls('read'), calls('read'), calls('read')];
      const agent = agentWith({ tools: { read: () => 'x' }, exitBehavior: 'tripwire' }, limit());
      const { text, tripwire } = await runWith(agent);
      expect(text).toBe('');
      expect(tripwire).toMatchObject({
        reason: 'It loops.',
        processorId: 'h',
        metadata: { h: { outcome: 'loop-detected', reason: 'It loops.' } },
      });
    });

    it('fails with an error if that is asked for', async () => {
      script = [calls('read'), calls('read'), calls('read')];
      const agent = agentWith({ tools: { read: () => 'x' }, exitBehavior: 'error' }, limit());
      const error = await runWith(agent).then(
        (output) => output.error,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(TurnStoppedError);
      expect(mock.getRequests()).toHaveLength(2);
    });
  });

  describe.each(['the same process', 'another process'])('a run that is suspended for an approval, in %s', (where) => {
    it.each([true, false])('resumes with the decision of a person (approved: %s)', async (isApproved) => {
      const storage = new InMemoryStore();
      const ran: string[] = [];
      const make = () => agentWith({ storage, tools: { rm: () => ran.push('rm') } }, asking());
      script = [calls('rm'), { content: 'Done.' }];
      const agent = make();
      const paused = await agent.generate('Remove it.', { memory });
      const { runId = '' } = paused;
      expect(paused).toMatchObject({
        finishReason: 'suspended',
        suspendPayload: { toolName: 'rm', args: { path: 'a.txt' } },
      });
      expect(ran).toEqual([]);
      const resumed = where === 'the same process' ? agent : make();
      const given = { runId, toolCallId: 'rm-0' };
      const { text } = isApproved
        ? await resumed.approveToolCallGenerate(given)
        : await resumed.declineToolCallGenerate({ ...given, reason: 'No way.' });
      expect(text).toBe('Done.');
      expect(ran).toEqual(isApproved ? ['rm'] : []);
      if (!isApproved) expect(lastRequest()).toContain('No way.');
    });
  });

  it.each([
    ['a-0', 'b-1'],
    ['b-1', 'a-0'],
  ])('resumes calls of one answer that wait for approvals, first %s', async (approved, declined) => {
    const ran: string[] = [];
    const tools = { a: () => ran.push('a-0'), b: () => ran.push('b-1') };
    const agent = agentWith({ storage: new InMemoryStore(), tools }, asking());
    script = [calls('a', 'b'), { content: 'Done.' }];
    const { runId = '' } = await agent.generate('Go.', { memory });
    // Mastra fails this call, with or without operators, because the other call remains suspended.
    const first = agent.approveToolCallGenerate({ runId, toolCallId: approved });
    await expect(first).rejects.toThrow("promise 'suspendPayload' was not resolved");
    expect(ran).toEqual([approved]);
    const { text } = await agent.declineToolCallGenerate({ runId, toolCallId: declined, reason: 'No way.' });
    expect([text, ran]).toEqual(['Done.', [approved]]);
    expect(lastRequest()).toContain('No way.');
  });

  it('suspends the run for a call that Mastra makes after another one has its result', async () => {
    const ran: string[] = [];
    const tools = { a: () => ran.push('a-0'), b: () => ran.push('b-1') };
    const agent = agentWith({ storage: new InMemoryStore(), tools }, asking('b'));
    script = [calls('a', 'b'), { content: 'Done.' }];
    const { runId = '' } = await agent.generate('Go.', { memory, toolCallConcurrency: 1 });
    expect(ran).toEqual(['a-0']);
    const { text } = await agent.approveToolCallGenerate({ runId, toolCallId: 'b-1' });
    expect([text, ran]).toEqual(['Done.', ['a-0', 'b-1']]);
  });

  it('asks a person about a call that Mastra makes after another one has its result', async () => {
    const ran: string[] = [];
    const tools = { a: () => ran.push('a-0'), b: () => ran.push('b-1') };
    const agent = agentWith({ tools, approve: () => 'once' }, asking('b'));
    script = [calls('a', 'b'), { content: 'Done.' }];
    const { text } = await agent.generate('Go.', { toolCallConcurrency: 1 });
    expect([text, ran]).toEqual(['Done.', ['a-0', 'b-1']]);
  });

  it.each(['the same process', 'another process'])('passes the suspension of a tool, in %s', async (where) => {
    const storage = new InMemoryStore();
    const statuses: string[] = [];
    const observing = operator({ observe: { 'tool.result': ({ status }) => void statuses.push(status) } });
    const book: Execute = (_input, { agent }) =>
      agent?.resumeData === undefined
        ? agent?.suspend({ question: 'Which seat?' })
        : `Seat ${String(agent.resumeData)}`;
    const make = () => agentWith({ storage, tools: { book } }, observing);
    script = [calls('book'), { content: 'Booked.' }];
    const agent = make();
    const { finishReason, runId = '' } = await agent.generate('Book.', { memory });
    expect([finishReason, statuses]).toEqual(['suspended', []]);
    const resumed = where === 'the same process' ? agent : make();
    const { text } = await resumed.resumeGenerate('12A', { runId, toolCallId: 'book-0' });
    expect([text, statuses]).toEqual(['Booked.', ['ok']]);
    expect(lastRequest()).toContain('Seat 12A');
  });

  it('judges the calls of a run that another process suspended', async () => {
    const storage = new InMemoryStore();
    const inputs: unknown[] = [];
    const changing = operator({
      decide: {
        'tool.call': (event) => ({ ...event, call: { ...event.call, input: { path: 'safe.txt' } } }),
        'tool.result': (event) => ({ ...event, output: { type: 'text', value: '[redacted]' } }),
      },
    });
    const read: Execute = (input) => {
      inputs.push({ ...input });
      return 'the key';
    };
    script = [calls('read'), { content: 'Done.' }];
    const { runId = '' } = await agentWith({ storage, tools: { read } }, asking(), changing).generate('Read.', {
      memory,
    });
    const resumed = agentWith({ storage, tools: { read } }, asking(), changing);
    await resumed.approveToolCallGenerate({ runId, toolCallId: 'read-0' });
    expect(inputs).toEqual([{ path: 'safe.txt' }]);
    expect(lastRequest()).toContain('[redacted]');
    expect(lastRequest()).not.toContain('the key');
  });

  it('repeats a failed call as Mastra does if no operator decides about failures', async () => {
    const ends: string[] = [];
    const observing = operator({ observe: { 'turn.end': ({ outcome }) => void ends.push(outcome) } });
    script = [{ error: { message: 'Overloaded', type: 'server_error' }, status: 503 }, { content: 'Here.' }];
    const { text } = await agentWith({}, observing).generate('Hi', { modelSettings: { maxRetries: 1 } });
    expect([text, ends]).toEqual(['Here.', ['error', 'completed']]);
  });

  it.each(['model.error', '*'])('leaves retries to an operator that decides about failures with `%s`', async (type) => {
    const retryOnce = (event: TurnEvent) =>
      event.type === 'model.error' && event.attempt === 1 ? retry(event) : undefined;
    const overloaded = { error: { message: 'Overloaded', type: 'server_error' }, status: 503 };
    script = Array.from({ length: 9 }, () => overloaded);
    const agent = agentWith({}, operator({ decide: { [type]: retryOnce } }));
    await expect(agent.generate('Hi', { modelSettings: { maxRetries: 1 } })).rejects.toThrow('Overloaded');
    expect(mock.getRequests()).toHaveLength(2);
  });

  it('cancels the turn of a run that another processor failed, at the next run', async () => {
    const ends: string[] = [];
    const observing = operator({ observe: { 'turn.end': ({ outcome }) => void ends.push(outcome) } });
    const failing: Processor = {
      id: 'failing',
      processInputStep: ({ stepNumber }) => {
        if (stepNumber === 1) throw new Error('The policy service is down.');
        return {};
      },
    };
    script = [calls('read'), { content: 'Done.' }];
    const tools = { read: () => 'x' };
    const agent = agentWith({ storage: new InMemoryStore(), tools, inputProcessors: [failing] }, observing);
    await expect(agent.generate('Read.', { memory })).rejects.toThrow('The policy service is down.');
    await agent.generate('Again.', { memory });
    expect(ends).toEqual(['cancelled', 'completed']);
  });

  it('rejects a model or a credential that it cannot provide', async () => {
    const choosing = operator({ decide: { 'model.request': (event) => ({ ...event, credential: 'second' }) } });
    await expect(agentWith({}, choosing).generate('Hi')).rejects.toThrow(/the credential "second".*`resolve`/);
    const resolve = () => ({ id: 'openai/gpt-4o-mini', url: `${mock.url}/v1`, apiKey: 'second' }) as const;
    script = [{ content: 'From the second.' }];
    expect((await agentWith({ resolve }, choosing).generate('Hi')).text).toBe('From the second.');
    expect(lastRequest()).toContain('gpt-4o-mini');
  });
});
