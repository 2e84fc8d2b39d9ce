import { isInvisible, isZeroWidth } from './characters.js';
import type { Hit } from './finding.js';
import { foldText } from './fold.js';
import { all, type Region } from './regions.js';

/** A place that a reader of the rendered file does not see. */
export interface HiddenRegion extends Region {
  /** `comment` is ordinary; `concealed` text has no reason to be there. */
  readonly kind: 'comment' | 'concealed';
}

const maxRegion = 20_000;
const maxJudged = 2000;
const minBlanks = 120;
const minCuts = 3;
/** More than a scan reports. */
const maxCutWords = 400;
const bar = 124;

/** Styles and attributes that make the content of an element disappear. */
const concealing =
  /<(?!(?:script|style|path|symbol|defs)\b)([a-z][\w-]{0,30})\b(?=[^<>]{0,400}?(?:display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}(?:hidden|collapse)|font-size\s{0,3}:\s{0,3}(?:0|1px|0?\.\d)|opacity\s{0,3}:\s{0,3}0?(?:\.0\d?)?\s{0,3}[;"']|opacity\(0?(?:\.0\d?)?%?\)|\sopacity=["']?0?(?:\.0\d?)?["'\s>]|\scolor=["']?(?:white|#f[a-f]f[a-f]f[a-f]|#fff)\b|translate[XY]?\(-\d{3,5}|(?<!-)color\s{0,3}:\s{0,3}(?:white|#fff\b|#f[a-f0-9]f[a-f0-9]f[a-f0-9]\b|transparent|rgba?\(\s?255\s?,\s?255\s?,\s?255|rgba\([^)]{0,20},\s?0\))|(?:left|top|right|text-indent)\s{0,3}:\s{0,3}-\d{3,5}(?:px|em|rem)?|(?:max-)?(?:height|width)\s{0,3}:\s{0,3}[01](?:px)?\s{0,3}[;"']|clip(?:-path)?\s{0,3}:\s{0,3}(?:rect\(0|inset\((?:50|100)%)|transform\s{0,3}:\s{0,3}scale\(0\)|z-index\s{0,3}:\s{0,3}-\d{2,}|line-height\s{0,3}:\s{0,3}0\b|\shidden(?=[\s>=/])|\btype=["']?(?:text\/(?:plain|template|x-)|hidden)|aria-hidden=["']true|\bfill=["']?(?:none|white|transparent|#fff)|fill-opacity=["']?0["'\s>]))[^<>]{0,400}>/gi;

/** Attributes, titles and reference definitions that models read and readers do not see. */
const asides: readonly RegExp[] = [
  /^ {0,3}\[(?:\/\/|comment|_|#|:|\.|\^?_?hidden|note|meta)\]:? ?(?:#|<>|\.)? ?[("'][^\n]{0,4000}$/gim,
  /^ {0,3}\[[^\]\n]{1,60}\]: ?\S{1,300}\s{1,3}(?:"[^"\n]{20,2000}"|'[^'\n]{20,2000}'|\([^)\n]{20,2000}\))/gm,
  /\]\([^()\s]{1,300} {1,3}"[^"\n]{20,2000}"\)/g,
  /!\[[^\]\n]{40,2000}\]\(/g,
  /<(?:img|a|input|meta|div|span|p|svg|iframe|button|area)\b[^<>]{0,300}?\b(?:alt|title|content|aria-label|data-[\w-]{1,30}|placeholder|value)=(?:"[^"<>]{30,2000}"|'[^'<>]{30,2000}')/gi,
  /<(?:desc|metadata|template|noscript)\b[^<>]{0,100}>[^<]{10,4000}/gi,
];
const comments: readonly { readonly opening: RegExp; readonly closing: string }[] = [
  { opening: /<!--/g, closing: '-->' },
  { opening: /\{\/\*/g, closing: '*/}' },
  { opening: /\{#|\{\{!--/g, closing: '}' },
  { opening: /\\iffalse\b|\\begin\{comment\}/g, closing: '\\' },
];

/** Comments, elements that are not shown, attributes, and text behind a long run of blanks. */
export const hiddenRegions = (text: string): readonly HiddenRegion[] => {
  const concealed = (region: Region): HiddenRegion => ({ ...region, kind: 'concealed' });
  const regions = [
    ...comments.flatMap(({ opening, closing }) => between(text, opening, closing)),
    ...asides.flatMap((pattern) => all(text, pattern)).map((region): HiddenRegion => ({ ...region, kind: 'comment' })),
    ...elements(text, concealing).map(concealed),
    ...elements(text, hiddenClass(text)).map(concealed),
    ...all(text, whiteFormula).map(concealed),
    ...behindBlanks(text).map(concealed),
  ];
  return regions.toSorted((one, other) => one.start - other.start);
};

/** Formulas in the color of the page. */
const whiteFormula = /\\(?:text)?color\{(?:white|transparent|#?fff(?:fff)?)\}[^\n]{10,2000}/gi;

/** Elements whose class or id the text's own style sheet hides. */
const hiddenClass = (text: string): RegExp | undefined => {
  if (!/<style\b/i.test(text)) return undefined;
  const names = Array.from(text.matchAll(hidingRule), ([, name = '']) => name).slice(0, maxClasses);
  return names.length === 0
    ? undefined
    : new RegExp(
        `<([a-z][\\w-]{0,30})\\b[^<>]{0,200}?\\b(?:class|id)=["']?[^"'<>]{0,80}?\\b(?:${names.join('|')})\\b[^<>]{0,200}>`,
        'gi',
      );
};

const hidingRule =
  /[.#]([\w-]{1,40})\s{0,3}\{[^{}]{0,200}?(?:display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden|opacity\s{0,3}:\s{0,3}0\b|font-size\s{0,3}:\s{0,3}[01]\b|left\s{0,3}:\s{0,3}-\d{3})/gi;
const maxClasses = 20;

const between = (text: string, opening: RegExp, closing: string): readonly HiddenRegion[] => {
  const regions: HiddenRegion[] = [];
  let last = 0;
  for (const { 0: match, index } of text.matchAll(opening)) {
    if (index < last) continue;
    const from = index + match.length;
    const close = text.slice(from, from + maxRegion).indexOf(closing);
    last = close === -1 ? Math.min(text.length, from + maxRegion) : from + close + closing.length;
    regions.push({ start: index, end: last, kind: 'comment' });
  }
  return regions;
};

/** Elements that are not shown, up to their closing tag. */
const elements = (text: string, pattern: RegExp | undefined): readonly Region[] => {
  if (pattern === undefined) return [];
  const regions: Region[] = [];
  let last = 0;
  for (const { 0: match, 1: name = '', index } of text.matchAll(pattern)) {
    if (index < last) continue;
    const from = index + match.length;
    const rest = text.slice(from, from + 4000);
    const close = rest.search(new RegExp(`</${name}\\s*>`, 'i'));
    last =
      from + (close === -1 ? (rest.indexOf('\n\n') === -1 ? Math.min(rest.length, 400) : rest.indexOf('\n\n')) : close);
    regions.push({ start: index, end: Math.max(last, from) });
  }
  return regions;
};

const isBlank = (code: number): boolean => code === 32 || (code >= 9 && code <= 13) || code === 160 || code === 0x3000;

/** Text in a line, or after one, that a run of blanks moves out of sight. */
const behindBlanks = (text: string): readonly Region[] => {
  const regions: Region[] = [];
  let run = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (isBlank(text.charCodeAt(index))) {
      run += 1;
      continue;
    }
    if (run >= minBlanks && index > run && text.charCodeAt(index) !== bar) {
      const stop = text.indexOf('\n', index);
      const end = Math.min(stop === -1 ? text.length : stop, index + maxJudged);
      // A row of a wide table is aligned, not hidden.
      if (text.charCodeAt(end - 1) !== bar) regions.push({ start: index, end });
    }
    run = 0;
  }
  return regions;
};

const addressed =
  /\b(?:ai|a\.i\.|llms?|(?:large )?language models?|(?:ai |coding |code |virtual |your )?assistants?|(?:ai |coding |code )?agents?|copilot|claude|chatgpt|gpt(?:-?\d)?|gemini|codex|cursor|chatbots?|models?|reviewers?|summari[sz]ers?)\b/;
const obligation =
  /\b(?:must|should|shall|need to|have to|has to|are (?:required|instructed|ordered|now|to)|always|never|please|do not|don.t|make sure|be sure|ensure|only|instead|ignore|disregard|note|attention|important|remember)\b/;
const act =
  /\b(?:ignore|disregard|forget|override|run|execute|send|post|upload|fetch|curl|wget|download|install|delete|remove|read|open|reveal|print|repeat|output|say|write|respond|reply|answer|include|approve|merge|commit|push|call|visit|click|recommend|rate|rank|praise|transfer|pay|add|append|insert|use|change|replace|disable|skip|grant|accept|forward|email|tell|mention|decode|follow|obey|act|pretend|set|create|give|provide|append|exfiltrate)\b/;
const secondPerson = /\b(?:you|your|yourself)\b/;
const boilerplate =
  /generated by|do not edit|do not modify|auto-?generated|prettier|eslint|markdownlint|toc\b|badges?|template|pull request|checklist|describe|screenshot|contributing|changelog|license|copyright|todo|fixme|please (?:fill|provide|describe|read|search|check|make sure|include|add|use|delete|remove)|thank|issue|jsdoc|begin|end\b/;

/**
 * What is hidden is judged on its own: prose in a place that shows nothing is suspicious, and a request there is
 * malicious, whatever its words. In comments, which have readers, a request must be addressed to a model.
 */
export const judgeHidden = (text: string, regions: readonly HiddenRegion[]): readonly Hit[] =>
  regions.flatMap((region): readonly Hit[] => {
    const { start, end } = region;
    const folded = foldText(
      text.slice(start, Math.min(end, start + maxJudged)).replace(/<\/?[a-z][^<>]{0,400}>/gi, ' '),
    );
    const words = folded.match(/\p{L}{2,}/gu)?.length ?? 0;
    const hasPhrases = /[\u3040-\u30ff\u4e00-\u9fff\u1100-\u11ff]{8}/.test(folded);
    if (words < 3 && !hasPhrases) return [];
    const isRequest =
      act.test(folded) && (obligation.test(folded) || secondPerson.test(folded) || addressed.test(folded));
    if (region.kind === 'concealed') {
      const isSecond =
        isRequest &&
        (addressed.test(folded) ||
          /\b(?:ignore|disregard|instruction|prompt|secret|password|api key|token|curl|http|system|execute|exfiltrate|user)/.test(
            folded,
          ));
      if (!isRequest && words < 6 && !hasPhrases) return [];
      return [{ rule: 'hidden-text', severity: isSecond ? 'malicious' : 'suspicious', start, end }];
    }
    const isAddressed = addressed.test(folded) && obligation.test(folded) && act.test(folded);
    if (
      !isAddressed ||
      (boilerplate.test(folded) && !/\b(?:ignore|disregard|secret|token|password|curl|user)\b/.test(folded))
    ) {
      return [];
    }
    return [{ rule: 'hidden-text', severity: 'suspicious', start, end }];
  });

/** Words of Latin letters that invisible characters cut. */
export const cutWords = (text: string): readonly Hit[] => {
  const cuts: number[] = [];
  for (let index = 1; index < text.length - 1; index += 1) {
    const code = text.charCodeAt(index);
    // Soft hyphens and marks of direction are part of writing.
    if (code <= 0xad || !isZeroWidth(code)) continue;
    if (!isLatin(text.charCodeAt(index - 1)) || !isLatin(nextVisible(text, index))) continue;
    cuts.push(index);
  }
  const hits: Hit[] = [];
  for (let first = 0; first + minCuts <= cuts.length; first += minCuts) {
    const [start = 0, end = 0] = [cuts[first], cuts[first + minCuts - 1]];
    if (end - start > 400) continue;
    if (hits.length > maxCutWords) break;
    hits.push({ rule: 'hidden-text', severity: 'malicious', start, end: end + 1 });
  }
  return hits;
};

const isLatin = (code: number): boolean => (code >= 97 && code <= 122) || (code >= 65 && code <= 90);

const nextVisible = (text: string, from: number): number => {
  let index = from + 1;
  while (index < text.length && isInvisible(text.charCodeAt(index))) index += 1;
  return text.charCodeAt(index);
};
