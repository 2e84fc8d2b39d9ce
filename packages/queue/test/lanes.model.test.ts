import type { TurnPriority } from '@h/turn';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLanes, type LaneHandle, type LaneLease, type LocalLanes } from '../src/index.js';
import type { FullPolicy } from '../src/lanes/bounds.js';
import type { SlotHolder } from '../src/lanes/waiter.js';
import { settled } from './settled.js';
import { ReferenceLanes, type ReferenceRequest, type ReferenceOptions } from './reference-lanes.js';
import { virtualTime, type VirtualTime } from './virtual-time.js';

const maxWaitingPerSession = 3;

/** Runs the lanes next to the reference: the admitted request must be the one that the reference names. */
class System {
  readonly time: VirtualTime = virtualTime();
  readonly reference: ReferenceLanes;
  readonly lanes: LocalLanes;
  readonly leases = new Map<string, LaneLease>();
  readonly places = new Map<string, LaneHandle>();
  readonly away = new Map<string, () => void>();
  /**
   * Holders that wait for a person, those whose slot was lent, and those that have been answered and wait for a slot.
   */
  readonly asking = new Set<string>();
  readonly lent = new Set<string>();
  readonly answered = new Set<string>();
  readonly lost: LaneLease[] = [];
  readonly #whenFull: FullPolicy;
  #count = 0;
  #areParentsReported = false;
  #wereDeadlocked = false;
  problem: string | undefined;

  constructor(options: ReferenceOptions, whenFull: FullPolicy) {
    this.#whenFull = whenFull;
    this.reference = new ReferenceLanes(options);
    const { caps, ...rest } = options;
    this.lanes = createLanes({
      ...rest,
      groups: Object.fromEntries(Object.entries(caps).map(([kind, concurrency]) => [kind, { concurrency }])),
      whenFull,
      maxWaitingPerSession,
      idleTimeoutMs: 2000,
      deadlineMs: 7000,
      graceMs: 100,
      scheduler: this.time.scheduler,
      onEvent: ({ type }) => {
        if (type === 'slots-held-by-parents') this.#areParentsReported = true;
        if (type === 'callback-failed') this.problem ??= 'a callback has failed';
      },
    });
  }

  get now(): number {
    return this.time.scheduler.now();
  }

