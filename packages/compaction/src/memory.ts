import { createHash } from 'node:crypto';
import { MessageList, type Message } from '@h/turn';
import { checkOptions, integerFrom } from '@h/options';
import type { Notes } from './notes.js';

/** A decision about a history that a host owns: its first N messages are replaced by these. */
export interface Projection {
  readonly covers: number;
  readonly messages: readonly Message[];
  readonly notes: Notes;
}

/**
 * Decisions about histories that a host owns, by the content of the histories.
 *
 * A `Map` suffices. Other implementations receive JSON, except for the bytes of files.
 */
export interface CompactionMemory {
  get(history: string): Projection | undefined;
  set(history: string, projection: Projection): void;
}

/** Options of {@link compactionMemory}. */
export interface CompactionMemoryOptions {
  /**
   * The number of decisions to keep; the least recently used one is removed first.
   *
   * @defaultValue `1000`, more than the conversations that one process serves at a time
   */
  readonly maxEntries?: number | undefined;
}

/**
 * Stores decisions about histories that a host owns, so that each of its requests gets the same bytes.
 *
 * Create one and pass it to every `compaction()` around that host. Decisions belong to the content of a conversation,
 * not to a name, so that branches of a conversation share the decisions about their common beginning.
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

/** A history with the decision about its beginning applied. */
export interface Projected {
  readonly projection: Projection | undefined;
  readonly messages: MessageList;
  /** The key for a decision about the whole history. */
  readonly key: string;
}

/** Applies the latest decision about the beginning of this history. */
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

/** The hash of all messages up to each message. */
const prefixKeys = (history: MessageList): readonly string[] => {
  let key = '';
  return Array.from(history, (message) => {
    key = createHash('sha256').update(key).update(contentOf(message)).digest('base64');
    return key;
  });
};

/** The content of a message. Options about caching and storage change between requests and are excluded. */
const contentOf = ({ role, content }: Message): string =>
  `${role}\0${typeof content === 'string' ? content : JSON.stringify(content, withoutOptions)}`;

const withoutOptions = (name: string, value: unknown): unknown => {
  if (name === 'providerOptions') return undefined;
  if (value instanceof Uint8Array) return createHash('sha256').update(value).digest('base64');
  return value instanceof ArrayBuffer ? createHash('sha256').update(new Uint8Array(value)).digest('base64') : value;
};
