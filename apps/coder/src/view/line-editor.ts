import { createInterface, type Interface } from 'node:readline';
import { PassThrough, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { ReadStream } from 'node:tty';
import { asPaste, continued, isUnmarkedPaste, Pastes } from './pastes.js';

/** The current text of the input line. */
export interface Draft {
  readonly text: string;
  /** Position of the cursor in the text. */
  readonly cursor: number;
}

/** Callbacks of a {@link LineEditor}. */
export interface LineEditorHandlers {
  /** Called when the draft or its cursor changes. */
  draft(draft: Draft): void;
  /** Receives each entered line. */
  line(text: string): void;
  /** Called on Ctrl-C. */
  interrupt(): void;
  /** Called on Ctrl-D on an empty line, and when the terminal is closed. */
  end(): void;
}

/** Ctrl-C, and the beginning of a key sequence or of a mark. */
// oxlint-disable-next-line no-control-regex -- keys are control characters
const hasKey = /[\u0003\u001B]/;

/** An unmarked paste ends when nothing has arrived for this long; its reads follow each other within milliseconds. */
const quietMs = 50;

/**
 * Reads messages from a terminal without writing to it, so that the user can type while output is shown. Editing keys
 * and the history come from Node's readline. A paste, Alt-Enter and a trailing backslash make a message span several
 * lines.
 */
export class LineEditor {
  readonly #input: ReadStream;
  readonly #handlers: LineEditorHandlers;
  readonly #pastes = new Pastes();
  readonly #decoder = new StringDecoder('utf8');
  /** The reads of an unmarked paste so far. */
  #unmarked = '';
  #quiet: NodeJS.Timeout | undefined;
  #typed = new PassThrough();
  #interface: Interface | undefined;
  #draft = '';
  #history: string[] = [];

  constructor(input: ReadStream, handlers: LineEditorHandlers) {
    this.#input = input;
    this.#handlers = handlers;
  }

  /** Starts reading and restores the draft and the history. */
  open(): void {
    const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
    // readline receives the input without pastes, and sets the mode of the terminal through this stream.
    const typed = Object.assign(new PassThrough(), {
      isTTY: true,
      setRawMode: (isRaw: boolean) => this.#input.setRawMode(isRaw),
    });
    this.#typed = typed;
    const opened = createInterface({
      input: typed,
      output: silent,
      terminal: true,
      history: this.#history,
      prompt: '',
    });
    this.#interface = opened;
    opened.on('line', (line) => {
      const draft = continued(line);
      if (draft === undefined) this.#handlers.line(this.#pastes.expand(line).replace(/\n$/, ''));
      else opened.write(draft);
      this.#changed();
    });
    opened.on('history', (history) => {
      this.#history = history;
    });
    opened.on('SIGINT', () => this.#handlers.interrupt());
    opened.on('close', () => {
      if (this.#interface === opened) this.#handlers.end();
    });
    typed.on('keypress', this.#changed);
    this.#input.on('data', this.#read);
    this.#input.on('end', this.#ended);
    this.#input.resume();
    if (this.#draft !== '') opened.write(this.#draft);
    this.#changed();
  }

  /** Stops reading and releases the terminal; keeps the draft. */
  close(): void {
    const closed = this.#interface;
    if (closed === undefined) return;
    this.#endUnmarked();
    this.#interface = undefined;
    this.#draft = closed.line;
    this.#typed.off('keypress', this.#changed);
    this.#input.off('data', this.#read);
    this.#input.off('end', this.#ended);
    closed.close();
    this.#input.pause();
  }

  /** Clears the draft; returns `false` if it was empty. */
  clear(): boolean {
    const hadText = (this.#interface?.line ?? '') !== '';
    if (hadText) this.#interface?.write(null, { ctrl: true, name: 'e' });
    if (hadText) this.#interface?.write(null, { ctrl: true, name: 'u' });
    this.#changed();
    return hadText;
  }

  readonly #read = (chunk: Uint8Array | string): void => {
    const text = typeof chunk === 'string' ? chunk : this.#decoder.write(Buffer.from(chunk));
    const isPaste = this.#unmarked !== '' ? !hasKey.test(text) : !this.#pastes.isOpen && isUnmarkedPaste(text);
    if (isPaste) {
      this.#unmarked += text;
      clearTimeout(this.#quiet);
      this.#quiet = setTimeout(() => this.#endUnmarked(), quietMs);
      return;
    }
    this.#endUnmarked();
    this.#type(text);
  };

  /** Adds the paste to the draft. Its last line break ends no message: more lines may follow. */
  #endUnmarked(): void {
    clearTimeout(this.#quiet);
    const text = this.#unmarked;
    this.#unmarked = '';
    if (text !== '') this.#type(asPaste(text));
  }

  #type(input: string): void {
    const text = this.#pastes.take(input);
    if (text !== '') this.#typed.write(text);
  }

  readonly #ended = (): void => {
    this.#endUnmarked();
    this.#typed.end();
  };

  readonly #changed = (): void => {
    const open = this.#interface;
    if (open !== undefined) {
      const text = this.#pastes.label(open.line);
      this.#handlers.draft({ text, cursor: this.#pastes.label(open.line.slice(0, open.cursor)).length });
    }
  };
}
