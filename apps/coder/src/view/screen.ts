import { clipped, rowsOf } from '../render/fit.js';

/** What a screen writes to. */
export interface ScreenOutput {
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

/** Rows that stand below everything else and change all the time. */
export interface LiveRows {
  readonly rows: readonly string[];
  /** Where the cursor stands in the last row, in columns; at its end when absent. */
  readonly cursor?: number | undefined;
}

const up = (rows: number): string => (rows > 0 ? `\u001B[${rows}A` : '');
const eraseBelow = '\u001B[J';
const right = (columns: number): string => (columns > 0 ? `\u001B[${columns}C` : '');

/**
 * A terminal that is written to in two places: lines that stay and scroll away, and below them a few live rows, of which the
 * first is the line that is just being written.
 *
 * Every row is kept shorter than the terminal is wide, so that the number of rows is known and they can be erased.
 */
export class Screen {
  readonly #output: ScreenOutput;
  #partial = '';
  #live: LiveRows = { rows: [] };
  #drawn = 0;

  constructor(output: ScreenOutput) {
    this.#output = output;
  }

  /** How wide lines may be. A terminal that does not know its width says 0. */
  get columns(): number {
    return Math.max(20, (this.#output.columns || 80) - 1);
  }

  /** Adds a piece of text; whole rows stay, the last one stays open. */
  text(piece: string): void {
    const lines = `${this.#partial}${piece.replaceAll('\t', '  ')}`.split('\n');
    const rows = lines.map((line) =>
      rowsOf(line, this.columns).map((row, index) => (index === 0 ? row : row.replace(/^ /, ''))),
    );
    const last = rows.pop() ?? [];
    this.#partial = last.at(-1) ?? '';
    this.#draw([...rows.flat(), ...last.slice(0, -1)]);
  }

  /** Ends the text, if there is any, and adds whole lines. */
  lines(lines: readonly string[]): void {
    const ended = this.#partial === '' ? [] : [this.#partial];
    this.#partial = '';
    this.#draw([...ended, ...lines.flatMap((line) => rowsOf(line, this.columns))]);
  }

  /** Switches a mode of the terminal. */
  mode(sequence: string): void {
    this.#output.write(sequence);
  }

  /** Replaces the live rows. */
  live(live: LiveRows): void {
    this.#live = live;
    this.#draw([]);
  }

  #draw(lines: readonly string[]): void {
    const partial = this.#partial === '' ? [] : [this.#partial];
    const rows = [
      ...partial,
      ...this.#live.rows.map((row) => (row.includes('\u001B') ? row : clipped(row, this.columns))),
    ];
    const { cursor } = this.#live;
    const place =
      cursor === undefined || this.#live.rows.length === 0 ? '' : `\r${right(Math.min(cursor, this.columns))}`;
    const above = lines.map((line) => `${line}\n`).join('');
    this.#output.write(`\r${up(this.#drawn - 1)}${eraseBelow}${above}${rows.join('\n')}${place}`);
    this.#drawn = rows.length;
  }
}
