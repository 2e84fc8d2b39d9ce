import { map, tap } from 'rxjs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { watch } from '../../test/turns.js';
import { deny, notice, proceed, stop } from '../contract/decisions.js';
import type { TurnEvent, TurnOperator } from '../contract/events.js';
import { harness, type Agent } from '../harness.js';
import { intercept } from '../operators/intercept.js';
import { memorySessions } from '../journal/memory-sessions.js';
import type { PipelineOperator } from '../operators/pipeline.js';
import { call, failure, response, scriptedModel, scriptedTools } from '../testing/index.js';

type Path = readonly (string | number)[];

/** Values that throw or mislead when they are read, each made anew. */
const values: Readonly<Record<string, () => unknown>> = {
  'a revoked proxy': () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
  'an object whose members throw': () =>
    new Proxy({}, { get: throwing, has: throwing, ownKeys: throwing, getOwnPropertyDescriptor: throwing }),
  undefined: () => undefined,
  'a number': () => 7,
};

const throwing = (): never => {
  throw new Error('Do not look.');
};

/** All paths in a value, those of containers included. */
const pathsIn = (value: unknown, path: Path = []): readonly Path[] => {
  const here = path.length === 0 ? [] : [path];
  if (typeof value !== 'object' || value === null || value instanceof Error) return here;
  const members = Symbol.iterator in value ? [...(value as Iterable<unknown>)].entries() : Object.entries(value);
  return [...here, ...[...members].flatMap(([key, member]) => pathsIn(member, [...path, key]))];
};

/** Returns a copy of a value with another value at a path. */
const withValue = (value: unknown, [key, ...rest]: Path, hostile: unknown): unknown => {
  if (key === undefined) return hostile;
  if (typeof key === 'number') {
    return [...(value as Iterable<unknown>)].map((item, index) =>
      index === key ? withValue(item, rest, hostile) : item,
    );
  }
  const members = value as Readonly<Record<string, unknown>>;
  return { ...members, [key]: withValue(members[key], rest, hostile) };
};

/** Denies a call, repeats a failed model call, continues a turn that is done, keeps state and emits a notice. */
const busy = (): TurnOperator =>
  intercept('busy', ({ emit }) => {
    let hasContinued = false;
    return {
      decide: {
        'tool.call': (event) => (event.call.name === 'forbidden' ? deny(event, 'Not here.', 'busy') : undefined),
        'model.error': (event) => ({ ...event, retrying: true }),
        'model.response': () => emit(notice('busy.notice' as never, { level: 1 } as never)),
        'turn.stop': (event) => {
          if (event.outcome !== 'completed' || hasContinued) return undefined;
          hasContinued = true;
          return [
            { type: 'session.state', key: 'done', value: { once: [true] } },
            proceed([{ role: 'user', content: 'Really?' }], 'The work was not checked.'),
          ];
        },
      },
    };
  });

type Change = (event: TurnEvent) => unknown;

const operators: Readonly<Record<string, (change: Change) => PipelineOperator>> = {
  'an operator': (change) => intercept('hostile', () => ({ decide: { '*': (event) => change(event) as never } })),
  'a native operator': (change) => map((event) => (change(event) ?? event) as TurnEvent),
};

/** An agent whose turn has every kind of event but approvals; the hostile operator is the last one before the runner. */
const agentWith = (hostile: PipelineOperator): Agent =>
  harness({
    model: scriptedModel([
      { error: failure('Overloaded', { status: 529 }), after: ['Hm, '] },
      response('I look.', call('1', 'read', { path: 'a' }), call('2', 'forbidden'), call('3', 'broken')),
      'Done.',
      'Yes, done.',
      ...Array<string>(5).fill('Another turn.'),
    ]),
    tools: scriptedTools({
      read: 'text',
      broken: () => {
        throw new Error('The disk is full.');
      },
    }),
    sessions: memorySessions(),
    closeGraceMs: 50,
  }).pipe(busy(), hostile);

