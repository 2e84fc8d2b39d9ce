import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { explain, RequestError } from '../client/api.js';
import type { StationClient } from '../client/station-client.js';
import { useStore } from '../client/store.js';
import { hrefOf, parseRoute, type Route } from '../state/route.js';
import { openApprovals, sortedSessions } from '../state/station.js';
import { ApprovalsView } from './approvals-view.js';
import { AppContext, useNow, type App as AppServices } from './context.js';
import { Brand, Dialog, Empty, Icon, type IconName } from './elements.js';
import { shortcuts, useShortcuts } from './keyboard.js';
import { LanesView } from './lanes-view.js';
import { NewSession } from './new-session.js';
import { SessionList } from './session-list.js';
import { SessionView } from './session-view.js';
import { applyTheme, nextTheme, storedTheme } from './theme.js';
import { UsageView } from './usage-view.js';
import { WorkflowsView } from './workflows-view.js';

interface Toast {
  readonly id: number;
  readonly kind: 'error' | 'info';
  readonly text: string;
}
const toastMs = { info: 5_000, error: 12_000 } as const;
const maxToasts = 3;

const sections: readonly (readonly [string, IconName, Route])[] = [
  ['Sessions', 'sessions', { view: 'sessions' }],
  ['Approvals', 'approvals', { view: 'approvals' }],
  ['Lanes', 'lanes', { view: 'lanes' }],
  ['Workflows', 'workflows', { view: 'workflows', workflow: null, run: null }],
  ['Usage', 'usage', { view: 'usage' }],
];

const useRoute = (): Route => {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const update = (): void => setRoute(parseRoute(location.hash));
    addEventListener('hashchange', update);
    return () => removeEventListener('hashchange', update);
  }, []);
  return route;
};

export const App = ({ station, onDenied }: { readonly station: StationClient; readonly onDenied: () => void }) => {
  const route = useRoute();
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const [dialog, setDialog] = useState<'new' | 'help'>();
  const [theme, setTheme] = useState(storedTheme);
  const nextId = useRef(0);
  const open = useStore(station.store, ({ approvals }) => approvals);
  const connection = useStore(station.store, (state) => state.connection);
  const approvals = openApprovals({ ...station.store.get(), approvals: open }).length;

  const dismiss = (id: number): void => setToasts((all) => all.filter((toast) => toast.id !== id));
  const notify = useCallback((text: string, kind: Toast['kind'] = 'info'): void => {
    const id = (nextId.current += 1);
    setToasts((all) => [...all.filter((toast) => toast.text !== text), { id, kind, text }].slice(-maxToasts));
    setTimeout(() => dismiss(id), toastMs[kind]);
  }, []);
  const services = useMemo<AppServices>(
    () => ({
      station,
      notify,
      fail: (error) => {
        if (error instanceof RequestError && error.status === 401) onDenied();
        else notify(explain(error), 'error');
      },
    }),
    [station],
  );

  useEffect(() => {
    if (connection === 'denied') onDenied();
  }, [connection]);
  useEffect(() => {
    document.title = approvals > 0 ? `(${approvals}) Station` : 'Station';
  }, [approvals]);
  const switchTheme = (): void => {
    const next = nextTheme(storedTheme());
    applyTheme(next);
    setTheme(next);
  };

  const handle = useCallback(
    (key: string): boolean => {
      const section = sections[Number(key) - 1];
      if (section) location.hash = hrefOf(section[2]);
      else if (key === '?') setDialog('help');
      else if (key === 'n') setDialog('new');
      else if (key === 't') switchTheme();
      else if (key === '/') document.querySelector<HTMLElement>('#search')?.focus();
      else if (key === 'm') document.querySelector<HTMLElement>('#message')?.focus();
      else if (key === 'l' && route.view === 'session') {
        location.hash = hrefOf({ ...route, tab: route.tab === 'timeline' ? 'conversation' : 'timeline' });
      } else if (key === 'j' || key === 'k') selectNeighbor(station, route, key === 'j' ? 1 : -1);
      else return false;
      return true;
    },
    [route, theme, station],
  );
  useShortcuts(handle);
  const isSessions = route.view === 'session' || route.view === 'sessions';

  return (
    <AppContext.Provider value={services}>
      <div class="shell" data-view={route.view}>
        <header class="top">
          <a class="brand" href="#/sessions" aria-label="Station">
            <Brand />
            <span>Station</span>
          </a>
          <nav class="sections" aria-label="Views">
            {sections.map(([name, icon, target]) => (
              <a
                key={name}
                href={hrefOf(target)}
                aria-current={
                  target.view === route.view || (isSessions && target.view === 'sessions') ? 'page' : undefined
                }
              >
                <Icon name={icon} />
                <span>{name}</span>
                {name === 'Approvals' && approvals > 0 && (
                  <span class="badge">
                    {approvals}
                    <span class="hidden"> open</span>
                  </span>
                )}
              </a>
            ))}
          </nav>
          <Connection station={station} />
          <button
            type="button"
            class="quiet icon"
            aria-label={`Colors: ${theme}`}
            title={`Colors: ${theme} (t)`}
            onClick={switchTheme}
          >
            <Icon name={theme === 'system' ? 'system' : theme === 'light' ? 'sun' : 'moon'} />
          </button>
          <button
            type="button"
            class="quiet icon help"
            aria-label="Keyboard shortcuts"
            title="Keyboard shortcuts (?)"
            onClick={() => setDialog('help')}
          >
            ?
          </button>
        </header>
        {isSessions && (
          <SessionList selected={route.view === 'session' ? route.id : null} onNew={() => setDialog('new')} />
        )}
        <main class="main" id="main" tabIndex={-1}>
          <View route={route} />
        </main>
      </div>
      {dialog === 'new' && <NewSession onClose={() => setDialog(undefined)} />}
      {dialog === 'help' && <Help onClose={() => setDialog(undefined)} />}
      <div class="toasts">
        {toasts.map(({ id, kind, text }) => (
          <div key={id} class="toast" data-kind={kind} role={kind === 'error' ? 'alert' : 'status'}>
            <p>{text}</p>
            <button type="button" class="quiet icon" aria-label="Dismiss" onClick={() => dismiss(id)}>
              <Icon name="close" />
            </button>
          </div>
        ))}
      </div>
    </AppContext.Provider>
  );
};

