import { attempt } from '../finding.js';
import { foldText } from '../text/fold.js';
import type { Frame } from './frame.js';
import { languageBit } from '../text/lexicon.js';
import { isObtainedThere } from './obtained.js';
import { once } from '../text/once.js';
import type { StemClass, Stems } from './stem-classes.js';
import { coreLanguages } from './stems-core.js';
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

/** Combinations of the core requests, which are known in every language. */
const coreCombinations: typeof combinations = [
  ['override', 'rules', 'void', 'before'],
  ['theft', 'secret', 'address', 'send'],
  ['theft', 'secret', 'reply', 'write'],
  ['theft', 'secret', 'assistant', 'write'],
  ['theft', 'secret', 'assistant', 'send'],
  ['prompt-theft', 'innerPrompt', 'write'],
  ['secrecy', 'user', 'not', 'tell'],
  ['secrecy', 'user', 'untold'],
  ['secrecy', 'assistant', 'untold'],
  ['secrecy', 'hide', 'fromUser'],
  ['secrecy', 'assistant', 'delete', 'evidence'],
  ['skips-approval', 'approve', 'unasked'],
  ['skips-approval', 'assistant', 'delete', 'unasked'],
  ['skips-approval', 'assistant', 'run', 'unasked'],
  ['sabotage', 'delete', 'all', 'files', 'unasked'],
  ['sabotage', 'assistant', 'delete', 'files'],
  ['sabotage', 'assistant', 'disable', 'guard'],
  ['sabotage', 'disable', 'guard', 'unasked'],
  ['sabotage', 'assistant', 'add', 'admins'],
  ['sabotage', 'assistant', 'add', 'address'],
  ['steering', 'rate', 'stars', 'despite'],
  ['steering', 'rate', 'stars', 'hide'],
  ['steering', 'assistant', 'rate', 'stars'],
  ['steering', 'assistant', 'rate', 'despite'],
];

/** Classes of verbs. A verb that a word of `not` forbids is no request. */
const deeds: ReadonlySet<string> = new Set<StemClass>([
  'void',
  'send',
  'write',
  'hide',
  'approve',
  'run',
  'delete',
  'disable',
  'add',
  'rate',
]);

type StemFrame = Pick<Frame, 'rule' | 'weight' | 'isKnown'>;

/** The frames by rule. Combinations of one rule share a frame, so that their weights do not add up. */
const framesOf = (all: typeof combinations, isKnown: boolean): ReadonlyMap<string, StemFrame> =>
  new Map(all.map(([rule]) => [rule, { rule, weight: attempt - 1, isKnown }]));
const ordinaryFrames = framesOf([...combinations, ...coreCombinations], false);
const coreFrames = framesOf(coreCombinations, true);
const replaced = coreFrames.get('override');

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
  /** Words before or behind a verb of the class that forbid it, or `undefined` for a class without verbs. */
  readonly forbidding: readonly (readonly string[] | undefined)[];
  /** Combinations of places in `classes`. */
  readonly combinations: readonly {
    readonly frame: StemFrame;
    readonly places: readonly number[];
    /** Whether something is added to an address. */
    readonly isAddition: boolean;
  }[];
  /** Places of the classes of a dismissal of the text before, and of a request for a secret in the next sentence. */
  readonly replaced: {
    readonly dismissed: readonly number[];
    readonly requested: readonly number[];
    readonly secret: number;
  };
}

const hashBits = 10;

/** Hashes a few characters of a text. */
const hashOf = (text: string, start: number, size: number): number => {
  let hash = 0;
  for (let index = start; index < start + size; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x9e3779b1);
  return hash >>> (32 - hashBits);
};

/** Letters without a decomposition, which many write plainly. */
const plain: Readonly<Record<string, string>> = { ł: 'l', đ: 'd', ø: 'o', ß: 'ss', æ: 'ae' };

