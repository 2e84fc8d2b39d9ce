import { useState } from 'preact/hooks';
import { hrefOf } from '../state/route.js';
import { useApp, useLoaded } from './context.js';
import { Busy, Dialog } from './elements.js';

export const NewSession = ({ onClose }: { readonly onClose: () => void }) => {
  const { station, fail } = useApp();
  const agents = useLoaded(() => station.api.agents(), []);
  const [agent, setAgent] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const chosen = agent ?? agents?.[0]?.name;
  const create = async (form: FormData): Promise<void> => {
    if (chosen === undefined) return;
    setBusy(true);
    const textOf = (name: string): string => {
      const value = form.get(name);
      return typeof value === 'string' ? value.trim() : '';
    };
    const [title, text] = [textOf('title'), textOf('message')];
    try {
      const session = await station.api.createSession({
        agent: chosen,
        ...(title && { title }),
        ...(text && { message: { text } }),
      });
      station.store.dispatch({ type: 'sessions', sessions: [session] });
      onClose();
      location.hash = hrefOf({ view: 'session', id: session.id, tab: 'conversation' });
    } catch (error) {
      fail(error);
      setBusy(false);
    }
  };
  return (
    <Dialog title="New session" onClose={onClose}>
      {agents === undefined ? (
        <Busy text="Loading the agents" />
      ) : (
        <form
          class="form"
          onSubmit={(event) => {
            event.preventDefault();
            void create(new FormData(event.currentTarget));
          }}
        >
          <fieldset class="agents">
            <legend>Agent</legend>
            {agents.map(({ name, description, model }) => (
              <label key={name} class="agent" data-checked={name === chosen}>
                <input type="radio" name="agent" checked={name === chosen} onChange={() => setAgent(name)} />
                <span class="agent-name">{name}</span>
                <span class="agent-model mono">{model}</span>
                <span class="agent-description">{description}</span>
              </label>
            ))}
          </fieldset>
          <label class="field">
            <span>
              Title <span class="muted">optional</span>
            </span>
            <input name="title" maxLength={200} autoComplete="off" />
          </label>
          <label class="field">
            <span>First message</span>
            <textarea autoFocus name="message" rows={4} maxLength={200_000} dir="auto" />
          </label>
          <div class="form-end">
            <button type="button" class="quiet" onClick={onClose}>
              Cancel
            </button>
            <button type="submit" class="primary" disabled={isBusy || chosen === undefined}>
              Create session
            </button>
          </div>
        </form>
      )}
    </Dialog>
  );
};
