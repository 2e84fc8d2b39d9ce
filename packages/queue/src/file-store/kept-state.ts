import type { InboxContents, KeptMessage, KnownDelivery } from '../inbox/inbox-store.js';
import { encodeEntry, type Entry } from './entry.js';

/** Number of delivered ids that are remembered. */
const maxKnown = 1000;

interface Sized<Value> {
  readonly value: Value;
  readonly bytes: number;
}

/** The state that the lines of the file add up to. */
export class KeptState {
  readonly #messages = new Map<string, Sized<KeptMessage>>();
  readonly #known = new Map<string, Sized<KnownDelivery>>();
  #bytes = 0;

  /** The size of a file that contains only current lines, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  get contents(): InboxContents {
    return {
      messages: [...this.#messages.values()].map(({ value }) => value),
      delivered: [...this.#known.values()].map(({ value }) => value),
    };
  }

  /** Applies an entry whose line has this length in bytes. */
  add(entry: Entry, bytes: number): void {
    if (entry.type === 'saved') {
      this.#put(this.#messages, entry.message.tag, entry.message, bytes);
      return;
    }
    if (entry.type === 'removed') this.#drop(this.#messages, entry.tag);
    const { delivered } = entry;
    if (!delivered) return;
    this.#put(this.#known, JSON.stringify([delivered.session, delivered.id]), delivered, bytes);
    const [oldest] = this.#known.keys();
    if (this.#known.size > maxKnown && oldest !== undefined) this.#drop(this.#known, oldest);
  }

  copy(): KeptState {
    const copy = new KeptState();
    for (const [tag, { value, bytes }] of this.#messages) copy.#put(copy.#messages, tag, value, bytes);
    for (const [key, { value, bytes }] of this.#known) copy.#put(copy.#known, key, value, bytes);
    return copy;
  }

  /** The shortest list of lines with the same state. */
  *lines(): Iterable<string> {
    for (const { value: delivered } of this.#known.values()) yield encodeEntry({ type: 'delivered', delivered });
    for (const { value: message } of this.#messages.values()) yield encodeEntry({ type: 'saved', message });
  }

  #put<Value>(map: Map<string, Sized<Value>>, key: string, value: Value, bytes: number): void {
    this.#drop(map, key);
    map.set(key, { value, bytes });
    this.#bytes += bytes;
  }

  #drop(map: Map<string, Sized<unknown>>, key: string): void {
    this.#bytes -= map.get(key)?.bytes ?? 0;
    map.delete(key);
  }
}
