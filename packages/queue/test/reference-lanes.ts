import type { TurnPriority } from '@h/turn';

/** A request to the reference implementation. */
export interface ReferenceRequest {
  readonly name: string;
  readonly session: string;
  readonly priority: TurnPriority;
  /** Keys by kind. */
  readonly groups: Readonly<Record<string, string | undefined>>;
  /** The name of the request whose work made this one. */
  readonly parent: string | undefined;
}

interface RequestState extends ReferenceRequest {
  state: 'behind' | 'at-gate' | 'running' | 'away' | 'returning';
  sequence: number;
  ownSequence: number;
  /** The last known priority of the most urgent request in its session. */
  effective: TurnPriority;
  since: number;
  isReturning: boolean;
  hasAged: boolean;
}

export interface ReferenceOptions {
  readonly concurrency: number;
  readonly reservedForeground: number;
  readonly ageAfterMs: number;
  /** Limits by kind of group. */
  readonly caps: Readonly<Record<string, number>>;
}

/** Which requests are accepted. */
export type Openness = 'open' | 'draining' | 'closed';

/** The rules of the lanes as simply as possible, for comparison: everything is computed from scratch. */
export class ReferenceLanes {
  readonly #options: ReferenceOptions;
  readonly #lanes = new Map<string, RequestState[]>();
  readonly #requests = new Map<string, RequestState>();
  #sequence = 0;
  #returns = 0;
  openness: Openness = 'open';

  constructor(options: ReferenceOptions) {
    this.#options = options;
  }

  all(): readonly RequestState[] {
    return [...this.#lanes.values()].flat();
  }

  enter(request: ReferenceRequest, now: number): void {
    const lane = this.#lanes.get(request.session) ?? [];
    const state: RequestState = {
      ...request,
      state: 'behind',
      sequence: 0,
      ownSequence: 0,
      effective: request.priority,
      since: 0,
      isReturning: false,
      hasAged: false,
    };
    this.#requests.set(request.name, state);
    this.#lanes.set(request.session, [...lane, state]);
    this.#advance(request.session, now);
  }

  remove(name: string, now: number): void {
    this.#age(now);
    const found = this.find(name);
    if (!found) return;
    this.#lanes.set(
      found.session,
      (this.#lanes.get(found.session) ?? []).filter((other) => other !== found),
    );
    this.#advance(found.session, now);
  }

  /** Returns the ancestors of a request that still hold a slot, the nearest first. */
  ancestorsOf({ parent }: Pick<ReferenceRequest, 'parent'>): readonly RequestState[] {
    const found = parent === undefined ? undefined : this.#requests.get(parent);
    if (!found) return [];
    const holdsSlot = this.find(found.name) !== undefined && found.state !== 'behind' && found.state !== 'at-gate';
    return [...(holdsSlot ? [found] : []), ...this.ancestorsOf(found)];
  }

  /** Returns whether a request is refused immediately. */
  isRefused(request: ReferenceRequest): boolean {
    const ancestors = this.ancestorsOf(request);
    if (this.openness === 'closed' || (this.openness === 'draining' && ancestors.length === 0)) return true;
    return ancestors.some(({ session }) => session === request.session);
  }

  /** Returns whether every holder of a slot has started work that waits for a slot, to begin or to resume. */
  isDeadlocked(): boolean {
    const running = this.all().filter(({ state }) => state === 'running');
    const blocked = this.all()
      .filter((one) => isWaiting(one) || one.state === 'returning')
      .map((one) => this.ancestorsOf(one)[0]?.name);
    return running.length > 0 && running.every(({ name }) => blocked.includes(name));
  }

  find(name: string): RequestState | undefined {
    return this.all().find((request) => request.name === name);
  }

  waitingIn(session: string): readonly RequestState[] {
    return (this.#lanes.get(session) ?? []).filter(isWaiting);
  }

  lendSlot(name: string, now: number): void {
    this.#age(now);
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
    this.#age(now);
    const found = this.find(name);
    if (found) found.state = 'running';
  }

  /** Returns the name of the request that is admitted next. */
  next(now: number): string | undefined {
    this.#age(now);
    const running = this.all().filter(({ state }) => state === 'running');
    const { concurrency, reservedForeground, caps } = this.#options;
    if (running.length >= concurrency) return undefined;
    const others = running.filter(({ effective }) => effective !== 'foreground').length;
    const rankOf = ({ effective, hasAged }: RequestState): number =>
      effective === 'foreground' ? 0 : effective === 'normal' || hasAged ? 1 : 2;
    const isAllowed = (one: RequestState): boolean =>
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

  /** Marks background requests that have waited long enough as aged. */
  #age(now: number): void {
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

  /** Gives the first waiting request of a session the priority of the most urgent one behind it. */
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

const isWaiting = ({ state }: RequestState): boolean => state === 'behind' || state === 'at-gate';
