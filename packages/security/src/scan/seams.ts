import type { Said } from './finding.js';
import type { Folded } from './fold.js';

/** Folded delimiters that models read as turn boundaries, and that harnesses read as calls or their own output. */
export const seams =
  /<\|[^<>|\n]{1,40}\|>|<\/?(?:startofturn|endofturn|startofimage|bos|eos|pad|s|antml:\w{1,20}|functioncalls?|functionresults?|toolcalls?|toolresponse|tooluse|toolresults?|system-?reminder|systemprompt|invoke(?= name))(?:\s[^<>]{0,80})?>|\[\/?(?:inst|systemprompt|availabletools|toolcalls|toolresults|sys)\]|<<\/?sys>>/g;

/** A line after an empty line that begins with the name of a speaker. */
export const speaker =
  /(^|\n[ \t]*\r?\n)([ \t]*)(Human|Assistant|System|USER|ASSISTANT|SYSTEM|### (?:Instruction|Response|System|Human|Assistant))(?=:)/g;

/** Delimiters that open a turn of the harness or of the system. */
const opening =
  /^<\|(?:im ?start|start ?header ?id|system|user|assistant|begin ?of ?text|start|endoftext|im ?end)|^<startofturn|^<system-?reminder|^<systemprompt|^\[inst|^\[systemprompt|^<<sys|^<functionresults?|^</;

/** Finds forged delimiters and turns. */
export const findSeams = (text: string, folded: Folded): readonly Said[] => {
  const found: Said[] = Array.from(folded.text.matchAll(seams))
    .filter(({ 0: match }) => opening.test(match))
    .map(({ 0: match, index }) => ({
      rule: 'forged-turn',
      isStrong: /^<\|(?:im ?start|start ?header ?id|system)|reminder|systemprompt|sys>|inst\]|^<startofturn/.test(
        match,
      ),
      start: folded.at(index),
      end: folded.at(index + match.length - 1) + 1,
    }));
  const turns = Array.from(text.matchAll(speaker), ({ 0: match, index }) => ({
    rule: 'forged-turn',
    isStrong: false,
    start: index,
    end: index + match.length,
  }));
  return [...found, ...turns];
};
