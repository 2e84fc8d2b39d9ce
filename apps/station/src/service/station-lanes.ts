import type { StationLanes } from '../api/contract.js';
import type { Backend } from './backend.js';
import type { SessionBody } from './records.js';
import { partsOfSession, tenantTag } from './session-id.js';

/** The running and waiting turns of a tenant, by the lanes of this process or, if others run turns, by the records. */
export const lanesOf = async (backend: Backend, tenant: string): Promise<StationLanes> => {
  const snapshot = backend.lanesSnapshot?.();
  const tag = tenantTag(tenant);
  const isOwn = (session: string): boolean => partsOfSession(session)?.tag === tag;
  if (snapshot) {
    const running = await Promise.all(
      snapshot.running
        .filter(({ session }) => isOwn(session))
        .map(async (each) => ({
          ...each,
          turn: (await backend.records.get('session', each.session))?.body.turn ?? null,
        })),
    );
    return { ...snapshot, running, waiting: snapshot.waiting.filter(({ session }) => isOwn(session)) };
  }
  const active = (await backend.records.list('session', { tenant, limit: 1000 }))
    .map(({ body }) => body)
    .filter(({ state }) => state === 'running' || state === 'queued' || state === 'waiting-for-input');
  const since = ({ updatedAt }: SessionBody): number => updatedAt;
  const waiting = active
    .filter(({ state }) => state === 'queued')
    .toSorted((left, right) => since(left) - since(right));
  return {
    capacity: backend.capacity,
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
};
