import { Observable, of, tap } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { runTurn, watch } from '../../test/turns.js';
import { deny, notice } from '../contract/decisions.js';
import type { TurnEvent, TurnOperator } from '../contract/events.js';
import { harness } from '../harness.js';
import { intercept } from '../operators/intercept.js';
import { memorySessions } from '../journal/memory-sessions.js';
import type { ModelDriver } from '../contract/model.js';
import { call, ok, response, scriptedModel, scriptedTools } from '../testing/index.js';
import type { ToolDriver } from '../contract/tool.js';

describe('an ordinary turn', () => {
  it('emits these events in this order', async () => {
    const agent = harness({
      model: scriptedModel([response('Let me look.', call('1', 'ls')), 'One file.']),
      tools: scriptedTools({ ls: 'a.txt' }),
    }).pipe();
    const { events } = await runTurn(agent);
    expect(events.map((event) => (event.type === 'history.append' ? `append ${event.origin}` : event.type))).toEqual([
      'turn.start',
      'session.loaded',
      'append input',
      'model.request',
      'model.delta',
      'model.delta',
      'model.response',
      'append response',
      'tool.call',
      'tool.result',
      'append results',
      'model.request',
      'model.delta',
      'model.delta',
      'model.response',
      'append response',
      'turn.stop',
      'turn.end',
    ]);
    expect(new Set(events.map(({ turn }) => turn)).size).toBe(1);
    expect(events.at(-1)).toMatchObject({ outcome: 'completed', steps: 2, usage: { input: 20, output: 10 } });
  });

  it('passes facts and commands to every operator once, in the order of the pipe', async () => {
    const seen: string[] = [];
    const look = (name: string): TurnOperator =>
      intercept(name, () => ({ observe: { '*': ({ type }) => void seen.push(`${name} ${type}`) } }));
    const agent = harness({
      model: scriptedModel([response(call('1', 'ls')), 'Done.']),
      tools: scriptedTools({ ls: 'a' }),
    }).pipe(look('a'), look('b'));
    const { types } = await runTurn(agent);
    expect(seen).toEqual(types.flatMap((type) => [`a ${type}`, `b ${type}`]));
  });

  it('emits the result of a denied call as a fact', async () => {
    const seen: string[] = [];
    const agent = harness({
      model: scriptedModel([response(call('1', 'rm')), 'Well.']),
      tools: scriptedTools({ rm: 'gone' }),
    }).pipe(
      intercept('first', () => ({ observe: { 'tool.result': ({ status }) => void seen.push(`first saw ${status}`) } })),
      intercept('guard', () => ({ decide: { 'tool.call': (event) => deny(event, 'No.', 'guard') } })),
      intercept('last', () => ({
        observe: { 'tool.call': ({ denied }) => void seen.push(`last saw ${denied?.reason}`) },
      })),
    );
    const { all } = await runTurn(agent);
    expect(seen).toEqual(['last saw No.', 'first saw denied']);
    expect(all('tool.result')).toMatchObject([
      { status: 'denied', reason: 'No.', by: 'guard', output: { type: 'execution-denied', reason: 'No.' } },
    ]);
  });
});

describe('one event at a time', () => {
  it('queues caused events until the event has left and was observed', async () => {
    const order: string[] = [];
    const learn = intercept('learn', () => ({ observe: { '*': ({ type }) => void order.push(`> ${type}`) } }));
    const leave = tap<TurnEvent>(({ type }) => void order.push(`< ${type}`));
    await runTurn(
      harness({ model: scriptedModel([response(call('1', 'ls')), 'Done.']), tools: scriptedTools({ ls: 'a' }) }).pipe(
        learn,
        leave,
      ),
    );
    for (let index = 0; index < order.length; index += 2) {
      expect(order[index + 1]).toBe(order[index]?.replace('<', '>'));
    }
  });

  it('starts an effect in a microtask after its event has left', async () => {
    const order: string[] = [];
    const model: ModelDriver = () => {
      order.push('model called');
      return of({ type: 'response', response: response(call('1', 'ls')) });
    };
    const tools: ToolDriver = {
      definitions: () => [],
      run: ([first]) => {
        order.push('tools called');
        return of({ type: 'result', id: first?.id ?? '', outcome: ok('a') });
      },
    };
    const agent = harness({ model, tools, maxModelCalls: 1 }).pipe(
      intercept('after', ({ emit }) => ({
        decide: {
          'model.request': (event) => [event, notice('event.ignored', { event: 'beside the request', reason: '' })],
          'tool.call': (event) => {
            emit(notice('event.ignored', { event: 'behind the call', reason: '' }));
            return event;
          },
        },
      })),
    );
    const { done } = watch(
      agent.turn({ session: 'alice', input: 'Go.' }),
      (event) => void order.push(event.type === 'event.ignored' ? event.event : event.type),
    );
    expect(order.at(-1)).toBe('beside the request');
    await done;
    const place = (name: string): number => order.indexOf(name);
    expect(place('model called')).toBeGreaterThan(place('beside the request'));
    expect(place('tools called')).toBeGreaterThan(place('behind the call'));
  });

  it('uses a separate queue for each turn', async () => {
    const agent = harness({
      model: scriptedModel([response(call('1', 'ls')), response(call('1', 'ls')), 'A.', 'B.']),
      tools: scriptedTools({ ls: 'a' }),
    }).pipe();
    const inner: string[] = [];
    const outer = watch(agent.turn({ session: 'outer', input: 'Go.' }), (event) => {
      if (event.type !== 'model.response' || inner.length > 0) return;
      watch(agent.turn({ session: 'inner', input: 'Go.' }), ({ type }) => void inner.push(type));
      expect(inner).toEqual(['turn.start', 'session.loaded', 'history.append', 'model.request']);
    });
    await outer.done;
    await vi.waitFor(() => expect(inner.at(-1)).toBe('turn.end'));
  });

  it('queues facts of drivers behind the current event, in order', async () => {
    const model: ModelDriver = () =>
      new Observable((subscriber) => {
        for (const text of ['a', 'b', 'c']) subscriber.next({ type: 'delta', delta: { type: 'text', text } });
        subscriber.next({ type: 'response', response: response('abc') });
        subscriber.complete();
      });
    const texts: string[] = [];
    const agent = harness({ model }).pipe(
      intercept('echo', ({ emit }) => ({
        decide: {
          'model.delta': (event) => [event, { ...event, delta: { type: 'reasoning', text: `${event.delta.text}!` } }],
        },
        observe: {
          'model.delta': ({ delta }) =>
            delta.text === 'b' ? emit(notice('event.ignored', { event: 'after b', reason: '' })) : undefined,
        },
      })),
    );
    await runTurn(
      agent,
      'Go.',
      (event) =>
        void (event.type === 'model.delta'
          ? texts.push(event.delta.text)
          : event.type === 'event.ignored' && texts.push(event.event)),
    );
    expect(texts).toEqual(['a', 'a!', 'b', 'b!', 'after b', 'c', 'c!']);
  });
});

