import { join } from 'node:path';
import { excerpt, type FoundFile, type FoundLine, type GrepQuery } from './grep-query.js';

/** Text, or base64 of bytes that are not UTF-8. */
type Data = { readonly text: string } | { readonly bytes: string };

interface LineData {
  readonly lines: Data;
  readonly line_number: number;
  /** Positions of matches in the line, in bytes. */
  readonly submatches: readonly { readonly start: number }[];
}

/** The messages of `rg --json` that are used. */
type Message =
  | { readonly type: 'begin'; readonly data: { readonly path: Data } }
  | { readonly type: 'match' | 'context'; readonly data: LineData }
  | { readonly type: 'end'; readonly data: { readonly binary_offset: number | null } }
  | { readonly type: 'summary' };

/** Assembles files from the messages of `rg --json`. Omits binary files and files that the filter rejects. */
export class RipgrepOutput {
  readonly #query: GrepQuery;
  #name = '';
  #lines: FoundLine[] = [];

  constructor(query: GrepQuery) {
    this.#query = query;
  }

  /** Processes one line of output; returns a file if the line completes one. */
  add(line: string): FoundFile | undefined {
    const message = JSON.parse(line) as Message;
    if (message.type === 'begin') {
      this.#name = textOf(message.data.path)
        .replace(/^\.[/\\]/u, '')
        .replaceAll('\\', '/');
      this.#lines = [];
    } else if (message.type === 'match' || message.type === 'context') {
      if (this.#isWanted()) {
        this.#lines.push(foundLine(message.data, message.type === 'match', this.#query.maxLineChars));
      }
    } else if (message.type === 'end' && message.data.binary_offset === null && this.#lines.length > 0) {
      return { path: join(this.#query.start, this.#name), lines: this.#lines };
    }
    return undefined;
  }

  #isWanted(): boolean {
    const { glob, paths, start } = this.#query;
    return (glob === undefined || glob.matches(this.#name)) && paths.permits(join(start, this.#name), { for: 'read' });
  }
}

const foundLine = (
  { lines, line_number: number, submatches }: LineData,
  isMatch: boolean,
  maxChars: number,
): FoundLine => {
  const text = textOf(lines).replace(/\r?\n$/u, '');
  return {
    number,
    isMatch,
    text: text.length <= maxChars ? text : excerpt(text, placeOf(lines, submatches[0]?.start ?? 0), maxChars),
  };
};

/** Returns the index in the string of the byte at this offset. */
const placeOf = (data: Data, offset: number): number => bytesOf(data).subarray(0, offset).toString('utf8').length;

const bytesOf = (data: Data): Buffer =>
  'text' in data ? Buffer.from(data.text, 'utf8') : Buffer.from(data.bytes, 'base64');

const textOf = (data: Data): string => ('text' in data ? data.text : bytesOf(data).toString('utf8'));
