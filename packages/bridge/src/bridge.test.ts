import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { hooks } from '@h/hooks';
import {
  type AssistantPart,
  type ModelResponse,
  type ToolResultOutput,
  MessageList,
  type Message,
  deny,
  intercept,
  proceed,
  retry,
  stop,
  type Handlers,
  type TurnEvent,
  type TurnOperator,
} from '@h/turn';
import { AsyncLocalStorage } from 'node:async_hooks';
import { call, response } from '@h/turn/testing';
import { describe, expect, it, vi } from 'vitest';
import { toyFormat, toyLoop, type ToyMessage } from '../test/toy-host.js';
import {
  bridge,
  TurnStoppedError,
  type Approve,
  type BridgeOptions,
  type HostModelCall,
  type HostToolReturn,
} from './index.js';

/** Removes and returns the next answer of a script. */
const next = (answers: ModelResponse[]): ModelResponse => answers.shift() ?? response('The script has ended.');
const person = (text: string): ToyMessage => ({ from: 'person', text });
const textsOf = (messages: readonly ToyMessage[]): readonly string[] =>
  messages.map((message) => {
    if (message.from === 'person') return message.text;
    if (message.from === 'tool') return `${message.id}=${textOfOutput(message.output)}`;
    return message.parts.map(textOfPart).join('');
  });
const textOfOutput = (output: ToolResultOutput): string =>
  output.type === 'execution-denied' ? 'denied' : JSON.stringify(output.value).slice(1, -1);
const textOfPart = (part: AssistantPart): string => {
  if (part.type === 'text') return part.text;
  return part.type === 'tool-call' ? `${part.toolCallId}()` : '';
};
const operator = (handlers: Handlers): TurnOperator => intercept('test', () => handlers);
const sessionOf = (operators: readonly TurnOperator[], options: Partial<BridgeOptions<ToyMessage>> = {}) =>
  bridge(operators, { host: 'Toy', format: toyFormat, ...options }).session('alice');
const spy = () => {
  const events: TurnEvent[] = [];
  return {
    events,
    types: () => events.map(({ type }) => type),
    operator: intercept('spy', () => ({ observe: { '*': (event) => void events.push(event) } })),
  };
};

/** Holds each call until a person has answered. */
const asking = (): TurnOperator =>
  intercept('asking', ({ emit }) => {
    const held = new Map<string, (isDenied: boolean) => void>();
    return {
      decide: {
        'tool.call': (event) => {
          const { id, name, input } = event.call;
          emit({ type: 'approval.request', id: `ask-${id}`, reason: 'Sure?', call: { id, name, input } });
          return new Promise((resolve) => {
            held.set(`ask-${id}`, (isDenied) => resolve(isDenied ? deny(event, 'Denied by a person.') : undefined));
          });
        },
      },
      observe: { 'approval.answer': ({ id, decision }) => held.get(id)?.(decision === 'deny') },
    };
  });

