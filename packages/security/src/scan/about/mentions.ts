import { all } from '../text/regions.js';

/** Quoted text of a paragraph. Straight quotes need a word on their inner side only. */
const quotations =
  /(?<![\p{L}\p{N}])"(?=\S)[^"]{2,200}(?<=\S)"(?![\p{L}\p{N}])|[“„][^“”„]{2,200}[“”]|«[^«»]{2,200}»|「[^「」]{2,200}」|『[^『』]{2,200}』|《[^《》]{2,200}》/gu;
const anyQuote = /["“„«「『《]/;
/** Ends a sentence, a line that is not wrapped, or a part of a list or of data. */
const ending = /[.!?](?=\s)|[。！？,;:=|[\]{}、，；：]|(?<!\p{Ll})\n|\n(?![ \t]{0,8}[\p{Ll}"“„«])/gu;
const word = /\p{L}{2,}/gu;
const spaceless = /[\u3040-\u30ff\u4e00-\u9fff]/g;
/** Minimum number of words around a quotation that mention it, and of letters of a script without spaces. */
const minWords = 3;
const minLetters = 5;

/** Whether the text around quotations is a part of a sentence that mentions them. */
const isMentioning = (around: string): boolean =>
  (around.match(word)?.length ?? 0) >= minWords || (around.match(spaceless)?.length ?? 0) >= minLetters;

/**
 * Returns the text with blanks in place of the quotations that a sentence mentions: `the phrase “…” is an attack`. A
 * quotation without words around it, such as the value of a field, is not mentioned.
 *
 * @returns `undefined` if the text mentions none
 */
export const withoutMentions = (text: string): string | undefined => {
  if (!anyQuote.test(text)) return undefined;
  const found = all(text, quotations).filter(({ start, end }) => !text.slice(start, end).includes('\n\n'));
  const parts: string[] = [];
  let last = 0;
  for (const { start, end } of found) {
    parts.push(text.slice(last, start), '"'.repeat(end - start));
    last = end;
  }
  const masked = parts.join('') + text.slice(last);
  const ends = [...Array.from(masked.matchAll(ending), ({ index }) => index), text.length];
  let blanked = '';
  let [from, next, copied] = [0, 0, 0];
  for (const end of ends) {
    const first = next;
    while ((found[next]?.start ?? Infinity) < end) next += 1;
    if (next > first && isMentioning(masked.slice(from, end))) {
      for (const one of found.slice(first, next)) {
        blanked += text.slice(copied, one.start) + text.slice(one.start, one.end).replace(/[^\n]/g, ' ');
        copied = one.end;
      }
    }
    from = end + 1;
  }
  return copied === 0 ? undefined : blanked + text.slice(copied);
};
