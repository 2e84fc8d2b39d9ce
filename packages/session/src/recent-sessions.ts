/** Total size of the values in bytes of JSON; decoded they need up to three times as much. */
const maxTotalBytes = 1 << 24;
/** Size of a value without content. */
const minBytes = 1 << 10;

/**
 * Values of the sessions that were closed last, up to a total size.
 *
 * A store keeps decoded histories here, because a turn that decodes all turns before it takes longer with each. The
 * caller checks that a session has not changed since.
 */
export class RecentSessions<Value> {
  /** Least recently closed first. */
  readonly #entries = new Map<string, { readonly value: Value; readonly bytes: number }>();
  #totalBytes = 0;

  /** Removes and returns the value of a session. */
  take(session: string): Value | undefined {
    const entry = this.#entries.get(session);
    if (!entry) return undefined;
    this.#entries.delete(session);
    this.#totalBytes -= entry.bytes;
    return entry.value;
  }

  /** Stores the value of a session, and removes those of the least recently closed ones until all fit. */
  put(session: string, value: Value, jsonBytes: number): void {
    this.take(session);
    const bytes = jsonBytes + minBytes;
    if (bytes > maxTotalBytes) return;
    this.#entries.set(session, { value, bytes });
    this.#totalBytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#totalBytes <= maxTotalBytes) return;
      this.take(oldest);
    }
  }
}
