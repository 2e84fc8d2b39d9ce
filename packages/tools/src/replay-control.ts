import { LruMap } from '@h/bounded';
import type { JSONValue, ToolOutcome, ToolResultContentPart, ToolResultOutput } from '@h/turn';
import { isPlain } from './json-copy.js';
import { isConflicting } from './waves.js';

/** A call that was answered and may be answered the same again. */
export interface Remembered {
  readonly id: string;
  readonly outcome: ToolOutcome;
  readonly resources: readonly string[] | undefined;
}

/** How many results of a turn are remembered. */
const maxResults = 64;
/** Results with more than so many characters are not remembered. */
const maxSize = 262_144;

/**
 * The results of one turn's idempotent calls, for as long as nothing that they depend on was touched.
 *
 * Only successes are kept: what has failed may be tried again.
 */
export class ReplayControl {
  readonly #results = new LruMap<string, Remembered>(maxResults);
  #touches = 0;

  /** Grows whenever something is touched: what was read across that moment may be old. */
  get touches(): number {
    return this.#touches;
  }

  /** The earlier call with this key. */
  find(key: string): Remembered | undefined {
    return this.#results.get(key);
  }

  /** Keeps a result, unless it failed or is too big. */
  remember(key: string, entry: Remembered): void {
    if (entry.outcome.status === 'ok' && sizeOf(entry.outcome.output, maxSize) <= maxSize) {
      this.#results.set(key, entry);
    }
  }

  /** Something was written, sent or run that touches these; `undefined` is everything. */
  touch(resources: readonly string[] | undefined): void {
    this.#touches += 1;
    for (const [key, entry] of this.#results.entries()) {
      if (isConflicting(resources, entry.resources)) this.#results.delete(key);
    }
  }
}

/** The earlier result, with a word to the model that it is one, and `replayOf` in its details. */
export const replayed = (outcome: ToolOutcome, id: string): ToolOutcome => ({
  ...outcome,
  output: noted(
    outcome.output,
    `[Same call as ${id}, and no tool has changed anything it depends on since; this is its result again.]`,
  ),
  details: marked(outcome.details, { replayOf: id }),
  durationMs: 0,
});

/** Details that say more: members of the tool's own object, or beside its own `details` when they are no object. */
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

/** About how many characters a value has; counting ends beyond the limit. */
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
