import { SessionBusyError } from '@h/turn';
import type * as z from 'zod';
import type { sessionPage, sessionQuery, StationSession } from '../api/contract.js';
import type { Backend } from './backend.js';
import type { SessionBody, StoredRecord } from './records.js';
import { newSessionId, partsOfSession, StationError, tenantTag } from './session-id.js';
import { noStationUsage } from './usage.js';

/** The sessions of all tenants. A session of another tenant does not exist for a caller. */
export class SessionDirectory {
  readonly #backend: Backend;
  readonly #agents: readonly string[];
  readonly #now: () => number;

  /** @param agents the names that a session can have */
  constructor(backend: Backend, agents: readonly string[], now: () => number) {
    this.#backend = backend;
    this.#agents = agents;
    this.#now = now;
  }

  /** @throws StationError 404 if the session does not exist or belongs to another tenant */
  async get(tenant: string, id: string): Promise<SessionBody> {
    return (await this.find(tenant, id)).body;
  }

  /** @param seed - a repeated call with the same seed returns the same session */
  async create(
    tenant: string,
    given: { readonly agent: string; readonly title?: string | undefined; readonly run?: string | undefined },
    seed?: string,
  ): Promise<StationSession> {
    if (!this.#agents.includes(given.agent)) {
      const known = this.#agents.join(', ');
      throw new StationError(422, 'unknown-agent', `The agent does not exist. Known agents: ${known}.`, 'agent');
    }
    const id = newSessionId(given.agent, tenant, seed);
    const { title = '', agent, run = null } = given;
    await this.add(tenant, { id, title, agent, run });
    return showSession(await this.get(tenant, id));
  }

  /** Adds the record of a session unless it exists. */
  async add(
    tenant: string,
    given: Pick<SessionBody, 'id' | 'title' | 'agent' | 'run'> & Partial<SessionBody>,
  ): Promise<void> {
    const at = this.#now();
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
    await this.#backend.records.insert({ kind: 'session', id: given.id, tenant, at, body });
  }

  async list(tenant: string, query: z.output<typeof sessionQuery>): Promise<z.infer<typeof sessionPage>> {
    const { limit, agent, state } = query;
    const words = (query.query ?? '').toLowerCase().split(/\s+/).filter(Boolean);
    const found: StationSession[] = [];
    let after = query.cursor === undefined ? undefined : cursorIn(query.cursor);
    for (;;) {
      const page = await this.#backend.records.list('session', { tenant, after, limit: pageSize });
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

  /** @throws StationError 409 while a turn runs */
  async delete(tenant: string, session: string): Promise<void> {
    const { body } = await this.find(tenant, session);
    const { records, sessions, artifacts } = this.#backend;
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

  /** @throws StationError 404 if the session does not exist or belongs to another tenant */
  async find(tenant: string, id: string): Promise<StoredRecord<'session'>> {
    const found =
      partsOfSession(id)?.tag === tenantTag(tenant) ? await this.#backend.records.get('session', id) : undefined;
    if (found?.tenant !== tenant) throw new StationError(404, 'unknown-session', 'The session does not exist.');
    return found;
  }

  /** Gives the session a title, and shows that a message waits. */
  async received({ id }: StoredRecord<'session'>, text: string): Promise<void> {
    const at = this.#now();
    await this.#backend.records.update('session', id, (current) => {
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
