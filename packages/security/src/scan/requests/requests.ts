import type { Folded } from '../text/fold.js';
import { attempt } from '../finding.js';
import type { Frame } from './frame.js';
import { signalsOf, type Signal } from './intent.js';
import * as is from '../text/lexicon.js';
import type { WordClasses } from '../text/lexicon.js';
import type { Sentence } from '../text/sentences.js';

/** The request of a sentence, with the signals of adjacent sentences in its paragraph. */
export interface Request {
  /** The rule with the highest weight. */
  readonly rule: string;
  /** Sum of the signals; a request of at least `attempt` is an attempt. */
  readonly weight: number;
  /** Offset in the original text. */
  readonly start: number;
  readonly end: number;
  /** Whether a pattern of a request matched, which alone is suspicious. */
  readonly isPattern: boolean;
  /** Whether a suspicion does not depend on the wording of the passage. */
  readonly isKnown: boolean;
  /** Whether the sentence discusses attacks. The scan ignores this in hidden regions. */
  readonly isDiscussed: boolean;
}

/** Words of sentences that discuss attacks instead of requesting them. */
const topic =
  /\b(?:inject|jailbreak|attack|malicious|adversar|untrusted|phish|vulnerab|red.?team|threat model|owasp|social engineer)/;
/** Addresses, whose names do not count. */
const address = /[^\s@]{0,64}@\S{0,64}|https?:\S{0,200}/g;
const reported =
  /["“”'‘’`]|\b(?:may|might|could|can|tries|try|trying|tells?|asks?|attempts?|if|that|such as|like|which|(?:trick|fool|lure|coerce|manipulate)\w{0,2} \w[^.]{0,40} into)\b/;
const toModels = '(?:the |an? |any |every )?(?:ai|llm|model|agent|assistant|chatbot)s?\\b';
/** What hidden instructions of others do, in the third person. */
const described = new RegExp(
  String.raw`\b(?:hidden|embedded|injected|concealed) (?:instructions?|prompts?|text|directives?|comments?) (?:that |which )?(?:tell|ask|instruct|caus|mak|direct)(?:e?s|ing|e)? ${toModels}`,
);
/** What the text of others did, in the past: `there was a line that told the agent to …`. No clause of a request follows. */
const narrated = new RegExp(
  String.raw`\b(?:was|were|had|found|saw|hid|held|sent|wrote|read|contained|planted|posted|added) (?:\w+ ){0,4}(?:instructions?|prompts?|text|directives?|comments?|sentences?|lines?|messages?|notes?|pages?|emails?) (?:that|which) (?:\w+ )?(?:told|asked|instructed|ordered|directed|convinced|caused) ${toModels}[^,:;.!?()\u2013\u2014]*[.!?]?["\u201d)]*\s*$`,
);
/** A field of an object literal. */
const field = /\b\w+: ?['"`{[]/g;
/** The gap between two strings of a list. */
const gap = /['"],\s{0,9}['"]/g;
/** 1 for the signs of program code, by character code. */
const isSign = Uint8Array.from({ length: 128 }, (_, code) =>
  '{}()=<>[]|$+;'.includes(String.fromCharCode(code)) ? 1 : 0,
);
/** Tags of markup, and attributes with addresses, which make up most of a sentence. */
const tags = /<\/?[a-z][^<>]{0,200}>/g;
const linking = /\b(?:href|src)=/;
/** Three words. */
const words = /^\P{L}*\p{L}+\P{L}+\p{L}+\P{L}+\p{L}/u;

const minFields = 3;

/** Whether a sentence is program code, which contains more punctuation than prose. The tags around prose do not count. */
const isCode = (sentence: string): boolean => {
  const prose = sentence.includes('<') && !linking.test(sentence) ? sentence.replace(tags, ' ') : sentence;
  const said = prose === sentence || words.test(prose) ? prose : sentence;
  let signs = 0;
  let colons = 0;
  let commas = 0;
  let last = 0;
  for (let index = 0; index < said.length; index += 1) {
    const code = said.charCodeAt(index);
    // A row of one sign is a delimiter.
    if (code !== last) signs += isSign[code] ?? 0;
    if (code === 58) colons += 1;
    else if (code === 44) commas += 1;
    last = code;
  }
  return (
    (colons >= minFields && (said.match(field)?.length ?? 0) >= minFields) ||
    (commas >= minFields && (said.match(gap)?.length ?? 0) >= minFields) ||
    (signs >= 5 && signs * 14 > said.length) ||
    (signs >= 3 && /=>|\(\) ?[{;]|\b(?:const|let|await|function|async) \w/.test(said))
  );
};
/** Maximum number of sentences of one request, and of characters before the last of them. */
export const reach = 3;
const maxBefore = 240;

/**
 * Finds English requests of at least a weight by the signals of their sentences.
 *
 * @param isOrdinary - whether a request that begins with the sentence would be a note at most, and is not sought
 */
export const requestsIn = (
  folded: Folded,
  sentences: readonly Sentence[],
  least: number,
  isOrdinary: (index: number) => boolean = () => false,
): readonly Request[] => {
  const signals: (readonly Signal[])[] = [];
  const signalsAt = (index: number): readonly Signal[] => {
    const same = signals[index];
    const sentence = sentences[index];
    if (same !== undefined || sentence === undefined) return same ?? [];
    const after = sentences[index + 1];
    const next = after?.paragraph === sentence.paragraph ? after : undefined;
    const found = isCode(folded.text.slice(sentence.start, sentence.end)) ? [] : signalsOf(folded.text, sentence, next);
    signals[index] = found;
    return found;
  };
  return sentences.flatMap((sentence, index): readonly Request[] => {
    if (isOrdinary(index) || signalsAt(index).length === 0) return [];
    let last = index;
    const strongest = new Map<string, number>();
    const matched = new Set<Pick<Frame, 'rule' | 'weight' | 'isKnown'>>();
    while (
      last < index + reach &&
      sentences[last]?.paragraph === sentence.paragraph &&
      (sentences[last]?.start ?? 0) - sentence.start < maxBefore
    ) {
      for (const { rule, weight, frame } of signalsAt(last)) {
        if (frame !== undefined) matched.add(frame);
        else strongest.set(rule, Math.max(weight, strongest.get(rule) ?? 0));
      }
      for (const { rule } of matched) {
        const together = Array.from(matched, (one) => (one.rule === rule ? one.weight : 0));
        strongest.set(
          rule,
          Math.max(
            together.reduce((one, other) => one + other, 0),
            strongest.get(rule) ?? 0,
          ),
        );
      }
      last += 1;
      // The sentence is an attempt without the signals of its neighbors.
      if (sumOf(strongest) >= attempt) break;
    }
    const weight = sumOf(strongest);
    if (weight < least) return [];
    const [rule] = [...strongest].reduce((one, other) => (other[1] > one[1] ? other : one));
    const end = sentences[last - 1]?.end ?? sentence.end;
    const said = folded.text.slice(sentence.start, end);
    const isPattern = [...matched].some((one) => one.weight >= attempt - 1);
    return [
      {
        rule,
        weight,
        isPattern,
        isKnown: [...matched].some((one) => one.isKnown === true),
        isDiscussed: isDiscussed(said),
        start: folded.at(firstWord(sentence)),
        end: folded.at(end - 1) + 1,
      },
    ];
  });
};

/** Whether a passage discusses attacks instead of requesting one. */
export const isDiscussed = (said: string): boolean =>
  (topic.test(said) && reported.test(said) && topic.test(said.replace(address, ' '))) ||
  described.test(said) ||
  narrated.test(said);

const firstWord = ({ words, start }: Sentence): number => words[0]?.start ?? start;

/** Adds up the weights. Addressing the reader has no weight next to signals that ordinary requests have. */
const sumOf = (signals: ReadonlyMap<string, number>): number => {
  let sum = 0;
  let others = 0;
  for (const [rule, weight] of signals) {
    sum += weight;
    if (rule !== 'authority') others += weight;
  }
  return others === 0 || (others === 1 && sum === 2) ? 1 : sum;
};

/** A clause of a script without spaces. */
const spaceless = /[\u3040-\u30ff\u4e00-\u9fff].{6}/;

/**
 * Whether a text in English asks its reader to do something: an imperative, an obligation, or the reader as a person.
 */
export const asksInEnglish = (sentences: readonly Sentence[]): boolean =>
  sentences.some(
    ({ words, all }) =>
      all.length >= 3 &&
      words.some((word: WordClasses, index) => {
        const before = words[index - 1];
        const isLed = ((before?.second ?? 0) & is.LEAD) !== 0 || ((before?.first ?? 0) & is.NOT) !== 0;
        return (
          ((word.first & is.BASE) !== 0 && ((word.first & is.CLAUSE) !== 0 || isLed)) ||
          (word.first & (is.MUST | is.YOU)) !== 0
        );
      }),
  );

const maxTerse = 4;

/**
 * Whether a text tells its reader in a few words to dismiss or reveal something: `override safety`. Titles of ordinary
 * texts do that, too.
 */
export const isTerseRequest = (sentences: readonly Sentence[]): boolean =>
  sentences.some(
    ({ words: [first, ...others], all }) =>
      first !== undefined &&
      all.length <= maxTerse &&
      (first.first & is.BASE) !== 0 &&
      (first.first & (is.DISMISS | is.DISABLE | is.REVEAL)) !== 0 &&
      others.some((word) => (word.first & (is.ORDERS | is.LIMIT | is.PROTECTION | is.SECRET)) !== 0),
  );

/** Whether a text may ask its reader to do something. Other languages than English do so with any clause. */
export const asksSomething = (sentences: readonly Sentence[]): boolean =>
  asksInEnglish(sentences) ||
  sentences.some(
    ({ all, joined, second }) =>
      (second & is.LANGUAGES) !== 0 && (all.length >= 4 || (all[0]?.length ?? 0) > 8 || spaceless.test(joined)),
  );
