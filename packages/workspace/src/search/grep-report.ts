import type { FoundLine } from './grep-query.js';

/** Limits and format of a report. */
export interface GrepReportOptions {
  /** Maximum number of matching lines, or of paths if only paths are shown. */
  readonly maxMatches: number;
  readonly maxBytes: number;
  /** Whether context lines are shown, so that gaps between them are marked. */
  readonly hasContext: boolean;
  /** Whether only the paths of files are shown. */
  readonly filesOnly: boolean;
}

/** Formats the matches of a search, file by file, up to its limits. */
export class GrepReport {
  readonly #options: GrepReportOptions;
  readonly #written: string[] = [];
  #bytes = 0;
  #matches = 0;
  #files = 0;
  #isCut = false;

  constructor(options: GrepReportOptions) {
    this.#options = options;
  }

  /** Adds a file; returns `false` when the limit is reached. */
  add(path: string, lines: readonly FoundLine[]): boolean {
    if (this.#options.filesOnly) {
      if (this.#write(path, true)) this.#files += 1;
    } else this.#addLines(path, lines);
    return !this.#isCut;
  }

  /** Number of shown items; `isCut` is set if further matches exist. */
  get details(): { readonly matches: number; readonly files: number; readonly isCut: boolean } {
    return { matches: this.#matches, files: this.#files, isCut: this.#isCut };
  }

  /** The text for the model. */
  text(note?: string): string {
    const shown = this.#options.filesOnly ? `${this.#files} files` : `${this.#matches} matching lines`;
    return [
      ...(this.#written.length === 0 && !this.#isCut ? ['No line matches.'] : this.#written),
      ...(this.#isCut ? [`[These are the first ${shown}; more match. Use a narrower pattern, path or glob.]`] : []),
      ...(note === undefined ? [] : [`[${note}]`]),
    ].join('\n');
  }

  #addLines(path: string, lines: readonly FoundLine[]): void {
    let before: number | undefined;
    for (const { number, text, isMatch } of lines) {
      const isApart = this.#options.hasContext && before !== undefined && before + 1 < number;
      const heading = before !== undefined ? '' : this.#files === 0 ? `${path}\n` : `\n${path}\n`;
      if (!this.#write(`${heading}${isApart ? '--\n' : ''}${number}${isMatch ? ':' : '-'} ${text}`, isMatch)) return;
      if (before === undefined) this.#files += 1;
      before = number;
    }
  }

  #write(text: string, isMatch: boolean): boolean {
    const bytes = Buffer.byteLength(text) + 1;
    this.#isCut =
      (isMatch && this.#matches >= this.#options.maxMatches) || this.#bytes + bytes > this.#options.maxBytes;
    if (this.#isCut) return false;
    this.#written.push(text);
    this.#bytes += bytes;
    this.#matches += isMatch ? 1 : 0;
    return true;
  }
}
