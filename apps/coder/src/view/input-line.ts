import type { ReadStream } from 'node:tty';
import type { Palette } from '../render/palette.js';
import type { Terminal } from '../streams.js';
import { inputRow } from './input-row.js';
import { LineEditor, type Draft } from './line-editor.js';
import { pasteMode } from './pastes.js';

/** Options of {@link InputLine}. */
export interface InputLineParts {
  readonly input: ReadStream;
  readonly terminal: Terminal;
  readonly palette: Palette;
  /** The hint of an empty input line. */
  readonly hint: () => string;
  /** Receives each entered line that is not empty, trimmed. */
  readonly line: (line: string) => void;
  /** Called on Ctrl-C, also during a question. */
  readonly interrupt: () => void;
  /** Called on Ctrl-D on an empty line, and when the terminal is closed. */
  readonly end: () => void;
}

/** The input row at the bottom of the terminal. It releases the terminal while a question is shown. */
export class InputLine {
  readonly #parts: InputLineParts;
  readonly #editor: LineEditor;
  #draft: Draft = { text: '', cursor: 0 };
  #isClosed = false;

  constructor(parts: InputLineParts) {
    const { input, terminal, line, interrupt, end } = parts;
    this.#parts = parts;
    this.#editor = new LineEditor(input, {
      draft: (draft) => {
        this.#draft = draft;
        this.refresh();
      },
      line: (text) => {
        if (text.trim() !== '' && !this.#isClosed) line(text.trim());
      },
      interrupt,
      end,
    });
    terminal.questions?.attach({ hold: () => this.#hold(), interrupt });
  }

  open(): void {
    this.#parts.terminal.screen.mode(pasteMode.on);
    this.#editor.open();
  }

  /** Releases the terminal permanently. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#editor.close();
    this.#parts.terminal.screen.mode(pasteMode.off);
    this.#parts.terminal.view.input(undefined);
  }

  /** Clears the draft; returns `false` if it was empty. */
  clear(): boolean {
    return this.#editor.clear();
  }

  /** Redraws the row with the current hint. */
  refresh(): void {
    if (this.#isClosed) return;
    const { terminal, palette, hint } = this.#parts;
    terminal.view.input(inputRow(this.#draft, hint(), { palette, columns: terminal.screen.columns }));
  }

  #hold(): () => void {
    this.#editor.close();
    this.#parts.terminal.screen.mode(pasteMode.off);
    return () => {
      if (!this.#isClosed) this.open();
    };
  }
}
