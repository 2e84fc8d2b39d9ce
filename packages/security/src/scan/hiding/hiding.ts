import { CueIndex } from '../text/cues.js';
import type { Hit, Severity } from '../finding.js';
import { fold, type Folded } from '../text/fold.js';
import { likeLetter } from '../text/characters.js';
import { all, hasRun, isAscii, type Region } from '../text/regions.js';
import { asksSomething, isTerseRequest } from '../requests/requests.js';
import { sentencesOf, type Sentence } from '../text/sentences.js';

/** A region that the rendered file does not show. */
export interface HiddenRegion extends Region {
  /**
   * `comment` regions are common in ordinary files; `concealed` regions are not. `data` regions are front matter, long
   * comments and comments with keys and values: their phrases describe.
   */
  readonly kind: 'comment' | 'concealed' | 'data';
  /** Whether its words mix letters of scripts that look alike, which no ordinary word does. */
  readonly isMixed?: boolean | undefined;
  /** The text of a comment, an attribute or an element, without its markup. */
  readonly said?: Region | undefined;
}

const maxRegion = 20_000;
const maxJudged = 2000;
const minBlanks = 120;
const minOverwritten = 20;
const bar = 124;

/**
 * Styles and attributes that hide the content of an element, unless it has none. In JSON, quotes follow a backslash.
 */
