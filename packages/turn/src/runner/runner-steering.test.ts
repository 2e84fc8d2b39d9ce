import { describe, expect, it } from 'vitest';
import { slowSessions, type SlowSessionsOptions } from '../../test/slow-sessions.js';
import { expectSound, resultTexts, runTurn, watch, type Watched } from '../../test/turns.js';
import { stop } from '../contract/decisions.js';
import type { TurnEvent } from '../contract/events.js';
import { harness } from '../harness.js';
import { intercept } from '../operators/intercept.js';
import { textOf, type Message } from '../contract/messages.js';
import type { PipelineOperator } from '../operators/pipeline.js';
import { call, response, scriptedModel, scriptedTools, user, type ScriptStep } from '../testing/index.js';
import type { ToolDriver } from '../contract/tool.js';

interface Steered extends Watched {
  readonly messages: readonly Message[];
  readonly taken: readonly boolean[];
  readonly tools: ReturnType<typeof scriptedTools>;
}

/** Runs a turn of two tool calls and steers it at certain events. */
const run = async (
  when: (event: TurnEvent) => string | undefined,
  {
    operators = [],
    store,
    script,
  }: {
    readonly operators?: readonly PipelineOperator[];
    readonly store?: SlowSessionsOptions;
    readonly script?: readonly ScriptStep[];
  } = {},
): Promise<Steered> => {
  const sessions = slowSessions(store);
  const tools = scriptedTools({ ls: () => new Promise((resolve) => setTimeout(() => resolve('a.txt'), 1)) });
  const model = scriptedModel(
    script ?? [response('Let me look.', call('1', 'ls'), call('2', 'ls')), 'One file.', 'Yes.', 'Well.'],
  );
  const agent = harness({ model, tools, sessions }).pipe(...operators);
  const taken: boolean[] = [];
  const watched = watch(agent.turn({ session: 'alice', input: 'Go.' }), (event) => {
    const message = when(event);
    if (message !== undefined) taken.push(agent.steer('alice', message));
  });
  await watched.done;
  expectSound('', sessions.journal('alice'), sessions.messages('alice'));
  return Object.assign(watched, { messages: sessions.messages('alice'), taken, tools });
};

const once = (type: string, message = 'Only text files.'): ((event: TurnEvent) => string | undefined) => {
  let isDone = false;
  return (event) => {
    if (event.type !== type || isDone) return undefined;
    isDone = true;
    return message;
  };
};

const rolesOf = (messages: readonly Message[]): string =>
  messages.map((message) => (message.role === 'user' ? textOf(message) : message.role)).join(' | ');

