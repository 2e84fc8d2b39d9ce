import { all, codeRegions, type Region } from '../text/regions.js';

/** Quotations of a paragraph. A straight quote has no letter on its outer side, unless a Korean ending follows. */
const quotations: readonly RegExp[] = [
  /"""[^]{2,1000}?"""/g,
  /(?<![\p{L}\p{N}"])"(?=\S)(?:[^"\n]|\n(?!\s*\n)){2,1000}"(?![\p{Script=Latin}\p{Script=Cyrillic}\p{N}])/gu,
  /[“„](?:[^“”„\n]|\n(?!\s*\n)){2,1000}[“”]|«[^«»]{2,1000}»|「[^「」]{2,1000}」|『[^『』]{2,1000}』|‘[^‘\n]{2,400}’(?!\p{L})/gu,
  /(?<![\p{L}\p{N}'])'(?=\S)(?:[^'\n]|(?<=\p{L})'(?=\p{L})){4,400}'(?![\p{L}\p{N}])/gu,
  /(?<![\p{L}\p{N}*])\*(?=[^\s*])[^*\n]{8,400}(?<=\S)\*(?![\p{L}\p{N}*])|(?<![\p{L}\p{N}_])_(?=[^\s_])[^_\n]{8,400}(?<=\S)_(?![\p{L}\p{N}_])/gu,
];

/** Elements that show code, and others whose content is quoted. */
const codeElements = /<(code|pre|samp|kbd)\b[^<>]{0,100}>[^]{4,1000}?<\/\1>/gi;
const quoting = /<(blockquote|q|cite|td|em|i)\b[^<>]{0,100}>[^]{4,1000}?<\/\1>/gi;

/** Escaped markup, which a page shows. */
const escaped = /&lt;(?:!--|[a-z])[^\n]{4,1000}?(?:--&gt;|&lt;\/\w{1,20}&gt;)/gi;
/** Bold words within a sentence. */
const bold = /(?<=\p{L}[,:]? )\*\*(?=\S)[^*\n]{8,400}(?<=\S)\*\*(?= \p{L})/gu;

/** Titles: the text of a link, and works in a list of references. */
const titles =
  /\[[^\]\n]{8,300}\]\(https?:|^[ \t]{0,3}(?:[-*+]|\[?\d{1,3}[\].)])[ \t][^\n]{0,200}\b(?:et al\b|ar[Xx]iv|doi\b|DOI\b|Proc\.|\p{Lu}\. ?\p{Lu}\p{L}+)[^\n]*/gmu;
/** A remark in parentheses. */
const remarks = /\([^()\n]{12,400}\)/g;

/** Lines whose form quotes them: block quotes, indented blocks, rows of tables, and records of a log. */
const quotedLines =
  /^(?: {0,3}>| {4}(?! {0,6}\d+[\t→|:])|\t|[ \t]{0,3}\|(?=[^\n]{0,2000}\|)| {0,3}(?:\[[^\]\n]{2,40}\]|\d{4}-\d\d-\d\d)\s)[^\n]*/gm;

const label =
  '(?:(?:a |an |the |end )?(?:user|attacker|hacker|adversary|customer|human|victim|sender|input|prompt|payload|message|query|email|comment|ticket|post|page|document|text|attack|injection|example|sample|case|test|scenario|title|subject)s?)';
/** Lines and items of lists that begin with the name of what follows: a speaker, an example or a kind of attack. */
const labeled = new RegExp(
  String.raw`^[ \t]{0,8}(?:(?:[-*+]|\d{1,2}[.)])[ \t]{1,3})?(?:[*_]{0,2}\[?${label}(?: \w{1,12}){0,2}\]?[*_]{0,2}:[*_]{0,2}|(?:[-*+]|\d{1,2}[.)])[ \t]{1,3}[*_]{1,2}[^*_\n]{2,60}[*_]{1,2}:?)[ \t]+[^\n]*`,
  'gim',
);

const said =
  '(?:typ(?:es?|ed|ing)|writ(?:es?|ing|ten)|wrote|sa(?:ys?|id|ying)|puts?|putting|plac(?:es?|ed|ing)|t(?:ells?|old|elling)|ask(?:s|ed|ing)?|instruct(?:s|ed|ing)?|order(?:s|ed|ing)?|contain(?:s|ed|ing)?|reads?|hid(?:es?|ing|den)?|insert(?:s|ed|ing)?|enter(?:s|ed|ing)?|submit(?:s|ted|ting)?|sen(?:ds?|t|ding)|add(?:s|ed|ing)?|claim(?:s|ed|ing)?)';
const speaker =
  '(?:attackers?|hackers?|adversar(?:y|ies)|intruders?|outsiders?|strangers?|researchers?|applicants?|customers?|users?|senders?|somebody|someone|pages?|sites?|websites?|emails?|mails?|messages?|comments?|tickets?|documents?|files?|texts?|issues?|instructions?|prompts?|payloads?|injections?|sentences?|paragraphs?|lines?|that|which|who|it|they)';
/** What reports the words of others, until the end of the paragraph, since nothing tells where they end. */
const reported = new RegExp(
  String.raw`\b(?:${speaker} (?:\w{1,12} ){0,2}?${said}\b|(?:such as|e\.g\.|for example,?) )((?:[^\n]|\n(?![ \t]*\n)){1,1000})`,
  'gi',
);

/** A line that announces the words of others, and the block that follows it. */
const announced = new RegExp(
  String.raw`\b(?:${said}|looks? like|(?:was|is|are|were)(?: this)?|examples?|payloads?|phrases?|patterns?|forms?|variants?|strings?|tricks?|techniques?|attempts?|attacks?|injections?|include|following|below|prompts?|messages?|comments?|inputs?|texts?|sentences?|paragraphs?|(?:like|such as) (?:this|these)|pages?|part [^\n:]{0,40})[^\n:.]{0,60}:[ \t]{0,3}\n(?:[ \t]{0,8}\n)?((?:[^\n]*\S[^\n]*\n?){1,20})`,
  'gi',
);

/** A heading or a bold line that announces examples, and the block that follows it. */
const exhibited =
  /^(?:#{1,6} |\*\*)[^\n]{0,60}\b(?:examples?|payloads?|samples?|test cases?|phrases?|strings?)\b[^\n]{0,60}\n(?:[ \t]{0,8}\n)?((?:[^\n]*\S[^\n]*\n?){1,20})/gim;

/** The regions that a text marks as the words of others. */
export interface Citations {
  /** Code, which shows its markup. */
  readonly code: readonly Region[];
  /** Code, quotations, tables, turns of a conversation and other regions that end where their mark ends. */
  readonly marked: readonly Region[];
}

/** Returns the regions that a text marks as the words of others. */
export const citationsOf = (text: string): Citations => {
  const code = [...codeRegions(text), ...all(text, codeElements)];
  const marks = [...quotations, quoting, escaped, bold, titles, remarks, quotedLines, labeled];
  return {
    code,
    marked: [...code, ...marks.flatMap((pattern) => all(text, pattern))],
  };
};

/** Returns the regions in which sentences report the words of others, up to the end of the paragraph. */
export const reportsIn = (text: string): readonly Region[] =>
  [reported, announced, exhibited].flatMap((pattern) =>
    Array.from(text.matchAll(pattern), ({ 0: match, 1: words = '', index }) => ({
      start: index + match.length - words.length,
      end: index + match.length,
    })),
  );

/** Returns the text with blanks in place of some regions, which leave its lines. */
export const without = (text: string, regions: readonly Region[]): string => {
  const parts: string[] = [];
  let last = 0;
  for (const { start, end } of regions.toSorted((one, other) => one.start - other.start)) {
    if (end <= last) continue;
    parts.push(text.slice(last, Math.max(last, start)));
    parts.push(text.slice(Math.max(last, start), end).replace(/[^\n]/g, ' '));
    last = end;
  }
  return parts.join('') + text.slice(last);
};
