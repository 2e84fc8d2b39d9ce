import { transcriptFormats } from '@h/transcripts';
import * as z from 'zod';
import { readSession } from '../service/session-events.js';
import { newSessionId, sha256, StationError } from '../service/session-id.js';
import { showSession } from '../service/session-directory.js';
import { lanesOf } from '../service/station-lanes.js';
import * as contract from './contract.js';
import { callerStream } from './caller-stream.js';
import type { ServerSentEvent } from './event-stream.js';
import { route, type Route } from './route.js';
import type { Metrics } from './metrics.js';
import { readRange } from './ranges.js';
import type { WorkflowService } from './workflow-service.js';

const eventQuery = z.object({ after: z.coerce.number().int().nonnegative().optional() });
const listQuery = z.object({ limit: z.coerce.number().int().min(1).max(1000).default(200) });
const periodQuery = z.object({ from: z.coerce.number().int().optional(), to: z.coerce.number().int().optional() });
const dayMs = 86_400_000;

/** Options of {@link stationRoutes}. */
export interface RouteOptions {
  readonly metrics: Metrics;
  readonly workflows?: WorkflowService | undefined;
}

/** The routes below `/api/v1`. */
export const stationRoutes = ({ metrics, workflows }: RouteOptions): readonly Route[] => [
  route({
    method: 'get',
    path: '/sessions',
    summary: 'Lists sessions, most recently used first.',
    scope: 'read',
    query: contract.sessionQuery,
    status: 200,
    response: contract.sessionPage,
    handle: ({ station, caller, query }) => station.sessions.list(caller.tenant, query),
  }),
  route({
    method: 'post',
    path: '/sessions',
    summary: 'Creates a session, and sends its first message.',
    scope: 'write',
    body: contract.newSession,
    status: 201,
    response: contract.session,
    audit: 'session.create',
    handle: async ({ station, caller: { tenant }, body, seed }) => {
      const session = await station.sessions.create(tenant, body, seed);
      if (!body.message) return session;
      await station.send(tenant, session.id, body.message, seed && sha256(`message:${seed}`));
      return showSession(await station.sessions.get(tenant, session.id));
    },
  }),
  route({
    method: 'get',
    path: '/sessions/:id',
    summary: 'Returns a session.',
    scope: 'read',
    status: 200,
    response: contract.session,
    handle: async ({ station, caller, params: { id = '' } }) =>
      showSession(await station.sessions.get(caller.tenant, id)),
  }),
  route({
    method: 'delete',
    path: '/sessions/:id',
    summary: 'Deletes a session with its history and artifacts.',
    scope: 'write',
    status: 204,
    response: undefined,
    audit: 'session.delete',
    handle: ({ station, caller, params: { id = '' } }) => station.sessions.delete(caller.tenant, id),
  }),
  route({
    method: 'post',
    path: '/sessions/:id/fork',
    summary: 'Copies a session up to a turn into a new one.',
    scope: 'write',
    body: contract.forkSession,
    status: 201,
    response: contract.session,
    audit: 'session.fork',
    handle: async ({ station, caller: { tenant }, params: { id = '' }, body, seed }) => {
      const source = await station.sessions.get(tenant, id);
      const copy = newSessionId(source.agent, tenant, seed);
      if (!(await station.backend.records.get('session', copy))) {
        await station.reader.copy(source, body.turn, copy);
        const { agent, messages } = source;
        const title = body.title ?? `Fork of ${source.title}`.slice(0, 200);
        const forkedFrom = { session: id, turn: body.turn ?? source.lastEnded };
        await station.sessions.add(tenant, { id: copy, title, agent, run: null, forkedFrom, messages });
      }
      return showSession(await station.sessions.get(tenant, copy));
    },
  }),
  route({
    method: 'post',
    path: '/sessions/:id/messages',
    summary: 'Sends a message: to the running turn or to a new one.',
    scope: 'write',
    body: contract.newMessage,
    status: 202,
    response: contract.acceptedMessage,
    handle: ({ station, caller, params: { id = '' }, body, seed }) =>
      station.send(caller.tenant, id, body, seed && sha256(`message:${seed}`)),
  }),
  route({
    method: 'get',
    path: '/sessions/:id/entries',
    summary: 'Returns a page of the conversation, the latest without "before".',
    scope: 'read',
    query: contract.entryQuery,
    status: 200,
    response: contract.entryPage,
    handle: async ({ station, caller, params: { id = '' }, query }) =>
      station.reader.entries(await station.sessions.get(caller.tenant, id), query),
  }),
  route({
    method: 'get',
    path: '/sessions/:id/transcript',
    summary: 'Returns the history in the format of another agent.',
    scope: 'read',
    query: z.object({ format: z.enum(transcriptFormats).default('openai-chat') }),
    status: 200,
    response: 'text/plain; charset=utf-8',
    handle: async ({ station, caller, params: { id = '' }, query }) => {
      const text = await station.reader.transcript(await station.sessions.get(caller.tenant, id), query.format);
      return new Response(text, { headers: { 'content-type': 'text/plain; charset=utf-8' } });
    },
  }),
  route({
    method: 'get',
    path: '/sessions/:id/trace',
    summary: 'Returns the waterfalls of the latest turns, or of one turn.',
    scope: 'read',
    query: z.object({ turn: z.string().optional() }),
    status: 200,
    response: z.array(contract.turnTrace),
    handle: async ({ station, caller, params: { id = '' }, query }) =>
      station.reader.traces(await station.sessions.get(caller.tenant, id), query.turn),
  }),
  route({
    method: 'get',
    path: '/sessions/:id/events',
    summary: 'Streams the events of a session after a number (Last-Event-ID or "after"), then those that follow.',
    scope: 'read',
    query: eventQuery,
    status: 200,
    response: 'text/event-stream',
    handle: async ({ station, caller, params: { id = '' }, query, raw }) => {
      await station.sessions.get(caller.tenant, id);
      const header = raw.headers.get('last-event-id');
      const after = header !== null && /^\d{1,16}$/.test(header) ? Number(header) : (query.after ?? 0);
      const events = async function* (signal: AbortSignal): AsyncGenerator<ServerSentEvent> {
        for await (const item of readSession(station.backend, id, { after, signal, keepMs: station.keepEventsMs })) {
          yield item.type === 'event'
            ? { event: 'turn', id: item.seq, data: item.event }
            : { event: item.type, data: {} };
        }
      };
      return callerStream(events, { station, metrics, caller });
    },
  }),
  route({
    method: 'post',
    path: '/sessions/:id/cancel',
    summary: 'Cancels the running turn.',
    scope: 'write',
    body: contract.cancelTurn,
    status: 202,
    response: z.object({ isCancelled: z.boolean() }),
    audit: 'turn.cancel',
    handle: async ({ station, caller, params: { id = '' }, body }) => ({
      isCancelled: await station.cancel(caller.tenant, id, body.turn, body.reason),
    }),
  }),
  route({
    method: 'get',
    path: '/events',
    summary: 'Streams the state of everything the caller may see, then its changes.',
    scope: 'read',
    status: 200,
    response: 'text/event-stream',
    handle: ({ station, caller }) => {
      const { tenant } = caller;
      const runs = async () => {
        const found = (await workflows?.runs(tenant)) ?? [];
        return found.map((run) => ({ type: 'run', run }) as const);
      };
      const events = async function* (signal: AbortSignal): AsyncGenerator<ServerSentEvent> {
        for await (const event of station.feed(tenant, signal, runs)) yield { event: event.type, data: event };
      };
      return Promise.resolve(callerStream(events, { station, metrics, caller }));
    },
  }),
  route({
    method: 'get',
    path: '/approvals',
    summary: 'Lists approvals, latest first.',
    scope: 'read',
    query: listQuery,
    status: 200,
    response: z.array(contract.approval),
    handle: ({ station, caller, query }) => station.approvals.list(caller.tenant, query.limit),
  }),
  route({
    method: 'post',
    path: '/approvals/:id',
    summary: 'Decides an approval, once.',
    scope: 'approve',
    body: contract.approvalDecision,
    status: 200,
    response: contract.approval,
    audit: 'approval.decide',
    handle: ({ station, caller, params: { id = '' }, body }) =>
      station.approvals.decide(caller.tenant, id, caller.name, body),
  }),
  route({
    method: 'post',
    path: '/approvals/:id/link',
    summary: 'Creates a link with which the approval can be decided once, without a token.',
    scope: 'approve',
    status: 201,
    response: contract.approvalLink,
    isSecret: true,
    audit: 'approval.link',
    handle: ({ station, caller, params: { id = '' }, origin }) => station.approvals.link(caller, id, origin),
  }),
  route({
    method: 'get',
    path: '/artifacts/:id',
    summary: 'Returns an artifact of a session, or a range of it.',
    scope: 'read',
    status: 200,
    response: 'application/octet-stream',
    handle: async ({ station, caller, params: { id = '' }, raw }) => {
      const [session = '', artifact = ''] = id.split('~');
      await station.sessions.get(caller.tenant, session);
      return readRange(station.backend.artifacts, session, artifact, raw.headers.get('range'));
    },
  }),
  route({
    method: 'get',
    path: '/lanes',
    summary: 'Returns who runs and who waits for what.',
    scope: 'read',
    status: 200,
    response: contract.lanes,
    handle: ({ station, caller }) => lanesOf(station.backend, caller.tenant),
  }),
  route({
    method: 'get',
    path: '/agents',
    summary: 'Lists the agents that sessions can be created with.',
    scope: 'read',
    status: 200,
    response: z.array(contract.agentInfo),
    handle: ({ station }) =>
      Promise.resolve(station.agents.map(({ name, description, model }) => ({ name, description, model }))),
  }),
  route({
    method: 'get',
    path: '/usage',
    summary: 'Returns usage by day, agent and model; the latest 30 days by default.',
    scope: 'read',
    query: periodQuery,
    status: 200,
    response: contract.usageReport,
    handle: ({ station, caller, query }) => {
      const to = query.to ?? station.now();
      return station.reader.usage(caller.tenant, query.from ?? to - 30 * dayMs, to);
    },
  }),
  route({
    method: 'get',
    path: '/audit',
    summary: 'Lists who did what, latest first.',
    scope: 'admin',
    query: listQuery,
    status: 200,
    response: z.array(contract.auditEntry),
    handle: async ({ station, caller: { tenant }, query: { limit } }) =>
      (await station.backend.records.list('audit', { tenant, limit })).map(({ body }) => body),
  }),
  ...workflowRoutes(workflows),
];

