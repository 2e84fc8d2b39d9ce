import { reply, toErrorInfo, TurnError, type Agent, type TurnEvent } from '@h/turn';
import { Subject, takeUntil, tap } from 'rxjs';
import { endOf, statusOf, stillThere, type Draft } from './child-end.js';
import { deferred } from './deferred.js';
import type { Child } from '../team/family.js';
import {
  agentOf,
  disposeOf,
  type AgentKind,
  type ChildContext,
  type ChildInfo,
  type DisposableAgent,
  type Isolation,
} from './kind.js';
import type { ChildLanes, ChildLease } from '../lanes.js';
import type { Limits } from '../limits.js';
import type { SubagentsOptions } from '../options.js';
import type { ParentTurn } from '../team/parent-turn.js';
import type { ChildEnd } from './record.js';

/** Options of {@link runChild}. */
export interface RunHost {
  readonly limits: Limits;
  readonly lanes: ChildLanes;
  readonly options: Pick<SubagentsOptions, 'isolate' | 'artifacts'>;
  readonly now: () => number;
  /** Calls back after a delay in milliseconds; returns a function that cancels it. */
  readonly after: (delayMs: number, callback: () => void) => () => void;
  readonly contextOf: (child: Child, info: ChildInfo, folder: string | undefined) => ChildContext;
  readonly onEvent: (child: Child, event: TurnEvent) => void;
  /** The turn that runs in a session. */
  readonly turnOf: (session: string) => ParentTurn | undefined;
  /** It works in a copy from now on, and has no rights elsewhere. */
  readonly isIsolated: (child: Child, isolation: Isolation) => Promise<void>;
}

/**
 * Runs a sub-agent's turn to its end, in its lane, with its time limit. Always returns exactly one end: a run that does
 * not stop within the grace period is abandoned.
 */
export const runChild = async (child: Child, kind: AgentKind, host: RunHost): Promise<ChildEnd> => {
  const { signal } = child.abort;
  const draft: Draft = {
    startedAt: undefined,
    reply: undefined,
    error: undefined,
    copy: undefined,
    note: undefined,
    artifact: undefined,
  };
  const cutOff = deferred<void>();
  let disarm: (() => void) | undefined;
  const arm = (): void => {
    disarm ??= host.after(host.limits.graceMs, cutOff.resolve);
  };
  signal.addEventListener('abort', arm, { once: true });
  if (signal.aborted) arm();
  const run = new ChildRun(child, kind, host, draft, { cutOff: cutOff.promise, arm });
  await Promise.race([run.toEnd(), cutOff.promise]);
  signal.removeEventListener('abort', arm);
  disarm?.();
  child.place.close();
  return endOf(child, draft, { resultChars: host.limits.resultChars, now: host.now() });
};

interface GraceTime {
  /** Resolves when the run is abandoned. */
  readonly cutOff: Promise<void>;
  /** Starts the grace period in which the run must end. */
  readonly arm: () => void;
}

class ChildRun {
  readonly #child: Child;
  readonly #kind: AgentKind;
  readonly #host: RunHost;
  readonly #draft: Draft;
  readonly #grace: GraceTime;

  constructor(child: Child, kind: AgentKind, host: RunHost, draft: Draft, grace: GraceTime) {
    this.#child = child;
    this.#kind = kind;
    this.#host = host;
    this.#draft = draft;
    this.#grace = grace;
  }