describe('a message for a running turn', () => {
  it.each([1, 2, 3, 4])('is appended once, though %i come in at once, each upon the other', async (many) => {
    let count = 0;
    const again = ({ type }: TurnEvent): string | undefined =>
      count < many && (type === 'session.loaded' || type === 'input.received') ? `b${(count += 1)}` : undefined;
    const { messages } = await run(again, { script: ['One.', 'Two.', 'Three.', 'Four.', 'Five.'] });
    expect(messages.flatMap((message) => (message.role === 'user' ? [textOf(message)] : []))).toEqual([
      'Go.',
      ...Array.from({ length: many }, (_, index) => `b${index + 1}`),
    ]);
  });

  it('is appended once if another one arrives while an operator holds it', async () => {
    const held: (() => void)[] = [];
    const letGo = (): void => {
      for (const go of held.splice(0)) go();
    };
    const holding = intercept('holding', () => ({
      decide: {
        'history.append': (event) =>
          event.origin === 'steering'
            ? new Promise<TurnEvent>((resolve) => held.push(() => resolve(event)))
            : undefined,
      },
    }));
    let count = 0;
    const when = ({ type }: TurnEvent): string | undefined => {
      if (type === 'session.loaded') return 'b1';
      if (type !== 'input.received' || count > 0) return undefined;
      count += 1;
      setTimeout(letGo, 5);
      setTimeout(letGo, 20);
      return 'b2';
    };
    const { messages } = await run(when, { operators: [holding], script: ['One.', 'Two.', 'Three.'] });
    expect(messages.flatMap((message) => (message.role === 'user' ? [textOf(message)] : []))).toEqual([
      'Go.',
      'b1',
      'b2',
    ]);
  });

  it.each(['a store that answers at once', 'a store that takes its time'])(
    'is delivered at the next step boundary, with %s',
    async (kind) => {
      const { taken, messages, all, end } = await run(
        once('model.delta'),
        kind.includes('once') ? {} : { store: { delayMs: 1 } },
      );
      expect(taken).toEqual([true]);
      expect(rolesOf(messages)).toBe('Go. | assistant | tool | Only text files. | assistant');
      expect(all('input.received')).toMatchObject([{ message: user('Only text files.') }]);
      const [received] = all('input.received');
      expect(all('history.append').find(({ origin }) => origin === 'steering')).toMatchObject({
        delivers: [received?.id],
      });
      expect(end).toMatchObject({ outcome: 'completed', steps: 2 });
      expect(end.undelivered).toBeUndefined();
    },
  );

  it('is answered if it arrives as the turn is about to end', async () => {
    const late = ['And text files?'];
    const when = (event: TurnEvent): string | undefined =>
      event.type === 'history.append' && event.origin === 'response' ? late.pop() : undefined;
    const { messages, end } = await run(when, { script: ['One file.', 'Yes.'] });
    expect(rolesOf(messages)).toBe('Go. | assistant | And text files? | assistant');
    expect(end).toMatchObject({ outcome: 'completed', steps: 2 });
  });

  it('before the tools begin: their calls are answered skipped, before the message', async () => {
    const { tools, messages } = await run(once('model.response'));
    expect(tools.ran).toEqual([]);
    expect(rolesOf(messages)).toBe('Go. | assistant | tool | Only text files. | assistant');
    expect(resultTexts(messages)).toEqual({
      1: 'Not run: a new message arrived before the call began.',
      2: 'Not run: a new message arrived before the call began.',
    });
  });

  it('while a call is held for approval: no call of the step runs', async () => {
    let allow = (): void => undefined;
    const ask = intercept('ask', () => ({
      decide: {
        'tool.call': ({ call: { id } }) =>
          id === '2' ? new Promise<undefined>((resolve) => (allow = () => resolve(undefined))) : undefined,
      },
      observe: { 'tool.result': () => allow() },
    }));
    const { tools, messages, all } = await run(once('tool.call'), { operators: [ask] });
    expect(tools.ran).toEqual([]);
    expect(resultTexts(messages)).toEqual({
      1: 'Not run: a new message arrived before the call began.',
      2: 'Not run: a new message arrived before the call began.',
    });
    expect(all('tool.result').map(({ status }) => status)).toEqual(['skipped', 'skipped']);
  });

  it('while tools run: signals the driver, and running calls continue', async () => {
    const sessions = slowSessions();
    let skipped = false;
    const inner = scriptedTools({ ls: () => new Promise((resolve) => setTimeout(() => resolve('a.txt'), 5)) });
    const driver: ToolDriver = {
      ...inner,
      run: (calls, context) => {
        context.skipSignal.addEventListener('abort', () => (skipped = true));
        return inner.run(calls, context);
      },
    };
    const agent = harness({
      model: scriptedModel([response(call('1', 'ls')), 'Done.']),
      tools: driver,
      sessions,
    }).pipe();
    const watched = watch(agent.turn({ session: 'alice', input: 'Go.' }));
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(agent.running()).toMatchObject([{ state: 'waiting-for-tool' }]);
    expect(agent.steer('alice', 'Hurry.')).toBe(true);
    expect(skipped).toBe(true);
    await watched.done;
    expect(resultTexts(sessions.messages('alice'))).toEqual({ 1: 'a.txt' });
    expect(rolesOf(sessions.messages('alice'))).toBe('Go. | assistant | tool | Hurry. | assistant');
  });

  it('with the last answer of the model: continues the turn instead of ending', async () => {
    const { messages, end } = await run(once('model.response'), { script: ['Hello.', 'You are right.'] });
    expect(rolesOf(messages)).toBe('Go. | assistant | Only text files. | assistant');
    expect(end).toMatchObject({ outcome: 'completed', steps: 2 });
  });

  it('while the end is processed: the stop that it overtakes is void', async () => {
    const hold = intercept('hold', () => ({
      decide: { 'turn.stop': (event) => new Promise((resolve) => setTimeout(() => resolve(event), 3)) },
    }));
    const sessions = slowSessions();
    const agent = harness({ model: scriptedModel(['Hello.', 'You are right.']), sessions }).pipe(hold);
    const watched = watch(agent.turn({ session: 'alice', input: 'Go.' }));
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(watched.types.at(-1)).toBe('history.append');
    expect(agent.steer('alice', 'Wait.')).toBe(true);
    await watched.done;
    expect(rolesOf(sessions.messages('alice'))).toBe('Go. | assistant | Wait. | assistant');
    expect(watched.all('turn.stop')).toHaveLength(1);
    expect(watched.types).not.toContain('event.ignored');
  });

  it('while an operator holds the request: it is part of the next one', async () => {
    const slow = intercept('slow', () => ({
      decide: { 'model.request': (event) => new Promise((resolve) => setTimeout(() => resolve(event), 1)) },
    }));
    const { messages, all, end } = await run(once('history.append'), {
      operators: [slow],
      script: ['Hello.', 'Well.'],
    });
    expect(rolesOf(messages)).toBe('Go. | assistant | Only text files. | assistant');
    expect(all('model.request').map((request) => rolesOf([...request.messages]))).toEqual([
      'Go.',
      'Go. | assistant | Only text files.',
    ]);
    expect(all('event.ignored')).toEqual([]);
    expect(end).toMatchObject({ outcome: 'completed', steps: 2 });
  });

  it('is delivered together with others, in order', async () => {
    const { messages } = await run((event) => (event.type === 'tool.call' ? `about ${event.call.id}` : undefined));
    expect(rolesOf(messages)).toBe('Go. | assistant | tool | about 1 | about 2 | assistant');
  });

  it('that arrives while an earlier one is delivered follows in the next step', async () => {
    const deliver = once('history.append');
    const { messages } = await run((event) =>
      event.type === 'history.append' && event.origin === 'steering'
        ? deliver(event)
        : event.type === 'model.response' && event.step === 1
          ? 'First.'
          : undefined,
    );
    expect(rolesOf(messages)).toBe('Go. | assistant | tool | First. | assistant | Only text files. | assistant');
  });

  it('is seen by operators, which may change it', async () => {
    const polite = intercept('polite', () => ({
      decide: {
        'input.received': (event) => ({ ...event, message: { ...event.message, content: 'Please, only text files.' } }),
      },
    }));
    const { messages } = await run(once('model.delta'), { operators: [polite] });
    expect(rolesOf(messages)).toContain('Please, only text files.');
  });

  it('in parts or with lone surrogates is normalized', async () => {
    const sessions = slowSessions();
    const agent = harness({ model: scriptedModel(['Hello.', 'Yes.']), sessions }).pipe();
    await runTurn(agent, 'Go.', (event) => {
      if (event.type === 'model.delta') {
        agent.steer('alice', { role: 'user', content: [{ type: 'text', text: 'a\ud800' }] });
      }
    });
    expect(sessions.messages('alice').map(({ content }) => JSON.stringify(content))).toContain(
      '[{"type":"text","text":"a\ufffd"}]',
    );
  });
});