  enter(given: Omit<ReferenceRequest, 'name' | 'parent'>, maxWaitMs: number, parentIndex?: number): void {
    this.#count += 1;
    const parent = parentIndex === undefined ? undefined : this.#pick(this.leases, parentIndex);
    const request = { ...given, parent, name: `${this.#count}` };
    const { name, session, priority, groups } = request;
    const waiting = this.reference.waitingIn(session);
    const isFull = waiting.length >= maxWaitingPerSession;
    const isRefused = this.reference.isRefused(request) || (isFull && this.#whenFull === 'reject');
    const toDrop =
      isRefused || !isFull ? undefined : (this.#whenFull === 'drop-newest' ? waiting.at(-1) : waiting[0])?.name;
    if (!isRefused) this.reference.enter(request, this.now);
    const within = parent === undefined ? undefined : this.leases.get(parent);
    let wasRefused = false;
    const place = this.lanes.enter(
      { session, priority, label: name, maxWaitMs, within, groups },
      {
        admitted: (lease) => {
          this.leases.set(name, lease);
          this.#expectNext(name);
        },
        refused: () => {
          wasRefused = true;
          this.places.delete(name);
          this.reference.remove(name, this.now);
        },
        returned: () => {
          this.#letBackIn();
          this.answered.delete(name);
        },
        aborted: () => {
          this.answered.delete(name);
          if (this.reference.find(name)?.state === 'returning') this.reference.lendSlot(name, this.now);
        },
        lost: () => {
          const lease = this.leases.get(name);
          if (lease) this.lost.push(lease);
          this.#forget(name);
          this.reference.remove(name, this.now);
        },
      },
    );
    if (!this.leases.has(name) && this.reference.find(name)) this.places.set(name, place);
    if (wasRefused !== isRefused) this.problem ??= `${name} was ${wasRefused ? '' : 'not '}refused`;
    if (toDrop !== undefined && this.reference.find(toDrop)) this.problem ??= `${toDrop} should have been dropped`;
  }

  finish(index: number): void {
    const name = this.#pick(this.leases, index);
    if (name === undefined || this.away.has(name)) return;
    const lease = this.leases.get(name);
    this.#forget(name);
    this.reference.remove(name, this.now);
    lease?.release();
    lease?.release();
  }

  leave(index: number): void {
    const name = this.#pick(this.places, index);
    if (name === undefined || this.leases.has(name)) return;
    const place = this.places.get(name);
    this.places.delete(name);
    this.reference.remove(name, this.now);
    place?.abort('Never mind.');
  }

  progress(index: number): void {
    const name = this.#pick(this.leases, index);
    if (name !== undefined) this.leases.get(name)?.progress();
  }

  lendSlot(index: number): void {
    const name = this.#pick(this.leases, index);
    const lease = name === undefined ? undefined : this.leases.get(name);
    if (!lease || name === undefined || this.away.has(name)) return;
    this.reference.lendSlot(name, this.now);
    void lease.yieldWhile(() => new Promise<void>((resolve) => this.away.set(name, resolve))).catch(() => undefined);
  }

  async reclaimSlot(index: number): Promise<void> {
    const name = this.#pick(this.away, index);
    if (name === undefined) return;
    const back = this.away.get(name);
    this.away.delete(name);
    if (!this.leases.get(name)?.isAborted && !this.lent.has(name)) this.reference.reclaimSlot(name, this.now);
    back?.();
    await settled(8);
  }

  ask(index: number): void {
    const name = this.#pick(this.leases, index);
    const lease = name === undefined ? undefined : this.leases.get(name);
    if (!lease || name === undefined || lease.isAborted || this.#slotOf(name) === 'wanted') return;
    if (!this.asking.has(name)) this.lent.add(name);
    this.asking.add(name);
    if (this.#slotOf(name) === 'held') this.reference.lendSlot(name, this.now);
    lease.pause?.();
  }

  answer(index: number): void {
    const name = [...this.asking][index % this.asking.size];
    const lease = name === undefined ? undefined : this.leases.get(name);
    if (!lease || name === undefined) return;
    this.asking.delete(name);
    if (this.lent.delete(name) && !lease.isAborted && !this.away.has(name)) this.reference.reclaimSlot(name, this.now);
    if (lease.resume?.() === false) this.answered.add(name);
    if (this.answered.has(name) !== (this.#slotOf(name) === 'wanted')) {
      this.problem ??= `${name} received a wrong answer from resume()`;
    }
  }

  wait(ms: number): void {
    this.time.advance(ms);
    this.#letBackIn();
  }

  finishLate(): void {
    for (const lease of this.lost.splice(0)) lease.release();
  }

  beginToDrain(): void {
    if (this.reference.openness === 'open') this.reference.openness = 'draining';
    void this.lanes.drain();
  }

  shutdown(): void {
    this.reference.openness = 'closed';
    void this.lanes.shutdown();
  }

  clear(session: string): void {
    const waiting = this.reference.waitingIn(session).length;
    expect(this.lanes.clear(session)).toBe(waiting);
  }

  /** Conditions that hold after each command. */
  check(): void {
    this.#letBackIn();
    for (const name of this.answered) {
      if (this.#slotOf(name) !== 'wanted') this.problem ??= `${name} may resume, but was not notified`;
    }
    for (const name of this.asking) {
      if (this.#slotOf(name) === 'held') this.problem ??= `${name} waits for a person, but holds its slot`;
    }
    expect(this.problem).toBeUndefined();
    expect(this.reference.next(this.now), 'a request waits although a slot is free').toBeUndefined();
    const running = this.reference
      .all()
      .filter(({ state }) => state === 'running')
      .map(({ name }) => name);
    const snapshot = this.lanes.snapshot();
    const current = snapshot.sessions.flatMap(({ running: one }) => (one ? [one.label] : []));
    const expected = this.reference
      .all()
      .filter(({ state }) => state !== 'behind' && state !== 'at-gate')
      .map(({ name }) => name);
    expect(new Set(current)).toEqual(new Set(expected));
    expect(current).toHaveLength(expected.length);
    const { active, waiting } = snapshot;
    const isDeadlocked = this.reference.isDeadlocked();
    if (isDeadlocked && !this.#wereDeadlocked) {
      expect(this.#areParentsReported, 'parents hold all slots, and no event reports it').toBe(true);
    }
    this.#wereDeadlocked = isDeadlocked;
    this.#areParentsReported = false;
    expect(active.foreground + active.normal + active.background).toBe(running.length);
    expect(waiting).toBe(this.reference.all().filter(({ state }) => state === 'behind' || state === 'at-gate').length);
  }

  /** Ends all requests. */
  drain(): void {
    for (let round = 0; round < 200 && this.lanes.snapshot().sessions.length > 0; round += 1) this.time.advance(1000);
    expect(this.lanes.snapshot()).toMatchObject({
      sessions: [],
      groups: [],
      waiting: 0,
      active: { foreground: 0, normal: 0, background: 0 },
    });
    expect(this.time.timers, 'timers are left').toBe(0);
  }

  /** Returning work is admitted without a notification. */
  #letBackIn(): void {
    for (let name = this.reference.next(this.now); name !== undefined; name = this.reference.next(this.now)) {
      if (this.reference.find(name)?.state !== 'returning' || this.#stateOf(name) !== 'running') return;
      this.reference.admit(name, this.now);
    }
  }

  #slotOf(name: string): SlotHolder['slot'] | undefined {
    return (this.leases.get(name) as SlotHolder | undefined)?.slot;
  }

  #stateOf(name: string): string | undefined {
    return this.lanes.snapshot().sessions.find(({ running }) => running?.label === name)?.running?.state;
  }

  #expectNext(name: string): void {
    this.#letBackIn();
    const expected = this.reference.next(this.now);
    if (expected !== name) this.problem ??= `${name} was admitted, but ${expected} is next`;
    this.reference.admit(name, this.now);
    this.places.delete(name);
  }

  #forget(name: string): void {
    this.leases.delete(name);
    this.places.delete(name);
    this.away.delete(name);
    for (const names of [this.asking, this.lent, this.answered]) names.delete(name);
  }

  #pick(map: ReadonlyMap<string, unknown>, index: number): string | undefined {
    const names = [...map.keys()];
    return names[index % names.length];
  }
}

type Move = (system: System) => void | Promise<void>;

const index = fc.nat(20);
const sessions = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const newcomer = fc.record({
  session: sessions,
  priority: fc.constantFrom<TurnPriority>('foreground', 'normal', 'background'),
  groups: fc.record({
    tenant: fc.constantFrom(undefined, 't', 'u'),
    provider: fc.constantFrom(undefined, undefined, 'p', 'q'),
  }),
});
const moves: fc.Arbitrary<readonly [string, Move]> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(newcomer, fc.constantFrom(Infinity, Infinity, 700))
      .map(([request, maxWaitMs]): [string, Move] => [
        `enter ${JSON.stringify(request)} ${maxWaitMs}`,
        (system) => system.enter(request, maxWaitMs),
      ]),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(newcomer, index)
      .map(([request, parent]): [string, Move] => [
        `enter ${JSON.stringify(request)} within ${parent}`,
        (system) => system.enter(request, Infinity, parent),
      ]),
  },
  { weight: 4, arbitrary: index.map((at): [string, Move] => [`finish ${at}`, (system) => system.finish(at)]) },
  { weight: 1, arbitrary: index.map((at): [string, Move] => [`leave ${at}`, (system) => system.leave(at)]) },
  { weight: 1, arbitrary: index.map((at): [string, Move] => [`progress ${at}`, (system) => system.progress(at)]) },
  { weight: 2, arbitrary: index.map((at): [string, Move] => [`step out ${at}`, (system) => system.lendSlot(at)]) },
  { weight: 2, arbitrary: index.map((at): [string, Move] => [`step in ${at}`, (system) => system.reclaimSlot(at)]) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(50, 450, 450, 2100, 7000)
      .map((ms): [string, Move] => [`advance ${ms}`, (system) => system.wait(ms)]),
  },
  { weight: 2, arbitrary: index.map((at): [string, Move] => [`ask ${at}`, (system) => system.ask(at)]) },
  { weight: 2, arbitrary: index.map((at): [string, Move] => [`answer ${at}`, (system) => system.answer(at)]) },
  {
    weight: 1,
    arbitrary: sessions.map((session): [string, Move] => [`clear ${session}`, (system) => system.clear(session)]),
  },
  {
    weight: 1,
    arbitrary: fc
      .nat(5)
      .map((chance): [string, Move] =>
        chance > 0 ? ['wait', () => undefined] : ['drain', (system) => system.beginToDrain()],
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .nat(5)
      .map((chance): [string, Move] =>
        chance > 0 ? ['wait', () => undefined] : ['shutdown', (system) => system.shutdown()],
      ),
  },
  { weight: 1, arbitrary: fc.constant<[string, Move]>(['finish late', (system) => system.finishLate()]) },
);

class Command implements fc.AsyncCommand<object, System> {
  readonly #name: string;
  readonly #move: Move;

  constructor([name, move]: readonly [string, Move]) {
    this.#name = name;
    this.#move = move;
  }

  check(): boolean {
    return true;
  }

  async run(_model: object, system: System): Promise<void> {
    await this.#move(system);
    system.check();
  }

  toString(): string {
    return this.#name;
  }
}

describe('lanes compared with the reference', () => {
  it('admit the same requests, respect the limits, and leave no timers', { timeout: 60_000 }, async () => {
    const options = fc.record({
      concurrency: fc.integer({ min: 1, max: 4 }),
      reservedForeground: fc.integer({ min: 0, max: 2 }),
      ageAfterMs: fc.constantFrom(Infinity, 400, 400),
      caps: fc.record({ tenant: fc.integer({ min: 1, max: 2 }), provider: fc.integer({ min: 1, max: 2 }) }),
    });
    const policies = fc.constantFrom<FullPolicy>('reject', 'drop-oldest', 'drop-newest', 'summarize');
    const commands = fc.commands([moves.map((move) => new Command(move))], { maxCommands: 60 });
    await fc.assert(
      fc.asyncProperty(options, policies, commands, async (given, whenFull, all) => {
        const system = new System(
          { ...given, reservedForeground: Math.min(given.reservedForeground, given.concurrency - 1) },
          whenFull,
        );
        await fc.asyncModelRun(() => ({ model: {}, real: system }), all);
        system.drain();
        await settled(8);
        await system.lanes.shutdown();
      }),
      { numRuns: 200 },
    );
  });
});
