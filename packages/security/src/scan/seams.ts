import type { Said } from './finding.js';
import type { Folded } from './fold.js';

/** What models are trained to take for the seams of a conversation, and harnesses for calls and their own words. Folded. */
export const seams =
  /<\|[^<>|\n]{1,40}\|>|<\/?(?:startofturn|endofturn|startofimage|bos|eos|pad|s|antml:\w{1,20}|functioncalls?|functionresults?|toolcalls?|toolresponse|tooluse|toolresults?|system-?reminder|systemprompt|invoke(?= name))(?:\s[^<>]{0,80})?>|\[\/?(?:inst|systemprompt|availabletools|toolcalls|toolresults|sys)\]|<<\/?sys>>/g;

/** A line that begins like a turn of a speaker, after an empty line. */
export const speaker =
  /(^|\n[ \t]*\r?\n)([ \t]*)(Human|Assistant|System|USER|ASSISTANT|SYSTEM|### (?:Instruction|Response|System|Human|Assistant))(?=:)/g;

/** The seams that begin a turn of the harness or of the system. */
const opening =
  /^<\|(?:im ?start|start ?header ?id|system|user|assistant|begin ?of ?text|start|endoftext|im ?end)|^<startofturn|^<system-?reminder|^<systemprompt|^\[inst|^\[systemprompt|^<<sys|^<functionresults?|^</;

/** Forged seams and turns. */
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
