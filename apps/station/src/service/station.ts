import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { CostOf } from '@h/prices';
import type { LaneRequest, Lanes } from '@h/queue';
import { SessionBusyError, type Agent, type TurnTrigger, type UserMessage } from '@h/turn';
import type * as z from 'zod';
import type { AgentEnvironment, StationAgent } from '../agents/station-agent.js';
import type {
  newMessage,
  sessionPage,
  sessionQuery,
  StationEvent,
  StationLanes,
  StationSession,
} from '../api/contract.js';
import { checkAgentNames, routeAgents, type AgentRouter } from './agent-router.js';
import { ApprovalDesk } from './approvals.js';
import type { Backend, TurnRunner } from './backend.js';
import { Projector, type TurnEnd } from './projector.js';
import type { ApprovalBody, RecordChange, SessionBody, StoredRecord, TurnBody } from './records.js';
import { artifactId, newSessionId, partsOfSession, StationError, tenantTag } from './session-id.js';
import { SessionReader } from './session-reader.js';
import { readStation } from './station-feed.js';
import { reconcile, startJanitor } from './janitor.js';
import { noStationUsage, tenantUse } from './usage.js';

/** Options of {@link openStation}. */
export interface StationOptions {
  readonly backend: Backend;
  readonly agents: readonly StationAgent[];
  /** `web` serves requests, `worker` runs turns. @defaultValue `'all'` */
  readonly role?: 'web' | 'worker' | 'all' | undefined;
  readonly costOf?: CostOf | undefined;
  /** Values that are removed from everything that clients read. */
  readonly secrets?: readonly string[] | undefined;
  /** How long events of ended turns are available, in milliseconds. @defaultValue 7 days */
  readonly keepEventsMs?: number | undefined;
  /** How long a link to an approval is valid, in milliseconds. @defaultValue 15 minutes */
  readonly approvalLinkMs?: number | undefined;
  readonly onProblem: (error: unknown) => void;
  readonly onTurnEnd?: ((turn: TurnBody) => void) | undefined;
  /** Receives each message of a user that was stored for delivery, again if the request is repeated. */
  readonly onMessage?: ((message: UserText) => Promise<unknown>) | undefined;
  /** Clock in milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
}

/** The text of a message of a user. */
export interface UserText {
  readonly tenant: string;
  /** Unique for the tenant. */
  readonly id: string;
  readonly text: string;
}

const dayMs = 86_400_000;

/** Opens the service: resumes what an earlier process has left, and accepts messages. */
export const openStation = async (options: StationOptions): Promise<Station> => {
  const { backend, agents, role = 'all' } = options;
  checkAgentNames(agents.map(({ name }) => name));
  const environment: AgentEnvironment = {
    sessions: backend.sessions,
    artifacts: backend.artifacts,
    lanes: byTenant(backend.lanes),
    tenants: tenantUse(backend.records, options.now ?? Date.now),
  };
  const opened = new Map<string, Agent>();
  if (role !== 'web') for (const agent of agents) opened.set(agent.name, await agent.open(environment));
  const station = new Station(options, routeAgents(opened, backend.sessions));
  if (role !== 'web') await station.start();
  return station;
};

/** Counts the turns of each tenant, whose tag is a part of the session's id. */
const byTenant = (lanes: Lanes): Lanes => ({
  ...lanes,
  enter: (request: LaneRequest, listener) => {
    const tag = partsOfSession(request.session)?.tag;
    return lanes.enter(
      tag === undefined ? request : { ...request, groups: { ...request.groups, tenant: tag } },
      listener,
    );
  },
});

/** The service behind the HTTP interface: sessions, messages and approvals of all tenants. */
export class Station {
  readonly agents: readonly StationAgent[];
  readonly approvals: ApprovalDesk;
  readonly backend: Backend;
  readonly reader: SessionReader;
  readonly keepEventsMs: number;
  readonly now: () => number;
  readonly #options: StationOptions;
  readonly #router: AgentRouter;
  readonly #projector: Projector;
  readonly #stop = new AbortController();
  readonly #ending: (() => void)[] = [];
  /** Running turns that a person or a workflow has cancelled. */
  readonly #cancelled = new Set<string>();
  #runner: TurnRunner | undefined;

