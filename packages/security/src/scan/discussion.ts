import { citationsOf, without, type Citations } from './citations.js';
import { overlap } from './finding.js';
import { all, type Region } from './regions.js';

/** Words of texts about attacks on models, in several languages. */
const topics =
  /prompt.inject|inje[cçkz]|inyecc|инъекц|ін'єкц|注入|インジェクション|인젝션|jailbreak|attack|attaqu|ataqu|attacc|atacant|aanval|angr(?:iff|eif)|атак|saldır|攻击|攻撃|공격|malicious|malicios|malveill|вредонос|恶意|悪意|악의|złośliw|adversar|untrusted|exfiltrat|red.?team|threat|vulnerab|guardrail|owasp/giu;
/** Number of them in a text about attacks. */
const minTopics = 3;
/** What texts say of models and guards that meet an attack, and of who makes it. */
const told =
  /\b(?:attackers?|hackers?|strangers?|hidden (?:instruction|prompt|text|command)s?|detectors?|classifiers?|scanners?|filters?|false (?:alarm|positive|negative)s?|hijack\w*|smuggl\w*|poison\w*|manipulat\w*|trick(?:s|ed)|fool(?:s|ed)|(?:expected|label|verdict)\W{1,4}(?:blocked|flagged|rejected|denied|unsafe)|(?:model|assistant|agent|bot|chatbot|llm|ai)s? (?:\w{1,12} ){0,2}?(?:obey|follow|compl(?:y|ie)|execut|believ|refus|declin|leak|reveal)(?:s|ed|es|d)?|(?:obey|compl(?:y|ie)|refus|declin)(?:s|ed|d)?)\b/gi;
const heading = /^#{1,6} [^\n]*/gm;

/** The text of which another one is the plain form, and its places. */
export interface Original {
  readonly discussion: Discussion;
  readonly placeOf: (place: Region) => Region;
}

/**
 * What a text says about attacks besides the words of others that it repeats. It tells a report from a request: a text
 * that makes a request says so itself.
 */
export class Discussion {
  readonly text: string;
  readonly #original: Original | undefined;
  #citations: Citations | undefined;
  #topics: readonly number[] | undefined;
  #told: readonly number[] | undefined;
  #headings: readonly Region[] | undefined;

  constructor(text: string, original?: Original) {
    this.text = text;
    this.#original = original;
  }

  /** Whether the text is about attacks: its title, the heading of the place, or some words elsewhere. */
  isAbout(place: Region): boolean {
    const elsewhere = this.#topicsBesides(place);
    if (elsewhere.length >= minTopics) return true;
    const headings = (this.#headings ??= all(this.text, heading));
    const above = headings.findLast(({ start }) => start < place.start);
    const isHeaded = [headings[0], above].some(
      (one) => one !== undefined && elsewhere.some((at) => at >= one.start && at < one.end),
    );
    return isHeaded || this.#inOriginal((one, original) => one.isAbout(original), place);
  }

  /** Whether the text, or the paragraphs around a place, are about attacks. */
  isAboutAt(place: Region): boolean {
    if (this.isAbout(place)) return true;
    const around = paragraphsAround(this.text, place, 2);
    const isNear = (at: number): boolean => at >= around.start && at < around.end;
    if (this.#topicsBesides(place).some(isNear) || this.#toldBesides(place).some(isNear)) return true;
    return this.#inOriginal((one, original) => one.isAboutAt(original), place);
  }

  /** Whether a place is in a paragraph about attacks of a text about them. */
  isInTopic(place: Region): boolean {
    const { start, end } = paragraphsAround(this.text, place, 0);
    return this.isAbout(place) && this.#topicsBesides(place).some((at) => at >= start && at < end);
  }

  /**
   * Whether the text around an example is about it: other paragraphs are about attacks, or at least half of its own
   * is not the example.
   *
   * @param isExample - whether the place is the example, if nothing marks it; else it is a sentence about one
   */
  isGiven(place: Region, isExample: boolean): boolean {
    const paragraph = paragraphsAround(this.text, place, 0);
    if (this.isAbout(paragraph)) return true;
    const { start, end } = paragraph;
    const marks = this.#known().marked.filter((one) => overlap(one, paragraph));
    const cited = !isExample || marks.some((one) => overlap(one, place)) ? marks : [...marks, place];
    const own = without(this.text, cited).slice(start, end);
    return wordsIn(own) * 2 >= wordsIn(this.text.slice(start, end));
  }

  /** Whether a place is in a region that is marked as the words of others. */
  isMarked(place: Region): boolean {
    if (this.#known().marked.some((one) => isWithin(place, one))) return true;
    return this.#inOriginal((one, original) => one.isMarked(original), place);
  }

  /** Whether the markup of a place is shown, since it is in code or escaped. */
  isShown(place: Region): boolean {
    if (this.#known().code.some((one) => isWithin(place, one))) return true;
    return this.#inOriginal(
      (one, original) => one.isShown(original) || !one.text.slice(original.start, original.end).includes('<'),
      place,
    );
  }

  /** Returns the text without the words of others. */
  ownText(): string {
    const { marked, reported } = this.#known();
    return without(this.text, [...marked, ...reported]);
  }

  #known(): Citations {
    return (this.#citations ??= citationsOf(this.text));
  }

  #inOriginal(test: (discussion: Discussion, place: Region) => boolean, place: Region): boolean {
    return this.#original !== undefined && test(this.#original.discussion, this.#original.placeOf(place));
  }

  /** Returns the places of the topics outside of a place and of the marked regions of which it is a part. */
  #topicsBesides(place: Region): readonly number[] {
    return this.#besides(place, (this.#topics ??= placesOf(this.text, topics)));
  }

  #toldBesides(place: Region): readonly number[] {
    return this.#besides(place, (this.#told ??= placesOf(this.text, told)));
  }

  #besides(place: Region, found: readonly number[]): readonly number[] {
    const own = this.#known().marked.filter((one) => overlap(one, place));
    return found.filter((at) => [place, ...own].every(({ start, end }) => at < start || at >= end));
  }
}

/** A word, or two letters of a script without spaces. */
const word = /[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{2}|\p{L}{2,}/gu;
const wordsIn = (text: string): number => text.match(word)?.length ?? 0;

const isWithin = (place: Region, { start, end }: Region): boolean => place.start >= start && place.end <= end;

const placesOf = (text: string, pattern: RegExp): readonly number[] => all(text, pattern).map(({ start }) => start);

const breaks = /\n[ \t]*\n\s*/g;
const maxParagraphs = 1500;

/** Returns the paragraph of a place with a number of paragraphs on each side of it. */
const paragraphsAround = (text: string, { start, end }: Region, count: number): Region => {
  const from = Math.max(0, start - maxParagraphs);
  const before = Array.from(text.slice(from, start).matchAll(breaks), ({ 0: gap, index }) => from + index + gap.length);
  const rest = text.slice(end, end + maxParagraphs);
  const behind = Array.from(rest.matchAll(breaks), ({ index }) => end + index);
  return { start: before.at(-1 - count) ?? from, end: behind[count] ?? end + rest.length };
};
