import type { IncomingHttpHeaders } from 'node:http';
import type { Transform } from 'node:stream';
import { EventStreamReader } from '../wire/event-stream.js';
import type { Answer, AnswerReader } from '../formats/answer.js';
import { decoderFor } from '../wire/headers.js';
import { parseJson } from '../wire/json-value.js';

/** Largest answer that is read, in decoded bytes. A larger one is forwarded, and its usage is estimated. */
const maxBytes = 64_000_000;

/**
 * Reads a copy of an answer while its bytes are forwarded. It never fails: an answer that cannot be read has no usage.
 */
export class AnswerWatch {
  readonly #reader: AnswerReader;
  readonly #decoder: Transform | undefined;
  readonly #stream: EventStreamReader | undefined;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #isReadable: boolean;
  #decoded: Promise<void> | undefined;

  constructor(reader: AnswerReader, headers: IncomingHttpHeaders) {
    this.#reader = reader;
    const decoder = decoderFor(headers['content-encoding']);
    this.#isReadable = decoder !== undefined;
    if (/^text\/event-stream\b/i.test(headers['content-type'] ?? '')) {
      this.#stream = new EventStreamReader(({ data }) => {
        if (data !== '[DONE]') this.#guard(() => reader.event(parseJson(data)));
      });
    }
    if (decoder === undefined || decoder === 'identity') return;
    this.#decoder = decoder;
    this.#decoded = new Promise((resolve) => {
      decoder.on('data', (chunk: Uint8Array) => this.#take(chunk));
      decoder.once('close', resolve);
      decoder.once('end', resolve);
      decoder.once('error', () => resolve());
    });
  }

  push(chunk: Uint8Array): void {
    if (!this.#isReadable) return;
    if (this.#decoder) this.#decoder.write(chunk);
    else this.#take(chunk);
  }

  /** Returns the answer as far as it was read. */
  async end(): Promise<Answer> {
    if (this.#decoder) {
      this.#decoder.end();
      await this.#decoded;
      this.#decoder.destroy();
    }
    if (!this.#stream && this.#isReadable) {
      const text = new TextDecoder().decode(Buffer.concat(this.#chunks));
      this.#chunks = [];
      this.#guard(() => this.#reader.body(parseJson(text)));
    }
    return this.#reader.answer();
  }

  #take(chunk: Uint8Array): void {
    if (!this.#isReadable) return;
    this.#bytes += chunk.length;
    if (this.#bytes > maxBytes) {
      this.#isReadable = false;
      this.#chunks = [];
    } else if (this.#stream) this.#stream.push(chunk);
    else this.#chunks.push(chunk);
  }

  /** An answer with unexpected members must not interrupt its delivery. */
  #guard(read: () => void): void {
    try {
      read();
    } catch {
      this.#isReadable = false;
    }
  }
}
