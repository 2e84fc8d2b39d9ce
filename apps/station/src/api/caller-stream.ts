import type { Station } from '../service/station.js';
import { eventStream, type ServerSentEvent } from './event-stream.js';
import type { Metrics } from './metrics.js';
import type { Caller } from './route.js';

/** Options of {@link callerStream}. */
export interface CallerStreamOptions {
  readonly station: Station;
  readonly metrics: Metrics;
  readonly caller: Pick<Caller, 'token'>;
}

/** Sends events to a caller until it leaves, the station closes, or the token of the caller is revoked. */
export const callerStream = (
  start: (signal: AbortSignal) => AsyncGenerator<ServerSentEvent>,
  { station, metrics, caller }: CallerStreamOptions,
): Response => {
  const { onOpen, onClose } = metrics.stream();
  let forget = (): void => undefined;
  return eventStream(start, {
    signal: station.signal,
    onOpen: (end) => {
      onOpen();
      forget = station.backend.records.onChange(({ kind, id, isDeleted }) => {
        if (kind === 'token' && id === caller.token && isDeleted) end();
      });
    },
    onClose: () => {
      forget();
      onClose();
    },
  });
};
