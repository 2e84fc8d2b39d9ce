import type { TurnPriority } from '@h/turn';

/** Somebody, as the reference sees it. */
export interface Person {
  readonly name: string;
  readonly session: string;
  readonly priority: TurnPriority;
  readonly tenant: string | undefined;
}

interface Standing extends Person {
  state: 'behind' | 'at-gate' | 'running' | 'away' | 'returning';
  sequence: number;
  since: number;
}

export interface ReferenceOptions {
  readonly concurrency: number;
  readonly reservedForeground: number;
  readonly ageAfterMs: number;
  readonly tenantConcurrency: number;
}

/** The rules of the lanes in the plainest form, to compare with: everything is looked for anew, each time. */
export class ReferenceLanes {
  readonly #options: ReferenceOptions;
  readonly #lanes = new Map<string, Standing[]>();
  #sequence = 0;
  #returns = 0;

  constructor(options: ReferenceOptions) {
    this.#options = options;
  }

  all(): readonly Standing[] {
    return [...this.#lanes.values()].flat();
  }

  enter(person: Person, now: number): void {
    const lane = this.#lanes.get(person.session) ?? [];
    this.#lanes.set(person.session, [...lane, { ...person, state: 'behind', sequence: 0, since: 0 }]);
    this.#advance(person.session, now);
  }

  remove(name: string, now: number): void {
    const found = this.find(name);
    if (!found) return;
    this.#lanes.set(found.session, (this.#lanes.get(found.session) ?? []).filter((other) => other !== found));
    this.#advance(found.session, now);
  }

  find(name: string): Standing | undefined {
    return this.all().find((standing) => standing.name === name);
  }

  waitingIn(session: string): readonly Standing[] {
    return (this.#lanes.get(session) ?? []).filter(({ state }) => state === 'behind' || state === 'at-gate');
  }

  stepOut(name: string): void {
    const found = this.find(name);
    if (found) found.state = 'away';
  }

  stepIn(name: string): void {
    const found = this.find(name);
    this.#returns += 1;
    if (found) Object.assign(found, { state: 'returning', sequence: -this.#returns });
  }

  admit(name: string): void {
    const found = this.find(name);
    if (found) found.state = 'running';
  }

  /** Who is to be let in next. */
  next(now: number): string | undefined {
    const running = this.all().filter(({ state }) => state === 'running');
    const { concurrency, reservedForeground, ageAfterMs, tenantConcurrency } = this.#options;
    if (running.length >= concurrency) return undefined;
    const others = running.filter(({ priority }) => priority !== 'foreground').length;
    const hasAged = (one: Standing): boolean => one.state === 'at-gate' && now - one.since >= ageAfterMs;
    const rankOf = (one: Standing): number => (one.priority === 'foreground' ? 0 : one.priority === 'normal' || hasAged(one) ? 1 : 2);
    const isAllowed = (one: Standing): boolean =>
      (one.state === 'at-gate' || one.state === 'returning') &&
      (one.priority === 'foreground' || others < concurrency - reservedForeground) &&
      (one.tenant === undefined || running.filter(({ tenant }) => tenant === one.tenant).length < tenantConcurrency);
    return this.all()
      .filter(isAllowed)
      .toSorted((left, right) => rankOf(left) - rankOf(right) || left.sequence - right.sequence)[0]?.name;
  }

  #advance(session: string, now: number): void {
    const [head] = this.#lanes.get(session) ?? [];
    if (head?.state !== 'behind') return;
    this.#sequence += 1;
    Object.assign(head, { state: 'at-gate', sequence: this.#sequence, since: now });
  }
}