describe('a message that cannot be delivered', () => {
  it('is rejected if no turn runs, before the start and after the stop', async () => {
    const sessions = slowSessions();
    const agent = harness({ model: scriptedModel(['Hello.']), sessions }).pipe();
    expect(agent.steer('alice', 'Hi?')).toBe(false);
    const taken: (readonly [string, boolean])[] = [];
    await runTurn(agent, 'Go.', ({ type }) => void taken.push([type, agent.steer('bob', 'Hi?')]));
    expect(taken.every(([, isTaken]) => !isTaken)).toBe(true);
    expect(agent.steer('alice', 'Hi?')).toBe(false);
    const { taken: late, end } = await run(once('turn.stop'));
    expect(late).toEqual([false]);
    expect(end.undelivered).toBeUndefined();
  });

  it('is accepted while the session is being opened', async () => {
    const sessions = slowSessions({ delayMs: 3 });
    const agent = harness({ model: scriptedModel(['Hello.']), sessions }).pipe();
    const watched = watch(agent.turn({ session: 'alice', input: 'Go.' }));
    expect(agent.steer('alice', 'And quickly.')).toBe(true);
    await watched.done;
    expect(rolesOf(sessions.messages('alice'))).toBe('Go. | And quickly. | assistant');
  });

  it.each<[string, PipelineOperator]>([
    [
      'the turn is stopped',
      intercept('stopper', () => ({ decide: { 'model.response': (event) => [event, stop('blocked')] } })),
    ],
    [
      'an operator holds it',
      intercept('holder', () => ({ decide: { 'input.received': () => new Promise(() => undefined) } })),
    ],
    [
      'an operator stops instead',
      intercept('refuser', () => ({ decide: { 'input.received': () => stop('blocked') } })),
    ],
    ['an operator fails on it', intercept('breaker', () => ({ decide: { 'input.received': () => null } }))],
  ])('is listed at the end when %s', async (_, operator) => {
    for (const store of [{}, { delayMs: 1 }] as readonly SlowSessionsOptions[]) {
      const { end, taken, messages } = await run(once('model.delta'), { operators: [operator], store });
      // Behind a slow store the delta is shown when the turn has stopped already.
      if (store.delayMs === undefined) expect(taken).toEqual([true]);
      expect(end.undelivered).toEqual(taken[0] === true ? [user('Only text files.')] : undefined);
      expect(rolesOf(messages)).not.toContain('Only text files.');
    }
  });

  it('is listed once when a native operator fails with a slow store', async () => {
    const broken = intercept('broken', ({ after }) => {
      after(4, () => {
        throw new Error('Broken.');
      });
      return {};
    });
    const script = [{ never: ['Hm.'] }];
    for (const delayMs of [1, 2, 20]) {
      const { end } = await run(once('model.delta'), { operators: [broken], store: { delayMs }, script });
      expect(end.outcome).toBe('error');
      expect([undefined, 1]).toContain(end.undelivered?.length);
    }
  });
});
