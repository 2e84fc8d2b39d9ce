import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { CostOf } from '@h/prices';
import type { LaneRequest, Lanes } from '@h/queue';
import type { Agent, OpenSession, TurnTrigger, UserMessage } from '@h/turn';
import type * as z from 'zod';
import type { AgentEnvironment, StationAgent } from '../agents/station-agent.js';
import type { newMessage, StationEvent } from '../api/contract.js';
import { checkAgentNames, routeAgents, type AgentRouter } from './agent-router.js';
import { ApprovalDesk } from './approvals.js';
import type { Backend, TurnRunner } from './backend.js';
import { reconcile, startJanitor } from './janitor.js';
import { Projector, type TurnEnd } from './projector.js';
import type { ApprovalBody, RecordChange, TurnBody } from './records.js';
import { SessionDirectory, showSession } from './session-directory.js';
import { artifactId, partsOfSession, StationError } from './session-id.js';
import { SessionReader } from './session-reader.js';
import { readStation } from './station-feed.js';
import { lanesOf } from './station-lanes.js';
import { tenantUse } from './usage.js';

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
  /** How long a link to an approval is valid at most, in milliseconds. */
  readonly approvalLinkMs: number;
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
  const { sessions } = backend;
  const environment: AgentEnvironment = {
    sessions: {
      open: async (session, why) => {
        const open = await sessions.open(session, why);
        await station.completeRecords(session, open);
        return open;
      },
      locate: (turn) => sessions.locate(turn),
      unfinished: () => sessions.unfinished(),
    },
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
  readonly sessions: SessionDirectory;
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
    const names = agents.map(({ name }) => name);
    this.sessions = new SessionDirectory(backend, names, now);
    this.approvals = new ApprovalDesk(backend.records, now, options.approvalLinkMs);
    this.reader = new SessionReader({ backend, costOf, secrets, keepEventsMs, now });
    this.#projector = new Projector({
      records: backend.records,
      events: backend.events,
      costOf,
      secrets,
      onProblem: options.onProblem,
      onTurnEnd: (turn) => options.onTurnEnd?.(turn),
      fenceOf: (session) => backend.fenceOf?.(session),
      isHandedOver: (end, isLoaded) => this.#isHandedOver(end, isLoaded),
      onApproval: (approval) => this.#answer(approval),
    });
  }

  /** Completes the records of the latest turn of a session that was opened. Never rejects. */
  async completeRecords(session: string, open: OpenSession): Promise<void> {
    await this.#projector.complete(session, open).catch(this.#options.onProblem);
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
    const record = await this.sessions.find(tenant, session);
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
    if (isNew) await this.sessions.received(record, message.text);
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
    const { body } = await this.sessions.find(tenant, session);
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

  /** Yields the current state of a tenant, then its changes. */
  feed(
    tenant: string,
    signal: AbortSignal,
    extra: () => Promise<readonly StationEvent[]>,
  ): AsyncGenerator<StationEvent> {
    const { records } = this.backend;
    const lanes = async (): Promise<StationEvent> => ({ type: 'lanes', lanes: await lanesOf(this.backend, tenant) });
    return readStation({
      records,
      tenant,
      signal: AbortSignal.any([signal, this.#stop.signal]),
      lanes,
      current: async () => {
        const { sessions } = await this.sessions.list(tenant, { limit: 50 });
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
