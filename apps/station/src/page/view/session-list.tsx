import { useEffect, useMemo, useState } from 'preact/hooks';
import type { StationSession } from '../../api/contract.js';
import { useStore } from '../client/store.js';
import { age, dollars, moment } from '../state/format.js';
import { hrefOf } from '../state/route.js';
import { matches, sortedSessions } from '../state/station.js';
import { outcomeText } from '../state/turn-events.js';
import { useApp, useNow } from './context.js';
import { Empty, Icon, State, Title } from './elements.js';

const searchDelayMs = 250;
/** Rows that are rendered before a reader asks for more. */
const pageRows = 100;
const filters: readonly (readonly [string, string])[] = [
  ['', 'All states'],
  ['waiting-for-input', 'Needs you'],
  ['running', 'Running'],
  ['queued', 'Queued'],
  ['idle', 'Idle'],
  ['failed', 'Failed'],
];

/** All sessions with their live state: first those that need a person, then those at work. */
export const SessionList = ({ selected, onNew }: { readonly selected: string | null; readonly onNew: () => void }) => {
  const { station, fail } = useApp();
  const now = useNow(5000);
  const all = useStore(station.store, ({ sessions }) => sessions);
  const snapshots = useStore(station.store, (state) => state.snapshots);
  const [query, setQuery] = useState('');
  const [state, setState] = useState('');
  const [rows, setRows] = useState(pageRows);
  const [next, setNext] = useState<string | null>(null);

  // Live events begin with the latest sessions; the server lists and searches the others.
  useEffect(() => {
    if (snapshots === 0) return;
    let isCurrent = true;
    const timer = setTimeout(() => {
      const search = { limit: '200', ...(query && { query }), ...(state && { state }) };
      const { sessions: known } = station.store.get();
      station.api.sessions(search).then(({ sessions, next }) => {
        if (!isCurrent) return;
        station.store.dispatch(
          query || state
            ? { type: 'sessions', sessions }
            : { type: 'listing', sessions, isComplete: next === null, known },
        );
        setNext(next);
      }, fail);
    }, searchDelayMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [query, state, snapshots]);

  const sessions = useMemo(
    () => sortedSessions([...all.values()].filter((session) => matches(session, query, state, ''))),
    [all, query, state],
  );
  const more = (): void => {
    setRows(rows + pageRows);
    if (next === null) return;
    station.api
      .sessions({ limit: '200', cursor: next, ...(query && { query }), ...(state && { state }) })
      .then((page) => {
        station.store.dispatch({ type: 'sessions', sessions: page.sessions });
        setNext(page.next);
      }, fail);
  };
  const groups = grouped(sessions.slice(0, rows));
  const hasMore = sessions.length > rows || next !== null;
  const lastGroup = [...groups.keys()].at(-1);

  return (
    <aside class="sessions" aria-label="Sessions">
      <div class="sessions-head">
        <label class="search">
          <Icon name="search" />
          <span class="hidden">Search sessions</span>
          <input
            id="search"
            type="search"
            placeholder="Search"
            value={query}
            onInput={(event) => setQuery(event.currentTarget.value)}
          />
        </label>
        <select aria-label="State" value={state} onChange={(event) => setState(event.currentTarget.value)}>
          {filters.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
        <button type="button" class="primary icon" aria-label="New session" title="New session (n)" onClick={onNew}>
          <Icon name="plus" />
        </button>
      </div>
      <nav class="sessions-rows" aria-label="Sessions">
        {sessions.length === 0 &&
          (query || state ? (
            <Empty title="No session matches">Change the search or the filter.</Empty>
          ) : snapshots === 0 ? null : (
            <Empty title="No sessions yet">The plus button, or n, begins one.</Empty>
          ))}
        {[...groups].map(([group, members]) => (
          <section key={group}>
            <h2 class="group">
              {group}{' '}
              <span class="group-count">
                {members.length}
                {hasMore && group === lastGroup && '+'}
              </span>
            </h2>
            <ul>
              {members.map((session) => (
                <Row key={session.id} session={session} isSelected={session.id === selected} now={now} />
              ))}
            </ul>
          </section>
        ))}
        {hasMore && (
          <button type="button" class="quiet more" onClick={more}>
            More sessions
          </button>
        )}
      </nav>
    </aside>
  );
};

const grouped = (sessions: readonly StationSession[]): ReadonlyMap<string, readonly StationSession[]> => {
  const groups = new Map<string, StationSession[]>();
  for (const session of sessions) groups.set(groupOf(session), [...(groups.get(groupOf(session)) ?? []), session]);
  return groups;
};

const groupOf = ({ state, openApprovals }: StationSession): string =>
  openApprovals > 0 || state === 'waiting-for-input'
    ? 'Needs you'
    : state === 'running' || state === 'queued'
      ? 'At work'
      : 'Earlier';

const Row = ({
  session,
  isSelected,
  now,
}: {
  readonly session: StationSession;
  readonly isSelected: boolean;
  readonly now: number;
}) => {
  const { state, outcome, openApprovals: open } = session;
  const shown = open > 0 ? 'waiting-for-input' : state;
  const isOrdinary = outcome === null || outcome === 'completed' || outcome === 'replied' || state !== 'idle';
  return (
    <li>
      <a
        class="session"
        href={hrefOf({ view: 'session', id: session.id, tab: 'conversation' })}
        aria-current={isSelected ? 'page' : undefined}
      >
        <State state={shown} />
        <span class="session-title">
          <Title text={session.title} />
        </span>
        <time
          class="session-age"
          dateTime={new Date(session.updatedAt).toISOString()}
          title={moment(session.updatedAt)}
        >
          {age(session.updatedAt, now)}
        </time>
        <span class="session-facts">
          <span class="session-agent">{session.agent}</span>
          {open > 0 ? (
            <span class="attention">{open === 1 ? 'approval' : `${open} approvals`}</span>
          ) : !isOrdinary ? (
            <span class="session-outcome">{outcomeText(outcome)}</span>
          ) : null}
          <span class="session-cost">{dollars(session.usage.cost)}</span>
        </span>
      </a>
    </li>
  );
};
