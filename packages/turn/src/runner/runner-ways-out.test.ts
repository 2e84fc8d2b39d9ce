import { Subject, take, takeUntil, tap } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fakeOwnTimers, type OwnTimers } from '../../test/own-timers.js';
import { richTurn, type RichTurn } from '../../test/rich-turn.js';
import { slowSessions, type SlowSessions } from '../../test/slow-sessions.js';
import { expectEnded, expectSound, watch, type Watched } from '../../test/turns.js';
import { stop } from '../contract/decisions.js';
import type { TurnEvent, TurnOperator } from '../contract/events.js';
import { harness } from '../harness.js';
import type { DecisionInput } from '../operators/handlers.js';
import { intercept } from '../operators/intercept.js';
import { scriptedModel } from '../testing/index.js';
import { afterMicrotasks } from '../testing/replay-check.js';

const types = [
  'turn.start',
  'session.loaded',
  'model.request',
  'model.delta',
  'model.response',
  'model.error',
  'tool.call',
  'tool.progress',
  'tool.result',
  'input.received',
  'approval.request',
  'approval.answer',
  'history.append',
  'history.replace',
  'session.state',
  'turn.continue',
  'turn.stop',
  'turn.end',
] as const;

/** Not awaited: the turn may end before they settle. */
const unneeded: readonly string[] = [
  'session.state',
  'history.replace',
  'tool.progress',
  'input.received',
  'approval.answer',
];

/** Does something with the n-th event that comes by, counted from 1. */
const atEvent = (n: number, act: (event: TurnEvent) => DecisionInput): TurnOperator & { readonly acted: string[] } => {
  const acted: string[] = [];
  const operator = intercept('at-event', () => {
    let count = 0;
    const decide = (event: TurnEvent): DecisionInput => {
      count += 1;
      if (count !== n) return undefined;
      acted.push(event.type);
      return act(event);
    };
    return { decide: Object.fromEntries(types.map((type) => [type, decide])) };
  });
  return Object.assign(operator, { acted });
};

interface Place {
  readonly name: string;
  readonly driverDelayMs?: number;
  readonly storeDelayMs?: number | ((operation: string, count: number) => number);
}

const places: readonly Place[] = [
  { name: 'drivers and a store that answer at once' },
  { name: 'drivers that take their time', driverDelayMs: 3 },
  { name: 'a store that takes its time', storeDelayMs: 2 },
  {
    name: 'drivers and a store that take their time',
    driverDelayMs: 2,
    storeDelayMs: (_, count) => 1 + ((count * 7) % 5),
  },
];

const sessionsOf = ({ storeDelayMs }: Place): SlowSessions =>
  slowSessions(storeDelayMs === undefined ? {} : { delayMs: storeDelayMs });

let timers: OwnTimers;

/** Lets everything happen that is going to. */
const settle = async (): Promise<void> => {
  const end = Date.now() + 30_000;
  await afterMicrotasks();
  while (timers.count() > 0 && Date.now() < end) {
    vi.advanceTimersByTime(1);
    await afterMicrotasks();
  }
  vi.advanceTimersByTime(end - Date.now());
};

/** Whatever happened: nothing is left behind, and the session can be used. */
const expectClean = async (
  label: string,
  sessions: SlowSessions,
  { agent, model, tools, lives }: RichTurn,
): Promise<void> => {
  expect(timers.count(), `${label}: timers`).toBe(0);
  expect([model.active, tools.active], `${label}: drivers at work`).toEqual([0, 0]);
  expect(agent.running(), `${label}: turns under way`).toEqual([]);
  expect(lives.finalized, `${label}: operators that were set up are finalized`).toBe(lives.setUp);
  expectSound(label, sessions.journal('alice'), sessions.messages('alice'));
  const next = watch(
    harness({ model: scriptedModel(['Hello.']), sessions })
      .pipe()
      .turn({ session: 'alice', input: 'And now?' }),
  );
  await settle();
  expect(next.end.outcome, `${label}: the next turn`).toBe('completed');
  expect(next.all('session.loaded')[0]?.repairs, `${label}: nothing to repair`).toEqual([]);
};

/** How many events an undisturbed turn has. */
const lengthOf = async (place: Place): Promise<number> => {
  const rich = richTurn({ sessions: sessionsOf(place), delayMs: place.driverDelayMs });
  const { events } = watch(rich.turn(), (event) => rich.react(event));
  await settle();
  expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'completed' });
  return events.length;
};

interface Attempt {
  readonly label: string;
  readonly watched: Watched;
  readonly rich: RichTurn;
}

/** Runs a new turn for every n. */
const forEveryEvent = async (
  place: Place,
  attempt: (
    n: number,
    rich: (operators?: { first?: readonly TurnOperator[]; last?: readonly TurnOperator[] }) => RichTurn,
  ) => Omit<Attempt, 'label'>,
  check: (attempt: Attempt, n: number) => void,
): Promise<void> =>
  timers.run(async () => {
    const length = await lengthOf(place);
    expect(length).toBeGreaterThan(40);
    for (let n = 1; n <= length; n += 1) {
      const sessions = sessionsOf(place);
      const { rich, watched } = attempt(n, (operators) =>
        richTurn({ sessions, delayMs: place.driverDelayMs, ...operators }),
      );
      await settle();
      const label = `event ${n}, ${watched.types.slice(-4).join(' › ')}`;
      check({ label, rich, watched }, n);
      await expectClean(label, sessions, rich);
    }
  });

beforeEach(() => {
  timers = fakeOwnTimers(1_000);
});
afterEach(() => timers.restore());

