import { has, isAsked, isNegated, near, type View } from '../text/clauses.js';
import { concealment, permission, sabotage, taking } from './deeds.js';
import { CueIndex } from '../text/cues.js';
import { deedFrames } from './deed-frames.js';
import { stemsIn } from './ask-stems.js';
import { matches, requestStarts, type Frame } from './frame.js';
import { obligationFrames } from './obligation-frames.js';
import { orderFrames } from './order-frames.js';
import * as is from '../text/lexicon.js';
import { diversion, promptTheft, renewal, replacement, revocation, unbinding } from './orders.js';
import type { Sentence } from '../text/sentences.js';

/** A sign that a sentence is an attack, and its weight. */
export interface Signal {
  readonly rule: string;
  readonly weight: number;
  /** The frame that matched. Different frames of one rule add up. */
  readonly frame?: Pick<Frame, 'rule' | 'weight' | 'isKnown'> | undefined;
}

const regardless = /\b(?:regardless of|no matter (?:what|how)|whatever (?:the|they|it|she|he)\b)/;

/**
 * Returns the signals of a sentence.
 *
 * @param next - the sentence after it in its paragraph
 */
export const signalsOf = (text: string, sentence: Sentence, next?: Sentence): readonly Signal[] => {
  const view = sentence;
  const found: Signal[] = [];
  const add = (rule: string, weight: number): void => {
    if (weight > 0) found.push({ rule, weight });
  };
  const { first, second } = sentence;
  const hasClass = (one: number, two = 0): boolean => (first & one) !== 0 || (second & two) !== 0;
  if (hasClass(is.ORDERS | is.DISMISS | is.YOU | is.LIMIT | is.PERSONA | is.RUN, is.FOLLOW | is.STOP | is.PROMPT)) {
    add('override', Math.max(revocation(view, sentence), next === undefined ? 0 : replacement(view, next)));
  }
  if (hasClass(is.TASK | is.DISMISS, is.TEXT)) add('diversion', diversion(view, text, sentence));
  if (hasClass(is.REVEAL | is.YOU)) add('prompt-theft', promptTheft(view, text, sentence));
  if (hasClass(is.UNBOUND | is.LIMIT | is.PROTECTION, is.MODE)) add('persona', unbinding(view));
  add('authority', addressing(view, text, sentence));
  if (hasClass(is.TELL | is.COVERT | is.USER)) add('secrecy', concealment(view));
  if (hasClass(is.SECRET | is.SEND)) add('theft', taking(view));
  if (hasClass(is.BASE | is.ANSWER)) add('steering', steering(view, text, sentence));
  if (hasClass(is.APPROVAL | is.GRANT | is.AUTHORITY)) add('skips-approval', permission(view));
  if (hasClass(is.BASE)) add('sabotage', sabotage(view, text, sentence));
  const said = text.slice(sentence.start, sentence.end);
  if (hasClass(is.STEER | is.ANSWER | is.SEND) && regardless.test(said)) add('regardless', 2);
  if (hasClass(0, is.NEW)) add('new-instructions', renewal(view, text, sentence));
  if ((second & is.LANGUAGES) !== 0) {
    const follows = next === undefined ? undefined : text.slice(next.start, next.end);
    for (const frame of stemsIn(said, second, follows)) {
      found.push({ rule: frame.rule, weight: frame.weight, frame });
    }
  }
  for (const frame of framesOf(sentence)) found.push({ rule: frame.rule, weight: frame.weight, frame });
  return found;
};

/** Frames, with an index that finds their literals in one pass. */
const frameLists = [[...orderFrames, ...deedFrames], obligationFrames].map((frames: readonly Frame[]) => ({
  frames,
  cues: new CueIndex(frames.map(({ pattern }) => pattern)),
}));

/** Maximum number of characters of a sentence that the patterns read; bounds their time on words without end. */
const maxSaid = 2000;

/** Minimum number of words of a frame. */
const minWords = 3;

