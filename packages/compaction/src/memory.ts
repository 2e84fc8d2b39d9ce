import { createHash } from 'node:crypto';
import { MessageList, type Message } from '@h/turn';
import { checkOptions, integerFrom } from '@h/options';
import type { Notes } from './notes.js';

/** A decision about a history that somebody else owns: so many of its messages are replaced by these. */
export interface Projection {
  readonly covers: number;
  readonly messages: readonly Message[];
  readonly notes: Notes;
}

/**
 * What was decided about histories that somebody else owns, found again by their content.
 *
 * A map will do. Whoever keeps it elsewhere gets JSON, bytes of files apart.
 */
export interface CompactionMemory {
  get(history: string): Projection | undefined;
  set(history: string, projection: Projection): void;
}

/** Options of {@link compactionMemory}. */
export interface CompactionMemoryOptions {
  /**
   * How many decisions are kept; the one that was not used for the longest time goes first.
   *
   * @defaultValue `1000`
   */
  readonly maxEntries?: number | undefined;
}

/**
 * Keeps what was decided about histories that a host owns, so that each of its requests gets the same bytes.
 *
 * Create one, and pass it to every `compaction()` around that host. Decisions belong to the content of a conversation, not
 * to a name, so that conversations which branch off keep what they have in common.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * const memory = compactionMemory();
 * const model = wrapModel(anthropic('claude-sonnet-4-5'), compaction({ memory, summarize }));
 * ```
 */
export const compactionMemory = (options: CompactionMemoryOptions = {}): CompactionMemory => {
  checkOptions('compactionMemory()', options, { maxEntries: integerFrom(1) });
  const { maxEntries = 1000 } = options;
  const entries = new Map<string, Projection>();
  const put = (history: string, projection: Projection): void => {
    entries.delete(history);
    entries.set(history, projection);
    for (const [oldest] of entries) {
      if (entries.size <= maxEntries) return;
      entries.delete(oldest);
    }
  };
  return {
    get: (history) => {
      const known = entries.get(history);
      if (known) put(history, known);
      return known;
    },
    set: put,
  };
};

/** A history with what was decided about its beginning. */
export interface Projected {
  readonly projection: Projection | undefined;
  readonly messages: MessageList;
  /** Under which a decision about the whole of it is kept. */
  readonly key: string;
}

/** Applies the latest decision that was made about the beginning of this history. */
export const project = (memory: CompactionMemory, history: MessageList): Projected => {
  const keys = prefixKeys(history);
  const key = keys.at(-1) ?? '';
  for (let covers = history.length; covers > 0; covers -= 1) {
    const projection = memory.get(keys[covers - 1] as string);
    if (projection?.covers !== covers) continue;
    return { projection, messages: MessageList.of([...projection.messages, ...history.slice(covers)]), key };
  }
  return { projection: undefined, messages: history, key };
};

/** For each message the hash of all up to it. */
const prefixKeys = (history: MessageList): readonly string[] => {
  let key = '';
  return Array.from(history, (message) => {
    key = createHash('sha256').update(key).update(contentOf(message)).digest('base64');
    return key;
  });
};

/** What a message says. How it is to be cached or stored changes from request to request and is no part of it. */
const contentOf = ({ role, content }: Message): string =>
  `${role}\0${typeof content === 'string' ? content : JSON.stringify(content, withoutOptions)}`;

const withoutOptions = (name: string, value: unknown): unknown => {
  if (name === 'providerOptions') return undefined;
  if (value instanceof Uint8Array) return createHash('sha256').update(value).digest('base64');
  return value instanceof ArrayBuffer ? createHash('sha256').update(new Uint8Array(value)).digest('base64') : value;
};
