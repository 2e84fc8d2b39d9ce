import type { OpenPart, PartListener } from './answer.js';

/** Writes the parts of an answer in the notation of a client, one after another. */
export interface PartWriter {
  begin(part: Pick<OpenPart, 'type' | 'id' | 'name'>): void;
  chunk(text: string): void;
  end(): void;
}

interface Part extends Pick<OpenPart, 'type' | 'id' | 'name'> {
  readonly key: string;
  /** Chunks that wait until the parts before are complete. */
  readonly waiting: string[];
  isClosed: boolean;
}

/**
 * Puts the parts of an answer in sequence: providers may stream several calls at once, but not every client reads them.
 *
 * The first open part is passed on as it arrives; later parts wait until it is complete. Text is complete when another
 * part begins, a call when its provider reports it or when the answer ends.
 */
export class PartSequence implements PartListener {
  readonly #writer: PartWriter;
  /** Parts that have not ended, the current one first. */
  readonly #parts: Part[] = [];

  constructor(writer: PartWriter) {
    this.#writer = writer;
  }

  chunk(key: string, { type, id, name }: Pick<OpenPart, 'type' | 'id' | 'name'>, text: string): void {
    // The reasoning of another model cannot be continued by the one that the client knows.
    if (type === 'reasoning') return;
    const current = this.#parts[0];
    const part = this.#parts.find((known) => known.key === key && !known.isClosed);
    if (part) {
      if (part === current) this.#write(text);
      else part.waiting.push(text);
      return;
    }
    if (type === 'text' && text === '') return;
    this.#parts.push({ key, type, id, name, waiting: [text], isClosed: false });
    if (current?.type === 'text') current.isClosed = true;
    this.#advance();
  }

  close(key: string): void {
    for (const part of this.#parts) if (part.key === key) part.isClosed = true;
    this.#advance();
  }

  /** Writes everything that waits. */
  end(): void {
    for (const part of this.#parts) part.isClosed = true;
    this.#advance();
  }

  #current: Part | undefined;

  #advance(): void {
    for (let part = this.#parts[0]; part; part = this.#parts[0]) {
      if (this.#current !== part) {
        this.#current = part;
        this.#writer.begin(part);
      }
      for (const text of part.waiting.splice(0)) this.#write(text);
      if (!part.isClosed) return;
      this.#writer.end();
      this.#parts.shift();
    }
  }

  #write(text: string): void {
    if (text !== '') this.#writer.chunk(text);
  }
}
