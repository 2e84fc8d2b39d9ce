/** One event of a server-sent event stream. */
export interface StreamEvent {
  readonly event: string;
  readonly data: string;
}

/** Longest event that is read, in characters. The stream is forwarded all the same. */
const maxEventChars = 16_000_000;

/**
 * Splits a server-sent event stream into events, for any chunks. Time is linear in the length of the stream.
 *
 * After an event that is longer than 16 million characters it reads nothing more, and `isOverflown` is true.
 */
export class EventStreamReader {
  readonly #onEvent: (event: StreamEvent) => void;
  readonly #decoder = new TextDecoder();
  #pending: string[] = [];
  #pendingChars = 0;
  #endsWithReturn = false;
  #event = '';
  #data: string[] = [];
  #dataChars = 0;
  #isOverflown = false;

  constructor(onEvent: (event: StreamEvent) => void) {
    this.#onEvent = onEvent;
  }

  get isOverflown(): boolean {
    return this.#isOverflown;
  }

  push(chunk: Uint8Array): void {
    this.#read(this.#decoder.decode(chunk, { stream: true }));
  }

  #read(text: string): void {
    if (this.#isOverflown || text === '') return;
    let start = this.#endsWithReturn && text.startsWith('\n') ? 1 : 0;
    this.#endsWithReturn = text.endsWith('\r');
    let feed = text.indexOf('\n', start);
    let carriageReturn = text.indexOf('\r', start);
    while (feed >= 0 || carriageReturn >= 0) {
      const isFeed = carriageReturn < 0 || (feed >= 0 && feed < carriageReturn);
      const end = isFeed ? feed : carriageReturn;
      this.#line(this.#pending.join('') + text.slice(start, end));
      this.#pending = [];
      this.#pendingChars = 0;
      start = !isFeed && feed === end + 1 ? end + 2 : end + 1;
      // Each is searched once, so that time stays linear.
      if (feed >= 0 && feed < start) feed = text.indexOf('\n', start);
      if (carriageReturn >= 0 && carriageReturn < start) carriageReturn = text.indexOf('\r', start);
    }
    if (start === text.length) return;
    this.#pending.push(text.slice(start));
    this.#pendingChars += text.length - start;
    if (this.#pendingChars + this.#dataChars > maxEventChars) this.#overflow();
  }

  #line(line: string): void {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    if (colon === 0) return undefined;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') this.#event = value;
    if (field !== 'data') return undefined;
    this.#data.push(value);
    this.#dataChars += value.length;
    if (this.#dataChars > maxEventChars) this.#overflow();
  }

  #dispatch(): void {
    const data = this.#data;
    const event = this.#event === '' ? 'message' : this.#event;
    this.#data = [];
    this.#dataChars = 0;
    this.#event = '';
    if (data.length > 0) this.#onEvent({ event, data: data.join('\n') });
  }

  #overflow(): void {
    this.#isOverflown = true;
    this.#pending = [];
    this.#data = [];
  }
}