/** Separates the parts of words with elided articles or hyphens: `l'utente`, `api-schlüssel`. */
const separated = (text: string): string =>
  text.replaceAll(/['-]/g, '$& ').replaceAll(/[łđøßæ]/g, (letter) => plain[letter] ?? letter);

/** Stems, and how they are found. */
interface StemList {
  readonly stems: Stems;
  /** Whether stems occur anywhere in a word. */
  readonly isAnywhere: boolean;
  readonly combinations: typeof combinations;
  /** Whether only the core requests are known. Words of `not` beside a verb forbid it. */
  readonly isCore: boolean;
}

const compile = ({ stems, isAnywhere, combinations: all, isCore }: StemList): LanguageStems => {
  // Words begin with a stem.
  const space = isAnywhere ? '' : ' ';
  const size = isAnywhere ? 2 : 3;
  const names = Object.keys(stems);
  const textOf = (part: string): string => space + separated(foldText(part));
  const partOf = (part: string): Part => {
    const text = part === '@' || part === 'http' ? part : textOf(part);
    return { text, hash: text.length < size ? undefined : hashOf(text, 0, size) };
  };
  const nots = isCore ? (stems.not ?? '').split('|').map((not) => textOf(not).trimEnd()) : [];
  return {
    size,
    classes: Object.values(stems).map((list) => list.split('|').map((stem) => stem.split('&').map(partOf))),
    forbidding: names.map((name) => (isCore && deeds.has(name) ? nots : undefined)),
    combinations: all
      .flatMap(([rule, ...keys]) => {
        const isPlain = isCore || (keys.includes('despite') && keys.includes('stars'));
        const frame = (isPlain ? coreFrames : ordinaryFrames).get(rule);
        const isAddition = keys.includes('address') && keys.includes('add');
        return frame === undefined ? [] : [{ frame, isAddition, places: keys.map((key) => names.indexOf(key)) }];
      })
      .filter(({ places }) => !places.includes(-1)),
    replaced: {
      dismissed: [names.indexOf('void'), names.indexOf('before')],
      requested: [names.indexOf('write'), names.indexOf('send')],
      secret: names.indexOf('secret'),
    },
  };
};

const lists: readonly (readonly [group: string, list: StemList])[] = [
  ...Object.entries({ ...romanceStems, ...spacedStems, ...spacelessStems }).map(
    ([name, stems]) =>
      [
        name,
        {
          stems,
          isAnywhere: name in spacelessStems,
          combinations: [...combinations, ...coreCombinations],
          isCore: false,
        },
      ] as const,
  ),
  ...coreLanguages.map(
    ({ group, isAnywhere = false, stems }) =>
      [
        group,
        {
          stems: { address: 'http|@', ...stems },
          isAnywhere,
          combinations: coreCombinations,
          isCore: true,
        },
      ] as const,
  ),
];

const compiled = lists.map(([group, list]) => [languageBit(group), once(() => compile(list))] as const);

/** Prepositions, which do not forbid the verb before them: `approve without reading`. */
const without: ReadonlySet<string> = new Set(
  'zonder bez brez utan uden uten ilman tanpa bila be nélkül fără sense χωρίς بدون'
    .split(' ')
    .map((word) => ` ${foldText(word)}`),
);

/** Whether a word directly before or behind a place forbids what it says. */
const isForbidden = (said: string, start: number, end: number, nots: readonly string[]): boolean => {
  const before = said.charAt(start - 1) === ' ' ? start - 1 : start;
  const next = said.indexOf(' ', end - 1);
  return nots.some(
    (not) =>
      said.endsWith(not, before) || (next !== -1 && !without.has(not) && said.startsWith(`${not.trim()} `, next + 1)),
  );
};

/** Maximum length of a sentence whose words suffice. In a longer one, they are rarely about the same thing. */
const maxKnown = 300;
/** Maximum length of a sentence that only dismisses the text before. */
const maxDismissal = 60;

/** Finds the classes of stems in a folded sentence. */
class StemReader {
  readonly #sentence: string;
  #said = '';
  readonly #beginsOf = new Map<number, Uint8Array>();

  constructor(sentence: string) {
    this.#sentence = sentence;
  }

  /** Returns a function that tells whether the sentence has a stem of the class at a place. */
  in({ size, classes, forbidding }: LanguageStems): (place: number) => boolean {
    if (this.#said === '') {
      this.#said = ` ${separated(this.#sentence.replace(/[^\p{L}\p{M}\p{N}.@'-]+|\.(?![\p{L}\p{N}])/gu, ' '))} `;
    }
    const said = this.#said;
    // Most stems begin with characters that the sentence does not contain.
    const begins = this.#beginsOf.get(size) ?? new Uint8Array(1 << hashBits);
    if (!this.#beginsOf.has(size)) {
      for (let start = 0; start + size <= said.length; start += 1) begins[hashOf(said, start, size)] = 1;
      this.#beginsOf.set(size, begins);
    }
    const contains = ({ text, hash }: Part, nots: readonly string[] | undefined): boolean => {
      if (hash !== undefined && begins[hash] !== 1) return false;
      if (nots === undefined) return said.includes(text);
      for (let start = said.indexOf(text); start !== -1; start = said.indexOf(text, start + 1)) {
        if (!isForbidden(said, start, start + text.length, nots)) return true;
      }
      return false;
    };
    const isFound: boolean[] = [];
    return (place) =>
      (isFound[place] ??=
        classes[place]?.some((parts) => parts.every((part) => contains(part, forbidding[place]))) === true);
  }
}

/**
 * Returns the requests in a folded sentence of these languages.
 *
 * @param next - the sentence after it, which may request a secret in place of what the sentence dismisses
 */
export const stemsIn = (sentence: string, second: number, next?: string): readonly StemFrame[] => {
  const found = new Map<string, StemFrame>();
  const reader = new StemReader(sentence);
  const nextReader = next === undefined || sentence.length > maxDismissal ? undefined : new StemReader(next);
  for (const [language, stemsOf] of compiled) {
    if ((second & language) === 0) continue;
    const stems = stemsOf();
    const has = reader.in(stems);
    for (const { frame, places, isAddition } of stems.combinations) {
      if (!places.every(has)) continue;
      // `Add the key that you get at https://…` adds nothing to the address.
      if (isAddition && isObtainedThere(sentence)) continue;
      found.set(frame.rule, sentence.length > maxKnown ? (ordinaryFrames.get(frame.rule) ?? frame) : frame);
    }
    const { dismissed, requested, secret } = stems.replaced;
    if (nextReader === undefined || !dismissed.every(has) || has(secret)) continue;
    const isNext = nextReader.in(stems);
    if (isNext(secret) && requested.some(isNext) && replaced !== undefined) found.set(replaced.rule, replaced);
  }
  return [...found.values()];
};
