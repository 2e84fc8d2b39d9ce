/** A server-sent event. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
  readonly id: string | null;
}

/** Above this many characters without an empty line, the stream is not one of server-sent events. */
const maxEventLength = 32_000_000;

/** Splits a stream of text into server-sent events, however its chunks are cut. */
export class ServerEventParser {
  #lines = '';
  #event = '';
  #data: string[] = [];
  #length = 0;
  #id: string | null = null;

  /** Returns the events that this chunk completes. */
  push(chunk: string): readonly ServerEvent[] {
    const events: ServerEvent[] = [];
    const text = this.#lines + chunk;
    let start = 0;
    for (let end = text.indexOf('\n', start); end >= 0; end = text.indexOf('\n', start)) {
      const line = text.slice(start, text[end - 1] === '\r' && end > start ? end - 1 : end);
      start = end + 1;
      const event = this.#line(line);
      if (event) events.push(event);
    }
    this.#lines = text.slice(start);
    if (this.#lines.length + this.#length > maxEventLength) throw new Error('The server sent an event of over 32 MB.');
    return events;
  }

  #line(line: string): ServerEvent | undefined {
    if (line === '') {
      const event = { event: this.#event || 'message', data: this.#data.join('\n'), id: this.#id };
      const isEmpty = this.#data.length === 0;
      this.#event = '';
      this.#data = [];
      this.#length = 0;
      this.#id = null;
      return isEmpty ? undefined : event;
    }
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'event') this.#event = value;
    else if (name === 'id') this.#id = value;
    else if (name === 'data') {
      this.#data.push(value);
      this.#length += value.length;
    }
    return undefined;
  }
}
