import { foldText } from './fold.js';
import { languageBit } from './lexicon.js';
import { stemsOf, type StemClass } from './stem-table.js';

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
];

interface Stem {
  readonly parts: readonly string[];
}

const isSpaceless = (name: string): boolean => name === 'zh' || name === 'ja' || name === 'ko';

interface LanguageStems {
  readonly language: number;
  readonly combinations: readonly { readonly rule: string; readonly classes: readonly (readonly Stem[])[] }[];
}

const compiled: readonly LanguageStems[] = Object.entries(stemsOf).map(([name, stems]) => {
  // Words begin with a stem; languages without spaces contain it anywhere.
  const space = isSpaceless(name) ? '' : ' ';
  const classes = Object.fromEntries(
    Object.entries(stems).map(([key, list]) => [
      key,
      list.split('|').map((stem) => ({
        parts: stem.split('&').map((part) => (part === '@' || part === 'http' ? part : space + foldText(part))),
      })),
    ]),
  );
  return {
    language: languageBit(name),
    combinations: combinations
      .filter(([, ...keys]) => keys.every((key) => classes[key] !== undefined))
      .map(([rule, ...keys]) => ({ rule, classes: keys.map((key) => classes[key] ?? []) })),
  };
});

/** Returns the rules of requests in a folded sentence of these languages. */
export const stemsIn = (sentence: string, second: number): readonly string[] => {
  const rules: string[] = [];
  let said = '';
  for (const { language, combinations: all } of compiled) {
    if ((second & language) === 0) continue;
    if (said === '') said = ` ${sentence.replace(/[^\p{L}\p{N}.@'-]+/gu, ' ')} `;
    for (const { rule, classes } of all) {
      if (classes.every((stems) => stems.some(({ parts }) => parts.every((part) => said.includes(part))))) {
        rules.push(rule);
      }
    }
  }
  return rules;
};
