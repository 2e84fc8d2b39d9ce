import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import type * as z from 'zod';
import {
  approvalDecision,
  newMessage,
  newRun,
  newSession,
  type agentInfo,
  type StationApproval,
  type StationAuditEntry,
  type StationEntry,
  type StationEvent,
  type StationLanes,
  type StationRun,
  type StationSession,
  type StationTrace,
  type StationTurnEvent,
  type StationWorkflow,
  type usageReport,
} from '../../src/api/contract.js';

export const token = 'fixture-token';
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
/** What the service sends with the page. Images of artifacts are object URLs, because they need the token. */
const securityPolicy =
  "default-src 'self'; img-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

interface Conversation {
  session: StationSession;
  entries: StationEntry[];
  events: { readonly seq: number; readonly event: StationTurnEvent }[];
  seq: number;
  readonly readers: Set<ServerResponse>;
}

/** A station in memory that a test drives: it does nothing on its own, and every time is a parameter. */
export class FixtureStation {
  readonly conversations = new Map<string, Conversation>();
  readonly approvals = new Map<string, StationApproval>();
  readonly runs = new Map<string, StationRun>();
  readonly artifacts = new Map<string, { readonly type: string; readonly data: Buffer }>();
  readonly traces = new Map<string, StationTrace[]>();
  readonly messages: { readonly session: string; readonly message: z.infer<typeof newMessage> }[] = [];
  readonly decisions: { readonly id: string; readonly body: z.infer<typeof approvalDecision> }[] = [];
  /** Every request as `METHOD /path`, in order. */
  readonly requests: string[] = [];
  agents: z.infer<typeof agentInfo>[] = [];
  workflows: StationWorkflow[] = [];
  usage: z.infer<typeof usageReport> = { days: [] };
  audit: StationAuditEntry[] = [];
  lanes: StationLanes = { capacity: 3, running: [], waiting: [] };
  /** Answers requests with this status instead, by a test of the path. */
  failing: ((path: string) => number | undefined) | undefined;
  /** Approvals by the token of their link. */
  readonly links = new Map<string, string>();
  readonly #readers = new Set<ServerResponse>();
  readonly #server: Server;
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  static async open(folder: string): Promise<FixtureStation> {
    const station = new FixtureStation(folder);
    await new Promise<void>((resolve) => {
      station.#server.listen(0, '127.0.0.1', resolve);
    });
    return station;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }
  get url(): string {
    return `${this.origin}/#token=${token}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  /** Breaks every event stream, as a lost connection does. */
  disconnect(): void {
    for (const reader of this.#readers) reader.destroy();
    for (const { readers } of this.conversations.values()) for (const reader of readers) reader.destroy();
  }
  get openStreams(): number {
    return this.#readers.size + [...this.conversations.values()].reduce((sum, { readers }) => sum + readers.size, 0);
  }

  add(session: StationSession, entries: readonly StationEntry[] = []): void {
    this.conversations.set(session.id, { session, entries: [...entries], events: [], seq: 0, readers: new Set() });
    this.announce({ type: 'session', session });
  }
  update(id: string, changes: Partial<StationSession>): void {
    const conversation = this.#conversation(id);
    conversation.session = { ...conversation.session, ...changes };
    this.announce({ type: 'session', session: conversation.session });
  }
  /** Sends a turn event with the next number; deltas have none. */
  emit(id: string, event: StationTurnEvent): void {
    const conversation = this.#conversation(id);
    const isStored = event.type !== 'model.delta' && event.type !== 'tool.progress';
    if (isStored) conversation.events.push({ seq: (conversation.seq += 1), event });
    for (const reader of conversation.readers) reader.write(turnFrame(event, isStored ? conversation.seq : null));
  }
  /** Stores entries as the service derives them from events that it has emitted. */
  store(id: string, ...entries: readonly StationEntry[]): void {
    const conversation = this.#conversation(id);
    conversation.entries.push(...entries);
    conversation.session = { ...conversation.session, messages: conversation.entries.length };
  }
  setApproval(approval: StationApproval): void {
    this.approvals.set(approval.id, approval);
    this.announce({ type: 'approval', approval });
  }
  setRun(run: StationRun): void {
    this.runs.set(run.id, run);
    this.announce({ type: 'run', run });
  }
  setLanes(lanes: StationLanes): void {
    this.lanes = lanes;
    this.announce({ type: 'lanes', lanes });
  }
  announce(event: StationEvent): void {
    for (const reader of this.#readers) reader.write(frame(event.type, event));
  }

  #conversation(id: string): Conversation {
    const conversation = this.conversations.get(id);
    if (!conversation) throw new Error(`The fixture has no session "${id}".`);
    return conversation;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.origin);
    this.requests.push(`${request.method} ${url.pathname}`);
    const status = this.failing?.(url.pathname);
    if (status !== undefined) {
      sendProblem(response, status, 'failing', 'The fixture refuses this request. Try again.');
      return;
    }
    if (url.pathname.startsWith('/a/')) {
      await this.#link(request, response, url.pathname.slice(3));
      return;
    }
    if (!url.pathname.startsWith('/api/v1/')) {
      await this.#file(response, url.pathname === '/' ? 'index.html' : url.pathname);
      return;
    }
    if (request.headers.authorization !== `Bearer ${token}`) {
      sendProblem(response, 401, 'unauthorized', 'The token is not accepted. Open the address that was printed.');
      return;
    }
    await this.#api(request, response, url);
  }

  async #file(response: ServerResponse, path: string): Promise<void> {
    const file = join(this.#folder, normalize(path));
    const data = await readFile(file).catch(() => undefined);
    if (!data || !file.startsWith(this.#folder)) {
      sendProblem(response, 404, 'not-found', 'No such file.');
      return;
    }
    response.writeHead(200, {
      'content-type': types[extname(file)] ?? 'application/octet-stream',
      'content-security-policy': securityPolicy,
      'x-content-type-options': 'nosniff',
    });
    response.end(data);
  }

  async #link(request: IncomingMessage, response: ServerResponse, name: string): Promise<void> {
    const approval = this.approvals.get(this.links.get(name) ?? '');
    if (request.method === 'GET' && request.headers.accept?.includes('text/html')) {
      await this.#file(response, 'approve.html');
    } else if (!approval) sendProblem(response, 410, 'used', 'This link has been used or has expired.');
    else if (request.method === 'GET') send(response, approval);
    else {
      this.links.delete(name);
      this.#decide(response, approval, approvalDecision.parse(await bodyOf(request)));
    }
  }

  #decide(response: ServerResponse, approval: StationApproval, body: z.infer<typeof approvalDecision>): void {
    if (approval.call && approval.call.hash !== body.hash) {
      sendProblem(response, 409, 'changed', 'The call has changed. Look at it again.');
      return;
    }
    this.decisions.push({ id: approval.id, body });
    const state = body.decision === 'deny' ? 'denied' : 'approved';
    const decided: StationApproval = { ...approval, state, decidedBy: 'ada', decidedAt: approval.requestedAt + 1000 };
    this.setApproval(decided);
    send(response, decided);
  }

  async #api(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const [, , , kind, id = '', action] = url.pathname.split('/').map(decodeURIComponent);
    const isPost = request.method === 'POST';
    const body = isPost ? await bodyOf(request) : undefined;
    if (kind === 'sessions' && id === '' && isPost) {
      const { agent, title, message } = newSession.parse(body);
      const created = blankSession(`s-${this.conversations.size + 1}`, {
        agent,
        title: title ?? message?.text ?? 'New session',
      });
      this.add(created);
      if (message) this.messages.push({ session: created.id, message });
      send(response, created);
    } else if (kind === 'sessions' && id === '') {
      const query = url.searchParams.get('query')?.toLowerCase() ?? '';
      const sessions = [...this.conversations.values()].map(({ session }) => session);
      send(response, { sessions: sessions.filter(({ title }) => title.toLowerCase().includes(query)), next: null });
    } else if (kind === 'sessions') {
      const conversation = this.conversations.get(id);
      if (!conversation) sendProblem(response, 404, 'no-session', `Session "${id}" does not exist.`);
      else this.#session(request, response, url, conversation, action, body);
    } else if (kind === 'events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of this.#snapshot()) response.write(frame(event.type, event));
      this.#readers.add(response);
      response.on('close', () => this.#readers.delete(response));
    } else if (kind === 'approvals' && id === '') send(response, [...this.approvals.values()]);
    else if (kind === 'approvals' && action === 'link') {
      this.links.set(`link-${id}`, id);
      send(response, { url: `${this.origin}/a/link-${id}`, expiresAt: 2_000_000_000_000 });
    } else if (kind === 'approvals') {
      const approval = this.approvals.get(id);
      if (approval) this.#decide(response, approval, approvalDecision.parse(body));
      else sendProblem(response, 404, 'no-approval', 'This approval does not exist.');
    } else if (kind === 'artifacts') {
      const artifact = this.artifacts.get(id);
      response.writeHead(artifact ? 200 : 404, { 'content-type': artifact?.type ?? 'text/plain' });
      response.end(artifact?.data);
    } else if (kind === 'lanes') send(response, this.lanes);
    else if (kind === 'agents') send(response, this.agents);
    else if (kind === 'usage') send(response, this.usage);
    else if (kind === 'audit') send(response, this.audit);
    else if (kind === 'workflows' && id === '') send(response, this.workflows);
    else if (kind === 'workflows' && isPost) {
      const run = blankRun(`run-${this.runs.size + 1}`, id, newRun.parse(body).input);
      this.setRun(run);
      send(response, run);
    } else if (kind === 'workflows') {
      send(
        response,
        [...this.runs.values()].filter(({ workflow }) => workflow === id),
      );
    } else sendProblem(response, 404, 'not-found', 'No such route.');
  }

  #session(
    request: IncomingMessage,
    response: ServerResponse,
    url: URL,
    conversation: Conversation,
    action: string | undefined,
    body: unknown,
  ): void {
    const { session, entries } = conversation;
    if (action === 'entries') {
      const limit = Number(url.searchParams.get('limit') ?? 100);
      const before = Math.min(Number(url.searchParams.get('before') ?? entries.length), entries.length);
      const page = entries.slice(Math.max(0, before - limit), before);
      send(response, { entries: page, total: entries.length, seq: conversation.seq });
    } else if (action === 'events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const after = Number(request.headers['last-event-id'] ?? 0);
      for (const { seq, event } of conversation.events) if (seq > after) response.write(turnFrame(event, seq));
      response.write('event: caught-up\ndata: {}\n\n');
      conversation.readers.add(response);
      response.on('close', () => conversation.readers.delete(response));
    } else if (action === 'messages') {
      this.messages.push({ session: session.id, message: newMessage.parse(body) });
      send(response, { id: `m-${this.messages.length}`, isNew: true });
    } else if (action === 'transcript') {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.end(`${url.searchParams.get('format')} of ${session.id}`);
    } else if (action === 'trace') send(response, this.traces.get(session.id) ?? []);
    else if (action === 'cancel') {
      this.update(session.id, { state: 'idle', turn: null, outcome: 'cancelled' });
      send(response, {});
    } else if (action === 'fork') {
      const fork = {
        ...session,
        id: `${session.id}-fork`,
        title: `${session.title} (fork)`,
        forkedFrom: { session: session.id, turn: null },
      };
      this.add(fork, entries);
      send(response, fork);
    } else if (request.method === 'DELETE') {
      this.conversations.delete(session.id);
      this.announce({ type: 'session-deleted', id: session.id });
      response.writeHead(204);
      response.end();
    } else send(response, session);
  }

  #snapshot(): readonly StationEvent[] {
    return [
      ...[...this.conversations.values()].map(({ session }) => ({ type: 'session' as const, session })),
      ...[...this.approvals.values()]
        .filter(({ state }) => state === 'open')
        .map((approval) => ({ type: 'approval' as const, approval })),
      { type: 'lanes', lanes: this.lanes },
      ...[...this.runs.values()]
        .filter(({ endedAt }) => endedAt === null)
        .map((run) => ({ type: 'run' as const, run })),
      { type: 'caught-up' },
    ];
  }
}

const frame = (event: string, data: unknown): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
const turnFrame = (event: StationTurnEvent, seq: number | null): string =>
  `${seq === null ? '' : `id: ${seq}\n`}${frame('turn', event)}`;

const send = (response: ServerResponse, body: unknown): void => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};
const sendProblem = (response: ServerResponse, status: number, code: string, message: string): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ code, message, field: null, isRetryable: status >= 500 }));
};
const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}');
};

export const noUsage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cost: 0 };

export const blankSession = (id: string, values: Partial<StationSession> = {}): StationSession => ({
  id,
  title: id,
  agent: 'coder',
  state: 'idle',
  createdAt: Date.now(),
  updatedAt: Date.now(),
  turn: null,
  outcome: null,
  reason: null,
  messages: 0,
  openApprovals: 0,
  usage: noUsage,
  forkedFrom: null,
  run: null,
  ...values,
});

export const blankRun = (id: string, workflow: string, _input: object): StationRun => ({
  id,
  workflow,
  state: 'running',
  startedAt: Date.now(),
  endedAt: null,
  error: null,
  steps: [],
});
