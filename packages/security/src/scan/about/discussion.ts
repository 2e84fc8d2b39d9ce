import { citationsOf, reportsIn, without, type Citations } from './citations.js';
import { overlap } from '../finding.js';
import { all, type Region } from '../text/regions.js';

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
  #marked: Overlaps | undefined;
  #code: Overlaps | undefined;
  #topics: readonly number[] | undefined;
  #told: readonly number[] | undefined;
  #headings: readonly Region[] | undefined;

  constructor(text: string, original?: Original) {
    this.text = text;
    this.#original = original;
  }

  /** Whether the text is about attacks: its title, the heading of the place, or some words elsewhere. */
  isAbout(place: Region): boolean {
    const isTopic = (region: Region, least: number): boolean => this.#topicsIn(region, place) >= least;
    if (isTopic({ start: 0, end: this.text.length }, minTopics)) return true;
    const headings = (this.#headings ??= all(this.text, heading));
    const above = headings[firstFrom(headings.length, (index) => headings[index]?.start ?? 0, place.start) - 1];
    if ([headings[0], above].some((one) => one !== undefined && isTopic(one, 1))) return true;
    return this.#inOriginal((one, original) => one.isAbout(original), place);
  }

  /** Whether the text, or the paragraphs around a place, are about attacks. */
  isAboutAt(place: Region): boolean {
    if (this.isAbout(place)) return true;
    const around = paragraphsAround(this.text, place, 2);
    if (this.#topicsIn(around, place) + this.#toldIn(around, place) > 0) return true;
    return this.#inOriginal((one, original) => one.isAboutAt(original), place);
  }

  /** Whether a place is in a paragraph about attacks of a text about them. */
  isInTopic(place: Region): boolean {
    return this.#topicsIn(paragraphsAround(this.text, place, 0), place) > 0 && this.isAbout(place);
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
    const marks = this.#marks()(paragraph);
    const cited = !isExample || marks.some((one) => overlap(one, place)) ? marks : [...marks, place];
    const said = this.text.slice(paragraph.start, paragraph.end);
    const inParagraph = cited.map(({ start, end }) => ({
      start: Math.max(0, start - paragraph.start),
      end: end - paragraph.start,
    }));
    return wordsIn(without(said, inParagraph)) * 2 >= wordsIn(said);
  }

  /** Whether a place is in a region that is marked as the words of others. */
  isMarked(place: Region): boolean {
    if (this.#marks()(place).some((one) => isWithin(place, one))) return true;
    return this.#inOriginal((one, original) => one.isMarked(original), place);
  }

  /** Whether the markup of a place is shown, since it is in code or escaped. */
  isShown(place: Region): boolean {
    this.#code ??= overlaps(this.#known().code);
    if (this.#code(place).some((one) => isWithin(place, one))) return true;
    return this.#inOriginal(
      (one, original) => one.isShown(original) || !one.text.slice(original.start, original.end).includes('<'),
      place,
    );
  }

  /** Returns the text without the words of others. */
  ownText(): string {
    return without(this.text, [...this.#known().marked, ...reportsIn(this.text)]);
  }

  #known(): Citations {
    return (this.#citations ??= citationsOf(this.text));
  }

  #marks(): Overlaps {
    return (this.#marked ??= overlaps(this.#known().marked));
  }

  #inOriginal(test: (discussion: Discussion, place: Region) => boolean, place: Region): boolean {
    return this.#original !== undefined && test(this.#original.discussion, this.#original.placeOf(place));
  }

  #topicsIn(region: Region, besides: Region): number {
    return this.#countIn((this.#topics ??= placesOf(this.text, topics)), region, besides);
  }

  #toldIn(region: Region, besides: Region): number {
    return this.#countIn((this.#told ??= placesOf(this.text, told)), region, besides);
  }

  /** Returns the number of places in a region, but outside of another one and of the marked regions that it overlaps. */
  #countIn(places: readonly number[], { start, end }: Region, besides: Region): number {
    const own = this.#marks()(besides);
    const from = own.reduce((least, one) => Math.min(least, one.start), besides.start);
    const to = own.reduce((most, one) => Math.max(most, one.end), besides.end);
    const before = (offset: number): number => firstFrom(places.length, (index) => places[index] ?? 0, offset);
    const between = (first: number, last: number): number => Math.max(0, before(last) - before(first));
    return between(start, Math.min(end, from)) + between(Math.max(start, to), end);
  }
}

/** Returns the number of sorted offsets before an offset. */
const firstFrom = (length: number, offsetOf: (index: number) => number, offset: number): number => {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (offsetOf(middle) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
};

type Overlaps = (place: Region) => readonly Region[];

/** Returns a function that finds the regions that overlap a place. */
const overlaps = (regions: readonly Region[]): Overlaps => {
  const sorted = regions.toSorted((one, other) => one.start - other.start);
  let last = 0;
  const ends = sorted.map(({ end }) => (last = Math.max(last, end)));
  return (place) => {
    const found: Region[] = [];
    let index = firstFrom(sorted.length, (at) => sorted[at]?.start ?? 0, place.end) - 1;
    for (; index >= 0 && (ends[index] ?? 0) > place.start; index -= 1) {
      const one = sorted[index];
      if (one !== undefined && one.end > place.start) found.push(one);
    }
    return found;
  };
};

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
