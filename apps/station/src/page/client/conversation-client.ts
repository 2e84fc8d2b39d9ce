import type { StationTurnEvent } from '../../api/contract.js';
import {
  initialConversation,
  missingPages,
  reduceConversation,
  type ConversationAction,
  type ConversationState,
  type NumberedEvent,
} from '../state/conversation.js';
import { explain, isTemporary, type MessageMode, type StationApi } from './api.js';
import { EventStream } from './event-stream.js';
import { dataOf } from './station-client.js';
import { batched, createStore, type Store } from './store.js';
import { whileVisible } from './while-visible.js';

/** Entries of a page. The first request loads this many, the last of the session. */
export const pageSize = 100;
const retryMs = 1000;
const maxRetryMs = 10_000;

/** A session that is shown: its entries, and the events that continue them. */
export class ConversationClient {
  readonly store: Store<ConversationState, ConversationAction> = createStore(reduceConversation, initialConversation);
  readonly #api: StationApi;
  readonly #session: string;
  readonly #onError: (message: string) => void;
  readonly #pages = new Set<number>();
  readonly #batch = batched<NumberedEvent>((events) => this.#apply(events));
  #stream: EventStream | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #stopWatching: (() => void) | undefined;
  #isLoading = false;
  #isClosed = false;

  constructor(api: StationApi, session: string, onError: (message: string) => void) {
    this.#api = api;
    this.#session = session;
    this.#onError = onError;
    void this.#load(0);
  }

  close(): void {
    this.#isClosed = true;
    this.#stopWatching?.();
    clearTimeout(this.#retry);
    this.#stream?.close();
    this.#batch.cancel();
  }

  /** Loads the pages that have entries in this range. */
  show(from: number, to: number): void {
    const { entries } = this.store.get();
    for (const start of missingPages(entries, from, to, pageSize)) void this.#loadPage(start);
  }

  /** Sends a message, and shows it until the turn has received it. */
  async send(text: string, mode: MessageMode, files: readonly object[]): Promise<void> {
    const { id } = await this.#api.send(this.#session, { text, mode, files });
    const delivered = this.store.get().entries.slice(-20);
    const isDelivered = delivered.some(
      (entry) => entry?.role === 'user' && entry.parts.some((part) => part.type === 'text' && part.text === text),
    );
    if (!isDelivered || this.store.get().turn !== null) {
      this.store.dispatch({ type: 'sent', message: { id, text, mode } });
    }
  }

  async #load(attempt: number): Promise<void> {
    if (this.#isLoading || this.#isClosed) return;
    this.#isLoading = true;
    this.store.dispatch({ type: 'load-began' });
    try {
      const page = await this.#api.entries(this.#session, undefined, pageSize);
      if (this.#isClosed) return;
      this.store.dispatch({ type: 'latest', page });
      this.#isLoading = false;
      if (!this.#stream) {
        this.#stream = this.#createStream();
        this.#stopWatching = whileVisible(this.#stream);
      }
      if (this.store.get().isStale) this.#schedule(0);
    } catch (error) {
      this.#isLoading = false;
      if (this.#isClosed) return;
      const mayRetry = isTemporary(error);
      this.store.dispatch({ type: 'load-failed', mayRetry });
      if (!mayRetry || attempt === 0) this.#onError(explain(error));
      if (mayRetry) this.#schedule(attempt + 1);
    }
  }

  #schedule(attempt: number): void {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(
      () => void this.#load(attempt),
      attempt === 0 ? retryMs / 4 : Math.min(maxRetryMs, retryMs * 2 ** (attempt - 1)),
    );
  }

  async #loadPage(start: number): Promise<void> {
    if (this.#pages.has(start)) return;
    this.#pages.add(start);
    try {
      const { entries } = await this.#api.entries(this.#session, start + pageSize, pageSize);
      this.store.dispatch({ type: 'earlier', entries });
    } catch (error) {
      this.#onError(explain(error));
    } finally {
      this.#pages.delete(start);
    }
  }

  #apply(events: readonly NumberedEvent[]): void {
    this.store.dispatch({ type: 'events', events });
    if (this.store.get().isStale) this.#schedule(0);
  }

  #createStream(): EventStream {
    return new EventStream({
      url: this.#api.url(`/sessions/${encodeURIComponent(this.#session)}/events`),
      headers: this.#api.headers,
      after: () => String(this.store.get().seq),
      onEvents: (events) => {
        // The events after the last known one are no longer stored.
        if (events.some(({ event }) => event === 'reset')) this.#schedule(0);
        this.#batch.add(
          events.flatMap((each): NumberedEvent[] => {
            const event = each.event === 'turn' ? (dataOf(each) as StationTurnEvent | undefined) : undefined;
            const seq = each.id === null ? null : Number(each.id);
            return event ? [{ seq: Number.isFinite(seq) ? seq : null, event }] : [];
          }),
        );
      },
      onStatus: (status) => {
        if (status === 'gone') this.#onError('This session no longer exists on the station. Return to the list.');
      },
    });
  }
}