const input = { session: 's', input: 'Go', metadata: { by: { name: 'a' } } } as const;

/** The events of a turn that nothing disturbs, as the operator gets them. */
const undisturbed = async (): Promise<readonly TurnEvent[]> => {
  const events: TurnEvent[] = [];
  const agent = agentWith(intercept('probe', () => ({ decide: { '*': (event) => void events.push(event) } })));
  await watch(agent.turn(input)).done;
  return events;
};

describe('an event with a hostile value', () => {
  describe.each(Object.entries(operators))('that %s makes', (_kind, operatorWith) => {
    it.each(Object.entries(values))('leaves the turn with one end, wherever %s is', async (_name, make) => {
      const uncaught: unknown[] = [];
      const collect = (error: unknown): void => void uncaught.push(error);
      process.on('uncaughtException', collect).on('unhandledRejection', collect);
      onTestFinished(() => void process.off('uncaughtException', collect).off('unhandledRejection', collect));
      vi.useFakeTimers();
      onTestFinished(() => void vi.useRealTimers());

      const failures: string[] = [];
      const places = new Map(
        (await withTime(undisturbed())).flatMap((event, index) =>
          pathsIn(event).map((path) => [`${event.type} at ${path.join('.')}`, { index, path }] as const),
        ),
      );
      expect(places.size).toBeGreaterThan(100);
      for (const [place, { index, path }] of places) {
        let count = -1;
        const change: Change = (event) => {
          count += 1;
          return count === index ? withValue(event, path, make()) : undefined;
        };
        const agent = agentWith(operatorWith(change));
        const problems: string[] = [];
        const watched = watch(agent.turn(input));
        await vi.advanceTimersByTimeAsync(1_000);
        if (!watched.isComplete) problems.push('the turn did not end');
        else if (watched.types.filter((known) => known === 'turn.end').length !== 1) problems.push('no end');
        const next = watch(agent.turn({ session: 's', input: 'And now?' }));
        await vi.advanceTimersByTimeAsync(1_000);
        if (next.events.at(-1)?.type !== 'turn.end') problems.push('the next turn did not end');
        // Inputs of calls are stored unchecked.
        const isChecked = !path.includes('input');
        if (isChecked && next.end.outcome !== 'completed') problems.push('the next turn did not complete');
        if (uncaught.length > 0) problems.push(`${uncaught.splice(0).length} uncaught`);
        if (vi.getTimerCount() > 0) problems.push(`${vi.getTimerCount()} timers are left`);
        vi.clearAllTimers();
        if (problems.length > 0) failures.push(`${place}: ${problems.join(', ')}`);
      }
      expect(failures, failures.join('\n')).toEqual([]);
    });
  });

  it('is no stop of an operator', async () => {
    const stopping = intercept('stopping', () => ({ decide: { 'model.request': () => stop('completed', 'Enough.') } }));
    const watched = watch(agentWith(stopping).turn(input));
    await watched.done;
    expect(watched.end.outcome).toBe('completed');
  });
});

/** Advances the time until a promise settles. */
const withTime = async <Value>(promise: Promise<Value>): Promise<Value> => {
  await vi.advanceTimersByTimeAsync(1_000);
  return promise;
};

describe('an operator that changes a call in place', () => {
  const change = ({ call: changed }: { readonly call: { readonly id: string } }): void => {
    Object.assign(changed, { id: '7' });
  };
  it.each<[string, PipelineOperator]>([
    ['at its result', intercept('changer', () => ({ decide: { 'tool.result': change } }))],
    ['at the call', intercept('changer', () => ({ decide: { 'tool.call': change } }))],
    ['as a native operator', tap((event) => (event.type === 'tool.result' ? change(event) : undefined))],
  ])('%s fails the turn, which ends', async (_name, operator) => {
    const turn = watch(agentWith(operator).turn(input));
    await turn.done;
    expect(turn.end).toMatchObject({
      outcome: 'error',
      error: { message: expect.stringContaining('read only') as string },
    });
  });
});
