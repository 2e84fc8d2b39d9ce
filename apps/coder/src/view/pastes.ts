import { StringDecoder } from 'node:string_decoder';
import { counted, grouped } from '../render/quantity.js';

/** Escape sequences that switch bracketed paste on and off. */
export const pasteMode = { on: '\u001B[?2004h', off: '\u001B[?2004l' } as const;

const pasteStart = '\u001B[200~';
const pasteEnd = '\u001B[201~';
const ctrlC = '\u0003';
/** Without paste mode a paste arrives like keys, only faster: nobody types this many lines between two reads. */
const minPastedLines = 3;
/** Represents a line break in a draft, because readline treats a real one as Enter. A private-use character. */
const newline = '\u{100000}';
const firstToken = 0x100001;
/** Number of pastes that the history can recall. */
const maxPastes = 1_000;
/** Longer pastes and pastes of several lines become one character, because readline is slow with long lines. */
const maxInlineChars = 500;

/** Marks text as a paste, as a terminal in paste mode does. */
export const asPaste = (text: string): string => `${pasteStart}${text}${pasteEnd}`;

/** Whether a read contains a paste of a terminal without paste mode. */
export const isUnmarkedPaste = (text: string): boolean =>
  // oxlint-disable-next-line no-control-regex -- keys are control characters
  !/[\u0003\u001B]/.test(text) && (text.match(/\r\n?|\n/g)?.length ?? 0) >= minPastedLines;

/**
 * Extracts pastes from terminal input.
 *
 * A long paste is one character of the draft: {@link expand} returns its text, {@link label} its placeholder. Alt-Enter
 * adds a line break.
 */
export class Pastes {
  readonly #decoder = new StringDecoder('utf8');
  readonly #texts = new Map<string, string>();
  #count = 0;
  /** The chunks of the current paste. */
  #open: string[] | undefined;
  /** The end of the previous chunk, which may contain the beginning of a mark. */
  #carry = '';

  /** Whether a paste has begun whose end has not arrived yet; its start mark may be cut. */
  get isOpen(): boolean {
    const start = this.#carry.lastIndexOf('\u001B');
    return this.#open !== undefined || (start !== -1 && pasteStart.startsWith(this.#carry.slice(start)));
  }

  /** Returns the input for readline. */
  take(chunk: Uint8Array | string): string {
    let rest = typeof chunk === 'string' ? chunk : this.#decoder.write(Buffer.from(chunk));
    let typed = '';
    while (rest !== '') {
      const mark = this.#open === undefined ? pasteStart : pasteEnd;
      const text = `${this.#carry}${rest}`;
      const place = text.indexOf(mark);
      // Terminals remove control characters from a paste, so this is a key press, and the end mark was lost.
      const key = this.#open === undefined ? -1 : rest.indexOf(ctrlC);
      const isKey = key !== -1 && (place === -1 || key + this.#carry.length < place);
      const isFound = place !== -1 || isKey;
      const end = isKey ? key : isFound ? place + mark.length - this.#carry.length : rest.length;
      const piece = rest.slice(0, end);
      this.#carry = isFound ? '' : text.slice(1 - mark.length);
      rest = rest.slice(end);
      if (this.#open === undefined) {
        // readline ignores the mark, so it is passed through.
        typed += piece.replaceAll('\u001B\r', newline).replaceAll('\u001B\n', newline);
        if (isFound) this.#open = [];
      } else {
        this.#open.push(piece);
        if (isFound) typed += this.#close(this.#open.join(''));
      }
    }
    return typed;
  }

  /** Replaces the characters that represent pastes and line breaks by their text. */
  expand(draft: string): string {
    return replaceTokens(draft, (token) => (token === newline ? '\n' : this.#texts.get(token)));
  }

  /** Replaces these characters by their placeholders, in the draft and in the text before its cursor. */
  label(draft: string): string {
    return replaceTokens(draft, (token) => (token === newline ? '↵' : labelOf(this.#texts.get(token))));
  }

  #close(pasted: string): string {
    this.#open = undefined;
    const text = (pasted.endsWith(pasteEnd) ? pasted.slice(0, -pasteEnd.length) : pasted)
      .replaceAll(/\r\n?/g, '\n')
      .replaceAll(/(?![\n\t])\p{Cc}/gu, '');
    if (text.length <= maxInlineChars && !/[\n\t]/.test(text)) return text;
    const token = String.fromCodePoint(firstToken + (this.#count % maxPastes));
    this.#count += 1;
    this.#texts.set(token, text);
    return token;
  }
}

/** Replaces a trailing backslash with a line break; returns `undefined` without one. */
export const continued = (draft: string): string | undefined =>
  /(?<!\\)(?:\\\\)*\\$/.test(draft) ? `${draft.slice(0, -1)}${newline}` : undefined;

const replaceTokens = (draft: string, textOf: (token: string) => string | undefined): string =>
  draft.replaceAll(/[\u{100000}-\u{1003E9}]/gu, (token) => textOf(token) ?? token);

const labelOf = (text: string | undefined): string | undefined => {
  if (text === undefined) return undefined;
  const lines = text.replace(/\n$/, '').split('\n').length;
  return lines > 1 ? `[${counted(lines, 'pasted line')}]` : `[${grouped(text.length)} pasted characters]`;
};
