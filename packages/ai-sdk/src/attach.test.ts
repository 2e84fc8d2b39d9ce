import type { LanguageModelV4ToolCall } from '@ai-sdk/provider';
import type { FixtureFileResponse, FixtureResponse, LLMock } from '@copilotkit/aimock';
import {
  deny,
  intercept,
  MessageList,
  proceed,
  retry,
  stop,
  type Handlers,
  type Message,
  type PipelineOperator,
  type TurnEvent,
} from '@h/turn';
import { readFileSync } from 'node:fs';
import { eventTable, TurnStoppedError } from '@h/bridge';
import {
  generateText,
  isStepCount,
  MissingToolResultsError,
  streamText,
  tool,
  ToolLoopAgent,
  type LanguageModel,
  type ModelMessage,
  type ToolSet,
} from 'ai';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { openaiAt, startMock } from '../test/servers.js';
import { attach, attachEvents, checkVersion, type AttachOptions } from './attach.js';

interface WireMessage {
  readonly role: string;
  readonly content: unknown;
  readonly tool_calls?: readonly { readonly id: string }[];
}
type Answer = FixtureFileResponse & { readonly finishReason?: string };

let mock: LLMock;
let script: (Answer | ((messages: readonly WireMessage[]) => Answer))[];

beforeEach(async () => {
  script = [];
  mock = await startMock();
  mock.on({ predicate: () => true }, (request) => {
    const next = script.shift() ?? { content: 'The script is over.' };
    return (typeof next === 'function' ? next(request.messages) : next) as FixtureResponse;
  });
});

const model = () => openaiAt(mock.url).chat('gpt-4o');
const operator = (handlers: Handlers): PipelineOperator => intercept('test', () => handlers);
let nextId = 0;
const calls = (...names: readonly string[]): Answer => ({
  toolCalls: names.map((name) => ({ name, arguments: '{"path":"a.txt"}', id: `${name}-${(nextId += 1)}` })),
});
const inputSchema = z.object({ path: z.string() });
const toolsOf = (tools: Readonly<Record<string, (input: { readonly path: string }) => unknown>>): ToolSet =>
  Object.fromEntries(
    Object.entries(tools).map(([name, execute]) => [
      name,
      tool({ description: name, inputSchema, execute: (input) => execute(input) }),
    ]),
  );
/** Returns the messages of each model request. */
const requests = (): readonly (readonly string[])[] =>
  mock
    .getRequests()
    .map(({ body }) =>
      (body as unknown as { readonly messages: readonly WireMessage[] }).messages.map(({ role, content }) =>
        typeof content === 'string' && content !== '' ? content : role,
      ),
    );
const spy = () => {
  const events: TurnEvent[] = [];
  return { events, operator: intercept('spy', () => ({ observe: { '*': (event) => void events.push(event) } })) };
};

/** The loops of the SDK, each returns the text of its last step. */
const loops: readonly (readonly [
  string,
  (
    settings: { readonly model: LanguageModel; readonly tools: ToolSet },
    input: string | ModelMessage[],
  ) => Promise<string>,
])[] = [
  ['generateText', async (settings, prompt) => (await generateText({ ...settings, prompt, maxRetries: 0 })).text],
  [
    'streamText',
    async (settings, prompt) => {
      let failure: { readonly error: unknown } | undefined;
      const result = streamText({
        ...settings,
        prompt,
        maxRetries: 0,
        onError: ({ error }) => void (failure = { error }),
      });
      await result.consumeStream();
      if (failure) throw failure.error;
      return result.text;
    },
  ],
  [
    'ToolLoopAgent',
    async (settings, prompt) => (await new ToolLoopAgent({ ...settings, maxRetries: 0 }).generate({ prompt })).text,
  ],
];

const attached = (
  tools: Parameters<typeof toolsOf>[0],
  operators: readonly PipelineOperator[],
  more: Partial<AttachOptions> = {},
) => attach<ToolSet>({ model: model(), tools: toolsOf(tools), ...more }, ...operators);

