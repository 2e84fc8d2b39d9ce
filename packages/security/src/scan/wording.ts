import { wordClasses } from './wording-classes.js';
import { bias, weights } from './wording-weights.js';

/** Number of bits of a feature. */
export const featureBits = 16;

/** Damps the scores of short passages. */
const damping = 60;
const maxWords = 160;
/** Maximum distance of two known words in a pair. */
const reach = 6;

const word =
  /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|https?:\/\/[^\s)>"']+|[\w.+-]+@[\w-]+\.\w[\w.]*|[$\u20ac\u00a3]\s?\d[\d.,]*|~?\/?(?:[\w.-]+\/)+[\w.-]+|\.[a-z]\w+|[\p{L}][\p{L}'-]*|\d+|[.!?;:"\u201c{}()`<>|=,[\]]/gu;
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
const specialClass = (token: string): readonly number[] | undefined => {
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

/**
 * Lists the features of a passage: its words, pairs of words, and pairs and triples of the classes of its words.
 *
 * @param passage - in lower case
 */
export const featuresOf = (passage: string, emit: (feature: number) => void): void => {
  const shift = 32 - featureBits;
  const add = (kind: number, one: number, other: number, third: number): void => {
    let hash = Math.imul(kind + 0x9e37, 0x85ebca6b) ^ one;
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) ^ other;
    hash = Math.imul(hash ^ (hash >>> 13), 0x297a2d39) ^ third;
    hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
    emit((hash ^ (hash >>> 15)) >>> shift);
  };
  const known: (readonly number[])[] = [];
  const opens: boolean[] = [];
  let before = 0;
  let beforeThat = 0;
  let isOpen = true;
  let count = 0;
  word.lastIndex = 0;
  for (let found = word.exec(passage); found !== null && count < maxWords; found = word.exec(passage)) {
    const [token] = found;
    count += 1;
    const named = specialClass(token);
    const stem = named === undefined ? stemOf(token) : '';
    const hash = named === undefined ? hashOf(stem.slice(0, 7)) : (named[0] ?? 0) + 1;
    const classes = named ?? classesOf.get(token) ?? classesOf.get(stem);
    const isSign = named !== undefined && (named[0] ?? 0) >= special.sign;
    add(0, hash, 0, 0);
    if (before !== 0) add(1, before, hash, 0);
    if (beforeThat !== 0) add(2, beforeThat, hash, 0);
    [beforeThat, before] = [before, hash];
    if (classes !== undefined) {
      known.push(classes);
      opens.push(isOpen && !isSign);
      for (const one of classes) {
        add(3, one, 0, 0);
        if (isOpen && !isSign) add(4, one, 0, 0);
      }
    }
    isOpen = isSign || (isOpen && leads.has(token));
  }
  for (const [at, classes] of known.entries()) {
    const open = opens[at] === true ? 8 : 0;
    for (let next = at + 1; next < known.length && next <= at + reach; next += 1) {
      const kind = (next === at + 1 ? 5 : next < at + 4 ? 6 : 7) + open;
      for (const one of classes) {
        for (const other of known[next] ?? []) {
          add(kind, one, other, 0);
          if (next === at + 1) for (const third of known[at + 2] ?? []) add(16, one, other, third);
        }
      }
    }
  }
};

/**
 * Returns a function that scores how closely the wording of a passage resembles requests that redirect a model. Ordinary
 * passages have negative scores.
 */
export const wordingScorer = (): ((passage: string) => number) => {
  // The number of the last passage with each feature, so that a passage counts each feature once.
  const seen = new Uint32Array(1 << featureBits);
  let passages = 0;
  return (passage) => {
    passages += 1;
    let sum = 0;
    let count = 0;
    featuresOf(passage, (feature) => {
      if (seen[feature] === passages) return;
      seen[feature] = passages;
      sum += weights[feature] ?? 0;
      count += 1;
    });
    return bias + sum / Math.sqrt(count + damping);
  };
};
