import { delay, map, mergeMap, Observable, of, share, type Subscriber, type Subscription } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { deny, keep, notice, stop } from '../contract/decisions.js';
import type { TurnEvent, TurnOperator } from '../contract/events.js';
import { intercept } from '../operators/intercept.js';
import { describeOperator } from './describe-operator.js';
import { operatorChecks } from './operator-checks.js';

/** Whether the check of this rule finds fault with the operator. */
const isCaught = async (rule: string, factory: () => TurnOperator): Promise<boolean> => {
  const broken = operatorChecks.find(({ name }) => name === rule);
  expect(broken, `no check is named ${rule}`).toBeDefined();
  try {
    await broken?.check(factory, {});
    return false;
  } catch {
    return true;
  }
};

describeOperator(() => intercept('nothing', () => ({})));
describeOperator(() =>
  intercept('counts-denials', () => {
    let denied = 0;
    return {
      observe: { 'tool.call': (event) => void (denied += event.denied ? 1 : 0) },
      decide: {
        'tool.call': (event) => (event.call.name === 'list' ? deny(event, 'No.') : undefined),
        'model.request': () => (denied >= 2 ? stop('blocked', 'Denied twice.') : undefined),
      },
    };
  }),
);
describeOperator(() => intercept('everything', () => ({ observe: { '*': () => undefined } })));

const replayRule = 'decides the same after a resume from any record';

it.each(['passes ordinary and unknown events by identity and in order', 'works twice in a pipe'])(
  'names the fix if an operator adds an event (%s)',
  async (rule) => {
    const keeper = intercept('keeper', () => ({ decide: { 'turn.stop': (event) => [keep('keeper', 1), event] } }));
    const check = async (changes: readonly string[]) =>
      operatorChecks.find(({ name }) => name === rule)?.check(() => keeper, { changes });
    await expect(check([])).rejects.toThrow(/^the operator changed.* name their types in \{ changes: \[…\] \}/);
    await check(['session.state']);
  },
);

describe('detects an operator that', () => {
  const shared = { count: 0 };
  const broken: Readonly<Record<string, readonly [rule: string, factory: () => TurnOperator]>> = {
    'copies events': [
      'passes ordinary and unknown events by identity and in order',
      () => map((event) => ({ ...event })),
    ],
    'drops unknown events': [
      'passes ordinary and unknown events by identity and in order',
      () => mergeMap((event) => (event.type in { 'weather.changed': 1 } ? [] : [event])),
    ],
    'mutates events': ['mutates nothing', () => map((event) => Object.assign(event, { at: 1 }))],
    'adds to the history in place': [
      'mutates nothing',
      () =>
        intercept('adds', () => ({
          observe: {
            'history.append': ({ messages }) => void (messages as unknown[]).push({ role: 'user', content: 'Me too.' }),
          },
        })),
    ],
    'counts over all turns': [
      'keeps no state between subscriptions',
      () =>
        intercept('counts', () => ({
          decide: {
            'tool.result': (event) => {
              shared.count += 1;
              return [event, notice('event.ignored', { event: 'x', reason: String(shared.count) })];
            },
          },
        })),
    ],
    'keeps its state in the closure of the operator': [
      'keeps no state between subscriptions',
      () => {
        let isSecond = false;
        return mergeMap((event) => {
          if (event.type !== 'turn.end') return [event];
          const events = isSecond ? [event, event] : [event];
          isSecond = true;
          return events;
        });
      },
    ],
    'shares its source': ['keeps no state between subscriptions', () => sharing()],
    'swallows completion': ['forwards completion and errors', () => passing({ complete: () => undefined })],
    'swallows errors': [
      'forwards completion and errors',
      () => passing({ error: (subscriber) => subscriber.complete() }),
    ],
    'never unsubscribes': [
      'unsubscribes its source and leaves no timers',
      () => passing({ teardown: () => undefined }),
    ],
    'leaves a timer': [
      'unsubscribes its source and leaves no timers',
      () => intercept('timer', () => ({ observe: { 'turn.start': () => void setTimeout(() => undefined, 50_000) } })),
    ],
    'counts in decide': [
      replayRule,
      () =>
        intercept('counts-in-decide', () => {
          let calls = 0;
          return {
            decide: { 'tool.call': (event) => ((calls += 1) > 3 ? deny(event, 'Too many calls.') : undefined) },
          };
        }),
    ],
    'counts its own denials in decide instead of observe': [
      replayRule,
      () =>
        intercept('counts-denials', () => {
          let denied = 0;
          return {
            decide: {
              'tool.call': (event) => (event.call.name === 'list' ? ((denied += 1), deny(event, 'No.')) : undefined),
              'model.request': () => (denied >= 2 ? stop('blocked', 'Denied twice.') : undefined),
            },
          };
        }),
    ],
    'reads the clock while it observes': [
      replayRule,
      () =>
        intercept('stopwatch', ({ now }) => {
          let beganAt = 0;
          return {
            observe: { 'turn.start': () => void (beganAt = now()) },
            decide: { 'model.request': () => (now() - beganAt > 70 ? stop('timed-out', 'Too slow.') : undefined) },
          };
        }),
    ],
    'updates its state in decide instead of observe': [
      replayRule,
      () =>
        intercept('remembers', () => {
          let last = '';
          return {
            decide: {
              'tool.result': ({ call }) => void (last = call.id),
              'model.request': (event) => ({ ...event, tail: [{ role: 'user', content: `Last: ${last}` }] }),
            },
          };
        }),
    ],
    'delays deltas': [
      'passes deltas synchronously',
      () => mergeMap((event) => (event.type === 'model.delta' ? of(event).pipe(delay(1)) : of(event))),
    ],
    'makes the stream asynchronous': ['passes deltas synchronously', () => delay(0)],
    'removes a call without answering it': [
      'lets a turn complete with a valid transcript',
      () => intercept('removes', () => ({ decide: { 'tool.call': () => null } })),
    ],
  };
  for (const [name, [rule, factory]] of Object.entries(broken)) {
    it(name, async () => {
      expect(await isCaught(rule, factory)).toBe(true);
    });
  }
});

interface Passing {
  readonly error?: (subscriber: Subscriber<TurnEvent>, error: unknown) => void;
  readonly complete?: (subscriber: Subscriber<TurnEvent>) => void;
  readonly teardown?: (subscription: Subscription) => void;
}

/** Creates an operator that passes everything, except for one configured mistake. */
const passing =
  ({
    error = (subscriber, thrown) => subscriber.error(thrown),
    complete = (subscriber) => subscriber.complete(),
    teardown = (subscription) => subscription.unsubscribe(),
  }: Passing): TurnOperator =>
  (source) =>
    new Observable((subscriber) => {
      const subscription = source.subscribe({
        next: (event) => subscriber.next(event),
        error: (thrown: unknown) => error(subscriber, thrown),
        complete: () => complete(subscriber),
      });
      return () => teardown(subscription);
    });

const sharing = (): TurnOperator => {
  let shared$: Observable<TurnEvent> | undefined;
  return (source) => (shared$ ??= source.pipe(share()));
};
