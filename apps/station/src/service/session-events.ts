import { once } from 'node:events';
import type { JSONValue } from '@h/turn';
import type { Backend } from './backend.js';

/**
 * Events of a session are numbered over all turns: the number of the turn, then that of the event in its stream.
 * Numbers have 53 bits, so a session has up to 2^29 turns with 2^24 events each.
 */
const perTurn = 2 ** 24;

/** The number after all events of the first `turns` turns of a session. */
export const endOfTurns = (turns: number): number => (turns + 1) * perTurn - 1;

export const numberOf = (turn: number, seq: number): number => turn * perTurn + seq;

export type SessionItem =
  | { readonly type: 'event'; readonly seq: number; readonly event: JSONValue }
  /** The reader has everything so far. */
  | { readonly type: 'caught-up' }
  /** The given number does not exist, or events after it were removed: read the entries of the session again. */
  | { readonly type: 'reset' };

/** Options of {@link readSession}. */
export interface ReadSessionOptions {
  /** The number of the latest event that the reader has. */
  readonly after: number;
  readonly signal: AbortSignal;
  /** How long events are available after the end of their turn, in milliseconds. */
  readonly keepMs: number;
}

/** Yields the events of all turns of a session after a number, and continues with those that follow. */
export async function* readSession(
  { records, events }: Pick<Backend, 'records' | 'events'>,
  session: string,
  { after, signal, keepMs }: ReadSessionOptions,
): AsyncGenerator<SessionItem> {
  let number = Math.max(1, Math.floor(after / perTurn));
  let seq = after < perTurn ? 0 : after % perTurn;
  const turns = Math.max(1, (await records.get('session', session))?.body.turns ?? 0);
  // The turn does not exist: the reader has the number from another copy of the data, such as one before a restore.
  let isReset = number > turns;
  if (isReset) {
    [number, seq] = [turns, 0];
    yield { type: 'reset' };
  }
  let isShown = false;
  let changed = new AbortController();
  const stop = records.onChange(({ kind, id }) => {
    if (kind === 'turn' && id === `${session}:${number}`) changed.abort();
  });
  const onAbort = (): void => changed.abort();
  signal.addEventListener('abort', onAbort);
  try {
    while (!signal.aborted) {
      changed = new AbortController();
      const turn = await records.get('turn', `${session}:${number}`);
      if (!turn) {
        if (!isShown) yield { type: 'caught-up' };
        isShown = true;
        if (!changed.signal.aborted) await once(changed.signal, 'abort');
        continue;
      }
      const { endedAt, turn: stream } = turn.body;
      if (endedAt !== null && endedAt < Date.now() - keepMs) {
        if (!isReset && seq < perTurn - 1) yield { type: 'reset' };
        isReset = true;
      } else if (seq < perTurn - 1) {
        let hasEnded = false;
        for await (const item of events.read(stream, { after: seq, signal: changed.signal })) {
          if (item.type === 'event') {
            isShown = false;
            ({ seq } = item);
            yield { type: 'event', seq: numberOf(number, item.seq), event: item.event };
            continue;
          }
          // The end of a stream may be missing: it could not be written, or the stream was deleted.
          hasEnded = item.type === 'ended' || endedAt !== null;
          if (hasEnded) break;
          if (!isShown) yield { type: 'caught-up' };
          isShown = true;
        }
        if (!hasEnded) continue;
      }
      number += 1;
      seq = 0;
    }
  } finally {
    stop();
    signal.removeEventListener('abort', onAbort);
  }
}
