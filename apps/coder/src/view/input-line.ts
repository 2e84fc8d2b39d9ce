import type { ReadStream } from 'node:tty';
import type { Palette } from '../render/palette.js';
import type { Terminal } from '../streams.js';
import { inputRow } from './input-row.js';
import { LineEditor, type Draft } from './line-editor.js';
import { pasteMode } from './pastes.js';

/** What an {@link InputLine} is made of. */
export interface InputLineParts {
  readonly input: ReadStream;
  readonly terminal: Terminal;
  readonly palette: Palette;
  /** The hint of an empty input line. */
  readonly hint: () => string;
  /** A line was entered, without the spaces around it; never an empty one. */
  readonly line: (line: string) => void;
  /** Ctrl-C, also instead of an answer to a question. */
  readonly interrupt: () => void;
  /** Ctrl-D on an empty line, or the terminal was closed. */
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

  /** Gives the terminal back, for good. */
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
