import { fold } from '../scan/text/fold.js';
import { stripInvisible } from '../scan/hiding/invisible.js';
import { seams, speaker } from '../scan/requests/seams.js';

/*
 * All patterns are for folded text: small letters, look-alikes as what they look like, no underscores, stars and
 * tildes.
 */

/** The marks that wrap external content, this package's and those of other harnesses. */
const marker =
  /<<<? ?\/?(?:end[ -]?(?:of[ -]?)?)?external[ -]?(?:untrusted[ -]?)?content|\[ ?(?:begin|end) (?:of )?external (?:untrusted )?content/g;

/** Nothing of the above can be in a text that has none of these. */
const suspects = /[<[\u0080-\uffff]/;

interface Cut {
  readonly start: number;
  readonly end: number;
  readonly put: (found: string) => string;
}

/**
 * Makes an external text harmless to the structure of a conversation: removes forged marks and invisible text, and
 * breaks special tokens and lines that begin like a speaker's turn with a space. A second pass changes nothing.
 */
export const defuse = (text: string): string => {
  const visible = stripInvisible(text);
  const broken = suspects.test(visible) ? cutUp(visible) : visible;
  return broken.replace(speaker, (_, gap: string, indent: string, who: string) => `${gap}${indent}${who} `);
};

const cutUp = (text: string): string => {
  const folded = fold(text);
  const find = (pattern: RegExp, put: Cut['put']): readonly Cut[] =>
    Array.from(folded.text.matchAll(pattern), ({ 0: match, index }) => ({
      start: folded.at(index),
      end: folded.at(index + match.length - 1) + 1,
      put,
    }));
  const cuts = [...find(marker, () => '[mark removed]'), ...find(seams, spaced)].toSorted(
    (one, other) => one.start - other.start,
  );
  if (cuts.length === 0) return text;
  let result = '';
  let last = 0;
  for (const { start, end, put } of cuts) {
    if (start < last) continue;
    result += text.slice(last, start) + put(text.slice(start, end));
    last = end;
  }
  return result + text.slice(last);
};

/** `<|im_start|>` as `< |im_start|>`: readable, and no token any more. */
const spaced = (found: string): string => {
  const [first = ''] = found;
  return `${first} ${found.slice(first.length)}`;
};