const concealing =
  /<(?!(?:script|style|path|symbol|defs|area|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b)([a-z][\w-]{0,30})\b(?=[^<>]{0,400}?(?:display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}(?:hidden|collapse)|font-size\s{0,3}:\s{0,3}(?:0|1px|0?\.\d)|\ssize=\\?["']?0["'\s>\\]|content-visibility\s{0,3}:\s{0,3}hidden|circle\(0|polygon\(0 0,\s?0 0|hsla?\(\s?0,\s?0%?,\s?100%|\bfont-size=\\?["']?0["'\s>\\]|(?<![\w-])color\s{0,3}:\s{0,3}([#\w]{3,20})\s{0,3};[^<>"']{0,80}?background(?:-color)?\s{0,3}:\s{0,3}\2\b|background(?:-color)?\s{0,3}:\s{0,3}([#\w]{3,20})\s{0,3};[^<>"']{0,80}?(?<![\w-])color\s{0,3}:\s{0,3}\3\b|background(?:-color)?\s{0,3}:\s{0,3}black\s{0,3};[^<>"']{0,80}?(?<![\w-])color\s{0,3}:\s{0,3}#000|opacity\s{0,3}:\s{0,3}0?(?:\.0\d?)?\s{0,3}[;"']|opacity\(0?(?:\.0\d?)?%?\)|\sopacity=\\?["']?0?(?:\.0\d?)?["'\s>\\]|\scolor=\\?["']?(?:white|#f[a-f]f[a-f]f[a-f]|#fff)\b|translate[XY]?\(-\d{3,5}|(?<!-)color\s{0,3}:\s{0,3}(?:white|#fff\b|#f[a-f0-9]f[a-f0-9]f[a-f0-9]\b|transparent|rgba?\(\s?255\s?,\s?255\s?,\s?255|rgba\([^)]{0,20},\s?0\))|(?:left|top|right|text-indent)\s{0,3}:\s{0,3}-\d{3,5}(?:px|em|rem)?|(?:max-)?(?:height|width)\s{0,3}:\s{0,3}[01](?:px)?\s{0,3}[;"']|clip(?:-path)?\s{0,3}:\s{0,3}(?:rect\(0|inset\((?:50|100)%)|transform\s{0,3}:\s{0,3}scale\(0\)|z-index\s{0,3}:\s{0,3}-\d{2,}|line-height\s{0,3}:\s{0,3}0\b|\shidden(?=[\s>=/])|aria-hidden=\\?["']true|\bfill=\\?["']?(?:none|white|transparent|#fff)|fill-opacity=\\?["']?0["'\s>\\]))[^<>]{0,400}>/gi;

/** A white text color, and a dark background, whose color codes begin with 0 to 9. */
const lightText = /(?<![\w-])color\s{0,3}:\s{0,3}(?:white|#fff(?:fff)?)\s{0,3}(?:!important\s{0,3})?(?=[;"'])/gi;
const darkBackground =
  /(?<![\w-])background(?:-color)?\s{0,3}:\s{0,3}(?:#(?:\d[\da-f]){3}|#\d{3}|black)\s{0,3}(?=[;"'])/i;
/** Properties that change the colors of an element. */
const blended = /background/gi;

/** Whether an element would be hidden only by its white text, which its only background makes legible. */
const hasContrast = (tag: string): boolean => {
  if (!darkBackground.test(tag) || tag.match(blended)?.length !== 1 || /blend|filter|-webkit/i.test(tag)) return false;
  return tag.replace(lightText, '').match(concealing) === null;
};

/** Whether an element without content, such as an icon, is hidden from screen readers only. */
const isIcon = (tag: string): boolean =>
  tag.endsWith('/>') && tag.replace(/aria-hidden=\\?["']true/gi, '').match(concealing) === null;

/**
 * Attributes, titles and reference definitions, which models read and rendered files do not show. A text without
 * `needs` has none of them.
 */
const asides: readonly { readonly needs: string; readonly pattern: RegExp }[] = [
  {
    needs: ']:',
    pattern: /^ {0,3}\[(?:\/\/|comment|_|#|:|\.|\^?_?hidden|note|meta)\]:? ?(?:#|<>|<|\.)? ?([("'][^\n]{0,4000})$/gim,
  },
  {
    needs: ']:',
    pattern: /^ {0,3}\[[^\]\n]{1,60}\]: ?\S{1,300}\s{1,3}("[^"\n]{20,2000}"|'[^'\n]{20,2000}'|\([^)\n]{20,2000}\))/gm,
  },
  { needs: '](', pattern: /\]\([^()\s]{1,300} {1,3}("[^"\n]{20,2000}")\)/g },
  { needs: '![', pattern: /!\[([^\]\n]{20,2000})\]\(/g },
  {
    needs: '<',
    pattern:
      /<(?:img|a|input|meta|div|span|p|svg|iframe|button|area|section|td|li|h[1-6])\b[^<>]{0,300}?\b(?:alt|title|content|aria-label|aria-description|name|data-[\w-]{1,30}|placeholder|value)=\\?("[^"<>]{20,2000}"|'[^'<>]{20,2000}')/gi,
  },
  {
    needs: '<',
    pattern:
      /<\w{1,12}\b[^<>]{0,100}?\bclass=["']?[^"'<>]{0,60}?\b(?:sr-only|visually-hidden|d-none|hidden|invisible)\b[^<>]{0,100}>([^<]{10,4000})/gi,
  },
  {
    needs: '<',
    pattern: /<(?:desc|metadata|template|noscript|object|iframe|canvas|audio|video)\b[^<>]{0,100}>([^<]{10,4000})/gi,
  },
  { needs: '<', pattern: /<script\b[^<>]{0,100}?type=["']?text\/(?:plain|template|x-)[^<>]{0,60}>([^<]{10,4000})/gi },
  { needs: 'ld+json', pattern: /<script\b[^<>]{0,100}?ld\+json[^<>]{0,60}>([^<]{10,4000})/gi },
  {
    needs: '":',
    pattern:
      /"(?:[_$]?comments?|\/\/|_?notes?|_?hint|_?remarks?|(?:ai|llm|agent|assistant|model)[_-]\w{1,30})"\s{0,3}:\s{0,3}("[^"\n]{20,2000}")/gi,
  },
  { needs: 'content', pattern: /[{;]\s{0,9}content\s{0,3}:\s{0,3}("[^"\n]{20,2000}"|'[^'\n]{20,2000}')\s{0,3}[;}]/g },
  { needs: '--', pattern: /[\s;{]--[\w-]{1,40}\s{0,3}:\s{0,3}("[^"\n]{20,2000}"|'[^'\n]{20,2000}')\s{0,3}[;}]/g },
  { needs: '```', pattern: /^ {0,3}```\w{0,20} ([^`\n]{20,2000})$/gm },
  { needs: '<', pattern: /<(?:!\[CDATA\[|\?(?!php|xml))([^\]?]{10,4000})/gi },
  { needs: ']:', pattern: /^(?:\*\[[^\]\n]{1,40}\]|\[\^[^\]\n]{1,40}\]): ?([^\n]{10,4000})$/gm },
  { needs: '](', pattern: /\[([^\]\n]{20,2000})\]\((?:#|\s)?\)/g },
  { needs: '[](', pattern: /\[\]\(([^)\n]{10,2000})\)/g },
  { needs: '<', pattern: /<details\b[^<>]{0,60}>\s{0,9}<summary>\s{0,9}<\/summary>([^<]{10,4000})/gi },
];
const comments: readonly { readonly opening: RegExp; readonly closing: string }[] = [
  { opening: /<!--/g, closing: '-->' },
  { opening: /\{\/\*/g, closing: '*/}' },
  { opening: /\{#|\{\{!--/g, closing: '}' },
  { opening: /\\iffalse\b|\\begin\{comment\}/g, closing: '\\' },
];

/** Returns comments, hidden elements, attributes, and text after a long run of blanks. */
export const hiddenRegions = (text: string, mayMatch = cues.in(text)): readonly HiddenRegion[] => {
  const concealed = (region: Region): HiddenRegion => ({ ...region, kind: 'concealed' });
  const hasElements = text.includes('<');
  const regions = [
    ...comments.flatMap(({ opening, closing }) => (mayMatch(opening) ? between(text, opening, closing) : [])),
    ...asides.flatMap(({ needs, pattern }) =>
      mayMatch(pattern) && text.includes(needs) ? withContent(text, pattern) : [],
    ),
    ...(hasElements && mayMatch(concealing)
      ? elements(text, concealing, (tag) => isIcon(tag) || hasContrast(tag)).map(concealed)
      : []),
    ...(hasElements ? elements(text, hiddenClass(text)).map(concealed) : []),
    ...(text.includes('olor{') ? all(text, whiteFormula).map(concealed) : []),
    ...behindBlanks(text).map(concealed),
    ...(text.includes('\u001b[') ? all(text, concealedByTerminal).map(concealed) : []),
    ...(text.includes('\u001b]') ? all(text, terminalTitle) : []).map((region): HiddenRegion => ({
      ...region,
      kind: 'comment',
    })),
    ...overwritten(text),
    ...(anyFancy.test(text) ? all(text, fancyLetters).map(concealed) : []),
    ...(isAscii(text) ? [] : mixedLines(text).map((region) => ({ ...concealed(region), isMixed: true }))),
    ...(mayMatch(tinyText) ? all(text, tinyText).map(concealed) : []),
    ...(mayMatch(blankMarkup) ? all(text, blankMarkup).map(concealed) : []),
    ...(text.includes(softHyphen) ? all(text, softened).map(concealed) : []),
    ...(hasShortLines(text) ? all(text, oneWordLines) : []).map((region): HiddenRegion => ({
      ...region,
      kind: 'comment',
    })),
    ...all(text.slice(0, maxRegion), frontMatter).map((region): HiddenRegion => ({ ...region, kind: 'data' })),
  ];
  return regions
    .map((region) => (isData(text, region) ? { ...region, kind: 'data' as const } : region))
    .toSorted((one, other) => one.start - other.start);
};

/** Returns the matches of a pattern whose group is the content. */
const withContent = (text: string, pattern: RegExp): readonly HiddenRegion[] =>
  Array.from(text.matchAll(pattern), ({ 0: match, 1: content = '', index }) => {
    const from = index + match.lastIndexOf(content);
    const isInQuotes = content.length > 1 && `"'(`.includes(content.charAt(0));
    const said = isInQuotes
      ? { start: from + 1, end: from + content.length - 1 }
      : { start: from, end: from + content.length };
    return { start: index, end: index + match.length, kind: 'comment', said };
  });

const maxComment = 600;
const keyLine = /\n[ \t]{0,20}(?:- )?[\w-]{1,30}:(?:\s|$)[^]{0,400}?\n[ \t]{0,20}(?:- )?[\w-]{1,30}:(?:\s|$)/;

/** Whether a comment is long or consists of keys and values. */
const isData = (text: string, { kind, start, end }: HiddenRegion): boolean =>
  kind === 'comment' && (end - start > maxComment || keyLine.test(text.slice(start, end)));

/** Long runs of blanks in markup. */
const blankMarkup = /(?:(?:<br\s?\/?>\s?){20}|(?:&(?:nbsp|emsp|ensp|#160|#xa0);\s?){60})[^\n]{0,2000}/gi;
/** Nested elements that each reduce the size of the text. */
const tinyText = /(?:<(?:su[bp]|small)\b[^<>]{0,60}>\s{0,3}){3}[^<]{10,2000}/gi;
/** The patterns of hidden regions. */
export const hidingPatterns: readonly RegExp[] = [
  ...comments.map(({ opening }) => opening),
  ...asides.map(({ pattern }) => pattern),
  concealing,
  blankMarkup,
  tinyText,
];

const cues = new CueIndex(hidingPatterns);
const softHyphen = '\u00ad';
/** Short words with soft hyphens, which serve no line break. */
const softened =
  /(?:(?:\p{L}\u00ad){4}|(?:\b[a-z]{1,3}\u00ad[a-z]{1,3}(?![a-z\u00ad])[^\n]{0,80}?){3})[^\n]{0,2000}/giu;
/** A phrase with one word on each line. In scripts without spaces, a line of more letters is no word. */
const oneWordLines =
  /^(?:(?:(?![\u3040-\u30ff\u3400-\u9fff])[\p{L}\p{N}'’.,:/-]){1,40}[ \t]{0,4}\n|[\u3040-\u30ff\u3400-\u9fff]{1,3}[ \t]{0,4}\n){4,200}/gmu;
/** Maximum length of a word on its own line: 40 letters, which may take two units each, and blanks. */
const maxOneWord = 84;

/** Whether consecutive lines may consist of one word. */
const hasShortLines = (text: string): boolean => {
  let count = 0;
  let blank = 0;
  for (let start = 0, feed = text.indexOf('\n'); feed !== -1; start = feed + 1, feed = text.indexOf('\n', start)) {
    if (blank < start && blank !== -1) blank = text.indexOf(' ', start);
    const isOneWord = feed - start <= maxOneWord && (blank === -1 || blank >= feed - 4);
    // The first line may begin behind another sign than a line feed.
    count = isOneWord ? count + 1 : 0;
    if (count === 3) return true;
  }
  return false;
};
const frontMatter = /^(?:---\n[^]{0,4000}?\n---|\+\+\+\n[^]{0,4000}?\n\+\+\+)/g;
/** Stylized letters: full width, mathematical, circled, squared, small capitals. */
const fancyLetters =
  /(?:(?:[\uff21-\uff5a\u24b6-\u24e9\u1d00-\u1d22\ua730\ua731\u0280\u0262\u029f\u0274\u026a\u0299\u029c\u028f]|\ud835[\udc00-\udfff]|\ud83c[\udd30-\udd89])[^a-z\n]{0,4}?){8,2000}|(?:[a-z][\u0300-\u036f]{1,4}[^a-z\n]{0,3}){8,2000}/gi;
/** One of them, a faster test. */
const anyFancy =
  /[\uff21-\uff5a\u24b6-\u24e9\u1d00-\u1d22\ua730\ua731\u0280\u0262\u029f\u0274\u026a\u0299\u029c\u028f\ud835\ud83c]|[a-z][\u0300-\u036f]/i;
/** Words that mix Latin letters with Greek or Cyrillic ones. Only those that look alike disguise: `µs` is a unit. */
const mixedWord = /[a-z][\u0370-\u03ff\u0400-\u052f]|[\u0370-\u03ff\u0400-\u052f][a-z]/gi;
const greekOrCyrillic = /[\u0370-\u052f]/;
const minMixed = 3;

/** Finds lines with words of mixed scripts. */
const mixedLines = (text: string): readonly Region[] => {
  if (!greekOrCyrillic.test(text)) return [];
  const found: Region[] = [];
  const places = Array.from(text.matchAll(mixedWord))
    .filter(({ 0: pair }) => Array.from(pair).some((letter) => likeLetter(letter) !== undefined))
    .map(({ index }) => index);
  let end = -1;
  for (const [index, place] of places.entries()) {
    const last = places[index + minMixed - 1];
    if (place < end || last === undefined) continue;
    const feed = text.indexOf('\n', place);
    end = Math.min(feed === -1 ? text.length : feed, place + maxJudged);
    if (last < end) found.push({ start: Math.max(place - maxJudged, text.lastIndexOf('\n', place) + 1), end });
  }
  return found;
};

/** Text that a terminal conceals, or shows in the color of the background. */
// eslint-disable-next-line no-control-regex -- Escape sequences begin with a control character.
const concealedByTerminal = /\u001b\[(?:\d{1,3};){0,4}(?:8|30;40|37;47|97;107)m[^\u001b]{10,2000}/g;
/** Titles and notifications of a terminal. */
// eslint-disable-next-line no-control-regex -- Escape sequences begin with a control character.
const terminalTitle = /\u001b\](?:[0129]|777);[^\u0007\u001b]{10,2000}/g;
/** Backspaces, and the sequences that erase a line or return to its start. */
// eslint-disable-next-line no-control-regex -- Escape sequences begin with a control character.
const erasing = /\u0008{8,}|\u001b\[[012]?[KJ]|\r(?!\n)/g;

/**
 * Returns the parts of lines that a terminal overwrites, as progress bars do, too; and what many backspaces write in
 * their place, which no ordinary file does with a request.
 */
const overwritten = (text: string): readonly HiddenRegion[] => {
  const regions: HiddenRegion[] = [];
  if (!text.includes('\r') && !text.includes('\u0008') && !text.includes('\u001b[')) return regions;
  let last = 0;
  for (const { 0: match, index } of text.matchAll(erasing)) {
    const start = Math.max(last, text.lastIndexOf('\n', index) + 1, index - maxJudged);
    if (index - start >= minOverwritten) regions.push({ start, end: index, kind: 'comment' });
    last = index + match.length;
    if (!match.startsWith('\u0008') || index === start) continue;
    const [written = ''] = text.slice(last, last + maxJudged).split('\n', 1);
    regions.push({ start: last, end: last + written.length, kind: 'concealed' });
  }
  return regions;
};

/** White or transparent text in formulas. */
const whiteFormula = /\\(?:text)?color\{(?:white|transparent|#?fff(?:fff)?)\}[^\n]{10,2000}/gi;

/** Matches elements whose class or id a style sheet in the text hides. */
const hiddenClass = (text: string): RegExp | undefined => {
  if (!/<style\b/i.test(text)) return undefined;
  const always = text.replace(elsewhere, ' ');
  const names = Array.from(always.matchAll(hidingRule), ([, name = '']) => name).slice(0, maxClasses);
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
/** Rules for paper and for narrow windows, which hide nothing in a usual window. */
const elsewhere =
  /@media\s{1,3}(?:print|(?:(?:only )?screen and )?\(max-width\s{0,3}:\s{0,3}(?:1[01]\d\d|\d{3})(?:\.\d{1,2})?px\))\s{0,3}\{(?:[^{}]{0,500}\{[^{}]{0,1000}\}){0,100}\s{0,20}\}/gi;

/**
 * Matches what a comment in the template of an issue or a pull request tells the person who edits it. The comments of such a
 * file are shown to their reader. What may address a model, or be of use to an attacker, counts as hidden all the same.
 */
const toContributors =
  /\b(?:(?:pull|merge) requests?|bug reports?|PRs?|contribut(?:e|es|ing|ion|ions|or|ors))\b|\bissues?\b/i;
const toModels =
  /\b(?:ai|llms?|agents?|assistants?|bots?|chatgpt|claude|copilot|gemini|gpt|models?|prompts?|systems?|instruct\w*|ignor\w*|disregard|overrid\w*|forget|secret\w*|tokens?|credential\w*|passw\w*|keys?|env|curl|wget|bash|sh|execut\w*|approv\w*|user|users|do not tell|mention|send)\b|https?:|\P{ASCII}{3}/iu;

const between = (text: string, opening: RegExp, closing: string): readonly HiddenRegion[] => {
  const regions: (HiddenRegion & { readonly said: Region })[] = [];
  let last = 0;
  for (const { 0: match, index } of text.matchAll(opening)) {
    if (index < last) continue;
    const from = index + match.length;
    const close = text.slice(from, from + maxRegion).indexOf(closing);
    last = close === -1 ? Math.min(text.length, from + maxRegion) : from + close + closing.length;
    const said = { start: from, end: close === -1 ? last : from + close };
    regions.push({ start: index, end: last, kind: 'comment', said });
  }
  const says = (pattern: RegExp, { start, end }: Region): boolean => pattern.test(text.slice(start, end));
  if (!regions.some(({ said }) => says(toContributors, said))) return regions;
  return regions.filter(({ said }) => says(toModels, said));
};

/** Returns hidden elements, up to their closing tag. */
const elements = (
  text: string,
  pattern: RegExp | undefined,
  isShown: (tag: string) => boolean = () => false,
): readonly Region[] => {
  if (pattern === undefined) return [];
  const regions: Region[] = [];
  let last = 0;
  for (const { 0: match, 1: name = '', index } of text.matchAll(pattern)) {
    if (index < last || isShown(match)) continue;
    const from = index + match.length;
    const rest = text.slice(from, from + 4000);
    const close = rest.search(new RegExp(`</${name}\\s*>`, 'i'));
    last =
      from + (close === -1 ? (rest.indexOf('\n\n') === -1 ? Math.min(rest.length, 400) : rest.indexOf('\n\n')) : close);
    regions.push({ start: index, end: Math.max(last, from) });
  }
  return regions;
};

const isBlank = (code: number): boolean =>
  code === 32 ||
  (code >= 9 && code <= 13) ||
  (code >= 160 && (wideBlanks.has(code) || (code >= 0x2000 && code <= 0x200a)));
/** Blanks of other scripts, with a width: the space of Ogham, the empty cell of Braille and the fillers of Hangul. */
const wideBlanks: ReadonlySet<number> = new Set([
  160, 0x1680, 0x202f, 0x205f, 0x3000, 0x2800, 0x115f, 0x1160, 0x3164, 0xffa0,
]);

/** Returns text that blanks before it on its line, or blank lines, move out of view. */
const behindBlanks = (text: string): readonly Region[] => {
  if (!hasRun(text, minBlanks, isBlank)) return [];
  const regions: Region[] = [];
  let [run, column, lines] = [0, 0, 0];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (isBlank(code)) {
      run += 1;
      column = code === 10 ? 0 : column + 1;
      if (code === 10) lines += 1;
      continue;
    }
    if ((column >= minBlanks || lines >= minBlanks) && index > run && code !== bar) {
      const stop = text.indexOf('\n', index);
      const end = Math.min(stop === -1 ? text.length : stop, index + maxJudged);
      // A row of a wide table is aligned, not hidden.
      if (text.charCodeAt(end - 1) !== bar) regions.push({ start: index, end });
    }
    [run, column, lines] = [0, 0, 0];
  }
  return regions;
};

const minWords = 3;
const minMixedWords = 2;
/** Words, and pairs of letters of scripts without spaces. */
const wordParts = /[\u3040-\u30ff\u4e00-\u9fff\u1100-\u11ff]{2}|\p{L}{2,}/gu;

const maxTag = 500;
/** The tag of an element that scripts show and hide. */
const toggled =
  /^<[^<>]*?(?:display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden|\shidden(?=[\s>=/])|aria-hidden)/i;

/**
 * Evaluates concealed regions by the wording of their prose. The scan evaluates requests in comments and attributes
 * together with those in visible text, because authors and tools read them.
 */
export const judgeHidden = (
  text: string,
  regions: readonly HiddenRegion[],
  severityOf: (folded: Folded, sentences: readonly Sentence[], isToggled: boolean) => Severity,
): readonly Hit[] =>
  regions.flatMap(({ kind, isMixed = false, start, end }): readonly Hit[] => {
    if (kind !== 'concealed') return [];
    const shown = text.slice(start, Math.min(end, start + maxJudged)).replace(/<\/?[a-z][^<>]{0,400}>/gi, ' . ');
    const folded = fold(shown);
    const sentences = sentencesOf(shown, folded);
    const words = folded.text.match(wordParts)?.length ?? 0;
    const isTerse = isTerseRequest(sentences);
    if (!isTerse && words < (isMixed ? minMixedWords : minWords)) return [];
    if (!isTerse && !isMixed && words < 2 * minWords && !asksSomething(sentences)) return [];
    const isToggled = toggled.test(text.slice(start, start + maxTag));
    return [{ rule: 'hidden-text', severity: severityOf(folded, sentences, isToggled), start, end }];
  });
