import type { StationApproval, StationEvent, StationLanes, StationRun, StationSession } from '../../api/contract.js';

/** Whether the page receives live events. */
export type Connection = 'connecting' | 'live' | 'offline' | 'denied';

/** Everything that the page knows about the station as a whole. */
export interface StationState {
  readonly connection: Connection;
  /** When the next attempt to connect begins, in milliseconds since 1970. */
  readonly retryAt: number | null;
  /** How often the page has received the current state, which contains the latest sessions only. */
  readonly snapshots: number;
  readonly sessions: ReadonlyMap<string, StationSession>;
  readonly approvals: ReadonlyMap<string, StationApproval>;
  readonly runs: ReadonlyMap<string, StationRun>;
  readonly lanes: StationLanes | null;
  /** Ids that the current connection has announced; the others are removed when it has caught up. */
  readonly announced: ReadonlySet<string> | null;
}

export type StationAction =
  | { readonly type: 'connection'; readonly connection: Connection; readonly retryAt?: number }
  /** A connection begins: the server sends the current state, then `caught-up`. */
  | { readonly type: 'opened' }
  | { readonly type: 'events'; readonly events: readonly StationEvent[] }
  /** Sessions from a listing; what live events said later is newer. */
  | { readonly type: 'sessions'; readonly sessions: readonly StationSession[] }
  /** The latest sessions, or all of them, and what the page knew when it asked for them. */
  | {
      readonly type: 'listing';
      readonly sessions: readonly StationSession[];
      readonly isComplete: boolean;
      readonly known: StationState['sessions'];
    }
  | { readonly type: 'approvals'; readonly approvals: readonly StationApproval[] }
  | { readonly type: 'runs'; readonly runs: readonly StationRun[] };

export const initialStation: StationState = {
  connection: 'connecting',
  retryAt: null,
  snapshots: 0,
  sessions: new Map(),
  approvals: new Map(),
  runs: new Map(),
  lanes: null,
  announced: null,
};

/** Decided approvals and ended runs are shown until there are this many newer ones. */
const maxHistory = 200;
const maxSessions = 5000;

export const reduceStation = (state: StationState, action: StationAction): StationState => {
  switch (action.type) {
    case 'connection':
      return { ...state, connection: action.connection, retryAt: action.retryAt ?? null };
    case 'opened':
      return { ...state, announced: new Set() };
    case 'events':
      return action.events.reduce(applyEvent, state);
    case 'sessions':
      return { ...state, sessions: bounded(withSessions(state.sessions, action.sessions), maxSessions) };
    case 'listing': {
      const listed = new Set(action.sessions.map(({ id }) => id));
      const oldest = action.isComplete ? 0 : (action.sessions.at(-1)?.updatedAt ?? Infinity);
      // Sessions of the period that are not listed were deleted while the page was not connected.
      const sessions = [...withSessions(state.sessions, action.sessions)].filter(
        ([id, session]) => listed.has(id) || session.updatedAt <= oldest || action.known.get(id) !== session,
      );
      return { ...state, sessions: bounded(new Map(sessions), maxSessions) };
    }
    case 'approvals': {
      const approvals = new Map(state.approvals);
      for (const approval of action.approvals) approvals.set(approval.id, approval);
      return { ...state, approvals: bounded(approvals, maxHistory) };
    }
    case 'runs': {
      const runs = new Map(state.runs);
      for (const run of action.runs) runs.set(run.id, run);
      return { ...state, runs: bounded(runs, maxHistory) };
    }
  }
};

const applyEvent = (state: StationState, event: StationEvent): StationState => {
  switch (event.type) {
    case 'session':
      return {
        ...state,
        sessions: bounded(withEntry(state.sessions, event.session), maxSessions),
        announced: announce(state, event.session.id),
      };
    case 'session-deleted':
      return { ...state, sessions: without(state.sessions, event.id) };
    case 'approval':
      return {
        ...state,
        approvals: bounded(withEntry(state.approvals, event.approval), maxHistory),
        announced: announce(state, event.approval.id),
      };
    case 'lanes':
      return { ...state, lanes: event.lanes };
    case 'run':
      return {
        ...state,
        runs: bounded(withEntry(state.runs, event.run), maxHistory),
        announced: announce(state, event.run.id),
      };
    case 'caught-up':
      return {
        ...withoutStale(state),
        connection: 'live',
        retryAt: null,
        snapshots: state.snapshots + 1,
        announced: null,
      };
  }
};

const withSessions = (
  known: StationState['sessions'],
  listed: readonly StationSession[],
): Map<string, StationSession> => {
  const sessions = new Map(known);
  for (const session of listed) {
    if (session.updatedAt >= (sessions.get(session.id)?.updatedAt ?? 0)) sessions.set(session.id, session);
  }
  return sessions;
};

const announce = ({ announced }: StationState, id: string): ReadonlySet<string> | null =>
  announced === null ? null : new Set(announced).add(id);

const withEntry = <Value extends { readonly id: string }>(
  map: ReadonlyMap<string, Value>,
  value: Value,
): ReadonlyMap<string, Value> => new Map(map).set(value.id, value);

const without = <Value>(map: ReadonlyMap<string, Value>, id: string): ReadonlyMap<string, Value> => {
  const copy = new Map(map);
  copy.delete(id);
  return copy;
};

/** Drops the oldest values above a limit; maps keep the order of their first insertion. */
const bounded = <Value>(map: ReadonlyMap<string, Value>, limit: number): ReadonlyMap<string, Value> =>
  map.size <= limit ? map : new Map([...map].slice(map.size - limit));

/** What was open before the connection was lost and was not announced again has been decided or has ended meanwhile. */
const withoutStale = (state: StationState): StationState => {
  const { announced } = state;
  if (announced === null) return state;
  const approvals = [...state.approvals].filter(([id, { state: status }]) => status !== 'open' || announced.has(id));
  const runs = [...state.runs].filter(([id, run]) => run.endedAt !== null || announced.has(id));
  return { ...state, approvals: new Map(approvals), runs: new Map(runs) };
};

export const openApprovals = ({ approvals }: StationState): readonly StationApproval[] =>
  [...approvals.values()]
    .filter(({ state }) => state === 'open')
    .toSorted((left, right) => left.requestedAt - right.requestedAt);

/** Sessions that a person must look at first, then those at work, then the rest, newest first. */
export const sortedSessions = (sessions: Iterable<StationSession>): readonly StationSession[] =>
  [...sessions].toSorted(
    (left, right) =>
      urgency(left) - urgency(right) || right.updatedAt - left.updatedAt || (left.id < right.id ? -1 : 1),
  );

const urgency = ({ state, openApprovals: open }: StationSession): number =>
  open > 0 || state === 'waiting-for-input' ? 0 : state === 'running' || state === 'queued' ? 1 : 2;

/** Whether a session matches the filters of the list, as the server decides it for `GET /sessions`. */
export const matches = (session: StationSession, query: string, state: string, agent: string): boolean =>
  (state === '' || session.state === state) &&
  (agent === '' || session.agent === agent) &&
  (query === '' || `${session.title} ${session.agent} ${session.id}`.toLowerCase().includes(query.toLowerCase()));