it('counts only the timers of the work when the clock also fires others', async () => {
  setTimeout(() => setTimeout(() => undefined, 10_000), 1);
  await timers.run(async () => {
    setTimeout(() => setTimeout(() => undefined, 10_000), 1);
    await afterMicrotasks();
    vi.advanceTimersByTime(1);
    expect([timers.count(), vi.getTimerCount()]).toEqual([1, 2]);
    clearInterval(setInterval(() => undefined, 5));
    vi.advanceTimersByTime(10_000);
    expect(timers.count()).toBe(0);
  });
});

it('leaves the timers of the process as they were', () => {
  timers.restore();
  const { setInterval: real } = globalThis;
  fakeOwnTimers(1_000).restore();
  expect(globalThis.setInterval).toBe(real);
  expect(real).toBeTypeOf('function');
});

describe.each(places)('with $name, a turn ends in order', (place) => {
  it.each<[string, 'first' | 'last', (event: TurnEvent) => readonly TurnEvent[] | ReturnType<typeof stop>]>([
    ['stops beside the event', 'first', (event) => [event, { ...event, ...stop('blocked', 'Enough.') }]],
    [
      'stops instead of the event',
      'last',
      (event) => (event.type === 'approval.answer' || event.type === 'turn.end' ? [event] : stop('blocked', 'Enough.')),
    ],
  ])('when an operator %s, at every event', async (_, where, answer) => {
    await forEveryEvent(
      place,
      (n, make) => {
        const rich = make({ [where]: [atEvent(n, answer)] });
        return { rich, watched: watch(rich.turn(), (event) => rich.react(event)) };
      },
      ({ label, watched }) => {
        expectEnded(label, watched);
        const stops = watched.all('turn.stop').filter(({ outcome }) => outcome === 'blocked');
        const isStopped = stops.length > 0 && watched.all('turn.stop')[0] === stops[0];
        if (isStopped) expect(watched.end, label).toMatchObject({ outcome: 'blocked', reason: 'Enough.' });
        else expect(watched.end.outcome, label).toBe('completed');
      },
    );
  });

  it.each<[string, 'first' | 'last', readonly string[], () => DecisionInput]>([
    [
      'throws',
      'first',
      [],
      () => {
        throw new Error('Broken.');
      },
    ],
    [
      'throws behind all others',
      'last',
      [],
      () => {
        throw new Error('Broken.');
      },
    ],
    [
      'rejects later',
      'last',
      unneeded,
      () => new Promise((_, reject) => setTimeout(() => reject(new Error('Broken.')), 1)),
    ],
  ])('when an operator %s, at every event', async (_, where, harmless, fail) => {
    let failing = atEvent(0, fail);
    await forEveryEvent(
      place,
      (n, make) => {
        failing = atEvent(n, fail);
        const rich = make({ [where]: [failing] });
        return { rich, watched: watch(rich.turn(), (event) => rich.react(event)) };
      },
      ({ label, watched }) => {
        expectEnded(label, watched);
        const [type] = failing.acted;
        if (type === undefined) expect(watched.end.outcome, label).toBe('completed');
        else if (harmless.includes(type)) expect(['error', 'completed'], label).toContain(watched.end.outcome);
        else {
          expect(watched.end, `${label}, on ${type}`).toMatchObject({
            outcome: 'error',
            error: { code: 'operator-failed', operator: 'at-event' },
          });
        }
      },
    );
  });

  it('when the subscriber leaves, at every event', async () => {
    await forEveryEvent(
      place,
      (n, make) => {
        const rich = make();
        return { rich, watched: watch(rich.turn().pipe(take(n)), (event) => rich.react(event)) };
      },
      ({ label, watched }, n) => expect(watched.events, label).toHaveLength(n),
    );
  });

  it('when the signal is aborted, at every event', async () => {
    await forEveryEvent(
      place,
      (n, make) => {
        const rich = make();
        const controller = new AbortController();
        let count = 0;
        const watched = watch(rich.turn(controller.signal), (event) => {
          rich.react(event);
          count += 1;
          if (count === n) controller.abort('The user pressed Escape.');
        });
        return { rich, watched };
      },
      ({ label, watched }) => {
        expectEnded(label, watched);
        const isLate = watched.all('turn.stop')[0]?.outcome === 'completed' && watched.end.outcome === 'completed';
        if (!isLate) {
          expect(watched.end, label).toMatchObject({ outcome: 'cancelled', reason: 'The user pressed Escape.' });
        }
      },
    );
  });

  it.each<[string, (leave: Subject<void>) => void, object]>([
    [
      'fails',
      () => {
        throw new Error('Native.');
      },
      { outcome: 'error', error: { message: 'Native.' } },
    ],
    [
      'completes the stream',
      (leave) => leave.next(),
      { outcome: 'cancelled', reason: 'A native RxJS operator completed the stream.' },
    ],
  ])('when a native operator %s, at every event', async (_, act, expected) => {
    let acted: string | undefined;
    await forEveryEvent(
      place,
      (n, make) => {
        acted = undefined;
        let count = 0;
        const leave = new Subject<void>();
        const native = tap<TurnEvent>(({ type }) => {
          count += 1;
          if (count !== n) return;
          acted = type;
          act(leave);
        });
        const rich = make({ first: [native, takeUntil(leave)] });
        return { rich, watched: watch(rich.turn(), (event) => rich.react(event)) };
      },
      ({ label, watched }) => {
        expectEnded(label, watched);
        const isTooLate = acted === undefined || (acted === 'turn.end' && !('error' in expected));
        expect(watched.end, label).toMatchObject(isTooLate ? { outcome: 'completed' } : expected);
      },
    );
  });
});
