import { once } from '../text/once.js';
import { isSpan } from '../text/word-table.js';
import { wordClasses } from './wording-classes.js';
import { bias, scale, weights } from './wording-weights.js';
import { WordReader } from './wording-words.js';

/** Number of bits of a feature. */
export const featureBits = 16;

/** Damps the scores of short passages. */
const damping = 60;
const maxWords = 160;
/** Maximum distance of two known words in a pair. */
const reach = 6;

const sensitive = /ssh|aws|env|netrc|npmrc|passwd|cred|secret|token/;
const signs = '.!?;:"\u201c{}()`<>|=,[]';
/** Words after which a clause still begins. */
const leads: ReadonlySet<string> = new Set(
  'please and then also always now first just do not never to kindly you must should'.split(' '),
);

const hashOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash;
};

/** Removes the endings of English inflections. */
const stemOf = (text: string): string => {
  if (text.length < 4) return text;
  const bare = text.endsWith("'s") ? text.slice(0, -2) : text;
  if (bare.endsWith('ies')) return `${bare.slice(0, -3)}y`;
  for (const ending of ['ing', 'ed', 'es', 's', 'e']) {
    if (bare.length > ending.length + 1 && bare.endsWith(ending)) return bare.slice(0, -ending.length);
  }
  return bare;
};

const classesOf = (() => {
  const entries = new Map<string, number[]>();
  for (const [index, list] of wordClasses.entries()) {
    for (const one of list.split(' ')) {
      for (const form of new Set([one, stemOf(one)])) {
        const known = entries.get(form);
        if (known === undefined) entries.set(form, [index]);
        else if (!known.includes(index)) known.push(index);
      }
    }
  }
  return entries;
})();

const special = { address: 60, mail: 61, money: 62, number: 63, path: 64, sensitive: 65, file: 66, sign: 70 } as const;
const specialOf = Object.fromEntries(
  Object.entries(special).map(([name, one]) => [name, [one]]),
) as unknown as Readonly<Record<keyof typeof special, readonly number[]>>;
const signsOf: readonly (readonly number[])[] = Array.from(signs, (_, index) => [
  special.sign + (index < 4 ? 0 : index === 5 || index === 6 ? 5 : index),
]);

/** Returns the classes of a token that is no word, or `undefined`. */
export const specialClass = (token: string): readonly number[] | undefined => {
  const code = token.charCodeAt(0);
  if (token.length === 1) {
    const place = signs.indexOf(token);
    if (place !== -1) return signsOf[place];
  }
  if (code === 36 || code === 0x20ac || code === 0xa3) return specialOf.money;
  if (token.includes('@')) return specialOf.mail;
  if (token.startsWith('http') && token.includes('://')) return specialOf.address;
  if (code >= 48 && code <= 57 && !token.includes('/')) return specialOf.number;
  if (token.includes('/')) return sensitive.test(token) ? specialOf.sensitive : specialOf.path;
  if (code === 46) return sensitive.test(token) ? specialOf.sensitive : specialOf.file;
  return undefined;
};

/* A feature is the hash of its kind and up to three parts. Loops share the hash of the parts that they have in common. */
const hashOfOne = (kind: number, one: number): number => {
  const hash = Math.imul(kind + 0x9e37, 0x85ebca6b) ^ one;
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
};
const hashOfTwo = (hash: number, other: number): number => {
  const next = hash ^ other;
  return Math.imul(next ^ (next >>> 13), 0x297a2d39);
};
const featureOf = (hash: number, third: number): number => {
  const next = hash ^ third;
  const last = Math.imul(next ^ (next >>> 16), 0x7feb352d);
  return (last ^ (last >>> 15)) >>> (32 - featureBits);
};

/** What the features depend on of a token, and the hashes that depend on nothing else. */
interface Token {
  readonly hash: number;
  /** The feature of the token alone. */
  readonly feature: number;
  /** The hashes of the pairs that begin with the token: with the next one, and with the one after that. */
  readonly pair: number;
  readonly distantPair: number;
  /** Its classes, or `undefined` for a word without any. */
  readonly classes: readonly number[] | undefined;
  readonly isSign: boolean;
  readonly isLead: boolean;
}

const createToken = (
  hash: number,
  classes: readonly number[] | undefined,
  isSign: boolean,
  isLead: boolean,
): Token => ({
  hash,
  feature: featureOf(hashOfTwo(hashOfOne(0, hash), 0), 0),
  pair: hashOfOne(1, hash),
  distantPair: hashOfOne(2, hash),
  classes,
  isSign,
  isLead,
});

/** The tokens of what is no word, by their class. */
const specialTokens: readonly Token[] = Array.from({ length: special.sign + signs.length }, (_, one) =>
  createToken(one + 1, [one], one >= special.sign, false),
);

const tokenOf = (token: string): Token => {
  const named = specialClass(token)?.[0];
  if (named !== undefined) return specialTokens[named] as Token;
  const stem = stemOf(token);
  const classes = classesOf.get(token) ?? classesOf.get(stem);
  return createToken(hashOf(stem.slice(0, 7)), classes, false, leads.has(token));
};

/** The tokens of words. A word is analyzed again after another one took its place. */
class TokenCache {
  readonly #words: string[] = Array.from({ length: 1 << cacheBits }, () => '');
  readonly #tokens: Token[] = this.#words.map(() => tokenOf(''));

