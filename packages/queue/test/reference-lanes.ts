import type { TurnPriority } from '@h/turn';

/** A request, for the reference. */
export interface Person {
  readonly name: string;
  readonly session: string;
  readonly priority: TurnPriority;
  /** Keys by kind. */
  readonly groups: Readonly<Record<string, string | undefined>>;
  /** As a part of whose work it came. */
  readonly parent: string | undefined;
}

interface Standing extends Person {
  state: 'behind' | 'at-gate' | 'running' | 'away' | 'returning';
  sequence: number;
  ownSequence: number;
  /** That of the most urgent in its session, as it was seen last. */
  effective: TurnPriority;
  since: number;
  isReturning: boolean;
  hasAged: boolean;
}

export interface ReferenceOptions {
  readonly concurrency: number;
  readonly reservedForeground: number;
  readonly ageAfterMs: number;
  /** By kind of group. */
  readonly caps: Readonly<Record<string, number>>;
}

/** Which requests are accepted. */
export type Openness = 'open' | 'draining' | 'closed';

/** The rules of the lanes in the plainest form, to compare with: everything is computed from scratch. */
export class ReferenceLanes {
  readonly #options: ReferenceOptions;
  readonly #lanes = new Map<string, Standing[]>();
  readonly #everybody = new Map<string, Standing>();
  #sequence = 0;
  #returns = 0;
  openness: Openness = 'open';

  constructor(options: ReferenceOptions) {
    this.#options = options;
  }

  all(): readonly Standing[] {
    return [...this.#lanes.values()].flat();
  }

  enter(person: Person, now: number): void {
    const lane = this.#lanes.get(person.session) ?? [];
    const standing: Standing = {
      ...person,
      state: 'behind',
      sequence: 0,
      ownSequence: 0,
      effective: person.priority,
      since: 0,
      isReturning: false,
      hasAged: false,
    };
    this.#everybody.set(person.name, standing);
    this.#lanes.set(person.session, [...lane, standing]);
    this.#advance(person.session, now);
  }

  remove(name: string, now: number): void {
    this.#grow(now);
    const found = this.find(name);
    if (!found) return;
    this.#lanes.set(
      found.session,
      (this.#lanes.get(found.session) ?? []).filter((other) => other !== found),
    );
    this.#advance(found.session, now);
  }

  /** The ancestors of a request that still hold a slot, the nearest first. */
  ancestorsOf({ parent }: Pick<Person, 'parent'>): readonly Standing[] {
    const found = parent === undefined ? undefined : this.#everybody.get(parent);
    if (!found) return [];
    const isThere = this.find(found.name) !== undefined && found.state !== 'behind' && found.state !== 'at-gate';
    return [...(isThere ? [found] : []), ...this.ancestorsOf(found)];
  }

  /** Whether a request is refused at once. */
  isRefused(person: Person): boolean {
    const ancestors = this.ancestorsOf(person);
    if (this.openness === 'closed' || (this.openness === 'draining' && ancestors.length === 0)) return true;
    return ancestors.some(({ session }) => session === person.session);
  }

  /** Whether all who have a slot have started something that waits for one, to begin or to resume. */
  isDeadlocked(): boolean {
    const running = this.all().filter(({ state }) => state === 'running');
    const blocked = this.all()
      .filter((one) => isWaiting(one) || one.state === 'returning')
      .map((one) => this.ancestorsOf(one)[0]?.name);
    return running.length > 0 && running.every(({ name }) => blocked.includes(name));
  }

  find(name: string): Standing | undefined {
    return this.all().find((standing) => standing.name === name);
  }

  waitingIn(session: string): readonly Standing[] {
    return (this.#lanes.get(session) ?? []).filter(isWaiting);
  }

  lendSlot(name: string, now: number): void {
    this.#grow(now);
    const found = this.find(name);
    if (found) found.state = 'away';
  }

  reclaimSlot(name: string, now: number): void {
    const found = this.find(name);
    this.#returns += 1;
    if (!found) return;
    const effective = this.#mostUrgentIn(found.session);
    Object.assign(found, { state: 'returning', isReturning: true, sequence: this.#returns, effective, since: now });
  }

  admit(name: string, now: number): void {
    this.#grow(now);
    const found = this.find(name);
    if (found) found.state = 'running';
  }

  /** The request that is admitted next. */
  next(now: number): string | undefined {
    this.#grow(now);
    const running = this.all().filter(({ state }) => state === 'running');
    const { concurrency, reservedForeground, caps } = this.#options;
    if (running.length >= concurrency) return undefined;
    const others = running.filter(({ effective }) => effective !== 'foreground').length;
    const rankOf = ({ effective, hasAged }: Standing): number =>
      effective === 'foreground' ? 0 : effective === 'normal' || hasAged ? 1 : 2;
    const isAllowed = (one: Standing): boolean =>
      (one.state === 'at-gate' || one.state === 'returning') &&
      (one.effective === 'foreground' || others < concurrency - reservedForeground) &&
      Object.entries(one.groups).every(
        ([kind, key]) =>
          key === undefined || running.filter(({ groups }) => groups[kind] === key).length < (caps[kind] ?? 0),
      );
    return this.all()
      .filter(isAllowed)
      .toSorted(
        (left, right) =>
          rankOf(left) - rankOf(right) ||
          Number(right.isReturning) - Number(left.isReturning) ||
          left.sequence - right.sequence,
      )[0]?.name;
  }

  /** Background requests that have waited long enough count as normal. */
  #grow(now: number): void {
    for (const one of this.all()) {
      if ((one.state === 'at-gate' || one.state === 'returning') && now - one.since >= this.#options.ageAfterMs) {
        one.hasAged = true;
      }
    }
  }

  #advance(session: string, now: number): void {
    const [head] = this.#lanes.get(session) ?? [];
    if (head?.state === 'behind') {
      this.#sequence += 1;
      const effective = this.#mostUrgentIn(session);
      Object.assign(head, {
        state: 'at-gate',
        sequence: this.#sequence,
        ownSequence: this.#sequence,
        effective,
        since: now,
      });
    } else {
      this.#inherit(session);
    }
  }

  #mostUrgentIn(session: string): TurnPriority {
    const all = (this.#lanes.get(session) ?? []).map(({ priority }) => priority);
    return byUrgency.find((priority) => all.includes(priority)) ?? 'background';
  }

  /** The first of a session that waits for a slot has the priority of the most urgent behind it. */
  #inherit(session: string): void {
    const [head] = this.#lanes.get(session) ?? [];
    if (head?.state !== 'at-gate' && head?.state !== 'returning') return;
    const effective = this.#mostUrgentIn(session);
    const change = byUrgency.indexOf(effective) - byUrgency.indexOf(head.effective);
    head.effective = effective;
    if (head.isReturning || change === 0) return;
    if (change < 0) this.#sequence += 1;
    head.sequence = change < 0 ? this.#sequence : head.ownSequence;
  }
}

const byUrgency = ['foreground', 'normal', 'background'] as const;

const isWaiting = ({ state }: Standing): boolean => state === 'behind' || state === 'at-gate';
