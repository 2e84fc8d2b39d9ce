import * as fc from 'fast-check';
import {
  delay,
  filter,
  from,
  lastValueFrom,
  map,
  mergeMap,
  of,
  Subject,
  takeUntil,
  tap,
  toArray,
  VirtualTimeScheduler,
  type MonoTypeOperatorFunction,
} from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { annotate, deny, notice } from '../contract/decisions.js';
import type { NewEvent, TurnEvent } from '../contract/events.js';
import { harness } from '../harness.js';
import type { DecisionInput, Interceptor } from './handlers.js';
import { intercept } from './intercept.js';
import { PipelinePlan } from './pipeline.js';
import { reply } from '../reply.js';
import { call, event, response, scriptedModel, scriptedTools } from '../testing/index.js';
import { EventQueue } from './event-queue.js';

/** What a generated handler does with an event. */
type Move =
  | 'pass'
  | 'replace'
  | 'annotate'
  | 'add before'
  | 'add after'
  | 'twice'
  | 'drop'
  | 'promise'
  | 'promise of several'
  | 'observable'
  | 'in turn'
  | 'empty'
  | 'null later'
  | 'later';

interface Plan {
  readonly observe: readonly string[];
  readonly decide: Readonly<Record<string, Move>>;
  /** Whether its turns share their handlers. */
  readonly isShared: boolean;
}

const types = ['model.delta', 'tool.progress', 'event.ignored', 'session.state', 'approval.request'] as const;
const moves = [
  'pass',
  'replace',
  'annotate',
  'add before',
  'add after',
  'twice',
  'drop',
  'promise',
  'promise of several',
  'observable',
  'in turn',
  'empty',
  'null later',
  'later',
] as const;
const synchronous: readonly Move[] = ['pass', 'replace', 'annotate', 'add before', 'add after', 'twice', 'drop'];

const events: Readonly<Record<(typeof types)[number], (id: number) => TurnEvent>> = {
  'model.delta': (id) =>
    event('model.delta', { step: 1, attempt: 1, delta: { type: 'text', text: String(id) } }, { at: id }),
  'tool.progress': (id) =>
    event('tool.progress', { step: 1, call: { id: String(id), name: 'ls', input: {} }, progress: id }, { at: id }),
  'event.ignored': (id) => event('event.ignored', { event: String(id), reason: 'x' }, { at: id }),
  'session.state': (id) => event('session.state', { key: String(id), value: id }, { at: id }),
  'approval.request': (id) => event('approval.request', { id: String(id), reason: 'x' }, { at: id }),
};

const answer = (name: string, move: Move, given: TurnEvent): DecisionInput => {
  const extra = (): NewEvent => notice('event.ignored', { event: `${name} on ${given.type}`, reason: 'extra' });
  const changed = (): TurnEvent => annotate(given, name, move);
  switch (move) {
    case 'pass':
      return undefined;
    case 'replace':
    case 'annotate':
      return changed();
    case 'add before':
      return [extra(), given];
    case 'add after':
      return [given, extra()];
    case 'twice':
      return [changed(), changed()];
    case 'drop':
      return null;
    case 'promise':
      return Promise.resolve(changed());
    case 'promise of several':
      return Promise.resolve([extra(), changed()]);
    case 'observable':
      return of(changed());
    case 'in turn':
      return of(extra(), changed(), extra());
    case 'empty':
      return of();
    case 'null later':
      return Promise.resolve(null);
    case 'later':
      return of(changed()).pipe(delay(given.at % 3));
  }
};

/** An operator made after a plan, which writes down what it sees. */
const planned = (name: string, { observe, decide, isShared }: Plan, log: string[]): Interceptor => {
  const see = (given: TurnEvent): void =>
    void log.push(`${name} ${given.type} ${given.at} ${JSON.stringify(given.annotations)}`);
  const tableOf = <Value, Result>(entries: readonly (readonly [string, Value])[], make: (value: Value) => Result) =>
    Object.fromEntries(entries.map(([type, value]) => [type, make(value)]));
  const sights = observe.map((type) => [type, type] as const);
  const choices = Object.entries(decide);
  const finalized = (): void => void log.push(`${name} finalized`);
  if (!isShared) {
    return intercept(name, () => ({
      observe: tableOf(sights, () => see),
      decide: tableOf(choices, (move) => (given: TurnEvent) => answer(name, move, given)),
      finalize: finalized,
    }));
  }
  return intercept(name, {
    setup: () => ({ see }),
    observe: tableOf(sights, () => (state: { readonly see: typeof see }, given: TurnEvent) => state.see(given)),
    decide: tableOf(choices, (move) => (_state: unknown, given: TurnEvent) => answer(name, move, given)),
    finalize: finalized,
  });
};

