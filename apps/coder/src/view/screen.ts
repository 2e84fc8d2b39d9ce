import { clipped, rowsOf } from '../render/fit.js';

/** The output stream of a screen. */
export interface ScreenOutput {
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

/** Rows at the bottom of the screen that are redrawn. */
export interface LiveRows {
  readonly rows: readonly string[];
  /** Column of the cursor in the last row; defaults to the end of the row. */
  readonly cursor?: number | undefined;
}

const up = (rows: number): string => (rows > 0 ? `\u001B[${rows}A` : '');
const eraseBelow = '\u001B[J';
/** Cuts rows at the edge: a terminal that was just resized, or measures an emoji differently, would wrap them. */
const unwrapped = (rows: string): string => (rows === '' ? '' : `\u001B[?7l${rows}\u001B[?7h`);
const right = (columns: number): string => (columns > 0 ? `\u001B[${columns}C` : '');

/**
 * Writes to a terminal in two places: permanent lines that scroll, and a few live rows below them. The first live row
 * is the unfinished line.
 *
 * Every row is shorter than the terminal, so the number of rows is known and they can be erased.
 */
export class Screen {
  readonly #output: ScreenOutput;
  #partial = '';
  #live: LiveRows = { rows: [] };
  #drawn = 0;

  constructor(output: ScreenOutput) {
    this.#output = output;
  }

  /** Maximum width of a line. A terminal of unknown width reports 0. */
  get columns(): number {
    return Math.max(20, (this.#output.columns || 80) - 1);
  }

  /** Appends text. Complete rows become permanent; the last row stays open. */
  text(piece: string): void {
    const lines = `${this.#partial}${piece.replaceAll('\t', '  ')}`.split('\n');
    const rows = lines.map((line) =>
      rowsOf(line, this.columns).map((row, index) => (index === 0 ? row : row.replace(/^ /, ''))),
    );
    const last = rows.pop() ?? [];
    this.#partial = last.at(-1) ?? '';
    this.#draw([...rows.flat(), ...last.slice(0, -1)]);
  }

  /** Ends the open row and adds lines. */
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
    this.#output.write(`\r${up(this.#drawn - 1)}${eraseBelow}${above}${unwrapped(rows.join('\n'))}${place}`);
    this.#drawn = rows.length;
  }
}