  constructor(options: StationOptions, router: AgentRouter) {
    const {
      backend,
      agents,
      costOf = () => undefined,
      secrets = [],
      now = Date.now,
      keepEventsMs = 7 * dayMs,
    } = options;
    this.#options = options;
    this.#router = router;
    this.agents = agents;
    this.backend = backend;
    this.now = now;
    // Each open stream listens to it.
    setMaxListeners(0, this.#stop.signal);
    this.keepEventsMs = keepEventsMs;
    this.approvals = new ApprovalDesk(backend.records, now, options.approvalLinkMs);
    this.reader = new SessionReader({ backend, costOf, secrets, keepEventsMs, now });
    this.#projector = new Projector({
      records: backend.records,
      events: backend.events,
      costOf,
      secrets,
      onProblem: options.onProblem,
      onTurnEnd: (turn) => options.onTurnEnd?.(turn),
      isHandedOver: (end, isLoaded) => this.#isHandedOver(end, isLoaded),
      onApproval: (approval) => this.#answer(approval),
    });
  }

  /** Turns that run or wait in this process. */
  get activeTurns(): number {
    return this.#projector.active;
  }

  async start(): Promise<void> {
    const janitor = {
      backend: this.backend,
      projector: this.#projector,
      isRunning: (session: string) => this.#router.running().some((turn) => turn.session === session),
      keepEventsMs: this.keepEventsMs,
      now: this.now,
      onProblem: this.#options.onProblem,
    };
    await reconcile(janitor, 0);
    this.#ending.push(this.backend.records.onChange((change) => this.#onChange(change)));
    this.#runner = await this.backend.run(this.#router, (event) => this.#projector.add(event));
    this.#ending.push(startJanitor(janitor));
  }

