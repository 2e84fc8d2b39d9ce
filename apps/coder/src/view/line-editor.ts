import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';
import type { ReadStream } from 'node:tty';

/** A line as it is being typed. */
export interface Draft {
  readonly text: string;
  /** Place of the cursor in the text. */
  readonly cursor: number;
}

/** What a {@link LineEditor} tells. */
export interface LineEditorHandlers {
  /** The draft or its cursor changed. */
  draft(draft: Draft): void;
  /** A line was entered. */
  line(text: string): void;
  /** Ctrl-C. */
  interrupt(): void;
  /** Ctrl-D on an empty line, or the terminal is gone. */
  end(): void;
}

/**
 * Reads lines from a terminal without writing to it, so that they can be typed while other things are being shown.
 * Editing keys and the history are those of Node's readline.
 */
export class LineEditor {
  readonly #input: ReadStream;
  readonly #handlers: LineEditorHandlers;
  #interface: Interface | undefined;
  #draft = '';
  #history: string[] = [];

  constructor(input: ReadStream, handlers: LineEditorHandlers) {
    this.#input = input;
    this.#handlers = handlers;
  }

  /** Starts to read. The draft and the history of the time before are still there. */
  open(): void {
    const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
    const opened = createInterface({
      input: this.#input,
      output: silent,
      terminal: true,
      history: this.#history,
      prompt: '',
    });
    this.#interface = opened;
    opened.on('line', (line) => {
      this.#handlers.line(line);
      this.#told();
    });
    opened.on('history', (history) => {
      this.#history = history;
    });
    opened.on('SIGINT', () => this.#handlers.interrupt());
    opened.on('close', () => {
      if (this.#interface === opened) this.#handlers.end();
    });
    this.#input.on('keypress', this.#told);
    if (this.#draft !== '') opened.write(this.#draft);
    this.#told();
  }

  /** Stops reading and gives the terminal back; the draft is kept. */
  close(): void {
    const closed = this.#interface;
    if (closed === undefined) return;
    this.#interface = undefined;
    this.#draft = closed.line;
    this.#input.off('keypress', this.#told);
    closed.close();
    this.#input.pause();
  }

  /** Forgets what has been typed so far; `false` if there was nothing. */
  clear(): boolean {
    const hadText = (this.#interface?.line ?? '') !== '';
    if (hadText) this.#interface?.write(null, { ctrl: true, name: 'e' });
    if (hadText) this.#interface?.write(null, { ctrl: true, name: 'u' });
    this.#told();
    return hadText;
  }

  readonly #told = (): void => {
    const open = this.#interface;
    if (open !== undefined) this.#handlers.draft({ text: open.line, cursor: open.cursor });
  };
}