  async toEnd(): Promise<void> {
    const { record, place, priority, abort } = this.#child;
    const { signal } = abort;
    try {
      if (!(await place.enter())) return;
      await this.#host.lanes.run(record.session, (lease) => Promise.race([this.#inLane(lease), this.#grace.cutOff]), {
        signal,
        priority,
        idleTimeoutMs: this.#laneTimeoutMs,
      });
    } catch (error) {
      this.#draft.error ??= toErrorInfo(error);
    }
  }

  get #timeoutMs(): number {
    return this.#kind.timeoutMs ?? this.#host.limits.timeoutMs;
  }

  /** A turn that is stopped by the time limit of its lane has timed out, and was not cancelled. */
  get #laneTimeoutMs(): number {
    return this.#timeoutMs + 2 * this.#host.limits.graceMs + 1000;
  }

  async #inLane(lease: ChildLease): Promise<void> {
    const { abort, place } = this.#child;
    const onAbort = (): void => abort.abort(lease.signal.reason);
    lease.signal.addEventListener('abort', onAbort, { once: true });
    place.lease = lease;
    try {
      await this.#work();
    } finally {
      lease.signal.removeEventListener('abort', onAbort);
    }
  }

  async #work(): Promise<void> {
    const { abort } = this.#child;
    if (abort.signal.aborted) return;
    const now = this.#host.now();
    this.#draft.startedAt = now;
    const parentLeftMs = this.#host.turnOf(this.#child.record.parent)?.timeLeft() ?? Infinity;
    this.#child.deadlineAt = now + Math.min(this.#timeoutMs, parentLeftMs);
    const stopTimer = this.#host.after(this.#timeoutMs, () => {
      this.#child.isLate = true;
      abort.abort(new Error('It exceeded its time limit.'));
    });
    void this.#grace.cutOff.then(stopTimer);
    try {
      await this.#inCopy();
    } catch (error) {
      this.#draft.error ??= toErrorInfo(error);
    } finally {
      stopTimer();
    }
  }

  async #inCopy(): Promise<void> {
    const info = infoOf(this.#child);
    const isolation =
      this.#kind.isolate === true ? await this.#host.options.isolate?.(info, this.#child.abort.signal) : undefined;
    if (isolation === undefined) {
      await this.#withAgent(info, undefined);
      return;
    }
    try {
      this.#draft.copy = stillThere(isolation.folder);
      await this.#host.isIsolated(this.#child, isolation);
      await this.#withAgent(info, isolation.folder);
    } catch (error) {
      this.#draft.error ??= toErrorInfo(error);
    } finally {
      this.#grace.arm();
      await this.#finish(isolation);
    }
  }

  /** Reports the folder of the work to the parent even if the sub-agent failed. */
  async #finish({ folder, finish }: Isolation): Promise<void> {
    try {
      this.#draft.copy = await finish(statusOf(this.#child, this.#draft));
    } catch (error) {
      this.#draft.copy = `${stillThere(folder)}. The copy could not be finished: ${toErrorInfo(error).message}`;
    }
  }

  async #withAgent(info: ChildInfo, folder: string | undefined): Promise<void> {
    if (this.#child.abort.signal.aborted) return;
    const context = this.#host.contextOf(this.#child, info, folder);
    const made = await this.#kind.create(context);
    try {
      await this.#turn(made, context);
    } catch (error) {
      this.#draft.error ??= toErrorInfo(error);
    } finally {
      this.#grace.arm();
      await disposeOf(made)?.();
    }
  }

  async #turn(made: Agent | DisposableAgent, context: ChildContext): Promise<void> {
    const { abort, record, priority } = this.#child;
    if (abort.signal.aborted) return;
    const agent = agentOf(made, record.agent);
    if (agent.operators.at(-1) !== context.guard) {
      const isThere = agent.operators.includes(context.guard);
      const problem = isThere
        ? 'has operators after its guard, which could change calls that the guard has judged'
        : 'has no guard, so its policy would not be enforced';
      throw new TurnError(
        isThere ? 'guard-not-last' : 'missing-guard',
        `The agent ${JSON.stringify(record.agent)} ${problem}: put context.guard into its pipe as the last one.`,
      );
    }
    this.#child.agent = agent;
    const cutOff$ = new Subject<void>();
    void this.#grace.cutOff.then(() => cutOff$.next());
    const { id, depth, parent, root } = context;
    const parentTurn = this.#host.turnOf(parent)?.turn;
    const turn$ = agent.turn({
      session: record.session,
      input: record.task,
      trigger: 'subagent',
      priority,
      signal: abort.signal,
      id: record.turn,
      metadata: {
        ...(parentTurn !== undefined && { parentTurn }),
        subagent: { id, depth, parent, root, agent: record.agent },
      },
    });
    const done = await reply(
      turn$.pipe(
        tap((event) => this.#host.onEvent(this.#child, event)),
        takeUntil(cutOff$),
      ),
    );
    this.#draft.reply = done;
    this.#grace.arm();
    await this.#store(done.text);
  }

  async #store(content: string): Promise<void> {
    const { artifacts } = this.#host.options;
    if (content.length <= this.#host.limits.resultChars || !artifacts) return;
    this.#draft.note = 'The full text was not stored within the time limit.';
    try {
      this.#draft.artifact = (await artifacts.put({ session: this.#child.record.parent, content, external: true })).id;
      this.#draft.note = undefined;
    } catch (error) {
      this.#draft.note = `The full text could not be stored: ${toErrorInfo(error).message}`;
    }
  }
}

export const infoOf = ({ record: { id, agent, session, turn, task, parent, root, depth } }: Child): ChildInfo => ({
  id,
  agent,
  session,
  turn,
  task,
  parent,
  root,
  depth,
});
