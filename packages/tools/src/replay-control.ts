import { LruMap } from '@h/bounded';
import type { JSONValue, ToolOutcome, ToolResultContentPart, ToolResultOutput } from '@h/turn';
import { isPlain } from './json-copy.js';
import { isConflicting } from './waves.js';

/** A result that may answer an identical call. */
export interface Remembered {
  readonly id: string;
  readonly outcome: ToolOutcome;
  readonly resources: readonly string[] | undefined;
}

/** Results of a turn that are remembered. */
const maxResults = 64;
/** Results with more characters are not remembered. */
const maxSize = 262_144;

/**
 * Results of the idempotent calls of one turn, until one of their resources is touched.
 *
 * Only successes are remembered, so that a failed call can be retried.
 */
export class ReplayControl {
  readonly #results = new LruMap<string, Remembered>(maxResults);
  #touches = 0;

  /** Incremented whenever a resource is touched. A read that spans an increment may be stale. */
  get touches(): number {
    return this.#touches;
  }

  /** Returns the earlier call with this key. */
  find(key: string): Remembered | undefined {
    return this.#results.get(key);
  }

  /** Remembers a result, unless it failed or is too large. */
  remember(key: string, entry: Remembered): void {
    if (entry.outcome.status === 'ok' && sizeOf(entry.outcome.output, maxSize) <= maxSize) {
      this.#results.set(key, entry);
    }
  }

  /** Forgets results that depend on these resources; `undefined` means all resources. */
  touch(resources: readonly string[] | undefined): void {
    this.#touches += 1;
    for (const [key, entry] of this.#results.entries()) {
      if (isConflicting(resources, entry.resources)) this.#results.delete(key);
    }
  }
}

/** Returns the earlier result with a note to the model, and `replayOf` in its details. */
export const replayed = (outcome: ToolOutcome, id: string): ToolOutcome => ({
  ...outcome,
  output: noted(outcome.output, `[Same result as call ${id}: no tool has changed anything that it depends on since.]`),
  details: marked(outcome.details, { replayOf: id }),
  durationMs: 0,
});

/** Adds members to details; details that are not an object become the member `details`. */
export const marked = (details: JSONValue | undefined, marks: { readonly [key: string]: JSONValue }): JSONValue => {
  if (details === undefined) return marks;
  return isPlain(details) ? { ...details, ...marks } : { details, ...marks };
};

const noted = (output: ToolResultOutput, note: string): ToolResultOutput => {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return { ...output, value: `${note}\n${output.value}` };
    case 'content':
      return { ...output, value: [{ type: 'text', text: note }, ...output.value] };
    case 'json': {
      const parts: readonly ToolResultContentPart[] = [
        { type: 'text', text: note },
        { type: 'text', text: JSON.stringify(output.value) },
      ];
      return { type: 'content', value: parts };
    }
    default:
      return output;
  }
};

/** Approximates the characters of a value. Stops counting beyond the limit. */
const sizeOf = (value: unknown, limit: number): number => {
  if (typeof value === 'string') return value.length;
  if (value instanceof Uint8Array) return value.byteLength;
  if (typeof value !== 'object' || value === null) return 8;
  let size = 2;
  for (const [key, item] of Object.entries(value)) {
    size += key.length + sizeOf(item, limit - size);
    if (size > limit) break;
  }
  return size;
};
