import type { TurnPriority } from '@h/turn';

/** Somebody, as the reference sees it. */
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
  since: number;
  hasComeBack: boolean;
  hasAged: boolean;
}

export interface ReferenceOptions {
  readonly concurrency: number;
  readonly reservedForeground: number;
  readonly ageAfterMs: number;
  /** By kind of group. */
  readonly caps: Readonly<Record<string, number>>;
}

/** Who may still come. */
export type Openness = 'open' | 'draining' | 'closed';

/** The rules of the lanes in the plainest form, to compare with: everything is looked for anew, each time. */
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
      since: 0,
      hasComeBack: false,
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

  /** Those as part of whose work somebody came, the nearest first, who still have a place. */
  ancestorsOf({ parent }: Pick<Person, 'parent'>): readonly Standing[] {
    const found = parent === undefined ? undefined : this.#everybody.get(parent);
    if (!found) return [];
    const isThere = this.find(found.name) !== undefined && found.state !== 'behind' && found.state !== 'at-gate';
    return [...(isThere ? [found] : []), ...this.ancestorsOf(found)];
  }

  /** Whether somebody may not even wait. */
  isRefused(person: Person): boolean {
    const ancestors = this.ancestorsOf(person);
    if (this.openness === 'closed' || (this.openness === 'draining' && ancestors.length === 0)) return true;
    return ancestors.some(({ session }) => session === person.session);
  }

  /** Whether all who have a slot have started something that waits for one, be it to begin or to go on. */
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

  stepOut(name: string, now: number): void {
    this.#grow(now);
    const found = this.find(name);
    if (found) found.state = 'away';
  }

  stepIn(name: string, now: number): void {
    const found = this.find(name);
    this.#returns += 1;
    if (found) Object.assign(found, { state: 'returning', hasComeBack: true, sequence: this.#returns, since: now });
  }

  admit(name: string, now: number): void {
    this.#grow(now);
    const found = this.find(name);
    if (found) found.state = 'running';
  }

  /** Who is to be let in next. */
  next(now: number): string | undefined {
    this.#grow(now);
    const running = this.all().filter(({ state }) => state === 'running');
    const { concurrency, reservedForeground, caps } = this.#options;
    if (running.length >= concurrency) return undefined;
    const others = running.filter(({ priority }) => priority !== 'foreground').length;
    const rankOf = ({ priority, hasAged }: Standing): number =>
      priority === 'foreground' ? 0 : priority === 'normal' || hasAged ? 1 : 2;
    const isAllowed = (one: Standing): boolean =>
      (one.state === 'at-gate' || one.state === 'returning') &&
      (one.priority === 'foreground' || others < concurrency - reservedForeground) &&
      Object.entries(one.groups).every(
        ([kind, key]) =>
          key === undefined || running.filter(({ groups }) => groups[kind] === key).length < (caps[kind] ?? 0),
      );
    return this.all()
      .filter(isAllowed)
      .toSorted(
        (left, right) =>
          rankOf(left) - rankOf(right) ||
          Number(right.hasComeBack) - Number(left.hasComeBack) ||
          left.sequence - right.sequence,
      )[0]?.name;
  }

  /** Who has waited long enough counts as normal from then on. */
  #grow(now: number): void {
    for (const one of this.all()) {
      if ((one.state === 'at-gate' || one.state === 'returning') && now - one.since >= this.#options.ageAfterMs) {
        one.hasAged = true;
      }
    }
  }

  #advance(session: string, now: number): void {
    const [head] = this.#lanes.get(session) ?? [];
    if (head?.state !== 'behind') return;
    this.#sequence += 1;
    Object.assign(head, { state: 'at-gate', sequence: this.#sequence, since: now });
  }
}

const isWaiting = ({ state }: Standing): boolean => state === 'behind' || state === 'at-gate';