/** Returns the frames of a sentence. */
const framesOf = (sentence: Sentence): readonly Pick<Frame, 'rule' | 'weight'>[] => {
  const { all, joined, first, second } = sentence;
  const found: Pick<Frame, 'rule' | 'weight'>[] = [];
  if (all.length < minWords) return found;
  const said = joined.slice(0, maxSaid);
  let starts: readonly number[] | undefined;
  for (const { frames, cues } of frameLists) {
    const mayMatch = cues.placesIn(said);
    for (const [place, one] of frames.entries()) {
      if (!mayMatch(place)) continue;
      if ((first & one.first) === 0 && (second & one.second) === 0 && (one.first | one.second) !== 0) continue;
      starts ??= requestStarts(sentence);
      if (matches(one, said, starts)) found.push(one);
    }
  }
  return found;
};

/** Weighs whether the sentence addresses a model rather than describes one. */
export const addressing = ({ words, joined }: View, text: string, { start }: Sentence): number => {
  let worst = 0;
  for (const [at, word] of words.entries()) {
    if (!has(word, is.AGENT) || word.position > 14) continue;
    const isVocative =
      word.position <= 4 &&
      /^(?:'s)?(?: (?:tools?|models?|agents?|assistants?|systems?|readers?|bots?|reviewers?|instructions?|rules?|notes?)){0,2}[:,]/.test(
        text.slice(word.end, word.end + 30),
      ) &&
      isCalledOn(words, at);
    const isIf = /\b(?:if|as|since|because) (?:you (?:are|re)|you're) (?:an? |the )?(?:\S+ ){0,2}$/.test(
      text.slice(Math.max(start, word.start - 40), word.start),
    );
    const isObliged = word.position <= 5 && near(words, at, 4, 8, is.MUST) !== -1;
    if (isVocative || isIf || isObliged) worst = Math.max(worst, 2);
    else if (word.position === 0) worst = Math.max(worst, 1);
  }
  if (
    worst === 0 &&
    /^(?:whenever|every time|when(?:ever)? (?:a user|you|asked|summari[sz]ing|the user))\b/.test(joined)
  ) {
    worst = 1;
  }
  return worst;
};

/** Whether a request follows a form of address. */
const isCalledOn = (words: View['words'], at: number): boolean => {
  const here = words[at]?.position ?? 0;
  return words.some(
    (one, index) =>
      index > at && one.position - here <= 3 && (isAsked(words, index) || has(one, is.YOU | is.MUST | is.NOT, is.IF)),
  );
};

const literal =
  /^(?: (?:only|just|with|back|the|this|word|words|phrase|text|exactly|that|as|in|a|an|and|nothing|but)){0,5} ?:? ?["“‘]\w/;

/** Weighs requests that dictate the reader's output: recommendations, ratings or literal text. */
const steering = ({ words, all }: View, text: string, { start, end }: Sentence): number => {
  let worst = 0;
  const sentence = text.slice(start, end);
  for (const [at, word] of words.entries()) {
    const isSteer = has(word, is.STEER) && isAsked(words, at);
    const isSaid =
      has(word, is.ANSWER) &&
      word.text !== 'return' &&
      (isAsked(words, at) || near(words, at, 1, 0, is.EMPHASIS) !== -1);
    const isTold =
      /^(?:tell|urge|instruct|advise|convince)$/.test(word.text) &&
      isAsked(words, at) &&
      near(words, at, 0, 3, is.USER) !== -1;
    if (!isSteer && !isSaid && !isTold) continue;
    if (isNegated(words, at) && all[word.position - 1] !== 'never') continue;
    if (isSteer || isTold) worst = Math.max(worst, 1);
    if (isSaid && words.some((one) => has(one, is.ADDRESS))) worst = Math.max(worst, 2);
    if (isSaid && /\b(?:only|nothing|exactly)\b/.test(sentence)) worst = Math.max(worst, 1);
    if (isSaid && /\b(?:that (?:everything|no|all|it)|the product|we are|is safe|passed|no issues)\b/.test(sentence)) {
      worst = Math.max(worst, 2);
    }
  }
  if (
    words.some((one, at) => has(one, is.ANSWER | is.TELL) && isAsked(words, at) && !isNegated(words, at)) &&
    /\b(?:instead(?! of)|rather(?! than))\b/.test(sentence)
  ) {
    worst = Math.max(worst, 2);
  }
  if (
    words.some(
      (one, at) =>
        has(one, is.ANSWER) &&
        isAsked(words, at) &&
        !isNegated(words, at) &&
        one.text !== 'return' &&
        literal.test(text.slice(one.end, one.end + 60)),
    )
  ) {
    worst = Math.max(worst, 2);
  }
  return worst;
};