const plan = (allowed: readonly Move[]): fc.Arbitrary<Plan> =>
  fc.record({
    isShared: fc.boolean(),
    observe: fc.subarray([...types, '*']),
    decide: fc
      .dictionary(fc.constantFrom(...types), fc.constantFrom(...allowed), { maxKeys: 4, noNullPrototype: true })
      .map((table): Record<string, Move> => {
        const { 'model.delta': onDelta, ...rest } = table;
        return onDelta === undefined || !synchronous.includes(onDelta) ? rest : table;
      }),
  });

const feed = fc.array(fc.constantFrom(...types), { maxLength: 8 });

interface Seen {
  readonly emitted: readonly string[];
  readonly log: readonly string[];
}

const settle = async (): Promise<void> => {
  for (let count = 0; count < 30; count += 1) await Promise.resolve();
  await vi.advanceTimersByTimeAsync(20);
};

/** What every operator observes: each event that has left the whole pipe, in one order. */
const sightsOf = (plans: readonly Plan[], emitted: readonly string[]): readonly string[] =>
  emitted
    .map((text) => JSON.parse(text) as TurnEvent)
    .flatMap((left) =>
      plans.flatMap(({ observe }, index) =>
        observe
          .toSorted((first, second) => Number(second === '*') - Number(first === '*'))
          .filter((type) => type === '*' || type === left.type)
          .map(() => `operator-${index} ${left.type} ${left.at} ${JSON.stringify(left.annotations)}`),
      ),
    );

/** Leaves out the order in which operators are finalized. */
const isSight = (line: string): boolean => !line.endsWith('finalized');

const show = (given: TurnEvent): string => JSON.stringify(given);

const runFused = async (
  plans: readonly Plan[],
  given: readonly TurnEvent[],
  natives: readonly number[],
): Promise<Seen> => {
  const log: string[] = [];
  const emitted: string[] = [];
  const failed = (error: unknown): never => {
    throw error;
  };
  const pipeline = new PipelinePlan(withNatives(plans, log, natives)).connect(
    new EventQueue(),
    {
      next: (out) => {
        pipeline.observe(out);
        emitted.push(show(out));
      },
      failed,
      error: failed,
      complete: () => failed(new Error('complete')),
    },
    'turn-1',
  );
  for (const one of given) pipeline.feed(one);
  await settle();
  pipeline.close();
  return { emitted, log };
};

const runChained = async (
  plans: readonly Plan[],
  given: readonly TurnEvent[],
  natives: readonly number[],
): Promise<Seen> => {
  const log: string[] = [];
  const emitted: string[] = [];
  const source = new Subject<TurnEvent>();
  const stream$ = withNatives(plans, log, natives).reduce(
    (stream, operator) => stream.pipe(operator),
    source.asObservable(),
  );
  const subscription = stream$.subscribe((out) => emitted.push(show(out)));
  for (const one of given) source.next(one);
  await settle();
  subscription.unsubscribe();
  return { emitted, log };
};

/** The planned operators, with native ones between them that change nothing. */
const withNatives = (
  plans: readonly Plan[],
  log: string[],
  natives: readonly number[],
): readonly MonoTypeOperatorFunction<TurnEvent>[] =>
  plans.flatMap((one, index) => {
    const operator = planned(`operator-${index}`, one, log);
    return natives.includes(index) ? [operator, tap<TurnEvent>(), filter<TurnEvent>(() => true)] : [operator];
  });

describe('fused operators', () => {
  beforeEach(() => vi.useFakeTimers({ now: 0 }));
  afterEach(() => vi.useRealTimers());

  it('behave like the same operators chained one by one, with and without native ones', async () => {
    const properties = fc.asyncProperty(
      fc.array(plan(moves), { minLength: 1, maxLength: 4 }),
      feed,
      fc.subarray([0, 1, 2]),
      async (plans, kinds, natives) => {
        const given = kinds.map((kind, index) => events[kind](index));
        const chained = await runChained(plans, given, []);
        const fused = await runFused(plans, given, []);
        const mixed = await runFused(plans, given, natives);
        expect(fused.emitted.toSorted()).toEqual(chained.emitted.toSorted());
        expect(mixed.emitted.toSorted()).toEqual(chained.emitted.toSorted());
        expect(mixed.log.toSorted()).toEqual(fused.log.toSorted());
      },
    );
    await fc.assert(properties, { numRuns: 60 });
  });

  it('keep the same order if nothing is asynchronous', async () => {
    const inTick: readonly Move[] = [...synchronous, 'observable', 'in turn', 'empty'];
    const properties = fc.asyncProperty(
      fc.array(plan(inTick), { minLength: 1, maxLength: 5 }),
      feed,
      fc.subarray([0, 1, 2, 3]),
      async (plans, kinds, natives) => {
        const given = kinds.map((kind, index) => events[kind](index));
        const chained = await runChained(plans, given, natives);
        for (const mixedIn of [[], natives]) {
          const fused = await runFused(plans, given, mixedIn);
          expect(fused.emitted).toEqual(chained.emitted);
          expect(fused.log.filter(isSight)).toEqual(sightsOf(plans, fused.emitted));
        }
      },
    );
    await fc.assert(properties, { numRuns: 60 });
  });
});