describe('decide all, then act', () => {
  const asking = (): { readonly operator: TurnOperator; readonly allow: (id: string) => void } => {
    const waiting = new Map<string, () => void>();
    const operator = intercept('ask', () => ({
      decide: {
        'tool.call': ({ call: { id } }) =>
          new Promise<undefined>((resolve) => waiting.set(id, () => resolve(undefined))),
      },
    }));
    return { operator, allow: (id) => waiting.get(id)?.() };
  };
  const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2));

  it('starts the tools together when the last call of the step is decided', async () => {
    const batches: string[][] = [];
    const inner = scriptedTools({ ls: 'a', rm: 'b' });
    const tools: ToolDriver = {
      ...inner,
      run: (calls, context) => (batches.push(calls.map(({ id }) => id)), inner.run(calls, context)),
    };
    const { operator, allow } = asking();
    const agent = harness({
      model: scriptedModel([response(call('1', 'ls'), call('2', 'rm'), call('3', 'ls')), 'Done.']),
      tools,
    }).pipe(operator);
    const { done, all } = watch(agent.turn({ session: 'alice', input: 'Go.' }));
    for (const id of ['3', '1']) {
      await settle();
      allow(id);
    }
    await settle();
    expect(all('tool.call').map(({ call: { id } }) => id)).toEqual(['3', '1']);
    expect(batches).toEqual([]);
    allow('2');
    await done;
    expect(batches).toEqual([['1', '2', '3']]);
  });

  it('passes only allowed calls to the driver, and does not call it without any', async () => {
    const tools = scriptedTools({ ls: 'a', rm: 'b' });
    const run = vi.spyOn(tools, 'run');
    const guard = intercept('guard', () => ({
      decide: { 'tool.call': (event) => (event.call.name === 'rm' ? deny(event, 'No.') : undefined) },
    }));
    const model = scriptedModel([response(call('1', 'rm'), call('2', 'ls')), response(call('3', 'rm')), 'Done.']);
    await runTurn(harness({ model, tools }).pipe(guard));
    expect(run).toHaveBeenCalledOnce();
    expect(tools.ran.map(({ id }) => id)).toEqual(['2']);
  });

  it('passes the calls as they left, with the declarations of their tools', async () => {
    const tools = scriptedTools({ ls: 'a' }, { ls: { effect: 'read-only', idempotent: true } });
    const rewrite = intercept('rewrite', () => ({
      decide: { 'tool.call': (event) => ({ ...event, call: { ...event.call, input: { path: '/safe' } } }) },
    }));
    await runTurn(
      harness({ model: scriptedModel([response(call('1', 'ls', { path: '/etc' })), 'Done.']), tools }).pipe(rewrite),
    );
    expect(tools.ran).toEqual([
      { id: '1', name: 'ls', input: { path: '/safe' }, effect: 'read-only', idempotent: true },
    ]);
  });

  it('appends results in the order of the calls, in whatever order they finish', async () => {
    const finish = new Map<string, () => void>();
    const sessions = memorySessions();
    const tools = scriptedTools({
      slow: (_, { call: { id } }) => new Promise((resolve) => finish.set(id, () => resolve(`result of ${id}`))),
      fast: 'at once',
    });
    const guard = intercept('guard', () => ({
      decide: { 'tool.call': (event) => (event.call.id === '4' ? deny(event, 'No.') : undefined) },
    }));
    const agent = harness({
      model: scriptedModel([
        response(call('1', 'slow'), call('2', 'fast'), call('3', 'slow'), call('4', 'fast')),
        'Done.',
      ]),
      tools,
      sessions,
    }).pipe(guard);
    const { done, all } = watch(agent.turn({ session: 'alice', input: 'Go.' }));
    await settle();
    finish.get('3')?.();
    await settle();
    finish.get('1')?.();
    await done;
    expect(all('tool.result').map(({ call: { id } }) => id)).toEqual(['4', '2', '3', '1']);
    expect(sessions.messages('alice')[2]).toMatchObject({
      role: 'tool',
      content: ['1', '2', '3', '4'].map((toolCallId) => ({ toolCallId })),
    });
  });
});
