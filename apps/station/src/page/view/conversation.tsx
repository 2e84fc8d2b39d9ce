import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ConversationClient } from '../client/conversation-client.js';
import { useStore } from '../client/store.js';
import { openApprovals } from '../state/station.js';
import { plural } from '../state/format.js';
import type { OpenCalls } from './tool-call.js';
import { Composer } from './composer.js';
import { useApp } from './context.js';
import { Busy, Empty, Icon } from './elements.js';
import { EntryView } from './entry.js';
import { VirtualList, type ListControl } from './virtual-list.js';

/** A session as a conversation: its entries, and a field for the next message. */
export const Conversation = ({ id }: { readonly id: string }) => {
  const { station, notify } = useApp();
  const session = useStore(station.store, ({ sessions }) => sessions.get(id));
  const allApprovals = useStore(station.store, ({ approvals }) => approvals);
  const client = useMemo(() => new ConversationClient(station.api, id, (text) => notify(text, 'error')), [id]);
  useEffect(() => () => client.close(), [client]);
  const state = useStore(client.store, (each) => each);
  const [isAtEnd, setAtEnd] = useState(true);
  const control = useRef<ListControl | null>(null);
  const opened = useRef<OpenCalls>(new Map()).current;
  const approvals = useMemo(
    () => openApprovals(station.store.get()).filter(({ session: owner }) => owner === id),
    [allApprovals, id],
  );
  const onRange = useCallback((from: number, to: number) => client.show(from, to), [client]);
  const agent = session?.agent ?? 'Agent';
  const { entries } = state;
  // Approvals of calls that no entry shows, such as those of a workflow, are shown above the message field.
  const shown = useMemo(() => {
    const recent = new Set<string>();
    for (const entry of entries.slice(-100)) {
      for (const part of entry?.parts ?? []) if (part.type === 'tool') recent.add(part.call);
    }
    return recent;
  }, [entries]);
  const waitingElsewhere = approvals.filter(({ call }) => call === null || !shown.has(call.id));
  const isRunning = session
    ? session.state === 'running' || session.state === 'queued' || session.turn !== null
    : state.turn !== null;

  if (state.status === 'missing') {
    return <Empty title="This session is not available">It was deleted, or the address is wrong.</Empty>;
  }
  return (
    <div class="conversation">
      {state.status === 'loading' ? (
        <Busy text="Loading the conversation" />
      ) : entries.length === 0 ? (
        <Empty title="No messages yet">Write the first one below.</Empty>
      ) : (
        <VirtualList
          count={entries.length}
          label="Conversation"
          control={control}
          onRange={onRange}
          onEnd={setAtEnd}
          row={(index) => {
            const entry = entries[index];
            const before = entries[index - 1];
            return (
              <EntryView
                entry={entry}
                agent={agent}
                isContinued={entry !== undefined && before?.turn === entry.turn && before.role === entry.role}
                isStreaming={state.streaming?.index === index}
                notes={state.notes.get(index)}
                approvals={approvals}
                opened={opened}
              />
            );
          }}
        />
      )}
      <div class="dock">
        {!isAtEnd && (
          <button type="button" class="to-end" onClick={() => control.current?.toEnd()}>
            {approvals.length > 0 ? `${plural(approvals.length, 'call')} to decide` : 'Latest'} <Icon name="down" />
          </button>
        )}
        {state.waiting !== null && <p class="waiting">{state.waiting}</p>}
        {waitingElsewhere.map((approval) => (
          <p key={approval.id} class="waiting">
            <a href="#/approvals">An approval is open: {approval.reason.slice(0, 120)}</a>
          </p>
        ))}
        <Composer
          key={id}
          session={id}
          isRunning={isRunning}
          pending={state.pending}
          onSend={async (text, mode, files) => {
            await client.send(text, mode, files);
            control.current?.toEnd();
          }}
        />
        <p class="hidden" role="status">
          {approvals.length > 0 ? `${plural(approvals.length, 'call')} to decide` : isRunning ? 'The agent works' : ''}
        </p>
      </div>
    </div>
  );
};
