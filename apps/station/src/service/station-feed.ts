import type { StationEvent } from '../api/contract.js';
import type { RecordChange, RecordKind, Records } from './records.js';

/** Changed records that a reader has not received; beyond it, it begins again with the current state. */
const maxPending = 2_000;

/** Lanes are read at most once in this time, because that reads all sessions at work, in milliseconds. */
const lanesEveryMs = 500;

/** Options of {@link readStation}. */
export interface FeedOptions {
  readonly records: Records;
  readonly tenant: string;
  readonly signal: AbortSignal;
  /** Returns the state with which a reader begins. */
  readonly current: () => Promise<readonly StationEvent[]>;
  /** Returns the event about a record that has changed. */
  readonly show: (kind: RecordKind, id: string) => Promise<StationEvent | undefined>;
  readonly lanes: () => Promise<StationEvent>;
}

const shown: ReadonlySet<string> = new Set(['session', 'approval', 'run']);

/**
 * Yields the current state of a tenant, then its changes. A record that changes several times before the reader
 * receives it is shown once, so a slow reader needs memory for the names of the records only.
 */
export async function* readStation(options: FeedOptions): AsyncGenerator<StationEvent> {
  const { records, tenant, signal } = options;
  const pending = new Map<string, RecordChange>();
  let isOverrun = true;
  let wake = (): void => undefined;
  const stop = records.onChange((change) => {
    if (change.tenant !== tenant || !shown.has(change.kind)) return;
    if (pending.size >= maxPending) isOverrun = true;
    else pending.set(`${change.kind}:${change.id}`, change);
    wake();
  });
  const onAbort = (): void => wake();
  let lanesReadAt = -Infinity;
  let areLanesStale = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  signal.addEventListener('abort', onAbort);
  try {
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (isOverrun) {
        isOverrun = false;
        pending.clear();
        yield* await options.current();
        yield { type: 'caught-up' };
      }
      const untilLanes = lanesReadAt + lanesEveryMs - performance.now();
      if (areLanesStale && untilLanes <= 0) {
        areLanesStale = false;
        lanesReadAt = performance.now();
        yield await options.lanes();
      }
      if (pending.size === 0) {
        if (areLanesStale) timer = setTimeout(() => wake(), untilLanes);
        await woken;
        clearTimeout(timer);
        continue;
      }
      const changes = [...pending.values()];
      pending.clear();
      for (const { kind, id, isDeleted } of changes) {
        const event = isDeleted
          ? kind === 'session'
            ? ({ type: 'session-deleted', id } as const)
            : undefined
          : await options.show(kind, id);
        if (event) yield event;
      }
      areLanesStale ||= changes.some(({ kind }) => kind === 'session');
    }
  } finally {
    clearTimeout(timer);
    stop();
    signal.removeEventListener('abort', onAbort);
  }
}
