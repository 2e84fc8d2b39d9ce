import type { JSONObject } from '@h/turn';

/** A line of a recording. */
export interface TraceLine {
  readonly ms: number;
  readonly deltas?: number | undefined;
  readonly firstDeltaMs?: number | undefined;
  /** The recorded members of the event. */
  readonly event: JSONObject & { readonly type: string; readonly turn: string; readonly at: number };
}

/** The recorded lines of a file, by turn. */
export interface RecordedTurns {
  readonly turns: ReadonlyMap<string, readonly TraceLine[]>;
  /** Number of lines that were skipped: torn by a crash, or not part of a recording. */
  readonly skipped: number;
}

/**
 * Parses a recording. Lines that cannot be parsed are skipped and counted.
 *
 * @example
 * ```ts
 * readTrace(await readFile('turn.jsonl', 'utf8')).turns.size;
 * ```
 */
export const readTrace = (text: string): RecordedTurns => {
  const turns = new Map<string, TraceLine[]>();
  let skipped = 0;
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const read = readLine(line);
    if (read === undefined) {
      skipped += 1;
      continue;
    }
    const { turn } = read.event;
    const lines = turns.get(turn);
    if (lines === undefined) turns.set(turn, [read]);
    else lines.push(read);
  }
  return { turns, skipped };
};

const readLine = (line: string): TraceLine | undefined => {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  return isLine(value) ? value : undefined;
};

const isLine = (value: unknown): value is TraceLine => {
  if (typeof value !== 'object' || value === null) return false;
  const { v, ms, event } = value as { v?: unknown; ms?: unknown; event?: Partial<TraceLine['event']> };
  return (
    v === 1 &&
    typeof ms === 'number' &&
    typeof event?.type === 'string' &&
    typeof event.turn === 'string' &&
    typeof event.at === 'number'
  );
};
