import type { StationEntry, StationTurnEvent } from '../../api/contract.js';
import { applyTurnEvent, type Draft, type Note, type PendingMessage } from './turn-events.js';

/** A turn event and its number; events that are not stored, such as deltas, may have none. */
export interface NumberedEvent {
  readonly seq: number | null;
  readonly event: StationTurnEvent;
}

export interface ConversationState {
  /** `missing` if no entries can be loaded, as of a session that was deleted. */
  readonly status: 'loading' | 'ready' | 'missing';
  /** Entries by index; `undefined` until their page is loaded. */
  readonly entries: readonly (StationEntry | undefined)[];
  /** Notes by the index of the entry that they follow; -1 for those before the first. */
  readonly notes: ReadonlyMap<number, readonly Note[]>;
  /** The number of the latest event that is included; the stream continues after it. */
  readonly seq: number;
  /** The turn that produces events now. */
  readonly turn: string | null;
  /** What the turn waits for before it can begin. */
  readonly waiting: string | null;
  /** The entry that grows now, and the model call that it belongs to. */
  readonly streaming: { readonly index: number; readonly step: number; readonly attempt: number } | null;
  /** The last entry of the loaded page, if it can be an answer that still streams. */
  readonly joined: number | null;
  readonly pending: readonly PendingMessage[];
  /** Set while the latest page is loading again: the events to apply to it. */
  readonly buffer: readonly NumberedEvent[] | null;
  /** The entries no longer follow from the events, because a turn has ended: the latest page must be loaded again. */
  readonly isStale: boolean;
}

export interface EntryPage {
  readonly entries: readonly StationEntry[];
  readonly total: number;
  readonly seq: number;
}

export type ConversationAction =
  | { readonly type: 'events'; readonly events: readonly NumberedEvent[] }
  /** The request for the latest page begins. */
  | { readonly type: 'load-began' }
  | { readonly type: 'latest'; readonly page: EntryPage }
  | { readonly type: 'load-failed'; readonly mayRetry: boolean }
  /** A page of earlier entries. */
  | { readonly type: 'earlier'; readonly entries: readonly StationEntry[] }
  | { readonly type: 'sent'; readonly message: PendingMessage };

export const initialConversation: ConversationState = {
  status: 'loading',
  entries: [],
  notes: new Map(),
  seq: 0,
  turn: null,
  waiting: null,
  streaming: null,
  joined: null,
  pending: [],
  buffer: null,
  isStale: false,
};

/** Events that arrive while the latest page loads; a page that takes longer than this is loaded once more. */
const maxBuffer = 20_000;

export const reduceConversation = (state: ConversationState, action: ConversationAction): ConversationState => {
  switch (action.type) {
    case 'events':
      return withEvents(state, action.events);
    case 'load-began':
      return { ...state, buffer: [], isStale: false };
    case 'load-failed':
      return {
        ...state,
        buffer: null,
        isStale: true,
        status: state.status === 'loading' && !action.mayRetry ? 'missing' : state.status,
      };
    case 'latest':
      return withLatest(state, action.page);
    case 'earlier': {
      const entries = [...state.entries];
      for (const entry of action.entries) if (entry.index < entries.length) entries[entry.index] ??= entry;
      return { ...state, entries };
    }
    case 'sent':
      return { ...state, pending: [...state.pending.filter(({ id }) => id !== action.message.id), action.message] };
  }
};

const withEvents = (state: ConversationState, events: readonly NumberedEvent[]): ConversationState => {
  const fresh = events.filter(({ seq }) => seq === null || seq > state.seq);
  if (fresh.length === 0) return state;
  const draft: Draft = {
    entries: [...state.entries],
    notes: new Map(state.notes),
    turn: state.turn,
    waiting: state.waiting,
    streaming: state.streaming,
    joined: state.joined,
    pending: state.pending,
    isStale: state.isStale,
  };
  let { seq } = state;
  for (const numbered of fresh) {
    seq = Math.max(seq, numbered.seq ?? 0);
    try {
      applyTurnEvent(draft, numbered.event);
    } catch {
      // An event of an unexpected form must not hide the conversation; the page loads it again when the turn has ended.
      draft.isStale = true;
    }
  }
  const buffer = state.buffer && [...state.buffer, ...fresh].slice(-maxBuffer);
  return { ...state, ...draft, seq, buffer };
};

/** The latest page replaces what events have built, then the events that it does not contain are applied to it. */
const withLatest = (state: ConversationState, page: EntryPage): ConversationState => {
  const entries: (StationEntry | undefined)[] = Array.from({ length: page.total });
  const first = page.entries[0]?.index ?? page.total;
  for (let index = 0; index < Math.min(first, state.entries.length); index += 1) entries[index] = state.entries[index];
  for (const entry of page.entries) entries[entry.index] = entry;
  const texts = new Set(page.entries.filter(({ role }) => role === 'user').map(textOfEntry));
  const next: ConversationState = {
    ...state,
    status: 'ready',
    entries,
    notes: new Map([...state.notes].filter(([index]) => index < page.total)),
    seq: page.seq,
    streaming: null,
    joined: isPartial(page.entries.at(-1)) ? page.total - 1 : null,
    pending: state.pending.filter(({ text }) => !texts.has(text)),
    buffer: null,
    isStale: false,
  };
  return withEvents(next, state.buffer ?? []);
};

/** Calls are part of an answer only when it is complete. */
const isPartial = (entry: StationEntry | undefined): boolean =>
  entry?.role === 'assistant' && !entry.parts.some(({ type }) => type === 'tool');

export const textOfEntry = ({ parts }: StationEntry): string =>
  parts
    .filter((part) => part.type === 'text')
    .map(({ text }) => text)
    .join('\n');

/** The first index of the page of `size` entries that contains an index. Pages are fixed, so that none loads twice. */
const pageStart = (index: number, size: number): number => Math.floor(index / size) * size;

/** The pages of `size` entries with an entry in the range that is not loaded, by their first index. */
export const missingPages = (
  entries: ConversationState['entries'],
  from: number,
  to: number,
  size: number,
): readonly number[] => {
  const pages = new Set<number>();
  for (let index = Math.max(0, from); index <= Math.min(to, entries.length - 1); index += 1) {
    if (entries[index] === undefined) pages.add(pageStart(index, size));
  }
  return [...pages];
};