describe('native operators in the pipe of a turn', () => {
  const run = (...operators: readonly MonoTypeOperatorFunction<TurnEvent>[]) => {
    const tools = scriptedTools({ ls: 'a.txt' });
    const agent = harness({
      model: scriptedModel([response('Let me look.', call('1', 'ls'), call('2', 'ls')), 'Done.']),
      tools,
    }).pipe(...operators);
    return { tools, ended: reply(agent.turn({ session: 's', input: 'Hi' })) };
  };
  const guard = (): Interceptor =>
    intercept('guard', () => ({
      decide: { 'tool.call': (given) => (given.call.id === '2' ? deny(given, 'No.') : undefined) },
    }));

  it.each<[string, MonoTypeOperatorFunction<TurnEvent>]>([
    ['tap', tap()],
    ['map', map((given) => ({ ...given }))],
    ['delay', delay(1)],
    [
      'mergeMap that takes its time',
      mergeMap((given) => (given.type === 'model.delta' ? of(given) : of(given).pipe(delay(1)))),
    ],
    [
      'mergeMap that adds an event',
      mergeMap((given) =>
        given.type === 'tool.result' ? [given, event('event.ignored', { event: 'x', reason: 'y' }, given)] : [given],
      ),
    ],
    ['takeUntil of something that never happens', takeUntil(new Subject())],
  ])('%s works before, between and behind interceptors', async (_, native) => {
    for (const operators of [
      [native, guard(), guard()],
      [guard(), native, guard()],
      [guard(), guard(), native],
      [native, guard(), native, native],
    ]) {
      const { tools, ended } = run(...operators);
      expect(await ended).toMatchObject({ outcome: 'completed', steps: 2, text: 'Done.' });
      expect(tools.ran.map(({ id }) => id)).toEqual(['1']);
    }
  });

  it('sees the events that operators before it insert, and no others', async () => {
    const seen: string[] = [];
    const insert = (name: string): Interceptor =>
      intercept(name, () => ({
        decide: { 'turn.stop': (given) => [notice('event.ignored', { event: name, reason: 'x' }), given] },
      }));
    await run(
      insert('before'),
      tap((given) => (given.type === 'event.ignored' ? void seen.push(given.event) : undefined)),
      insert('behind'),
    ).ended;
    expect(seen).toEqual(['before']);
  });

  it('ends the turn as cancelled when it completes the stream, and as an error when it fails', async () => {
    const leave = new Subject<void>();
    const leaving = run(
      guard(),
      takeUntil(leave),
      tap((given) => (given.type === 'tool.call' ? leave.next() : undefined)),
    );
    expect(await leaving.ended).toMatchObject({
      outcome: 'cancelled',
      reason: 'A native RxJS operator completed the stream.',
    });
    const failing = run(
      guard(),
      tap((given) => {
        if (given.type === 'tool.call') throw new Error('Native.');
      }),
    );
    expect(await failing.ended).toMatchObject({ outcome: 'error', error: { message: 'Native.' } });
    expect([...leaving.tools.ran, ...failing.tools.ran]).toEqual([]);
  });

  it('works in a separate pipe, like every RxJS operator', async () => {
    const scheduler = new VirtualTimeScheduler();
    const source$ = from<TurnEvent[]>(
      [call('1'), call('2')].map(({ toolCallId }, index) =>
        event('tool.call', { step: 1, index, call: { id: toolCallId, name: 'ls', input: {} } }),
      ),
    );
    const denied$ = source$.pipe(
      delay(5, scheduler),
      guard(),
      map((given) => (given.type === 'tool.call' && given.denied ? 'denied' : 'allowed')),
      toArray(),
    );
    const denied = lastValueFrom(denied$);
    scheduler.flush();
    expect(await denied).toEqual(['allowed', 'denied']);
  });
});
