import type { MayMatch } from '../text/cues.js';
import type { Said } from '../finding.js';
import type { Folded } from '../text/fold.js';

/** Folded delimiters that models read as turn boundaries, and that harnesses read as calls or their own output. */
export const seams =
  /<\|[^<>|\n]{1,40}\|>|<\/?(?:startofturn|endofturn|startofimage|bos|eos|pad|s|antml:\w{1,20}|functioncalls?|functionresults?|toolcalls?|toolresponse|tooluse|toolresults?|system-?reminder|systemprompt|invoke(?= name))(?:\s[^<>]{0,80})?>|\[\/?(?:inst|systemprompt|availabletools|toolcalls|toolresults|sys)\]|<<\/?sys>>/g;

/** A line after an empty line that begins with the name of a speaker. */
export const speaker =
  /(^|\n[ \t]*\r?\n)([ \t]*)(Human|Assistant|System|USER|ASSISTANT|SYSTEM|### (?:Instruction|Response|System|Human|Assistant))(?=:)/g;

/** Delimiters that open a turn of the harness or of the system. */
const opening =
  /^<\|(?:im ?start|start ?header ?id|system|user|assistant|begin ?of ?text|start|endoftext|im ?end)|^<startofturn|^<system-?reminder|^<systemprompt|^\[inst|^\[systemprompt|^<<sys|^<functionresults?|^</;

/** Delimiters that ordinary files do not contain. */
const strong = /^<\|(?:im ?start|start ?header ?id|system)|reminder|systemprompt|sys>|inst\]|^<startofturn/;

/** Whether a delimiter is in a short span of inline code, as in documentation that names it. */
const isNamed = (text: string, start: number, end: number): boolean =>
  /(?<!`)`[^`\n]{0,40}$/.test(text.slice(Math.max(0, start - 42), start)) &&
  /^[^`\n]{0,40}`(?!`)/.test(text.slice(end, end + 42));

/** Finds forged delimiters and turns. */
export const findSeams = (text: string, folded: Folded, mayMatch: MayMatch): readonly Said[] => {
  const found: Said[] = Array.from(folded.text.matchAll(seams))
    .filter(({ 0: match }) => opening.test(match))
    .map(({ 0: match, index }) => {
      const [start, end] = [folded.at(index), folded.at(index + match.length - 1) + 1];
      // Templates write `[INST]` in capitals; changelogs use tags such as `[inst]`.
      const isTag = match.startsWith('[') && text.slice(start, end) === match;
      return { rule: 'forged-turn', isStrong: strong.test(match) && !isTag && !isNamed(text, start, end), start, end };
    });
  const turns = Array.from(mayMatch(speaker) ? text.matchAll(speaker) : [], ({ 0: match, index }) => ({
    rule: 'forged-turn',
    isStrong: false,
    start: index,
    end: index + match.length,
  }));
  return [...found, ...turns];
};
