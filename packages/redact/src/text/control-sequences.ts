import { codeAt } from './characters.js';

/** A control sequence that was removed from a text, with its offset in the remaining text. */
export interface Mark {
  readonly at: number;
  readonly sequence: string;
}

const escape = '\u001b';
/** Matches colors, cursor movements and hyperlinks, also as escaped in JSON and source code, and colors whose escape was removed. */
const sequences =
  // oxlint-disable-next-line no-control-regex -- finding control sequences is the purpose
  /\u001b(?:\[[0-9;:?]{0,32}[A-Za-z]|\][^\u0007\u001b]{0,300}(?:\u0007|\u001b\\))|\\(?:u001[bB]|x1[bB]|033)\[[\d;]{0,32}[A-Za-z]|\[(?:\d{1,3};){0,4}\d{1,3}m(?!\])/g;
const unfinished =
  // oxlint-disable-next-line no-control-regex -- as above
  /(?:\u001b(?:\[[0-9;:?]{0,32}|\][^\u0007\u001b]{0,300}\u001b?)?|\\(?:u(?:0(?:0(?:1(?:[bB](?:\[[\d;]{0,32})?)?)?)?)?|x(?:1(?:[bB](?:\[[\d;]{0,32})?)?)?|0(?:3(?:3(?:\[[\d;]{0,32})?)?)?)?|\[[\d;]{0,19}m?)$/;
const maxUnfinished = 340;

/** Returns whether the text has a character that may begin a control sequence. */
export const mayHaveSequences = (text: string): boolean =>
  text.includes(escape) || text.includes('\\') || text.includes('[');

/** The beginnings of escaped sequences. A search for them takes less time than the expression. */
const beginnings: readonly string[] = [escape, '\\u001', '\\x1', '\\033'];

/** Returns whether the text contains a control sequence. */
export const hasSequences = (text: string): boolean =>
  (beginnings.some((beginning) => text.includes(beginning)) || hasBareColor(text)) && text.search(sequences) !== -1;

const bareColor = /\[\d[\d;]{0,18}m/y;

/** Whether the text may have a color whose escape was removed. Most brackets are not before a digit. */
const hasBareColor = (text: string): boolean => {
  for (let index = text.indexOf('['); index !== -1; index = text.indexOf('[', index + 1)) {
    const next = codeAt(text, index + 1);
    bareColor.lastIndex = index;
    if (next >= 48 && next <= 57 && bareColor.test(text)) return true;
  }
  return false;
};

/** Splits a text into its visible characters and its control sequences, which could interrupt secrets. */
export const withoutSequences = (
  text: string,
  offset: number,
  isWhole: boolean,
): { readonly visible: string; readonly marks: readonly Mark[]; readonly rest: string } => {
  if (!mayHaveSequences(text)) return { visible: text, marks: [], rest: '' };
  const marks: Mark[] = [];
  let visible = '';
  let last = 0;
  for (const { 0: sequence, index } of text.matchAll(sequences)) {
    visible += text.slice(last, index);
    marks.push({ at: offset + visible.length, sequence });
    last = index + sequence.length;
  }
  const tail = text.slice(Math.max(last, text.length - maxUnfinished));
  const cut = isWhole ? null : unfinished.exec(tail);
  const end = cut === null ? text.length : text.length - cut[0].length;
  return { visible: visible + text.slice(last, end), marks, rest: text.slice(end) };
};