describe.each(loops)('attach to %s', (_, ask) => {
  it('changes nothing without operators', async () => {
    script = [calls('read', 'list', 'count'), { content: 'Done.' }];
    const settings = attached({ read: () => 'text', list: () => ({ files: [1] }), count: () => 3 }, []);
    expect(await ask(settings, 'Look.')).toBe('Done.');
    expect(requests()).toEqual([['Look.'], ['Look.', 'assistant', 'text', '{"files":[1]}', '3']]);
  });

  it('emits one turn to operators', async () => {
    const { operator: observer, events } = spy();
    script = [calls('read'), { content: 'Done.' }];
    await ask(attached({ read: () => 'text' }, [observer]), 'Look.');
    expect(events.map(({ type }) => type).filter((type) => type !== 'model.delta')).toEqual([
      'turn.start',
      'session.loaded',
      'history.append',
      'model.request',
      'model.response',
      'history.append',
      'tool.call',
      'tool.result',
      'history.append',
      'model.request',
      'model.response',
      'history.append',
      'turn.stop',
      'turn.end',
    ]);
  });

  it('does not run a denied call, and reports the reason to the model', async () => {
    const policy = operator({
      decide: { 'tool.call': (event) => (event.call.name === 'rm' ? deny(event, 'Not allowed.') : undefined) },
    });
    const ran: string[] = [];
    script = [calls('list', 'rm'), { content: 'Sorry.' }];
    const settings = attached({ list: () => ran.push('list'), rm: () => ran.push('rm') }, [policy]);
    expect(await ask(settings, 'Clean up.')).toBe('Sorry.');
    expect(ran).toEqual(['list']);
    expect(requests()[1]).toEqual(['Clean up.', 'assistant', '1', '{"error":"Denied: Not allowed."}']);
  });

  it('passes the result that the operators emit to the model and the host', async () => {
    const redaction = operator({
      decide: {
        'tool.result': (event) =>
          event.output.type === 'text'
            ? { ...event, output: { type: 'text', value: event.output.value.replace('sk-123', '[secret]') } }
            : undefined,
      },
    });
    script = [calls('read'), { content: 'Done.' }];
    await ask(attached({ read: () => 'key sk-123' }, [redaction]), 'Read.');
    expect(requests()[1]).toEqual(['Read.', 'assistant', 'key [secret]']);
  });

  it('runs a call with the input that the operators emit', async () => {
    const rewriting = operator({
      decide: { 'tool.call': (event) => ({ ...event, call: { ...event.call, input: { path: 'safe.txt' } } }) },
    });
    const paths: string[] = [];
    script = [calls('read'), { content: 'Done.' }];
    await ask(attached({ read: ({ path }) => paths.push(path) }, [rewriting]), 'Read.');
    expect(paths).toEqual(['safe.txt']);
  });

  it('reports to the model why the changed input of a call does not match its schema', async () => {
    const rewriting = operator({
      decide: { 'tool.call': (event) => ({ ...event, call: { ...event.call, input: { path: 7 } } }) },
    });
    const paths: string[] = [];
    script = [calls('read'), { content: 'Done.' }];
    await ask(attached({ read: ({ path }) => paths.push(path) }, [rewriting]), 'Read.');
    expect(paths).toEqual([]);
    expect(requests()[1]?.[2]).toContain('to one that its schema rejects');
  });

  it.each(['deny', 'allow'])('judges a call whose invalid input the host repaired: %s', async (decision) => {
    const policy = operator({
      decide: {
        'tool.call': (event) =>
          decision === 'deny' && JSON.stringify(event.call.input).includes('b.txt') ? deny(event, 'Not b.') : undefined,
      },
    });
    const paths: string[] = [];
    const broken = { name: 'read', arguments: '{"path":7}', id: `broken-${(nextId += 1)}` };
    script = [{ toolCalls: [broken] }, { content: 'Done.' }];
    const settings = {
      ...attached({ read: ({ path }) => paths.push(path) }, [policy]),
      experimental_repairToolCall: async ({ toolCall }: { readonly toolCall: LanguageModelV4ToolCall }) => ({
        ...toolCall,
        input: '{"path":"b.txt"}',
      }),
    };
    expect(await ask(settings, 'Read.')).toBe('Done.');
    expect(paths).toEqual(decision === 'deny' ? [] : ['b.txt']);
    expect(requests()[1]?.[2]).toBe(decision === 'deny' ? '{"error":"Denied: Not b."}' : '1');
  });

  it('ends the loop with the reason of an operator that stops before a model call', async () => {
    const limit = operator({
      decide: { 'model.request': ({ step }) => (step > 2 ? stop('loop-detected', 'It repeats itself.') : undefined) },
    });
    const stops: unknown[] = [];
    script = [calls('read'), calls('read'), calls('read')];
    const settings = attached({ read: () => 'text' }, [limit], {
      session: 'alice',
      onStop: (given) => void stops.push(given),
    });
    expect(await ask(settings, 'Read.')).toBe('It repeats itself.');
    expect(stops).toEqual([{ session: 'alice', outcome: 'loop-detected', reason: 'It repeats itself.' }]);
    expect(mock.getRequests()).toHaveLength(2);
  });

  it.each(['doGenerate', 'doStream'] as const)('rejects %s with the error that onStop throws', async (method) => {
    const limit = operator({ decide: { 'model.request': () => stop('max-steps', 'Enough.') } });
    const { model } = attached({}, [limit], {
      onStop: () => {
        throw new Error('The log is full.');
      },
    });
    const call = model[method]({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'Read.' }] }] });
    await expect(call).rejects.toThrow('The log is full.');
  });

  it('ends the loop after the step in which an operator stops at a tool', async () => {
    const guard = operator({ decide: { 'tool.result': () => stop('blocked', 'Enough seen.') } });
    const stops: unknown[] = [];
    script = [calls('read')];
    const settings = attached({ read: () => 'text' }, [guard], { onStop: ({ outcome }) => void stops.push(outcome) });
    await ask(settings, 'Read.');
    expect(stops).toEqual(['blocked']);
    expect(mock.getRequests()).toHaveLength(1);
  });

  it('returns the last answer of a turn that reached a limit', async () => {
    const limit = operator({
      decide: {
        'turn.stop': (event) => (event.outcome === 'completed' ? stop('max-steps', 'Two steps.') : undefined),
      },
    });
    const stops: unknown[] = [];
    const settings = attached({ read: () => 'text' }, [limit], {
      onStop: ({ outcome }) => void stops.push(outcome),
    });
    script = [calls('read'), { content: 'I have read one file.' }];
    expect(await ask(settings, 'Read.')).toBe('I have read one file.');
    expect(stops).toEqual(['max-steps']);
    script = [calls('read'), { content: 'Summary.' }];
    const failing = attached({ read: () => 'text' }, [limit], {
      exitBehavior: 'error',
      onStop: ({ outcome }) => void stops.push(outcome),
    });
    await expect(ask(failing, 'Read.')).rejects.toMatchObject({ outcome: 'max-steps' });
    expect(stops).toEqual(['max-steps', 'max-steps']);
  });

  it('rejects with the failure of an operator that stops at a tool', async () => {
    const broken = operator({ decide: { 'tool.result': () => stop('error', 'The log is full.') } });
    script = [calls('read')];
    await expect(ask(attached({ read: () => 'text' }, [broken]), 'Read.')).rejects.toThrow('The log is full.');
    expect(mock.getRequests()).toHaveLength(1);
  });

  it('rejects with the stop if the host asks for errors', async () => {
    const guard = operator({ decide: { 'tool.result': () => stop('blocked', 'Enough seen.') } });
    script = [calls('read')];
    const stops: unknown[] = [];
    const onStop = ({ outcome }: { readonly outcome: string }): void => void stops.push(outcome);
    const asked = ask(attached({ read: () => 'text' }, [guard], { exitBehavior: 'error', onStop }), 'Read.');
    await expect(asked).rejects.toThrow(TurnStoppedError);
    await expect(asked).rejects.toMatchObject({ outcome: 'blocked', reason: 'Enough seen.' });
    expect(stops).toEqual(['blocked']);
  });

  it('repeats a failed model call with another key', async () => {
    const used: string[] = [];
    const two = operator({
      decide: {
        'model.request': (event) => ({ ...event, credential: event.attempt === 1 ? 'first' : 'second' }),
        'model.error': (event) => (event.attempt === 1 ? retry(event) : undefined),
      },
    });
    script = [{ error: { message: 'Quota.', type: 'rate_limit' }, status: 429 }, { content: 'Here.' }];
    const settings = attached({}, [two], {
      resolve: (_model, credential = '') => {
        used.push(credential);
        return model();
      },
    });
    expect(await ask(settings, 'Hi')).toBe('Here.');
    expect(used).toEqual(['first', 'second']);
  });

  it('rejects with the error of the model if no operator handles it', async () => {
    script = [{ error: { message: 'Quota.', type: 'rate_limit' }, status: 429 }];
    await expect(ask(attached({}, []), 'Hi')).rejects.toMatchObject({ name: 'AI_APICallError', statusCode: 429 });
  });

  it('rejects with the error of an operator and names it', async () => {
    const broken = operator({
      decide: {
        'model.request': () => {
          throw new Error('Oh no.');
        },
      },
    });
    await expect(ask(attached({}, [broken]), 'Hi')).rejects.toMatchObject({
      code: 'operator-failed',
      operator: 'test',
    });
  });

  it('preserves a compacted history across steps and calls, byte for byte', async () => {
    let isCompacted = false;
    const compactor = operator({
      decide: {
        'model.request': (event) => {
          if (isCompacted || event.messages.length < 3) return undefined;
          isCompacted = true;
          const messages: Message[] = [{ role: 'user', content: 'Summary.' }, ...event.messages.slice(-2)];
          return [
            { type: 'history.replace', messages, origin: 'test' },
            { ...event, messages: MessageList.of(messages) },
          ];
        },
      },
    });
    script = [calls('read'), calls('read'), { content: 'Done.' }, { content: 'Sure.' }];
    const settings = attached({ read: () => 'text' }, [compactor], { session: 'alice' });
    const history: ModelMessage[] = [{ role: 'user', content: 'Read.' }];
    const { responseMessages } = await generateText({ ...settings, messages: history, maxRetries: 0 });
    await ask(settings, [...history, ...responseMessages, { role: 'user', content: 'Sure?' }]);
    expect(requests()).toEqual([
      ['Read.'],
      ['Summary.', 'assistant', 'text'],
      ['Summary.', 'assistant', 'text', 'assistant', 'text'],
      ['Summary.', 'assistant', 'text', 'assistant', 'text', 'Done.', 'Sure?'],
    ]);
    const bodies = mock
      .getRequests()
      .map(({ body }) =>
        (body as unknown as { messages: unknown[] }).messages.map((message) => JSON.stringify(message)),
      );
    for (const [index, body] of bodies.entries()) {
      const before = index < 2 ? [] : (bodies[index - 1] ?? []);
      expect(body.slice(0, before.length)).toEqual(before);
    }
  });

  it('requests approval from the host', async () => {
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
    const asked: (string | undefined)[] = [];
    script = [calls('rm'), { content: 'Removed.' }];
    const settings = attached({ rm: () => 'ok' }, [asking], {
      approve: ({ reason, call }) => {
        asked.push(`${call?.name} ${reason}`);
        return { decision: 'once' };
      },
    });
    expect(await ask(settings, 'Remove it.')).toBe('Removed.');
    expect(asked).toEqual(['rm Sure?']);
  });

  it('continues an answer within one step', async () => {
    let isContinued = false;
    const longer = operator({
      decide: {
        'turn.stop': () => {
          if (isContinued) return undefined;
          isContinued = true;
          return proceed([{ role: 'user', content: 'Go on.' }], 'short');
        },
      },
    });
    script = [{ content: 'First. ' }, { content: 'Second.' }];
    expect(await ask(attached({}, [longer]), 'Tell.')).toBe('First. Second.');
    expect(requests()[1]).toEqual(['Tell.', 'First. ', 'Go on.']);
  });

  it('runs an asynchronous `prepareStep` of the host before each step', async () => {
    const steps: number[] = [];
    script = [calls('read'), { content: 'Done.' }];
    const settings = attached({ read: () => 'text' }, [], {
      prepareStep: async ({ stepNumber, messages }) => {
        await Promise.resolve();
        steps.push(stepNumber);
        return { messages: [...messages, { role: 'user', content: `Step ${stepNumber}.` }] };
      },
    });
    expect(await ask(settings, 'Read.')).toBe('Done.');
    expect(steps).toEqual([0, 1]);
    expect(requests().map((messages) => messages.at(-1))).toEqual(['Step 0.', 'Step 1.']);
  });

  it('ends the loop at the given conditions, and the turn as completed', async () => {
    const ends: string[] = [];
    const log = operator({ observe: { 'turn.end': ({ outcome }) => void ends.push(outcome) } });
    script = [calls('read'), calls('read'), calls('read')];
    await ask(attached({ read: () => 'text' }, [log], { stopWhen: isStepCount(2) }), 'Read.');
    expect(mock.getRequests()).toHaveLength(2);
    expect(ends).toEqual(['completed']);
  });
});