  /** @throws StationError 404 if the session does not exist or belongs to another tenant */
  async session(tenant: string, id: string): Promise<SessionBody> {
    return (await this.#find(tenant, id)).body;
  }

  /** @param seed - a repeated call with the same seed returns the same session */
  async create(
    tenant: string,
    given: { readonly agent: string; readonly title?: string | undefined; readonly run?: string | undefined },
    seed?: string,
  ): Promise<StationSession> {
    if (!this.agents.some(({ name }) => name === given.agent)) {
      const known = this.agents.map(({ name }) => name).join(', ');
      throw new StationError(422, 'unknown-agent', `The agent does not exist. Known agents: ${known}.`, 'agent');
    }
    const id = newSessionId(given.agent, tenant, seed);
    const { title = '', agent, run = null } = given;
    await this.add(tenant, { id, title, agent, run });
    return showSession(await this.session(tenant, id));
  }

  /** Adds the record of a session unless it exists. */
  async add(
    tenant: string,
    given: Pick<SessionBody, 'id' | 'title' | 'agent' | 'run'> & Partial<SessionBody>,
  ): Promise<void> {
    const at = this.now();
    const body: SessionBody = {
      state: 'idle',
      createdAt: at,
      updatedAt: at,
      turn: null,
      outcome: null,
      reason: null,
      messages: 0,
      openApprovals: 0,
      usage: noStationUsage,
      forkedFrom: null,
      turns: 0,
      lastEnded: null,
      lastTurn: null,
      ...given,
    };
    await this.backend.records.insert({ kind: 'session', id: given.id, tenant, at, body });
  }

  async list(tenant: string, query: z.output<typeof sessionQuery>): Promise<z.infer<typeof sessionPage>> {
    const { limit, agent, state } = query;
    const words = (query.query ?? '').toLowerCase().split(/\s+/).filter(Boolean);
    const found: StationSession[] = [];
    let after = query.cursor === undefined ? undefined : cursorIn(query.cursor);
    for (;;) {
      const page = await this.backend.records.list('session', { tenant, after, limit: pageSize });
      for (const record of page) {
        const { body } = record;
        after = record;
        const text = `${body.title} ${body.agent} ${body.id}`.toLowerCase();
        const isWanted = (agent ?? body.agent) === body.agent && (state ?? body.state) === body.state;
        if (isWanted && words.every((word) => text.includes(word))) found.push(showSession(body));
        if (found.length === limit) return { sessions: found, next: `${record.at}:${record.id}` };
      }
      if (page.length < pageSize) return { sessions: found, next: null };
    }
  }

  /**
   * Stores a message for delivery.
   *
   * @param id a message with the same id is delivered once
   * @param trigger `user` for messages of people, which start the triggers of type `message`
   */
  async send(
    tenant: string,
    session: string,
    message: z.output<typeof newMessage>,
    id: string = randomUUID(),
    trigger: TurnTrigger = 'user',
  ): Promise<{ readonly id: string; readonly isNew: boolean }> {
    const record = await this.#find(tenant, session);
    const { records, artifacts } = this.backend;
    const stored = await Promise.all(
      message.files.map(async ({ data, mediaType }) =>
        artifacts.put({ session, content: Buffer.from(data, 'base64'), mediaType }),
      ),
    ).catch((error: unknown) => {
      const { code, message: reason } = error as Partial<StationError>;
      if (code !== 'object-too-large' && code !== 'artifact-quota') throw error;
      throw new StationError(413, 'file-too-large', reason ?? 'The file is too large.', 'files');
    });
    const user: UserMessage = {
      role: 'user',
      content: [
        { type: 'text', text: message.text },
        ...message.files.map(({ name, mediaType, data }) => ({
          type: 'file' as const,
          data,
          mediaType,
          ...(name !== undefined && { filename: name }),
        })),
      ],
      ...(stored.length > 0 && { metadata: { artifacts: stored.map((file) => artifactId(session, file.id)) } }),
    };
    const isNew = await records.insert({
      kind: 'message',
      id: `${session}:${id}`,
      tenant,
      at: this.now(),
      body: { session },
    });
    if (!(await this.backend.submit(session, user, { id, mode: message.mode, trigger, metadata: { tenant } }))) {
      await records.delete('message', `${session}:${id}`);
      throw new StationError(
        429,
        'session-full',
        'Too many messages of this session wait. Retry when its turn has ended.',
      );
    }
    if (isNew) await this.#touch(record, message.text);
    if (trigger === 'user') await this.#options.onMessage?.({ tenant, id: `${session}:${id}`, text: message.text });
    return { id, isNew };
  }

  /** Cancels the running turn, in whichever process it runs. @returns whether the session has a turn */
  async cancel(
    tenant: string,
    session: string,
    turn: string | undefined,
    reason = 'Cancelled by a user.',
  ): Promise<boolean> {
    const { body } = await this.#find(tenant, session);
    if (body.turn === null || (turn !== undefined && turn !== body.turn)) return false;
    const { turn: current } = body;
    const at = this.now();
    await this.backend.records.update('cancel', session, () => ({
      kind: 'cancel',
      id: session,
      tenant,
      at,
      body: { session, turn: current, reason },
    }));
    return true;
  }

  /** @throws StationError 409 while a turn runs */
  async delete(tenant: string, session: string): Promise<void> {
    const { body } = await this.#find(tenant, session);
    const { records, sessions, artifacts } = this.backend;
    const busy = new StationError(
      409,
      'session-busy',
      'A turn of the session runs. Cancel it first, or wait for its end.',
    );
    if (body.turn !== null) throw busy;
    try {
      await sessions.delete(session);
    } catch (error) {
      throw error instanceof SessionBusyError ? busy : error;
    }
    await artifacts.deleteSession(session);
    await records.delete('session', session);
  }

  async lanes(tenant: string): Promise<StationLanes> {
    const snapshot = this.backend.lanesSnapshot?.();
    const tag = tenantTag(tenant);
    const isOwn = (session: string): boolean => partsOfSession(session)?.tag === tag;
    if (snapshot) {
      const running = await Promise.all(
        snapshot.running
          .filter(({ session }) => isOwn(session))
          .map(async (each) => ({
            ...each,
            turn: (await this.backend.records.get('session', each.session))?.body.turn ?? null,
          })),
      );
      return { ...snapshot, running, waiting: snapshot.waiting.filter(({ session }) => isOwn(session)) };
    }
    const active = (await this.backend.records.list('session', { tenant, limit: 1000 }))
      .map(({ body }) => body)
      .filter(({ state }) => state === 'running' || state === 'queued' || state === 'waiting-for-input');
    const since = ({ updatedAt }: SessionBody): number => updatedAt;
    const waiting = active
      .filter(({ state }) => state === 'queued')
      .toSorted((left, right) => since(left) - since(right));
    return {
      capacity: this.backend.capacity,
      running: active
        .filter(({ state }) => state !== 'queued')
        .map((session) => ({ session: session.id, turn: session.turn, since: since(session), worker: null })),
      waiting: waiting.map((session, index) => ({
        session: session.id,
        since: since(session),
        priority: 'foreground',
        waitsFor: 'slot' as const,
        position: index + 1,
      })),
    };
  }

  /** Yields the current state of a tenant, then its changes. */
  feed(
    tenant: string,
    signal: AbortSignal,
    extra: () => Promise<readonly StationEvent[]>,
  ): AsyncGenerator<StationEvent> {
    const { records } = this.backend;
    const lanes = async (): Promise<StationEvent> => ({ type: 'lanes', lanes: await this.lanes(tenant) });
    return readStation({
      records,
      tenant,
      signal: AbortSignal.any([signal, this.#stop.signal]),
      lanes,
      current: async () => {
        const { sessions } = await this.list(tenant, { limit: 50 });
        const approvals = await this.approvals.list(tenant);
        return [
          ...sessions.map((session) => ({ type: 'session', session }) as const),
          ...approvals
            .filter(({ state }) => state === 'open')
            .map((approval) => ({ type: 'approval', approval }) as const),
          await lanes(),
          ...(await extra()),
        ];
      },
      show: async (kind, id) => {
        if (kind === 'session') {
          const found = await records.get('session', id);
          return found && { type: 'session', session: showSession(found.body) };
        }
        if (kind === 'run') return (await extra()).find((event) => event.type === 'run' && event.run.id === id);
        return { type: 'approval', approval: await this.approvals.get(tenant, id) };
      },
    });
  }

  /** Aborted when the service closes; streams end with it. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Ends event streams, and waits up to `ms` for the turns of this process. */
  async drain(ms: number): Promise<void> {
    this.#stop.abort();
    await this.#runner?.drain(ms);
    await this.#projector.flush();
    if (!this.#runner) return;
    // A turn that still runs is resumed by the next process; its sandbox is not ended under it.
    const isIdle = this.activeTurns === 0;
    await Promise.all(this.agents.map(async (agent) => (isIdle ? agent.close?.() : agent.flush?.())));
  }

  async close(): Promise<void> {
    this.#stop.abort();
    for (const end of this.#ending.splice(0)) end();
    await this.#runner?.close();
    await this.#projector.flush();
    if (this.#runner) await Promise.all(this.agents.map(async (agent) => agent.close?.()));
    await this.backend.close();
  }

  async #find(tenant: string, id: string): Promise<StoredRecord<'session'>> {
    const found =
      partsOfSession(id)?.tag === tenantTag(tenant) ? await this.backend.records.get('session', id) : undefined;
    if (found?.tenant !== tenant) throw new StationError(404, 'unknown-session', 'The session does not exist.');
    return found;
  }

  /** Gives the session a title, and shows that a message waits. */
  async #touch({ id }: StoredRecord<'session'>, text: string): Promise<void> {
    const at = this.now();
    await this.backend.records.update('session', id, (current) => {
      if (!current) return undefined;
      const { body } = current;
      const title = body.title === '' ? text.replaceAll(/\s+/g, ' ').trim().slice(0, 80) : body.title;
      const isIdle = body.turn === null && body.turns === 0;
      const next = {
        ...body,
        title,
        updatedAt: Math.max(at, body.updatedAt),
        ...(isIdle && { state: 'queued' as const }),
      };
      return { ...current, at: next.updatedAt, body: next };
    });
  }

  #onChange({ kind, id, isDeleted }: RecordChange): void {
    if (isDeleted || (kind !== 'approval' && kind !== 'cancel')) return;
    const { records } = this.backend;
    const act = async (): Promise<void> => {
      if (kind === 'approval') {
        const found = await records.get('approval', id);
        if (found) this.#answer(found.body);
        return;
      }
      const found = await records.get('cancel', id);
      if (!found) return;
      const { session, turn, reason } = found.body;
      if (this.#router.cancel(session, turn, reason)) this.#cancelled.add(turn);
    };
    act().catch(this.#options.onProblem);
  }

  #isHandedOver({ turn, outcome, error }: TurnEnd, isLoaded: boolean): boolean {
    const isCancelled = this.#cancelled.delete(turn);
    if (this.backend.isHandedOver(error?.code)) return true;
    // The message of a turn that waited for a slot is stored; the next process delivers it.
    return outcome === 'cancelled' && !isLoaded && !isCancelled && this.#stop.signal.aborted;
  }

  /** Passes a decision to the turn, if it runs here and waits for it. */
  #answer({ request, decision, decisionReason, turn }: ApprovalBody): void {
    if (decision === null || turn === null) return;
    this.#router.answer(request, { decision, ...(decisionReason !== null && { reason: decisionReason }) });
  }
}

/** Sessions that a search reads at once. */
const pageSize = 500;

const cursorIn = (cursor: string): { readonly at: number; readonly id: string } => {
  const found = /^(\d{1,16}):(.{1,200})$/.exec(cursor);
  if (!found) throw new StationError(400, 'invalid-cursor', 'The cursor is not valid. Begin without one.', 'cursor');
  return { at: Number(found[1]), id: found[2] ?? '' };
};

export const showSession = ({
  turns: _turns,
  lastEnded: _ended,
  lastTurn: _turn,
  ...session
}: SessionBody): StationSession => session;