describe('bridge', () => {
  it('emits one turn per run of the host', async () => {
    const { operator: observer, types } = spy();
    const session = sessionOf([observer]);
    const history = [person('Look.')];
    const answers = [response(call('a', 'look')), response('Done.')];
    const text = await toyLoop({ session, history, model: () => next(answers), tools: { look: () => 'a tree' } });
    expect(text).toBe('Done.');
    expect(textsOf(history)).toEqual(['Look.', 'a()', 'a=a tree', 'Done.']);
    expect(types()).toEqual([
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

  it('runs models and tools in the async context of their call, even if operators held it', async () => {
    const context = new AsyncLocalStorage<string>();
    const later = (): Promise<undefined> => new Promise((resolve) => setTimeout(resolve, 1));
    const session = sessionOf([operator({ decide: { 'model.request': later, 'tool.call': later } })]);
    const seen: unknown[] = [];
    const history = [person('Look.')];
    const ask = (answer: ModelResponse): Promise<unknown> =>
      context.run('model', () =>
        session.model({
          messages: [...history],
          perform: () => {
            seen.push(context.getStore());
            return Promise.resolve({ response: answer, value: undefined });
          },
        }),
      );
    const parts = [call('a', 'look'), call('b', 'look')];
    await ask(response(...parts));
    const run = async (): Promise<HostToolReturn<string>> => {
      seen.push(context.getStore());
      return { outcome: { status: 'ok', output: { type: 'text', value: 'ok' } }, value: 'ok' };
    };
    const tool = (id: string) => context.run(id, () => session.tool({ id, name: 'look', input: {}, run }));
    await Promise.all([tool('a'), tool('b')]);
    const output = { type: 'text', value: 'ok' } as const;
    const results = ['a', 'b'].map((id) => ({ from: 'tool', id, name: 'look', output }) as const);
    history.push({ from: 'model', parts }, ...results);
    await ask(response('Done.'));
    session.end();
    expect(seen).toEqual(['model', 'a', 'b', 'model']);
  });

  it('sends the messages of the host unchanged', async () => {
    const requests: (readonly ToyMessage[])[] = [];
    const session = sessionOf([]);
    const history = [person('Look.')];
    const answers = [response(call('a', 'look')), response('Done.'), response('Again.')];
    const model = ({ messages }: { messages: readonly ToyMessage[] }) => {
      requests.push(messages);
      return next(answers);
    };
    await toyLoop({ session, history, model, tools: { look: () => 'a tree' } });
    history.push(person('More.'));
    await toyLoop({ session, history, model });
    expect(requests.map(({ length }) => length)).toEqual([1, 3, 5]);
    for (const request of requests) {
      for (const [index, message] of request.entries()) expect(message).toBe(history[index]);
    }
  });

  it('does not run a denied call', async () => {
    const session = sessionOf([
      operator({ decide: { 'tool.call': (event) => (event.call.name === 'rm' ? deny(event, 'No.') : undefined) } }),
    ]);
    const ran: string[] = [];
    const history = [person('Clean up.')];
    const answers = [response(call('a', 'ls'), call('b', 'rm')), response('Done.')];
    const tools = { ls: () => ran.push('ls'), rm: () => ran.push('rm') };
    await toyLoop({ session, history, model: () => next(answers), tools });
    expect(ran).toEqual(['ls']);
    expect(textsOf(history)).toEqual(['Clean up.', 'a()b()', 'a=1', 'b=denied', 'Done.']);
  });

  it('runs a call with the input as changed by the operators', async () => {
    const session = sessionOf([
      operator({
        decide: { 'tool.call': (event) => ({ ...event, call: { ...event.call, input: { path: 'safe' } } }) },
      }),
    ]);
    const inputs: unknown[] = [];
    const answers = [response(call('a', 'read', { path: 'secret' })), response('Done.')];
    await toyLoop({
      session,
      history: [person('Read.')],
      model: () => next(answers),
      tools: { read: (input) => inputs.push(input) },
    });
    expect(inputs).toEqual([{ path: 'safe' }]);
  });

  it('passes the result as changed by the operators to the host and the model', async () => {
    const session = sessionOf([
      operator({ decide: { 'tool.result': (event) => ({ ...event, output: { type: 'text', value: '[redacted]' } }) } }),
    ]);
    const seen: string[] = [];
    const answers = [response(call('a', 'read')), response('Done.')];
    const model = ({ messages }: { messages: readonly ToyMessage[] }) => {
      seen.push(textsOf(messages).join(' | '));
      return next(answers);
    };
    const history = [person('Read.')];
    await toyLoop({ session, history, model, tools: { read: () => 'the key' } });
    expect(textsOf(history)).toEqual(['Read.', 'a()', 'a=[redacted]', 'Done.']);
    expect(seen.at(-1)).toBe('Read. | a() | a=[redacted]');
  });

  it('repeats a model call that an operator retries, and otherwise rethrows the error', async () => {
    const session = sessionOf([
      operator({ decide: { 'model.error': (event) => (event.attempt < 3 ? retry(event) : undefined) } }),
    ]);
    let calls = 0;
    const error = new RangeError('overloaded');
    const failing = (times: number) => () => {
      calls += 1;
      if (calls <= times) throw error;
      return response('Here.');
    };
    expect(await toyLoop({ session, history: [person('Hi')], model: failing(2) })).toBe('Here.');
    expect(calls).toBe(3);
    calls = 0;
    await expect(toyLoop({ session, history: [person('Hi')], model: failing(9) })).rejects.toBe(error);
    expect(calls).toBe(3);
  });

  it('preserves a replaced history across steps and turns', async () => {
    let isCompacted = false;
    const compactor = operator({
      decide: {
        'model.request': (event) => {
          if (isCompacted || event.messages.length < 5) return undefined;
          isCompacted = true;
          const messages: Message[] = [{ role: 'user', content: 'Summary.' }, ...event.messages.slice(-2)];
          return [
            { type: 'history.replace', messages, origin: 'test' },
            { ...event, messages: MessageList.of(messages) },
          ];
        },
      },
    });
    const requests: (readonly string[])[] = [];
    const session = sessionOf([compactor]);
    const history = [person('Work.')];
    const answers = ['a', 'b', 'c', 'd'].map((id) => response(call(id, 'step')));
    const model = ({ messages }: { messages: readonly ToyMessage[] }) => {
      requests.push(textsOf(messages));
      return answers.shift() ?? response('Done.');
    };
    await toyLoop({ session, history, model, tools: { step: () => 'ok' } });
    history.push(person('More.'));
    await toyLoop({ session, history, model });
    expect(requests).toEqual([
      ['Work.'],
      ['Work.', 'a()', 'a=ok'],
      ['Summary.', 'b()', 'b=ok'],
      ['Summary.', 'b()', 'b=ok', 'c()', 'c=ok'],
      ['Summary.', 'b()', 'b=ok', 'c()', 'c=ok', 'd()', 'd=ok'],
      ['Summary.', 'b()', 'b=ok', 'c()', 'c=ok', 'd()', 'd=ok', 'Done.', 'More.'],
    ]);
  });

  it('continues within one model call of the host if an operator requests a continuation', async () => {
    let isContinued = false;
    const session = sessionOf([
      operator({
        decide: {
          'turn.stop': () => {
            if (isContinued) return undefined;
            isContinued = true;
            return proceed([{ role: 'user', content: 'Continue.' }], 'short');
          },
        },
      }),
    ]);
    const answers = [response('First. '), response('Second.')];
    const history = [person('Tell.')];
    expect(await toyLoop({ session, history, model: () => next(answers) })).toBe('First. Second.');
    history.push(person('Next.'));
    let seen: readonly string[] = [];
    await toyLoop({ session, history, model: ({ messages }) => ((seen = textsOf(messages)), response('Third.')) });
    expect(seen).toEqual(['Tell.', 'First. ', 'Continue.', 'Second.', 'Next.']);
  });

  it('rejects the calls of a stopped run until the host adds new input', async () => {
    const session = sessionOf([
      operator({
        decide: {
          'model.request': ({ messages }) => (messages.length > 2 ? stop('budget-exceeded', 'Enough.') : undefined),
        },
      }),
    ]);
    const history = [person('Work.')];
    const loop = () =>
      toyLoop({ session, history, model: () => response(call('a', 'step')), tools: { step: () => 'ok' } });
    await expect(loop()).rejects.toThrow(TurnStoppedError);
    await expect(loop()).rejects.toMatchObject({ outcome: 'budget-exceeded', reason: 'Enough.' });
    history.splice(0, history.length, person('Other work.'));
    await expect(toyLoop({ session, history, model: () => response('Fine.') })).resolves.toBe('Fine.');
  });

  it('begins a turn if the host repeats a call whose model failed', async () => {
    const { operator: observer, events } = spy();
    const session = sessionOf([observer]);
    const history = [person('Work.')];
    const answers = [response(call('a', 'step')), new RangeError('overloaded'), response('Done.')];
    const requests: (readonly string[])[] = [];
    const model = ({ messages }: { messages: readonly ToyMessage[] }) => {
      requests.push(textsOf(messages));
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer as ModelResponse;
    };
    const loop = () => toyLoop({ session, history, model, tools: { step: () => 'ok' } });
    await expect(loop()).rejects.toThrow('overloaded');
    expect(await loop()).toBe('Done.');
    expect(requests).toEqual([['Work.'], ['Work.', 'a()', 'a=ok'], ['Work.', 'a()', 'a=ok']]);
    const ends = events.flatMap((event) => (event.type === 'turn.end' ? [[event.outcome, event.usage.input]] : []));
    expect(ends).toEqual([
      ['error', 10],
      ['completed', 10],
    ]);
  });

  it('rejects a repeated call if an operator stopped the turn after the model had failed and answered', async () => {
    const session = sessionOf([
      operator({
        decide: {
          'model.error': (event) => (event.attempt === 1 ? retry(event) : undefined),
          'model.response': (event) => [event, stop('error', 'Policy.', { name: 'Error', message: 'Policy.' })],
        },
      }),
    ]);
    let calls = 0;
    const model = () => {
      calls += 1;
      if (calls === 1) throw new RangeError('overloaded');
      return response('Done.');
    };
    const loop = () => toyLoop({ session, history: [person('Work.')], model });
    await expect(loop()).rejects.toThrow('Policy.');
    await expect(loop()).rejects.toThrow('Policy.');
    expect(calls).toBe(2);
  });

  it('rejects a repeated call if an operator stopped the turn because the model failed', async () => {
    const session = sessionOf([
      operator({
        decide: { 'turn.stop': ({ outcome }) => (outcome === 'error' ? stop('blocked', 'No.') : undefined) },
      }),
    ]);
    let calls = 0;
    const model = () => {
      calls += 1;
      throw new RangeError('overloaded');
    };
    const loop = () => toyLoop({ session, history: [person('Work.')], model });
    await expect(loop()).rejects.toThrow();
    await expect(loop()).rejects.toMatchObject({ outcome: 'blocked' });
    expect(calls).toBe(1);
  });

  it.each(['deny', 'allow'])('judges a call that the host made another tool of: %s', async (decision) => {
    const judged: string[] = [];
    const policy = operator({
      decide: {
        'tool.call': (event) => {
          judged.push(event.call.name);
          return decision === 'deny' && event.call.name === 'remove' ? deny(event, 'No.') : undefined;
        },
      },
    });
    const session = sessionOf([policy]);
    await session.model({
      messages: [person('Work.')],
      perform: async () => ({ response: response(call('a', 'list')), value: undefined }),
    });
    const run = vi.fn(
      async () => ({ outcome: { status: 'ok', output: { type: 'text', value: 'ok' } }, value: 1 }) as const,
    );
    const { outcome } = await session.tool({ id: 'a', name: 'remove', input: {}, parse: (input) => input, run });
    expect(judged).toEqual(['list', 'remove']);
    expect(outcome.status).toBe(decision === 'deny' ? 'denied' : 'ok');
    expect(run).toHaveBeenCalledTimes(decision === 'deny' ? 0 : 1);
  });

  it('returns the last answer of a turn that a limit ends, and withholds one that is blocked', async () => {
    const ending = (outcome: 'max-steps' | 'blocked') =>
      sessionOf([
        operator({
          decide: { 'turn.stop': (event) => (event.outcome === 'completed' ? stop(outcome, 'Enough.') : undefined) },
        }),
      ]);
    const messages = [person('Work.')];
    const perform = async () => ({ response: response('A summary.'), value: 1 });
    const limited = ending('max-steps');
    expect(await limited.model({ messages, perform })).toMatchObject({
      response: { content: [{ type: 'text', text: 'A summary.' }] },
      ending: { outcome: 'max-steps', reason: 'Enough.' },
    });
    expect(await limited.stopped()).toMatchObject({ outcome: 'max-steps' });
    await expect(ending('blocked').model({ messages, perform })).rejects.toMatchObject({ outcome: 'blocked' });
  });

  it('skips the tool calls of a truncated answer', async () => {
    const session = sessionOf([]);
    const ran: string[] = [];
    const answers = [{ ...response(call('a', 'write')), finishReason: 'length' as const }, response('Done.')];
    const history = [person('Write.')];
    await toyLoop({ session, history, model: () => next(answers), tools: { write: () => ran.push('write') } });
    expect(ran).toEqual([]);
    expect(textsOf(history)[2]).toMatch(/^a=Not run/);
  });

  it('adopts the changes that the host makes to its history', async () => {
    const { operator: observer, events } = spy();
    const session = sessionOf([observer]);
    const history = [person('Look.')];
    const seen: (readonly string[])[] = [];
    const answers = [response(call('a', 'look')), response(call('b', 'look')), response('Done.')];
    const model = ({ messages }: { messages: readonly ToyMessage[] }) => {
      seen.push(textsOf(messages));
      if (seen.length === 2) history[0] = person('Edited.');
      return next(answers);
    };
    let looks = 0;
    await toyLoop({
      session,
      history,
      model,
      tools: { look: () => ((looks += 1) === 1 ? 'tree' : 'house') },
    });
    expect(seen[2]).toEqual(['Edited.', 'a()', 'a=tree', 'b()', 'b=house']);
    history.splice(0, 2);
    history.push(person('And now?'));
    await toyLoop({ session, history, model: ({ messages }) => (seen.push(textsOf(messages)), response('Ok.')) });
    expect(seen[3]).toEqual(['a=tree', 'b()', 'b=house', 'Done.', 'And now?'].slice(1));
    expect(events.filter(({ type }) => type === 'turn.start')).toHaveLength(2);
    const more = [response(call('c', 'look')), response('Ok.')];
    history.splice(0, history.length, person('Go.'));
    const inserting = ({ messages }: { messages: readonly ToyMessage[] }) => {
      seen.push(textsOf(messages));
      if (more.length === 2) history.unshift(person('Before.'));
      return next(more);
    };
    await toyLoop({ session, history, model: inserting, tools: { look: () => 'tree' } });
    expect(seen[5]).toEqual(['Before.', 'Go.', 'c()', 'c=tree']);
    expect(events.findLast(({ type }) => type === 'history.replace')).toMatchObject({ origin: 'host' });
  });

  it('delivers a message that the host adds between two steps', async () => {
    const session = sessionOf([]);
    const history = [person('Look.')];
    const answers = [response(call('a', 'look')), response('Done.')];
    let seen: readonly string[] = [];
    const model = ({ messages }: { messages: readonly ToyMessage[] }) => {
      seen = textsOf(messages);
      return next(answers);
    };
    const { response: first } = await session.model({
      messages: history,
      perform: async (request) => ({ response: model(request), value: 1 }),
    });
    history.push({ from: 'model', parts: first.content });
    const { outcome } = await session.tool({
      id: 'a',
      name: 'look',
      input: {},
      run: () => Promise.resolve({ outcome: { status: 'ok', output: { type: 'text', value: 'tree' } }, value: 1 }),
    });
    history.push({ from: 'tool', id: 'a', name: 'look', output: outcome.output }, person('Hurry.'));
    await session.model({ messages: history, perform: async (request) => ({ response: model(request), value: 1 }) });
    expect(seen).toEqual(['Look.', 'a()', 'a=tree', 'Hurry.']);
  });

  it.each([
    ['the same objects', (messages: readonly ToyMessage[]) => messages],
    ['new objects', (messages: readonly ToyMessage[]) => structuredClone(messages)],
  ])('delivers an earlier message that the host edits between two steps, with %s', async (_, given) => {
    const session = sessionOf([spy().operator]);
    const history = [person('Look.')];
    const answers = ['a', 'b', 'c', 'd'].map((id) => response(call(id, 'look')));
    const seen: (readonly string[])[] = [];
    const step = async (id: string) => {
      const perform = async ({ messages }: { messages: readonly ToyMessage[] }) => {
        seen.push(textsOf(messages));
        return { response: next(answers), value: 1 };
      };
      const answered = await session.model({ messages: given(history), perform });
      const output = { type: 'text', value: 'A very long result.' } as const;
      const run = () => Promise.resolve({ outcome: { status: 'ok', output } as const, value: 1 });
      const { outcome } = await session.tool({ id, name: 'look', input: {}, run });
      history.push({ from: 'model', parts: answered.response.content });
      history.push({ from: 'tool', id, name: 'look', output: outcome.output });
    };
    await step('a');
    await step('b');
    await step('c');
    history[2] = { from: 'tool', id: 'a', name: 'look', output: { type: 'text', value: 'Cut.' } };
    await step('d');
    const long = 'A very long result.';
    expect(seen.at(-1)).toEqual(['Look.', 'a()', 'a=Cut.', 'b()', `b=${long}`, 'c()', `c=${long}`]);
  });

  it('reads the results of calls that the host ran itself from the history of the host', async () => {
    const { operator: observer, events } = spy();
    const session = sessionOf([observer]);
    const history = [person('Look.')];
    const { response: first } = await session.model({
      messages: history,
      perform: async () => ({
        response: response(...['a', 'b', 'c', 'd'].map((id) => call(id, 'look'))),
        value: 1,
      }),
    });
    history.push(
      { from: 'model', parts: first.content },
      { from: 'tool', id: 'a', name: 'look', output: { type: 'error-text', value: 'gone' } },
      { from: 'tool', id: 'b', name: 'look', output: { type: 'text', value: 'tree' } },
      { from: 'tool', id: 'c', name: 'look', output: { type: 'execution-denied', reason: 'No.' } },
    );
    await session.model({ messages: history, perform: async () => ({ response: response('Done.'), value: 1 }) });
    expect(events.flatMap((event) => (event.type === 'tool.result' ? [[event.call.id, event.status]] : []))).toEqual([
      ['a', 'failed'],
      ['b', 'ok'],
      ['c', 'denied'],
      ['d', 'skipped'],
    ]);
  });

  it('requests approval for a call, and rethrows an interrupt of the host', async () => {
    class Interrupt extends Error {}
    const asked: string[] = [];
    const session = sessionOf([asking()], { isControlFlow: (thrown) => thrown instanceof Interrupt });
    await session.model({
      messages: [person('Go.')],
      perform: async () => ({ response: response(call('a', 'go')), value: 1 }),
    });
    const make = () =>
      session.tool({
        id: 'a',
        name: 'go',
        input: {},
        approve: ({ id }) => {
          asked.push(id);
          if (asked.length === 1) throw new Interrupt();
          return { decision: 'once' };
        },
        run: () =>
          Promise.resolve({ outcome: { status: 'ok', output: { type: 'text', value: 'went' } }, value: 'went' }),
      });
    await expect(make()).rejects.toThrow(Interrupt);
    expect((await make()).outcome.status).toBe('ok');
    expect(asked).toEqual(['ask-a', 'ask-a']);
  });

  it.each<[string, () => unknown]>([
    ['rejects', () => Promise.reject(new Error('The dialog crashed.'))],
    ['returns nothing', () => undefined],
    ['returns another value', () => ({ decision: 'perhaps' })],
  ])('denies a call whose approval %s, in its turn and alone', async (_, approve) => {
    const session = sessionOf([asking()]);
    await session.model({
      messages: [person('Go.')],
      perform: async () => ({ response: response(call('a', 'go')), value: 1 }),
    });
    const ran: string[] = [];
    for (const id of ['a', 'alone']) {
      const { outcome } = await session.tool({
        id,
        name: 'go',
        input: {},
        approve: approve as () => never,
        run: () => Promise.reject(new Error(String(ran.push('go')))),
      });
      expect(outcome).toMatchObject({ status: 'denied' });
    }
    expect(ran).toEqual([]);
  });

  it('runs a call whose approval returns the name of a decision', async () => {
    const session = sessionOf([asking()]);
    const run = () =>
      Promise.resolve({ outcome: { status: 'ok', output: { type: 'text', value: 'went' } } as const, value: 'went' });
    const call = { id: 'a', name: 'go', input: {}, approve: () => 'once' as const, run };
    expect((await session.tool(call)).outcome.status).toBe('ok');
  });

  it('returns the denial of an approval that expired without an answer', async () => {
    const ask = { name: 'ask', beforeTool: () => ({ decision: 'ask', reason: 'Sure?' }) as const };
    const session = sessionOf([hooks([ask], { approvalTimeoutMs: 10 })]);
    await session.model({
      messages: [person('Go.')],
      perform: async () => ({ response: response(call('a', 'go')), value: 1 }),
    });
    const { outcome } = await session.tool({
      id: 'a',
      name: 'go',
      input: {},
      approve: () => new Promise(() => undefined),
      run: () => Promise.reject(new Error('It must not run.')),
    });
    expect(outcome.status).toBe('denied');
    session.end();
  });

  it('denies an approval that the host abandoned, and continues the turn', async () => {
    class Interrupt extends Error {}
    const session = sessionOf([asking()], { isControlFlow: (thrown) => thrown instanceof Interrupt });
    const history = [person('Go.')];
    const { response: first } = await session.model({
      messages: history,
      perform: async () => ({ response: response(call('a', 'go')), value: 1 }),
    });
    const interrupted = session.tool({
      id: 'a',
      name: 'go',
      input: {},
      approve: () => Promise.reject(new Interrupt()),
      run: () => Promise.reject(new Error('It must not run.')),
    });
    await expect(interrupted).rejects.toThrow(Interrupt);
    const answer = await session.model({
      messages: [...history, { from: 'model', parts: first.content }, person('Forget it.')],
      perform: async ({ messages }) => ({ response: response(textsOf(messages).join(' | ')), value: 2 }),
    });
    expect(answer.response.content).toMatchObject([{ text: 'Go. | a() | a=denied | Forget it.' }]);
  });

  describe('with an approval for one of two calls', () => {
    class Interrupt extends Error {}
    const askingForRm = (): TurnOperator =>
      intercept('asking', ({ emit }) => {
        let decide: (() => void) | undefined;
        return {
          decide: {
            'tool.call': ({ call: { id, name, input } }) => {
              if (name !== 'rm') return undefined;
              emit({ type: 'approval.request', id, reason: 'Sure?', call: { id, name, input } });
              return new Promise((resolve) => {
                decide = () => resolve(undefined);
              });
            },
          },
          observe: { 'approval.answer': () => decide?.() },
        };
      });
    const setup = async (options: Partial<BridgeOptions<ToyMessage>>, approve?: Approve) => {
      const { operator: observer, events } = spy();
      const redacting = operator({
        decide: {
          'tool.result': (event) =>
            event.output.type === 'text'
              ? { ...event, output: { type: 'text', value: `[${event.output.value}]` } }
              : undefined,
        },
      });
      const session = sessionOf([askingForRm(), redacting, observer], options);
      const content = [call('a', 'ls'), call('b', 'rm')];
      const history = [person('Go.')];
      await session.model({
        messages: history,
        perform: async () => ({ response: response(...content), value: 1 }),
      });
      const ran: string[] = [];
      const make = (id: string, name: string) =>
        session.tool({
          id,
          name,
          input: {},
          approve,
          run: async () => {
            ran.push(name);
            return { outcome: { status: 'ok', output: { type: 'text', value: name } }, value: name };
          },
        });
      const end = (outputs: readonly ToolResultOutput[]) =>
        session.model({
          messages: [
            ...history,
            { from: 'model', parts: content },
            { from: 'tool', id: 'a', name: 'ls', output: outputs[0] as ToolResultOutput },
            { from: 'tool', id: 'b', name: 'rm', output: outputs[1] as ToolResultOutput },
          ],
          perform: async ({ messages }) => ({ response: response(textsOf(messages).join(' ')), value: 2 }),
        });
      return { make, ran, end, events };
    };

    it('lets a host finish that makes one call after the other', async () => {
      const asked: string[] = [];
      const { make, ran } = await setup({ approve: ({ id }) => ({ decision: asked.push(id) > 0 ? 'once' : 'deny' }) });
      await make('a', 'ls');
      await make('b', 'rm');
      expect([asked, ran]).toEqual([['b'], ['ls', 'rm']]);
    });

    it.each(['before', 'after'])('lets a host pause that makes the other call %s it', async (order) => {
      let isApproved = false;
      const approve = () => {
        if (!isApproved) throw new Interrupt();
        return { decision: 'once' } as const;
      };
      const isControlFlow = (thrown: unknown): boolean => thrown instanceof Interrupt;
      const { make, ran, end, events } = await setup({ isControlFlow }, approve);
      const early = order === 'before' ? make('a', 'ls') : undefined;
      const paused = make('b', 'rm');
      await expect(paused).rejects.toThrow(Interrupt);
      const listed = await (early ?? make('a', 'ls'));
      expect([listed.outcome.output, ran]).toEqual([{ type: 'text', value: '[ls]' }, ['ls']]);
      isApproved = true;
      const removed = await make('b', 'rm');
      expect(ran).toEqual(['ls', 'rm']);
      const answer = await end([listed.outcome.output, removed.outcome.output]);
      expect(answer.response.content).toMatchObject([{ text: 'Go. a()b() a=[ls] b=[rm]' }]);
      // The turn of the other call, and the paused turn: each call has one result in each of them, and it is the same.
      const results = events.flatMap(({ type, ...event }) =>
        type === 'tool.result' ? [(event as { readonly output?: unknown }).output] : [],
      );
      expect(results).toEqual(['ls', 'ls', 'rm'].map((value) => ({ type: 'text', value: `[${value}]` })));
    });
  });

  it('passes a call from an earlier process to the operators', async () => {
    const session = sessionOf([
      operator({ decide: { 'tool.call': (event) => (event.call.name === 'rm' ? deny(event, 'No.') : undefined) } }),
    ]);
    const run = () =>
      Promise.resolve({ outcome: { status: 'ok', output: { type: 'text', value: 'ran' } } as const, value: 'ran' });
    const results = await Promise.all(['rm', 'ls'].map((name) => session.tool({ id: name, name, input: {}, run })));
    expect(results.map(({ outcome }) => outcome.status)).toEqual(['denied', 'ok']);
  });

  it('cancels the model when the host aborts, and a tool when the session ends', async () => {
    const { operator: observer, events } = spy();
    const session = sessionOf([observer]);
    const controller = new AbortController();
    let aborted = 0;
    let start: () => void = () => undefined;
    const hanging = (signal: AbortSignal) =>
      new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => {
          aborted += 1;
          reject(new Error('aborted'));
        });
        start();
      });
    const started = () => new Promise<void>((resolve) => (start = resolve));
    const modelStarted = started();
    const pending = session.model({
      messages: [person('Hi')],
      signal: controller.signal,
      perform: (_, { signal }) => hanging(signal),
    });
    await modelStarted;
    controller.abort(new Error('left'));
    await expect(pending).rejects.toThrow('left');
    expect(aborted).toBe(1);
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'cancelled' });

    await session.model({
      messages: [person('Go.')],
      perform: async () => ({ response: response(call('a', 'go')), value: 1 }),
    });
    const toolStarted = started();
    const tool = session.tool({ id: 'a', name: 'go', input: {}, run: (_, signal) => hanging(signal) });
    await toolStarted;
    session.end();
    expect((await tool).outcome.status).toBe('cancelled');
    expect(aborted).toBe(2);
  });

  it('isolates sessions, and evicts the least recently used one beyond `maxSessions`', async () => {
    const counts = new Map<string, number>();
    const counter = intercept('counter', () => {
      let session = '';
      let steps = 0;
      return {
        observe: {
          'turn.start': (event) => void (session = event.session),
          'model.response': () => void counts.set(session, (steps += 1)),
        },
      };
    });
    const all = bridge([counter], { host: 'Toy', format: toyFormat, maxSessions: 2 });
    const run = (name: string, steps: number) => {
      const answers = Array.from({ length: steps }, (_, index) => response(call(`${index}`, 'step')));
      return toyLoop({
        session: all.session(name),
        history: [person(name)],
        model: () => answers.shift() ?? response('Done.'),
        tools: { step: () => 'ok' },
      });
    };
    await Promise.all([run('alice', 3), run('bob', 5)]);
    expect([...counts]).toEqual([
      ['alice', 4],
      ['bob', 6],
    ]);
    const { session } = all;
    expect(session('alice')).toBe(session('alice'));
    const alice = session('alice');
    session('carol');
    session('dave');
    expect(session('alice')).not.toBe(alice);
  });

  it('runs read-only tools concurrently and other tools alone if `effects` is set', async () => {
    const running: string[] = [];
    const overlaps: string[] = [];
    const tool = (name: string) => async () => {
      overlaps.push(`${name} with ${running.join('+') || 'none'}`);
      running.push(name);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running.splice(running.indexOf(name), 1);
    };
    const session = sessionOf([], { effects: { read: 'read-only', look: 'read-only', write: 'local-write' } });
    const answers = [
      response(call('a', 'read'), call('b', 'look'), call('c', 'write'), call('d', 'read')),
      response('Done.'),
    ];
    await toyLoop({
      session,
      history: [person('Go.')],
      model: () => next(answers),
      tools: { read: tool('read'), look: tool('look'), write: tool('write') },
    });
    expect(overlaps).toEqual(['read with none', 'look with read', 'write with none', 'read with none']);
  });

  it('fails a model call whose host does not accept a delta, and continues with the next one', async () => {
    const seen = spy();
    const session = sessionOf([seen.operator]);
    const perform: HostModelCall<ToyMessage, number>['perform'] = (_request, { onDelta }) => {
      onDelta({ type: 'text', text: 'Hello' });
      return Promise.resolve({ response: response('Hello'), value: 1 });
    };
    const onDelta = (): void => {
      throw new Error('The client has left.');
    };
    await expect(session.model({ messages: [person('Hi')], perform, onDelta })).rejects.toThrow('The client has left.');
    await vi.waitFor(() => expect(seen.events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'cancelled' }));
    const messages = [person('Hi'), person('Again')];
    const answer = await session.model({ messages, perform });
    expect(answer.returned).toEqual({ value: 1 });
    expect(answer).not.toHaveProperty('ending');
  });

  it('leaves no listener on the signal of a call', async () => {
    const { signal } = new AbortController();
    const session = sessionOf([]);
    const perform = () => Promise.resolve({ response: response(call('a', 'look')), value: 1 });
    await session.model({ messages: [person('Hi')], perform, signal });
    const outcome = { status: 'ok', output: { type: 'text', value: 'a tree' } } as const;
    const run = () => Promise.resolve({ outcome, value: 'a tree' });
    await session.tool({ id: 'a', name: 'look', input: {}, run, signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('makes no model call whose signal was aborted before, and cancels such a tool', async () => {
    const seen = spy();
    const session = sessionOf([seen.operator]);
    const signal = AbortSignal.abort(new Error('left'));
    const perform = vi.fn(() => Promise.resolve({ response: response(call('a', 'look')), value: 1 }));
    await expect(session.model({ messages: [person('Hi')], perform, signal })).rejects.toThrow('left');
    await vi.waitFor(() => expect(seen.events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'cancelled' }));
    expect(perform).not.toHaveBeenCalled();
    await session.model({ messages: [person('Hi'), person('Again')], perform });
    const run = vi.fn(() => Promise.reject(new Error('The tool ran.')));
    const { outcome } = await session.tool({ id: 'a', name: 'look', input: {}, run, signal });
    expect(outcome.status).toBe('cancelled');
    expect(run).not.toHaveBeenCalled();
    expect(seen.events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'cancelled' });
  });

  it('passes deltas to the host, and rethrows its error although an operator copied the description', async () => {
    const copies = operator({ decide: { 'model.error': (event) => ({ ...event, error: { ...event.error } }) } });
    const session = sessionOf([copies]);
    const deltas: unknown[] = [];
    const error = new RangeError('overloaded');
    const perform: HostModelCall<ToyMessage, number>['perform'] = (_, { onDelta }) => {
      onDelta({ type: 'text', text: 'Hel' });
      return Promise.reject(error);
    };
    const asked = session.model({
      messages: [person('Hi')],
      perform,
      onDelta: (delta) => void deltas.push(delta),
    });
    await expect(asked).rejects.toBe(error);
    expect(deltas).toEqual([{ type: 'text', text: 'Hel' }]);
  });

  it('waits in `stopped()` for operators that end the turn after the last result', async () => {
    let release = (): void => undefined;
    const isReleased = new Promise<void>((resolve) => (release = resolve));
    const slow = operator({
      decide: {
        'history.append': async (event) => {
          if (event.messages[0]?.role !== 'tool') return undefined;
          await isReleased;
          return [event, stop('budget-exceeded', 'Enough.')];
        },
      },
    });
    const session = sessionOf([slow]);
    expect(await session.stopped()).toBeUndefined();
    const perform = () => Promise.resolve({ response: response(call('a', 'look')), value: 1 });
    await session.model({ messages: [person('Hi')], perform });
    const outcome = { status: 'ok', output: { type: 'text', value: 'a tree' } } as const;
    await session.tool({ id: 'a', name: 'look', input: {}, run: () => Promise.resolve({ outcome, value: 1 }) });
    const stopped = session.stopped();
    release();
    expect(await stopped).toMatchObject({ outcome: 'budget-exceeded', reason: 'Enough.' });
  });

  it('ends the turn of a session that is forgotten', async () => {
    const seen = spy();
    const all = bridge([seen.operator], { host: 'Toy', format: toyFormat });
    const perform = () => Promise.resolve({ response: response(call('a', 'look')), value: 1 });
    await all.session('alice').model({ messages: [person('Hi')], perform });
    all.forget('alice');
    await vi.waitFor(() => expect(seen.events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'completed' }));
  });

  it.each([
    [{ host: '' }, 'host'],
    [{ format: undefined }, 'format'],
    [{ effects: { look: 'safe' } }, 'effects.look'],
    [{ approve: true }, 'approve'],
    [{ maxSessions: 0 }, 'maxSessions'],
    [{ maxSession: 1 }, 'maxSession'],
  ])('refuses %j', (options, option) => {
    expect(() => sessionOf([], options as object)).toThrow(
      expect.objectContaining({ code: 'invalid-option', option }) as Error,
    );
  });

  it('reports an error although the functions that judge errors fail', async () => {
    const fail = (): never => {
      throw new Error('A judge that fails.');
    };
    const session = sessionOf([], { describeError: fail, isControlFlow: fail });
    const perform = (): Promise<never> => Promise.reject(new Error('Overloaded.'));
    await expect(session.model({ messages: [person('Hi')], perform })).rejects.toThrow('Overloaded.');
    const tool = { id: 'a', name: 'read', input: {}, run: (): Promise<never> => Promise.reject(new Error('Broken.')) };
    await expect(session.tool(tool)).rejects.toThrow('Broken.');
  });

  it('does not run a tool whose call was cancelled while it waited for another one', async () => {
    const ran: string[] = [];
    let release = (): void => undefined;
    const session = sessionOf([], { effects: { write: 'local-write' } });
    const tool = (id: string, signal?: AbortSignal) =>
      session.tool({
        id,
        name: 'write',
        input: {},
        signal,
        run: () => {
          ran.push(id);
          return new Promise<HostToolReturn<string>>((resolve) => {
            release = () => resolve({ outcome: { status: 'ok', output: { type: 'text', value: id } }, value: id });
          });
        },
      });
    const abort = new AbortController();
    const first = tool('a');
    const second = tool('b', abort.signal);
    await vi.waitFor(() => expect(ran).toEqual(['a']));
    abort.abort();
    expect((await second).outcome.status).toBe('cancelled');
    release();
    expect((await first).outcome.status).toBe('ok');
    const third = tool('c');
    await vi.waitFor(() => expect(ran).toContain('c'));
    release();
    await third;
    expect(ran).toEqual(['a', 'c']);
  });

  it('runs the next tool some seconds after it cancelled one that ignores its signal', async () => {
    vi.useFakeTimers();
    try {
      const session = sessionOf([], { effects: { write: 'local-write' } });
      const ran: string[] = [];
      const tool = (id: string, signal?: AbortSignal) =>
        session.tool({
          id,
          name: 'write',
          input: {},
          signal,
          run: () => new Promise<never>(() => void ran.push(id)),
        });
      const abort = new AbortController();
      const first = tool('a', abort.signal);
      await vi.advanceTimersByTimeAsync(0);
      abort.abort();
      expect((await first).outcome.status).toBe('cancelled');
      void tool('b');
      await vi.advanceTimersByTimeAsync(4_999);
      expect(ran).toEqual(['a']);
      await vi.advanceTimersByTimeAsync(1);
      expect(ran).toEqual(['a', 'b']);
    } finally {
      vi.useRealTimers();
    }
  });

  it('ends the turn with the error of a format that cannot read a message', async () => {
    const { operator: observer, events } = spy();
    const format: typeof toyFormat = {
      ...toyFormat,
      read: (message) => {
        if (message.from === 'tool' && message.id === 'a') throw new RangeError('No such message.');
        return toyFormat.read(message);
      },
    };
    const session = sessionOf([observer], { format });
    const history = [person('Look.')];
    const look = { look: () => 'a tree' };
    const failed = toyLoop({ session, history, model: () => response(call('a', 'look')), tools: look });
    await expect(failed).rejects.toThrow(new RangeError('No such message.'));
    expect(await session.stopped()).toMatchObject({ outcome: 'error', reason: 'No such message.' });
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'error' });
    const again = toyLoop({ session, history: [person('Again.')], model: () => response('Yes.') });
    expect(await again).toBe('Yes.');
  });

  it('releases the call of the host when it has its result', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const session = sessionOf([]);
    const perform = async () => ({ response: response(call('a', 'look')), value: undefined });
    await session.model({ messages: [person('Look.')], perform });
    const made = async (): Promise<WeakRef<object>> => {
      const run = async (): Promise<HostToolReturn<string>> => ({
        outcome: { status: 'ok', output: { type: 'text', value: 'a tree' } },
        value: 'a tree',
      });
      await session.tool({ id: 'a', name: 'look', input: {}, run });
      return new WeakRef(run);
    };
    const reference = await made();
    session.end();
    await vi.waitFor(() => {
      collect();
      // A failed expectation would hold the value.
      expect(reference.deref() === undefined).toBe(true);
    });
  });

  it('releases the async context of a call when the call has its result', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const contexts = new AsyncLocalStorage<object>();
    const { operator: seen, types } = spy();
    const session = sessionOf([seen]);
    const perform = async () => ({ response: response(call('a', 'look')), value: undefined });
    await session.model({ messages: [person('Look.')], perform });
    const made = async (): Promise<WeakRef<object>> => {
      const context = { of: 'the call' };
      const run = async (): Promise<HostToolReturn<string>> => {
        // The host waits for the result.
        await new Promise((resolve) => void setImmediate(resolve));
        return { outcome: { status: 'ok', output: { type: 'text', value: 'a tree' } }, value: 'a tree' };
      };
      await contexts.run(context, () => session.tool({ id: 'a', name: 'look', input: {}, run }));
      return new WeakRef(context);
    };
    const reference = await made();
    await vi.waitFor(() => {
      collect();
      expect(reference.deref() === undefined).toBe(true);
    });
    // The turn needs its calls until it ends.
    expect(types()).not.toContain('turn.end');
    session.end();
  });

  it('does not run a call that the host makes after it was answered as not run', async () => {
    const { operator: seen, events } = spy();
    const session = sessionOf([seen]);
    const answers = [response(call('a', 'look')), response(call('b', 'look'))];
    const perform = async () => ({ response: next(answers), value: undefined });
    const history: ToyMessage[] = [person('Look.')];
    const { response: first } = await session.model({ messages: history, perform, run: 1 });
    const asked: ToyMessage = { from: 'model', parts: first.content };
    await session.model({ messages: [...history, asked], perform, run: 1 });
    const ran: string[] = [];
    const run = async (): Promise<HostToolReturn<string>> => {
      ran.push('look');
      return { outcome: { status: 'ok', output: { type: 'text', value: 'a tree' } }, value: 'a tree' };
    };
    const { outcome } = await session.tool({ id: 'a', name: 'look', input: {}, run });
    expect(outcome.status).toBe('skipped');
    expect(ran).toEqual([]);
    expect(events.filter(({ type }) => type === 'tool.result')).toHaveLength(1);
  });

  it.each(['end', 'next run'])(
    'cancels the turn of a run that was aborted between two calls: at its %s',
    async (at) => {
      const { operator: seen, events } = spy();
      const session = sessionOf([seen]);
      const answers = [response(call('a', 'look')), response('Yes.')];
      const perform = async () => ({ response: next(answers), value: undefined });
      const abort = new AbortController();
      await session.model({ messages: [person('Look.')], perform, run: 1, signal: abort.signal });
      const run = async (): Promise<HostToolReturn<string>> => ({
        outcome: { status: 'ok', output: { type: 'text', value: 'a tree' } },
        value: 'a tree',
      });
      await session.tool({ id: 'a', name: 'look', input: {}, run, signal: abort.signal });
      abort.abort();
      if (at === 'end') session.end();
      else await session.model({ messages: [person('Again.')], perform, run: 2 });
      const ends = events.flatMap((event) => (event.type === 'turn.end' ? [event.outcome] : []));
      expect(ends).toEqual(at === 'end' ? ['cancelled'] : ['cancelled', 'completed']);
    },
  );

  it('rejects concurrent model calls in one session', async () => {
    const session = sessionOf([]);
    const first = session.model({ messages: [person('Hi')], perform: () => new Promise<never>(() => undefined) });
    await expect(
      session.model({ messages: [person('Hi')], perform: async () => ({ response: response('x'), value: 1 }) }),
    ).rejects.toMatchObject({ code: 'session-busy' });
    session.end();
    await expect(first).rejects.toThrow(TurnStoppedError);
  });

  it.each(['schedule', 'session'] as const)(
    'ends the turn of a single call once, after its result: by the %s',
    async (by) => {
      const seen = spy();
      const session = sessionOf([seen.operator]);
      const scheduled: (() => void)[] = [];
      const { outcome } = await session.tool({
        id: 'c1',
        name: 'read',
        input: {},
        run: () => Promise.resolve({ outcome: { status: 'ok', output: { type: 'text', value: 'A' } }, value: 1 }),
        scheduleEnd: (end) => void scheduled.push(end),
      });
      expect(outcome.output).toEqual({ type: 'text', value: 'A' });
      expect(seen.types()).not.toContain('turn.end');
      if (by === 'schedule') scheduled[0]?.();
      else session.end();
      expect(seen.types().filter((type) => type === 'turn.end')).toHaveLength(1);
      session.end();
      scheduled[0]?.();
      expect(seen.types().filter((type) => type === 'turn.end')).toHaveLength(1);
    },
  );
});
