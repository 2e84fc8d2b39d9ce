import { unknownText } from './field.js';

/** Maximum number of words that are expanded. */
const maxWords = 64;

const unknowable: readonly string[] = [unknownText];

/** Expands braces such as `{a,b{c,d}}` without quotes; nested ranges and expansions stay unknown. */
export const expandBraces = (text: string): readonly string[] => {
  if (/[$`]/.test(text)) return unknowable;
  const words = alternatives(text, 0);
  return words === undefined || words.length > maxWords ? unknowable : words;
};

const alternatives = (text: string, depth: number): readonly string[] | undefined => {
  if (depth > 4) return undefined;
  const open = text.indexOf('{');
  if (open === -1) return [text.replaceAll(/["'\\]/g, '')];
  const pieces: string[] = [];
  let level = 0;
  let start = open + 1;
  let close = -1;
  for (let index = open; index < text.length && close === -1; index += 1) {
    const character = text[index];
    if (character === '{') level += 1;
    if (character === '}') level -= 1;
    if ((character === ',' && level === 1) || level === 0) {
      pieces.push(text.slice(start, index));
      start = index + 1;
    }
    if (level === 0) close = index;
  }
  if (close === -1 || pieces.length < 2) return undefined;
  const tails = alternatives(text.slice(close + 1), depth + 1);
  if (tails === undefined) return undefined;
  const words: string[] = [];
  for (const piece of pieces) {
    const middles = alternatives(piece, depth + 1);
    if (middles === undefined || words.length + middles.length * tails.length > maxWords) return undefined;
    for (const middle of middles) for (const tail of tails) words.push(text.slice(0, open) + middle + tail);
  }
  return words;
};
