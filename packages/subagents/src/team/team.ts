import { later } from '@h/options';
import { notice, toErrorInfo, type NewEvent, type TurnEvent } from '@h/turn';
import { asyncScheduler } from 'rxjs';
import { chargedTo } from '../rights/charged.js';
import { unbegun } from '../child/child-end.js';
import { createChild } from '../child/create-child.js';
import { Delivery } from './delivery.js';
import { EndedSessions } from './ended-sessions.js';
import { quoteEvidence } from '../child/evidence.js';
import {
  aliveOf,
  childSession,
  Family,
  refusal,
  type Child,
  type Member,
  type Place,
  type SpawnRefusal,
} from './family.js';
import { Gate } from './gate.js';
import { createGuard } from '../rights/guard.js';
import type { AgentKind, ChildContext, ChildInfo, Isolation, SharedBudget } from '../child/kind.js';
import { noLanes } from '../lanes.js';
import { limitsOf, type Limits } from '../limits.js';
import type { SubagentsOptions } from '../options.js';
import type { ParentTurn } from './parent-turn.js';
import { Pauses } from './pauses.js';
import { allowsTool, inheritPolicy, movePolicy, unrestricted, type AgentPolicy } from '../rights/policy.js';
import { ask, withdraw } from './questions.js';
import type { ChildEnd, ChildRecord } from '../child/record.js';
import { Records } from '../child/records.js';
import { infoOf, runChild, type RunHost } from '../child/run-child.js';
import { spawnedOf, type Spawned, type SpawnRequest } from '../child/spawned.js';
import { tell } from './tell.js';
import { Unread } from './unread.js';

/** The state that outlives a turn: trees of agents, their slots, and undelivered results. */
export class Team {
  readonly options: SubagentsOptions;
  readonly limits: Limits;
  readonly family: Family;
  readonly pauses: Pauses;
  readonly delivery: Delivery;
  readonly records: Records;
  readonly unread: Unread;
  readonly endedSessions: EndedSessions;
  /** Running turns that may have sub-agents, by session. */
  readonly turns = new Map<string, ParentTurn>();
  readonly #gate: Gate;
  readonly #host: RunHost;
  readonly #kinds: ReadonlyMap<string, AgentKind>;
  #isClosed = false;