const View = ({ route }: { readonly route: Route }) => {
  switch (route.view) {
    case 'session':
      return <SessionView key={route.id} id={route.id} tab={route.tab} />;
    case 'approvals':
      return <ApprovalsView />;
    case 'lanes':
      return <LanesView />;
    case 'workflows':
      return <WorkflowsView workflow={route.workflow} run={route.run} />;
    case 'usage':
      return <UsageView />;
    case 'sessions':
      return (
        <Empty title="Choose a session">
          <kbd>j</kbd> and <kbd>k</kbd> move through the list, <kbd>n</kbd> starts a session, <kbd>?</kbd> shows all
          shortcuts.
        </Empty>
      );
  }
};

const selectNeighbor = (station: StationClient, route: Route, step: number): void => {
  const sessions = sortedSessions(station.store.get().sessions.values());
  const at = route.view === 'session' ? sessions.findIndex(({ id }) => id === route.id) : -1;
  const next = sessions[at < 0 ? 0 : Math.max(0, Math.min(sessions.length - 1, at + step))];
  if (next) location.hash = hrefOf({ view: 'session', id: next.id, tab: 'conversation' });
};

/** Whether the page is up to date, and when it tries again if not. */
const Connection = ({ station }: { readonly station: StationClient }) => {
  const connection = useStore(station.store, (state) => state.connection);
  const retryAt = useStore(station.store, (state) => state.retryAt);
  const now = useNow();
  const seconds = retryAt === null ? 0 : Math.max(0, Math.ceil((retryAt - now) / 1000));
  const text =
    connection === 'live'
      ? 'Live'
      : connection === 'connecting'
        ? 'Connecting'
        : seconds > 0
          ? `Offline, retry in ${seconds} s`
          : 'Offline';
  return (
    <span
      class="connection"
      data-connection={connection}
      title={connection === 'live' ? 'The page receives live events' : text}
    >
      <span class="connection-dot" aria-hidden="true" />
      <span class="connection-text">{text}</span>
      <span class="hidden" role="status">
        {connection === 'live' ? '' : connection}
      </span>
    </span>
  );
};

const Help = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog title="Keyboard shortcuts" onClose={onClose}>
    <dl class="shortcuts">
      {shortcuts.map(([key, text]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  </Dialog>
);
