import type { StationEvent } from '../../api/contract.js';
import { initialStation, reduceStation, type StationAction, type StationState } from '../state/station.js';
import type { ServerEvent } from '../state/sse.js';
import type { StationApi } from './api.js';
import { EventStream } from './event-stream.js';
import { batched, createStore, type Store } from './store.js';
import { whileVisible } from './while-visible.js';

/** The JSON of a server-sent event; `undefined` if it is not JSON. */
export const dataOf = ({ data }: ServerEvent): unknown => {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
};

/** The live state of the station, kept up to date by one event stream. */
export class StationClient {
  readonly api: StationApi;
  readonly store: Store<StationState, StationAction> = createStore(reduceStation, initialStation);
  readonly #stream: EventStream;
  readonly #stopWatching: () => void;
  readonly #batch = batched<StationEvent>((events) => this.store.dispatch({ type: 'events', events }));

  constructor(api: StationApi) {
    this.api = api;
    const { store } = this;
    this.#stream = new EventStream({
      url: api.url('/events'),
      headers: api.headers,
      onOpen: () => store.dispatch({ type: 'opened' }),
      onEvents: (events) =>
        this.#batch.add(events.map((event) => stationEventOf(event)).filter((each) => each !== undefined)),
      onStatus: (status, retryAt) => {
        const connection = status === 'gone' ? 'offline' : status;
        // A short interruption is no news: the state stays `live` until an attempt has failed.
        if (connection === 'connecting' && store.get().connection === 'live') return;
        store.dispatch({ type: 'connection', connection, ...(retryAt !== undefined && { retryAt }) });
      },
    });
    this.#stopWatching = whileVisible(this.#stream, { hasBackground: true });
  }

  close(): void {
    this.#stopWatching();
    this.#stream.close();
    this.#batch.cancel();
  }
}

/** The event in the data, or under the name of the server-sent event where the data has no type. */
const stationEventOf = (event: ServerEvent): StationEvent | undefined => {
  if (event.event === 'caught-up') return { type: 'caught-up' };
  const data = dataOf(event);
  return typeof data === 'object' && data !== null && 'type' in data ? (data as StationEvent) : undefined;
};
