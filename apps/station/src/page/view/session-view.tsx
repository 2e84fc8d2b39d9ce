import { useEffect, useState } from 'preact/hooks';
import { useStore } from '../client/store.js';
import { hrefOf } from '../state/route.js';
import { outcomeText } from '../state/turn-events.js';
import { Conversation } from './conversation.js';
import { useApp } from './context.js';
import { Dialog, Icon, State, Title, UsageText } from './elements.js';
import { SaveTranscript } from './save-transcript.js';
import { Timeline } from './timeline.js';

/** A session: its head with state, usage and actions, and its conversation or timeline. */
export const SessionView = ({ id, tab }: { readonly id: string; readonly tab: 'conversation' | 'timeline' }) => {
  const { station, fail, notify } = useApp();
  const session = useStore(station.store, ({ sessions }) => sessions.get(id));
  const [isDeleting, setDeleting] = useState(false);
  const [isSaving, setSaving] = useState(false);
  useEffect(() => {
    if (session) return;
    station.api.session(id).then((loaded) => station.store.dispatch({ type: 'sessions', sessions: [loaded] }), fail);
  }, [id]);
  const state = session === undefined ? 'idle' : session.openApprovals > 0 ? 'waiting-for-input' : session.state;
  const isRunning =
    session !== undefined && (session.turn !== null || session.state === 'running' || session.state === 'queued');
  const stop = (): void => {
    station.api.cancel(id, session?.turn ?? null).then(() => notify('The turn is being cancelled.'), fail);
  };
  const fork = (): void => {
    station.api.fork(id).then((copy) => {
      station.store.dispatch({ type: 'sessions', sessions: [copy] });
      location.hash = hrefOf({ view: 'session', id: copy.id, tab: 'conversation' });
      notify('This is the copy. The original is unchanged.');
    }, fail);
  };
  const remove = (): void => {
    setDeleting(false);
    station.api.deleteSession(id).then(() => {
      station.store.dispatch({ type: 'events', events: [{ type: 'session-deleted', id }] });
      location.hash = hrefOf({ view: 'sessions' });
    }, fail);
  };
  return (
    <>
      <header class="session-head">
        <a class="quiet icon back" href={hrefOf({ view: 'sessions' })} aria-label="All sessions">
          <Icon name="back" />
        </a>
        <div class="session-name">
          <h1>
            <Title text={session?.title ?? id} />
          </h1>
          {session && (
            <p class="session-line">
              <State state={state} isLabelled />
              <span>{session.agent}</span>
              <UsageText usage={session.usage} />
              {!isRunning && session.outcome !== null && session.outcome !== 'completed' && (
                <span class="session-outcome" title={session.reason ?? undefined}>
                  {outcomeText(session.outcome)}
                </span>
              )}
              {session.forkedFrom && (
                <a href={hrefOf({ view: 'session', id: session.forkedFrom.session, tab: 'conversation' })}>forked</a>
              )}
            </p>
          )}
        </div>
        <nav class="tabs" aria-label="Session">
          {(['conversation', 'timeline'] as const).map((each) => (
            <a
              key={each}
              href={hrefOf({ view: 'session', id, tab: each })}
              aria-current={tab === each ? 'page' : undefined}
            >
              {each === 'conversation' ? 'Conversation' : 'Timeline'}
            </a>
          ))}
        </nav>
        <div class="session-actions">
          {isRunning && (
            <button type="button" class="danger" onClick={stop}>
              Stop
            </button>
          )}
          <details class="menu">
            <summary class="button">More</summary>
            <div class="menu-items">
              <button type="button" onClick={fork}>
                Fork
              </button>
              <button type="button" onClick={() => setSaving(true)}>
                Save transcript…
              </button>
              <button type="button" class="danger" onClick={() => setDeleting(true)}>
                Delete…
              </button>
            </div>
          </details>
        </div>
      </header>
      {tab === 'timeline' ? <Timeline id={id} turn={session?.turn ?? null} /> : <Conversation key={id} id={id} />}
      {isSaving && <SaveTranscript id={id} title={session?.title ?? id} onClose={() => setSaving(false)} />}
      {isDeleting && (
        <Dialog title="Delete this session?" onClose={() => setDeleting(false)}>
          <p>
            <Title text={session?.title ?? id} /> and its transcript are deleted for everyone. This cannot be undone.
          </p>
          <div class="form-end">
            <button type="button" class="quiet" onClick={() => setDeleting(false)}>
              Keep it
            </button>
            <button type="button" class="danger solid" onClick={remove}>
              Delete session
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
};