  constructor(options: SubagentsOptions) {
    this.options = options;
    this.limits = limitsOf(options.limits);
    this.family = new Family(this.limits);
    this.#gate = new Gate(this.limits.concurrency);
    this.#kinds = new Map(Object.entries(options.agents));
    const lanes = options.lanes ?? noLanes;
    this.pauses = new Pauses(lanes);
    this.records = new Records(options.store, {
      storeMs: this.limits.storeMs,
      after: this.after,
      onProblem: (child, reason) =>
        this.emit(child.record.parent, notice('subagent.not-kept', { child: child.record.id, reason })),
    });
    this.endedSessions = new EndedSessions(options.keepSessions, {
      storeMs: this.limits.storeMs,
      after: this.after,
      isAlive: (session) => {
        const child = this.family.find(session)?.child;
        return child !== undefined && child.end === undefined;
      },
    });
    this.unread = new Unread({
      most: this.limits.unread,
      isBusy: (session) => this.turns.has(session),
      forget: (child) => this.#forgetUnread(child),
    });
    this.delivery = new Delivery({
      family: this.family,
      records: this.records,
      unread: this.unread,
      wrap: options.wrap ?? quoteEvidence,
      atOnce: this.limits.children,
    });
    this.#host = {
      limits: this.limits,
      lanes,
      options,
      now: this.now,
      after: this.after,
      contextOf: (child, info, folder) => this.#contextOf(child, info, folder),
      onEvent: (child, event) => this.#onChildEvent(child, event),
      turnOf: (session) => this.turns.get(session),
      isIsolated: (child, isolation) => this.#isolated(child, isolation),
    };
  }

  readonly now = (): number => (this.options.scheduler ?? asyncScheduler).now();

  readonly after = (delayMs: number, callback: () => void): (() => void) =>
    later(this.options.scheduler ?? asyncScheduler, delayMs, callback);

  readonly newId = (): string => {
    // oxlint-disable-next-line h/no-clock -- ids must be unique across processes
    return this.options.newId?.() ?? crypto.randomUUID();
  };

  /** Emits an event into the running turn of a session, if any. */
  emit(session: string, event: NewEvent): void {
    const turn = this.turns.get(session);
    if (turn && !turn.isOver) turn.emit(event);
  }

  /** Spawns a sub-agent. Checks all limits and reserves a place synchronously. */
  async spawn(request: SpawnRequest): Promise<Spawned | SpawnRefusal> {
    const child = this.#reserve(request);
    if ('status' in child) return this.#refused(request, child);
    const { id, agent, session, depth } = child.record;
    try {
      await this.records.begin(child);
    } catch (error) {
      const reason = `Its record could not be stored, so it was not started: ${toErrorInfo(error).message}`;
      child.end = unbegun(child, reason);
      this.family.forget(child);
      this.family.ended(child);
      child.ended.resolve(child.end);
      return this.#refused(request, refusal('not-kept', reason));
    }
    this.emit(request.parent, notice('subagent.spawned', { child: id, agent, session, depth }));
    const kind = this.#kinds.get(agent) as AgentKind;
    void this.#run(child, kind);
    return spawnedOf(this, child);
  }

  #refused({ parent, agent }: SpawnRequest, refused: SpawnRefusal): SpawnRefusal {
    this.emit(parent, notice('subagent.refused', { agent, code: refused.code, reason: refused.reason }));
    return refused;
  }

  /** Stores a result before it is delivered, so that it cannot change after a crash. */
  async #run(child: Child, kind: AgentKind): Promise<void> {
    const end = await runChild(child, kind, this.#host);
    if (child.record.receiver === 'parent' && this.options.store) await this.records.change(child, { end });
    this.#settle(child, end);
  }

  /** Cancels a sub-agent and all below it; resolves when they have ended. */
  async cancel(child: Child, reason: string): Promise<void> {
    child.abort.abort(new Error(reason));
    await Promise.all([child.ended.promise, this.cancelAll(child.node, reason)]);
  }

  /** Cancels all sub-agents of an agent, and all below them; resolves when they have ended. */
  async cancelAll(member: Member | undefined, reason: string): Promise<void> {
    await Promise.all(aliveOf(member).map((child) => this.cancel(child, reason)));
  }

  /** Refuses new sub-agents and cancels running ones. */
  async close(reason: string): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.family.all().map((member) => this.cancelAll(member, reason)));
    await Promise.all([this.records.settled(), this.endedSessions.close()]);
  }

  /** Calls `wake` for results of an agent without a turn; cancellations do not wake it. */
  wake(session: string): void {
    const member = this.family.find(session);
    const isIdle = !this.turns.has(session) && member?.root === member;
    const ends = this.delivery.pending(member).map(({ end }) => end);
    if (!isIdle || ends.every(({ status }) => status === 'cancelled')) return;
    // If the callback fails, the next turn receives the results.
    tell(() => this.options.wake?.(session, ends));
  }

  /** Drops a result because there are too many. */
  #forgetUnread(child: Child): void {
    this.delivery.forget([child]);
    const { end } = child;
    if (end) tell(() => this.options.onForgotten?.(end));
  }

  #reserve({ parent, agent, task, policy = {}, receiver = 'caller' }: SpawnRequest): Child | SpawnRefusal {
    const kind = this.#kinds.get(agent);
    if (!kind) {
      return refusal(
        'unknown-agent',
        `${JSON.stringify(agent)} is not an agent. Available agents: ${[...this.#kinds.keys()].join(', ')}.`,
      );
    }
    if (typeof task !== 'string' || task.trim() === '') {
      return refusal('invalid-task', 'The task must be a non-empty string.');
    }
    if (this.#isClosed) return refusal('parent-ended', 'No sub-agent can be spawned because the harness is closing.');
    const member = this.family.find(parent);
    const aliases = { aliases: this.options.aliases };
    const own = member?.child?.policy ?? valueFor(this.options.policy, parent) ?? unrestricted;
    if (!allowsTool(own, 'spawn', aliases)) return refusal('not-allowed', 'This agent may not spawn sub-agents.');
    const effective = inheritPolicy(inheritPolicy(own, kind.policy, aliases), policy, aliases);
    const amounts = Object.keys(effective.budget);
    const budget = member?.child ? member.child.budget : valueFor(this.options.budget, parent);
    if (amounts.length > 0 && !budget) {
      return refusal(
        'not-allowed',
        `The policy limits ${amounts.join(', ')}, but the parent has no budget that counts it.`,
      );
    }
    const place = this.family.reserve(parent);
    if ('status' in place) return place;
    try {
      return this.#childAt(place, { kind, agent, task, receiver }, effective, budget);
    } catch (error) {
      place.release();
      throw error;
    }
  }

  #childAt(
    place: Place,
    {
      kind,
      agent,
      task,
      receiver,
    }: Pick<Child['record'], 'agent' | 'task' | 'receiver'> & { readonly kind: AgentKind },
    policy: AgentPolicy,
    budget: SharedBudget | undefined,
  ): Child {
    const { parent, depth } = place;
    const id = this.newId();
    const session = childSession(id);
    const record: ChildRecord = {
      v: 1,
      id,
      agent,
      task,
      session,
      turn: this.newId(),
      parent: parent.session,
      root: parent.root.session,
      depth,
      receiver,
      spawnedAt: this.now(),
    };
    const share = budget?.share({ name: `${agent} ${id}`, ...policy.budget });
    const child = createChild(parent, { record, policy, budget: share, priority: kind.priority, gate: this.#gate });
    place.take(child);
    return child;
  }

  /** Ends a sub-agent, once. Later events of it are ignored. */
  #settle(child: Child, end: ChildEnd): void {
    const { record } = child;
    const { parent, session } = record;
    child.end = end;
    if (child.agent) this.endedSessions.add(session);
    child.agent = undefined;
    const { status, outcome, steps, usage, durationMs } = end;
    withdraw(this.turns.get(parent), (_, { child: asking }) => asking === record.id);
    this.emit(
      parent,
      notice('subagent.ended', { child: record.id, agent: record.agent, status, outcome, steps, usage, durationMs }),
    );
    void this.cancelAll(child.node, 'Its parent agent has ended.');
    // A sub-agent has no next turn, so its unread results are dropped.
    this.delivery.forget(this.delivery.pending(this.family.find(session)));
    const isUnread = record.receiver === 'caller' || child.parent.child?.end !== undefined;
    if (isUnread) this.delivery.forget([child]);
    else this.unread.add(child);
    this.family.ended(child);
    child.ended.resolve(end);
    if (!isUnread) this.wake(parent);
  }

  #onChildEvent(child: Child, event: TurnEvent): void {
    const { parent, id } = child.record;
    if (event.type === 'approval.request') {
      ask(child, event, this.turns.get(parent), this.options.onApproval);
    }
    if (event.type === 'approval.answer') {
      withdraw(this.turns.get(parent), (question) => question === `${id}/${event.id}`, event);
    }
    const { onEvent } = this.options;
    if (onEvent) tell(() => onEvent(infoOf(child), event));
  }

  async #isolated(child: Child, { folder, original }: Isolation): Promise<void> {
    child.policy = movePolicy(child.policy, original, folder);
    await this.records.change(child, { isolated: folder });
  }

  #contextOf(child: Child, info: ChildInfo, folder: string | undefined): ChildContext {
    const { policy, budget, abort } = child;
    const { aliases, reachOf } = this.options;
    return {
      ...info,
      policy,
      allows: (tool) => allowsTool(policy, tool, { aliases }),
      guard: createGuard(
        policy,
        { aliases, reachOf: reachOf && ((call) => reachOf(call, { ...info, folder })) },
        chargedTo(budget, info.agent),
        () => child.deadlineAt - this.now(),
      ),
      budget,
      folder,
      signal: abort.signal,
    };
  }
}

const valueFor = <Value extends AgentPolicy | SharedBudget>(
  given: Value | ((session: string) => Value | undefined) | undefined,
  session: string,
): Value | undefined => (typeof given === 'function' ? given(session) : given);
