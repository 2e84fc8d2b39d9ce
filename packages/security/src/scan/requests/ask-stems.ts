import { attempt } from '../finding.js';
import { foldText } from '../text/fold.js';
import type { Frame } from './frame.js';
import { languageBit } from '../text/lexicon.js';
import { isObtainedThere } from './obtained.js';
import { once } from '../text/once.js';
import type { StemClass } from './stem-classes.js';
import { romanceStems } from './stems-romance.js';
import { spacedStems } from './stems-spaced.js';
import { spacelessStems } from './stems-spaceless.js';

/** Combinations of classes in one sentence that make a request, with its rule. */
const combinations: readonly (readonly [rule: string, ...classes: StemClass[]])[] = [
  ['override', 'rules', 'void', 'only'],
  ['override', 'rules', 'void', 'before'],
  ['override', 'rules', 'void', 'reader'],
  ['override', 'boss', 'void'],
  ['prompt-theft', 'text', 'before', 'write'],
  ['prompt-theft', 'rules', 'before', 'write'],
  ['theft', 'secret', 'address', 'send'],
  ['theft', 'secret', 'address', 'add'],
  ['sabotage', 'delete', 'all', 'files'],
  ['sabotage', 'pay', 'money'],
  ['sabotage', 'backdoor', 'add'],
  ['sabotage', 'disable', 'guard'],
  ['regardless', 'report', 'passed'],
  ['skips-approval', 'run', 'unasked'],
  ['skips-approval', 'limits', 'lifted'],
  ['steering', 'ask', 'rivals'],
  ['steering', 'recommend', 'only', 'rivals'],
  ['persistence', 'memory', 'future'],
  ['persona', 'play', 'amoral'],
  ['secrecy', 'silence'],
  ['override', 'own', 'rules', 'void'],
  ['override', 'assistant', 'only', 'document'],
  ['override', 'author', 'order'],
  ['prompt-theft', 'write', 'own', 'rules'],
  ['prompt-theft', 'write', 'inner', 'rules'],
  ['prompt-theft', 'write', 'boss'],
  ['theft', 'private', 'address', 'send'],
  ['theft', 'private', 'place', 'send'],
  ['theft', 'secret', 'place', 'send'],
  ['theft', 'secret', 'reply', 'add'],
  ['theft', 'request', 'user', 'card'],
  ['sabotage', 'change', 'payee', 'below'],
  ['skips-approval', 'approve', 'unchecked'],
  ['steering', 'rate', 'stars', 'always'],
  ['steering', 'any', 'only'],
  ['persona', 'play', 'role'],
  ['persona', 'play', 'not', 'limits'],
  ['theft', 'secret', 'me', 'send'],
  ['steering', 'instead', 'write', 'only'],
  ['steering', 'recommend', 'everyAnswer'],
  ['steering', 'assistant', 'rate', 'stars'],
  ['theft', 'persuade', 'user', 'secret'],
  ['skips-approval', 'assistant', 'user', 'approved'],
  ['skips-approval', 'permit', 'author'],
  ['skips-approval', 'permit', 'unasked'],
  ['regardless', 'despite', 'benign'],
  ['persona', 'noLonger', 'assistant'],
  ['secrecy', 'user', 'not', 'tell'],
  ['secrecy', 'user', 'not', 'know'],
  ['secrecy', 'hide', 'user'],
  ['secrecy', 'hide', 'summary'],
  ['override', 'rules', 'void', 'limits'],
];

type StemFrame = Pick<Frame, 'rule' | 'weight'>;

/** The frames by rule. Combinations of one rule share a frame, so that their weights do not add up. */
const frames: ReadonlyMap<string, StemFrame> = new Map(
  combinations.map(([rule]) => [rule, { rule, weight: attempt - 1 }]),
);

/** A part of a stem, and the hash of its beginning, or `undefined` if it is shorter. */
interface Part {
  readonly text: string;
  readonly hash: number | undefined;
}

/** A stem, and the words that it needs in addition. */
type Stem = readonly Part[];

interface LanguageStems {
  /** Number of characters that are hashed. */
  readonly size: number;
  readonly classes: readonly (readonly Stem[])[];
  /** Combinations of places in `classes`. */
  readonly combinations: readonly {
    readonly frame: StemFrame;
    readonly places: readonly number[];
    /** Whether something is added to an address. */
    readonly isAddition: boolean;
  }[];
}

const hashBits = 10;

/** Hashes a few characters of a text. */
const hashOf = (text: string, start: number, size: number): number => {
  let hash = 0;
  for (let index = start; index < start + size; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x9e3779b1);
  return hash >>> (32 - hashBits);
};

/** Separates the parts of words with elided articles or hyphens: `l'utente`, `api-schlüssel`. */
const separated = (text: string): string => text.replaceAll(/['-]/g, '$& ');

const compile = (name: string, stems: Readonly<Record<string, string>>): LanguageStems => {
  // Words begin with a stem; languages without spaces contain it anywhere.
  const space = name in spacelessStems ? '' : ' ';
  const size = space === '' ? 2 : 3;
  const names = Object.keys(stems);
  const partOf = (part: string): Part => {
    const text = part === '@' || part === 'http' ? part : space + separated(foldText(part));
    return { text, hash: text.length < size ? undefined : hashOf(text, 0, size) };
  };
  return {
    size,
    classes: Object.values(stems).map((list) => list.split('|').map((stem) => stem.split('&').map(partOf))),
    combinations: combinations
      .flatMap(([rule, ...keys]) => {
        const frame = frames.get(rule);
        const isAddition = keys.includes('address') && keys.includes('add');
        return frame === undefined ? [] : [{ frame, isAddition, places: keys.map((key) => names.indexOf(key)) }];
      })
      .filter(({ places }) => !places.includes(-1)),
  };
};

const compiled = Object.entries({ ...romanceStems, ...spacedStems, ...spacelessStems }).map(
  ([name, stems]) => [languageBit(name), once(() => compile(name, stems))] as const,
);

/** Returns the requests in a folded sentence of these languages. */
export const stemsIn = (sentence: string, second: number): readonly StemFrame[] => {
  const found: StemFrame[] = [];
  let said = '';
  for (const [language, stemsOf] of compiled) {
    if ((second & language) === 0) continue;
    const { size, classes, combinations: all } = stemsOf();
    if (said === '') said = ` ${separated(sentence.replace(/[^\p{L}\p{N}.@'-]+/gu, ' '))} `;
    // Most stems begin with characters that the sentence does not contain.
    const begins = new Uint8Array(1 << hashBits);
    for (let start = 0; start + size <= said.length; start += 1) begins[hashOf(said, start, size)] = 1;
    const contains = ({ text, hash }: Part): boolean =>
      (hash === undefined || begins[hash] === 1) && said.includes(text);
    const isFound: boolean[] = [];
    const has = (place: number): boolean =>
      (isFound[place] ??= classes[place]?.some((parts) => parts.every(contains)) === true);
    for (const { frame, places, isAddition } of all) {
      if (!places.every(has)) continue;
      // `Add the key that you get at https://…` adds nothing to the address.
      if (isAddition && isObtainedThere(sentence)) continue;
      found.push(frame);
    }
  }
  return found;
};