const noWorkflows = (): never => {
  throw new StationError(404, 'unknown-workflow', 'The workflow or run does not exist.');
};

const workflowRoutes = (workflows: WorkflowService | undefined): readonly Route[] => [
  route({
    method: 'get',
    path: '/workflows',
    summary: 'Lists workflows.',
    scope: 'read',
    status: 200,
    response: z.array(contract.workflow),
    handle: async () => workflows?.list() ?? [],
  }),
  route({
    method: 'post',
    path: '/workflows/:id/runs',
    summary: 'Starts a run of a workflow.',
    scope: 'write',
    body: contract.newRun,
    status: 201,
    response: contract.workflowRun,
    audit: 'run.start',
    handle: async ({ caller, params: { id = '' }, body, seed }) => {
      const known = (await workflows?.list()) ?? [];
      if (!workflows || !known.some((workflow) => workflow.id === id)) return noWorkflows();
      return workflows.start(caller.tenant, id, body.input, seed);
    },
  }),
  route({
    method: 'get',
    path: '/workflows/:id/runs',
    summary: 'Lists the runs of a workflow, latest first.',
    scope: 'read',
    status: 200,
    response: z.array(contract.workflowRun),
    handle: async ({ caller, params: { id = '' } }) => {
      const known = (await workflows?.list()) ?? [];
      if (!known.some((workflow) => workflow.id === id)) return noWorkflows();
      return ((await workflows?.runs(caller.tenant)) ?? []).filter(({ workflow }) => workflow === id);
    },
  }),
  route({
    method: 'get',
    path: '/runs/:id',
    summary: 'Returns a run.',
    scope: 'read',
    status: 200,
    response: contract.workflowRun,
    handle: async ({ caller, params: { id = '' } }) => (await workflows?.run(caller.tenant, id)) ?? noWorkflows(),
  }),
  route({
    method: 'post',
    path: '/runs/:id/cancel',
    summary: 'Cancels a run.',
    scope: 'write',
    status: 202,
    response: contract.workflowRun,
    audit: 'run.cancel',
    handle: async ({ caller, params: { id = '' } }) => (await workflows?.cancel(caller.tenant, id)) ?? noWorkflows(),
  }),
];