  /** Returns the token of a span of a text with the hash. */
  of(text: string, start: number, end: number, hash: number): Token {
    const place = (hash ^ (hash >>> 15)) & ((1 << cacheBits) - 1);
    if (!isSpan(text, start, end, this.#words[place] as string)) {
      const word = text.slice(start, end);
      this.#tokens[place] = tokenOf(word);
      // Few words are longer, and a slice would keep the whole text in memory.
      this.#words[place] = word.length > maxCached ? '' : word;
    }
    return this.#tokens[place] as Token;
  }
}

const cacheBits = 13;
/** Maximum length of a string that engines copy instead of referring to the text. */
const maxCached = 12;

const cache = once(() => new TokenCache());

/**
 * Lists the features of a sentence: its words, pairs of words, and pairs and triples of the classes of its words.
 *
 * @param sentence - in lower case
 */
export const featuresOf = (sentence: string, emit: (feature: number) => void): void => {
  const known: (readonly number[])[] = [];
  const opens: boolean[] = [];
  const tokens = cache();
  let before: Token | undefined;
  let beforeThat: Token | undefined;
  let isOpen = true;
  const reader = new WordReader(sentence);
  for (let count = 0; count < maxWords && reader.next(); count += 1) {
    const token = tokens.of(sentence, reader.start, reader.end, reader.hash);
    const { hash, feature, classes, isSign, isLead } = token;
    emit(feature);
    if (before !== undefined && before.hash !== 0) emit(featureOf(hashOfTwo(before.pair, hash), 0));
    if (beforeThat !== undefined && beforeThat.hash !== 0) emit(featureOf(hashOfTwo(beforeThat.distantPair, hash), 0));
    beforeThat = before;
    before = token;
    if (classes !== undefined) {
      known.push(classes);
      opens.push(isOpen && !isSign);
      for (const one of classes) {
        emit(featureOf(hashOfTwo(hashOfOne(3, one), 0), 0));
        if (isOpen && !isSign) emit(featureOf(hashOfTwo(hashOfOne(4, one), 0), 0));
      }
    }
    isOpen = isSign || (isOpen && isLead);
  }
  for (let at = 0; at < known.length; at += 1) {
    const open = opens[at] === true ? 8 : 0;
    const triples = known[at + 2] ?? none;
    const last = Math.min(known.length - 1, at + reach);
    for (const one of known[at] ?? none) {
      const triple = hashOfOne(16, one);
      let pair = hashOfOne(5 + open, one);
      for (let next = at + 1; next <= last; next += 1) {
        if (next === at + 2) pair = hashOfOne(6 + open, one);
        else if (next === at + 4) pair = hashOfOne(7 + open, one);
        for (const other of known[next] ?? none) {
          emit(featureOf(hashOfTwo(pair, other), 0));
          if (next > at + 1) continue;
          const two = hashOfTwo(triple, other);
          for (const third of triples) emit(featureOf(two, third));
        }
      }
    }
  }
};

const none: readonly number[] = [];

/** The features of a sentence, each once: their place in the list of the scorer, and the sum of their weights. */
export interface Wording {
  readonly start: number;
  readonly end: number;
  readonly sum: number;
}

/** The features of one sentence or passage, so that each counts a feature once. */
export class FeatureSet {
  /** The mark of the last sentence or passage with each feature. */
  readonly #marks: Uint8Array;
  #mark = 1;

  /** @param bits - of a feature */
  constructor(bits: number) {
    this.#marks = new Uint8Array(1 << bits);
  }

  clear(): void {
    if (this.#mark === maxMark) {
      this.#marks.fill(0);
      this.#mark = 0;
    }
    this.#mark += 1;
  }

  /** Adds a feature. Returns whether the set lacked it. */
  add(feature: number): boolean {
    if (this.#marks[feature] === this.#mark) return false;
    this.#marks[feature] = this.#mark;
    return true;
  }
}

/** Marks that fit a byte. */
const maxMark = 255;

/** The features of the sentence or passage that is being scored. One for all scorers: it is larger than most texts. */
const counted = new FeatureSet(featureBits);

const scored = (sum: number, count: number): number => bias + (sum * scale) / Math.sqrt(count + damping);

/**
 * Scores how closely the wording of sentences resembles requests that redirect a model. Ordinary ones are negative. The
 * features of a sentence are computed once, for its own score and for those of its passages.
 */
export class WordingScorer {
  readonly #known = new Map<string, Wording>();
  /** The features of the sentences, one sentence after another. */
  #features = new Uint16Array(512);
  #length = 0;

  readonly #add = (feature: number): void => {
    if (!counted.add(feature)) return;
    if (this.#length === this.#features.length) {
      const grown = new Uint16Array(this.#length * 2);
      grown.set(this.#features);
      this.#features = grown;
    }
    this.#features[this.#length] = feature;
    this.#length += 1;
  };

  wordingOf(sentence: string): Wording {
    const known = this.#known.get(sentence);
    if (known !== undefined) return known;
    counted.clear();
    const start = this.#length;
    featuresOf(sentence, this.#add);
    const [features, end] = [this.#features, this.#length];
    let sum = 0;
    for (let index = start; index < end; index += 1) sum += weights[features[index] ?? 0] ?? 0;
    const wording = { start, end, sum };
    this.#known.set(sentence, wording);
    return wording;
  }

  scoreOf({ start, end, sum }: Wording): number {
    return scored(sum, end - start);
  }

  /** Scores sentences as one passage. */
  scoreOfAll(wordings: readonly Wording[]): number {
    const features = this.#features;
    counted.clear();
    let sum = 0;
    let count = 0;
    for (const { start, end } of wordings) {
      for (let index = start; index < end; index += 1) {
        const feature = features[index] ?? 0;
        if (!counted.add(feature)) continue;
        sum += weights[feature] ?? 0;
        count += 1;
      }
    }
    return scored(sum, count);
  }
}