describe('attach', () => {
  it('has a table of the events that it carries in its README', () => {
    expect(readFileSync(new URL('../README.md', import.meta.url), 'utf8')).toContain(eventTable(attachEvents));
  });

  it('adds results for the calls of a truncated answer, so that the next call does not throw', async () => {
    const cut: Answer = { ...calls('write'), finishReason: 'length' };
    const ran: string[] = [];
    const converse = async (settings: { readonly model: LanguageModel; readonly tools: ToolSet }) => {
      script = [cut, { content: 'Done.' }];
      const history: ModelMessage[] = [{ role: 'user', content: 'Write.' }];
      const first = await generateText({ ...settings, messages: history });
      expect(first.finishReason).toBe('length');
      history.push(...first.finalStep.response.messages, { role: 'user', content: 'Go on.' });
      return (await generateText({ ...settings, messages: history })).text;
    };
    const tools = toolsOf({ write: () => ran.push('write') });
    await expect(converse({ model: model(), tools })).rejects.toThrow(MissingToolResultsError);
    expect(await converse(attach({ model: model(), tools, session: 'alice' }))).toBe('Done.');
    expect(requests().at(-1)?.[2]).toContain('Not run: the message with this call was truncated');
    expect(ran).toEqual([]);
  });

  it('adds results for calls of another process without one, and drops results without a call', async () => {
    script = [{ content: 'Done.' }, { content: 'Done.' }];
    const messages: ModelMessage[] = [
      { role: 'user', content: 'Write.' },
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'write', input: {} }] },
      { role: 'user', content: 'And?' },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'b', toolName: 'write', output: { type: 'text', value: 'orphan' } },
        ],
      },
      { role: 'user', content: 'Well?' },
    ];
    await expect(generateText({ model: model(), messages })).rejects.toThrow(MissingToolResultsError);
    const { text } = await generateText({ ...attach({ model: model() }), messages });
    expect(text).toBe('Done.');
    expect(requests().at(-1)).toEqual([
      'Write.',
      'assistant',
      expect.stringContaining('Interrupted') as string,
      'And?',
      'Well?',
    ]);
  });

  it('isolates the state of two concurrent sessions', async () => {
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
    const answer = (messages: readonly WireMessage[]): Answer =>
      messages.length < (JSON.stringify(messages).includes('long') ? 5 : 3) ? calls('read') : { content: 'Done.' };
    script = Array.from({ length: 5 }, () => answer);
    const settings = attached({ read: () => 'text' }, [counting]);
    await Promise.all(
      ['long', 'short'].map((name) =>
        generateText({ ...settings, prompt: name, providerOptions: { h: { session: name } } }),
      ),
    );
    expect(counts.toSorted()).toEqual(['long 3', 'short 2']);
    expect(JSON.stringify(mock.getRequests().map(({ body }) => body))).not.toContain('"h"');
  });

  it('gives concurrent runs without a name separate sessions', async () => {
    const sessions = new Set<string>();
    const log = operator({ observe: { 'turn.start': ({ session }) => void sessions.add(session) } });
    const settings = attached({}, [log]);
    await Promise.all(['a', 'b'].map((prompt) => generateText({ ...settings, prompt })));
    expect(sessions.size).toBe(2);
  });

  it.each([
    ['a model', () => model()],
    ['the name of a model', () => 'openai/gpt-5'],
  ])('says where %s belongs that is its first argument', (_, given) => {
    expect(() => attach(given() as never)).toThrow(
      'attach(): the first argument is a model. Pass it as an option: attach({ model }, …).',
    );
  });

  it('names itself and the position of what is no operator', () => {
    const factory = () => operator({});
    expect(() => attached({}, [operator({}), factory as never])).toThrow(
      /^attach\(\): operator 2 of 2 is not an operator: .* call it: factory\(\)\.$/,
    );
  });

  describe('with a model that numbers its calls in each answer', () => {
    const same = (): Answer => ({ toolCalls: [{ name: 'wait', arguments: '{"path":"a"}', id: 'same' }] });
    /** A tool whose calls run until they are released, the first one last. */
    const waiting = (count: number) => {
      const running: (() => void)[] = [];
      let all = (): void => undefined;
      const entered = new Promise<void>((resolve) => (all = resolve));
      const wait = (): Promise<string> =>
        new Promise((resolve) => {
          const value = `value ${running.length + 1}`;
          running.push(() => resolve(value));
          if (running.length === count) all();
        });
      return { wait, entered, release: () => running.toReversed().forEach((end) => end()) };
    };

    for (const [loop, run] of loops) {
      it(`runs calls with the same id in two sessions at once, in ${loop}`, async () => {
        const { events, operator: log } = spy();
        const { wait, entered, release } = waiting(2);
        const settings = attached({ wait }, [log]);
        const value = (messages: readonly WireMessage[]): Answer => ({ content: String(messages.at(-1)?.content) });
        script = [same, same, value, value];
        const first = run(settings, 'one');
        await vi.waitFor(() => expect(mock.getRequests()).toHaveLength(1));
        const second = run(settings, 'two');
        await entered;
        release();
        expect(await Promise.all([first, second])).toEqual(['value 1', 'value 2']);
        const outcomes = events.flatMap((event) => (event.type === 'turn.end' ? [event.outcome] : []));
        expect(outcomes).toEqual(['completed', 'completed']);
        expect(events.filter(({ type }) => type === 'tool.result')).toHaveLength(2);
      });
    }

    it('rejects an answer with a call id that another session has open, without its prepareStep', async () => {
      const { wait, entered, release } = waiting(1);
      const { prepareStep: _prepareStep, ...settings } = attached({ wait }, []);
      script = [same, same, { content: 'Done.' }];
      const first = generateText({ ...settings, prompt: 'one', providerOptions: { h: { session: 'one' } } });
      await entered;
      await expect(generateText({ ...settings, prompt: 'two' })).rejects.toMatchObject({ code: 'shared-call-id' });
      release();
      expect((await first).text).toBe('Done.');
    });
  });

  it('cancels in the middle of a tool', async () => {
    const controller = new AbortController();
    const ends: string[] = [];
    let toolSignal: AbortSignal | undefined;
    const slow = tool({
      inputSchema,
      execute: (_input, { abortSignal }) => {
        toolSignal = abortSignal;
        controller.abort(new Error('Left.'));
        return new Promise<string>((_resolve, reject) => {
          abortSignal?.addEventListener('abort', () => reject(new Error('Aborted.')));
          if (abortSignal?.aborted) reject(new Error('Aborted.'));
        });
      },
    });
    script = [calls('slow')];
    const log = operator({ observe: { 'turn.end': ({ outcome }) => void ends.push(outcome) } });
    const settings = attach({ model: model(), tools: { slow } }, log);
    await expect(generateText({ ...settings, prompt: 'Go.', abortSignal: controller.signal })).rejects.toThrow();
    expect(toolSignal?.aborted).toBe(true);
    expect(ends).toEqual(['cancelled']);
    expect(mock.getRequests()).toHaveLength(1);
  });

  it('cancels in the middle of a stream', async () => {
    const controller = new AbortController();
    const ends: string[] = [];
    const log = operator({ observe: { 'turn.end': ({ outcome }) => void ends.push(outcome) } });
    script = [{ content: 'word '.repeat(500) }];
    const { textStream } = streamText({
      ...attached({}, [log]),
      prompt: 'Talk.',
      abortSignal: controller.signal,
      onError: () => undefined,
    });
    for await (const text of textStream) if (text) controller.abort(new Error('Left.'));
    expect(ends).toEqual(['cancelled']);
  });

  it('passes the deltas of a stream through the operators', async () => {
    const shouting = operator({
      decide: {
        'model.delta': (event) =>
          event.delta.type === 'text'
            ? { ...event, delta: { ...event.delta, text: event.delta.text.toUpperCase() } }
            : event,
      },
    });
    script = [{ content: 'All is well.' }];
    const { textStream } = streamText({ ...attached({}, [shouting]), prompt: 'Hi' });
    let text = '';
    for await (const part of textStream) text += part;
    expect(text).toBe('ALL IS WELL.');
  });

  it('keeps tools that the client runs, and continues the turn with their results', async () => {
    const { operator: observer, events } = spy();
    script = [calls('confirm'), { content: 'Thanks.' }];
    const settings = attach({ model: model(), tools: { confirm: tool({ inputSchema }) }, session: 'alice' }, observer);
    const history: ModelMessage[] = [{ role: 'user', content: 'Go.' }];
    const first = await generateText({ ...settings, messages: history });
    const [call] = first.toolCalls;
    history.push(...first.finalStep.response.messages, {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: call?.toolCallId ?? '',
          toolName: 'confirm',
          output: { type: 'text', value: 'yes' },
        },
      ],
    });
    expect((await generateText({ ...settings, messages: history })).text).toBe('Thanks.');
    expect(requests()[1]).toEqual(['Go.', 'assistant', 'yes']);
    expect(events.filter(({ type }) => type === 'turn.start')).toHaveLength(1);
    expect(events.find((event) => event.type === 'tool.result')).toMatchObject({
      status: 'ok',
      output: { value: 'yes' },
    });
  });

  it('keeps the result of a client tool that comes together with new input', async () => {
    script = [calls('confirm'), { content: 'Thanks.' }];
    const settings = attach({ model: model(), tools: { confirm: tool({ inputSchema }) }, session: 'alice' });
    const history: ModelMessage[] = [{ role: 'user', content: 'Go.' }];
    const first = await generateText({ ...settings, messages: history });
    history.push(
      ...first.finalStep.response.messages,
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: first.toolCalls[0]?.toolCallId ?? '',
            toolName: 'confirm',
            output: { type: 'text', value: 'yes' },
          },
        ],
      },
      { role: 'user', content: 'Hurry.' },
    );
    await generateText({ ...settings, messages: history });
    expect(requests()[1]).toEqual(['Go.', 'assistant', 'yes', 'Hurry.']);
  });

  it('passes preliminary results, and the last one through the operators', async () => {
    const redaction = operator({
      decide: { 'tool.result': (event) => ({ ...event, output: { type: 'text', value: '[redacted]' } }) },
    });
    const counting = tool({
      inputSchema,
      async *execute() {
        yield 'one';
        yield 'two';
        yield 'three';
      },
    });
    script = [calls('counting'), { content: 'Done.' }];
    const { stream } = streamText({ ...attach({ model: model(), tools: { counting } }, redaction), prompt: 'Count.' });
    const outputs: unknown[] = [];
    for await (const part of stream) if (part.type === 'tool-result') outputs.push(part.output);
    expect(outputs).toEqual(['one', 'two', '[redacted]', '[redacted]']);
    expect(requests()[1]?.at(-1)).toBe('[redacted]');
  });

  it('shows the values of a generator at once, as the SDK does, if no operator changes results', async () => {
    const outputs: unknown[] = [];
    const loading = tool({
      inputSchema,
      async *execute() {
        yield 'loading';
        await vi.waitFor(() => expect(outputs).toEqual(['loading']));
        yield 'loaded';
      },
    });
    const empty = tool({ inputSchema, async *execute(): AsyncGenerator<string> {} });
    script = [calls('loading'), calls('empty'), { content: 'Done.' }];
    const settings = attach({ model: model(), tools: { loading, empty } }, operator({}));
    const { stream } = streamText({ ...settings, stopWhen: isStepCount(3), prompt: 'Load.' });
    for await (const part of stream) if (part.type === 'tool-result') outputs.push(part.output);
    expect(outputs).toEqual(['loading', 'loaded', 'loaded', undefined]);
  });

  it.each<[string, ToolSet]>([
    ['other ones', {}],
    ['the same ones without operators', { read: tool({ inputSchema, execute: () => 'unguarded' }) }],
  ])('refuses a call with tools beside its own before they run: %s', async (_, given) => {
    const execute = vi.fn(() => 'ran');
    script = [calls('read'), { content: 'Done.' }];
    const tools: ToolSet = { read: tool({ inputSchema, execute }) };
    const run = generateText({ ...attach<ToolSet>({ model: model(), tools: given }), tools, prompt: 'Read.' });
    await expect(run).rejects.toMatchObject({
      code: 'unguarded-tool',
      message: expect.stringMatching(/^The tool "read" is not one of attach\(\)/) as string,
    });
    expect([execute.mock.calls, requests()]).toEqual([[], []]);
  });

  it('sends tools with their own provider options and nothing of its own, also those that the host runs', async () => {
    script = [{ content: 'Done.' }];
    const tools: ToolSet = { read: tool({ inputSchema, execute: () => 'ran' }), ask: { inputSchema } };
    await generateText({ ...attach({ model: model(), tools }), prompt: 'Read.' });
    await generateText({ model: model(), tools, prompt: 'Read.' });
    const [attached, plain] = mock.getRequests().map(({ body }) => JSON.stringify((body as { tools: unknown }).tools));
    expect(attached).toBe(plain);
  });

  it('passes the output of toModelOutput to operators, and does not convert their changes again', async () => {
    const seen: unknown[] = [];
    const converted: unknown[] = [];
    const redaction = operator({
      decide: {
        'tool.result': (event) => {
          seen.push(event.output);
          return { ...event, output: { type: 'text', value: '[redacted]' } };
        },
      },
    });
    const read = tool({
      inputSchema,
      execute: () => ({ text: 'secret' }),
      toModelOutput: ({ output }) => {
        converted.push(output);
        return { type: 'text', value: output.text };
      },
    });
    script = [calls('read'), { content: 'Done.' }];
    await generateText({ ...attach({ model: model(), tools: { read } }, redaction), prompt: 'Read.' });
    expect(seen).toEqual([{ type: 'text', value: 'secret' }]);
    expect(converted).toEqual([{ text: 'secret' }]);
    expect(requests()[1]?.at(-1)).toBe('[redacted]');
  });

  it.each([
    ['denied', { type: 'execution-denied', reason: 'No.' }, 'No.'],
    ['failed', { type: 'error-text', value: 'no such file' }, 'no such file'],
    ['failed', { type: 'error-json', value: { code: 2 } }, '{"code":2}'],
    ['ok', { type: 'json', value: null }, 'null'],
  ] as const)('reports a call as %s whose toModelOutput returns %j', async (status, output, said) => {
    const seen: string[] = [];
    const log = operator({ observe: { 'tool.result': (event) => void seen.push(event.status) } });
    const read = tool({ inputSchema, execute: () => undefined, toModelOutput: () => output });
    script = [calls('read'), { content: 'Done.' }];
    await generateText({ ...attach({ model: model(), tools: { read } }, log), prompt: 'Read.' });
    expect(seen).toEqual([status]);
    expect(requests()[1]?.at(-1)).toContain(said);
  });

  it('passes the error of a tool to the model', async () => {
    const seen: string[] = [];
    const log = operator({ observe: { 'tool.result': ({ status }) => void seen.push(status) } });
    const failing = {
      read: () => {
        throw new RangeError('no such file');
      },
    };
    script = [calls('read'), { content: 'I see.' }];
    await generateText({ ...attached(failing, [log]), prompt: 'Read.' });
    expect(requests()[1]?.at(-1)).toContain('no such file');
    expect(seen).toEqual(['failed']);
  });

  it('runs read-only tools together and every other tool alone', async () => {
    const log: string[] = [];
    const step = (name: string) => async () => {
      log.push(`${name} begins`);
      await new Promise((resolve) => void setImmediate(resolve));
      log.push(`${name} ends`);
      return name;
    };
    script = [calls('read', 'list', 'write'), { content: 'Done.' }];
    const settings = attached({ read: step('read'), list: step('list'), write: step('write') }, [], {
      effects: { read: 'read-only', list: 'read-only' },
    });
    await generateText({ ...settings, prompt: 'Go.' });
    expect(log).toEqual(['read begins', 'list begins', 'read ends', 'list ends', 'write begins', 'write ends']);
  });

  it('forgets a session', async () => {
    const starts: string[] = [];
    const log = operator({ observe: { 'turn.end': ({ outcome }) => void starts.push(outcome) } });
    script = [calls('confirm')];
    const settings = attach({ model: model(), tools: { confirm: tool({ inputSchema }) }, session: 'alice' }, log);
    await generateText({ ...settings, prompt: 'Go.' });
    settings.forget('alice');
    expect(starts).toEqual(['completed']);
  });

  it('rejects another version of the package ai', () => {
    expect(() => checkVersion('6.0.12')).toThrow(
      expect.objectContaining({
        code: 'unsupported-host',
        message: expect.stringMatching(/6\.0\.12.*npm install ai@7/) as string,
      }),
    );
    expect(() => checkVersion('7.0.173')).not.toThrow();
    expect(() => checkVersion(undefined)).not.toThrow();
  });

  it.each([
    ['a model name', { model: 'openai/gpt-4o' }, /model must be a model of the AI SDK, but is "openai\/gpt-4o"/],
    ['no options', undefined, /options must be an object; received undefined/],
    ['no model', { model: undefined }, /model must be a model of the AI SDK, but is undefined/],
    ['a map of tools', { tools: new Map() }, /"tools" must be an object; received an instance of Map/],
    ['an unknown option', { tool: {} }, /tool\b.*tools/],
    ['an empty session', { session: '' }, /session/],
    ['a wrong condition', { stopWhen: 3 }, /stopWhen/],
  ])('rejects %s', (_, options, message) => {
    const given = options && { model: openaiAt('http://127.0.0.1:9').chat('gpt-4o'), ...options };
    expect(() => attach(given as never)).toThrow(
      expect.objectContaining({ code: 'invalid-option', message: expect.stringMatching(message) as string }),
    );
  });
});
