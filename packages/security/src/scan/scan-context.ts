import { anyString, checkOptions, oneOf } from '@h/options';
import { readPlain } from '@h/redact/plain';
import { findDisguised, findEncoded, type Encoded } from './encoded.js';
import { findCommands } from './exfiltration.js';
import { attempt, overlap, type Finding, type Hit, type Said, type Severity } from './finding.js';
import { fold, type Folded } from './fold.js';
import { findForeignTheft } from './foreign-theft.js';
import { cutWords, hiddenRegions, judgeHidden, type HiddenRegion } from './hiding.js';
import { findInvisible } from './invisible.js';
import { blocked, stripped, warned } from './policy.js';
import { phraseGroups } from './phrases.js';
import { withoutMentions } from './mentions.js';
import { LANGUAGES } from './lexicon.js';
import { placed } from './placed.js';
import { codeRegions, regionLookup, type Region } from './regions.js';
import { asksInEnglish, asksSomething, requestsIn } from './requests.js';
import { findSeams } from './seams.js';
import { sentencesOf, type Sentence } from './sentences.js';
import { findSpelledOut } from './spelled-out.js';
import { isMentionedAsAttack, isTalkedAbout } from './talk.js';
import {
  asideSeverity,
  concealedSeverity,
  confirmed,
  isLikely,
  isWorded,
  wordedPassages,
  wordingHits,
} from './worded-passages.js';
import { WordingScorer } from './wording.js';

/** Treatment of a malicious text. */
export type ScanPolicy = 'block' | 'strip' | 'warn';

/** Options of {@link scanContext}. */
export interface ScanContextOptions {
  /** Origin of the text. Returned with the findings, never inserted into the text. */
  readonly path?: string | undefined;
  /**
   * Treatment of a malicious text: `strip` replaces the passages with notes, `block` replaces the whole text with a
   * note, `warn` prepends a warning.
   *
   * @defaultValue `'strip'`, which preserves the safety rules in the rest of the file
   */
  readonly policy?: ScanPolicy | undefined;
}

/** The findings of a scan, and the text to use. */
export interface ScanContextResult {
  readonly verdict: 'clean' | 'suspicious' | 'malicious';
  readonly findings: readonly Finding[];
  /** The text to use. If the verdict is not malicious, it is the same text without a byte order mark. */
  readonly text: string;
  readonly path?: string | undefined;
}

/**
 * Finds attempts to redirect a model in an external text: a context file, a rule, a skill, a page.
 *
 * The scan folds the text, includes comments and hidden markup, and decodes base64 and tag characters. It distinguishes
 * requests from text about requests, runs in linear time and throws for no text. A scan finds known forms of requests;
 * a clean verdict does not prove that a text is harmless.
 *
 * @throws InvalidOptionError for an unknown option
 *
 * @example
 * ```ts
 * prompt({ session: [contextFiles({ workspace, scan: scanContext })] });
 * ```
 */
export const scanContext = (text: string, options: ScanContextOptions = {}): ScanContextResult => {
  checkOptions('scanContext()', options, { path: anyString, policy: oneOf('block', 'strip', 'warn') });
  const { path, policy = 'strip' } = options;
  const hits = allHits(text);
  const findings = placed(text, hits.slice(0, maxHits));
  const verdict = verdictOf(findings);
  const used = text.startsWith('\ufeff') ? text.slice(1) : text;
  const result = { verdict, findings, ...(path !== undefined && { path }) };
  if (verdict !== 'malicious') return { ...result, text: used };
  // `strip` would leave the passages beyond the limit in the text.
  const isFlooded = hits.length > maxHits;
  if (policy === 'block' || (policy === 'strip' && isFlooded)) return { ...result, text: blocked(findings) };
  return { ...result, text: policy === 'warn' ? warned(used, findings) : stripped(text, findings) };
};

const verdictOf = (findings: readonly Finding[]): ScanContextResult['verdict'] => {
  if (findings.some(({ severity }) => severity === 'malicious')) return 'malicious';
  return findings.some(({ severity }) => severity === 'suspicious') ? 'suspicious' : 'clean';
};

/** Maximum number of reported findings; those of the highest severity are reported. */
const maxHits = 200;
/** Maximum number of evaluated attempts; several can merge into one finding. */
const maxJudged = 400;
const weight: Readonly<Record<Severity, number>> = { note: 0, suspicious: 1, malicious: 2 };

/** Returns the hits in a text as it is, and in its lines without escapes and without what is printed before them. */
const allHits = (text: string): readonly Hit[] => {
  const hits = hitsIn(text);
  const plain = readPlain(text);
  if (plain === undefined) return limited(hits);
  const inLines = hitsIn(plain.text).map((hit) => ({
    ...hit,
    start: plain.original(hit.start),
    end: plain.original(hit.end),
  }));
  return limited(merged([...hits, ...inLines]));
};

/** Returns the worst hits, in order; one more than the maximum if the text is flooded with attempts. */
const limited = (hits: readonly Hit[]): readonly Hit[] => {
  const worstFirst = hits.toSorted((one, other) => weight[other.severity] - weight[one.severity]);
  const isFlooded = (worstFirst[maxHits]?.severity ?? 'note') === 'malicious';
  return worstFirst.slice(0, isFlooded ? maxHits + 1 : maxHits).toSorted((one, other) => one.start - other.start);
};

const hitsIn = (text: string): readonly Hit[] => {
  const invisible = findInvisible(text.startsWith('\ufeff') ? ` ${text.slice(1)}` : text);
  const regions = hiddenRegions(text);
  // A request next to an attribute or a comment is not in it.
  const hidden = regionLookup(regions, 1 / 3);
  const code = regionLookup(codeRegions(text));
  const folded = fold(text);
  const sentences = sentencesOf(text, folded);
  const scorer = new WordingScorer();
  const passages = wordedPassages(folded, sentences, scorer);
  const said = judgedUntilFlooded(
    [
      ...withMentions(text, folded, sentences),
      ...wordingHits(passages),
      ...findCommands(text),
      ...findForeignTheft(text),
      ...findSeams(text, folded),
    ],
    (hit) => judged(text, hit, hidden, code),
  ).filter(({ rule, severity }) => rule !== 'wording' || severity !== 'note');
  const encoded = [...findEncoded(text), ...findDisguised(text)].flatMap((span): readonly Hit[] => {
    const { isMeant = false, isNeedless = false, start, end } = span;
    const isFollowed = isToBeFollowed(text, span);
    const found = isFollowed ? 2 : attemptIn(span, scorer);
    const isShown =
      found > 0 && !isFollowed && !isMeant && found <= attemptIn({ ...span, decoded: text.slice(start, end) }, scorer);
    if (found === 0 && isNeedless) return [{ rule: 'encoded', severity: 'suspicious', start, end }];
    if (found === 0 || isShown) return [];
    return [{ rule: 'encoded', severity: isMeant || found === 2 ? 'malicious' : 'suspicious', start, end }];
  });
  const spelled = findSpelledOut(text).map((region): Hit => ({
    rule: 'spelled-out',
    severity: 'malicious',
    ...region,
  }));
  const all = [
    ...invisible,
    ...cutWords(text),
    ...judgeHidden(text, regions, (part, its, isToggled) => concealed(part, its, isToggled, scorer)),
    ...asideHits(text, regions, scorer),
    ...said,
    ...encoded,
    ...spelled,
  ];
  return merged(confirmed(combined(text, all), passages, hidden));
};

/**
 * Returns the severity of concealed text. Scripts show and hide elements of ordinary pages, whose text needs a second
 * sign: the wording of a request, or a rule. No ordinary page has white or tiny text, or text behind blanks.
 */
const concealed = (
  folded: Folded,
  sentences: readonly Sentence[],
  isToggled: boolean,
  scorer: WordingScorer,
): Severity => {
  const passages = wordedPassages(folded, sentences, scorer);
  if (!isToggled) {
    return asksInEnglish(sentences) || (asksSomething(sentences) && isLikely(passages)) ? 'malicious' : 'suspicious';
  }
  const requests = requestHits(folded, sentences);
  const isRequest = [...requests, ...phraseHits(folded, sentences)].some(({ isStrong }) => isStrong);
  if (isRequest) return 'malicious';
  const severity = concealedSeverity(passages);
  return severity === 'note' && requests.length > 0 ? 'suspicious' : severity;
};

/** Minimum number of characters of a request in a comment or an attribute. */
const minAside = 16;

/**
 * Scores the contents of comments and attributes alone, because their markup and the text around them dilute the score.
 */
const asideHits = (text: string, regions: readonly HiddenRegion[], scorer: WordingScorer): readonly Hit[] => {
  const asides: { readonly region: Region; readonly from: number }[] = [];
  let contents = '';
  for (const { kind, said, start, end } of regions) {
    if (kind !== 'comment' || said === undefined || said.end - said.start < minAside) continue;
    asides.push({ region: { start, end }, from: contents.length });
    contents += `${text.slice(said.start, said.end)}\n\n`;
  }
  const folded = fold(contents);
  let current = 0;
  return wordedPassages(folded, sentencesOf(contents, folded), scorer).flatMap((passage): readonly Hit[] => {
    while ((asides[current + 1]?.from ?? Infinity) <= passage.start) current += 1;
    const severity = asideSeverity(passage);
    const region = asides[current]?.region;
    return severity === undefined || region === undefined ? [] : [{ rule: 'wording', severity, ...region }];
  });
};

/** Evaluates matches until the number of attempts is high enough to block the whole text. */
const judgedUntilFlooded = (said: readonly Said[], judge: (said: Said) => Hit): readonly Hit[] => {
  const hits: Hit[] = [];
  let attempts = 0;
  for (const one of said) {
    const hit = judge(one);
    hits.push(hit);
    if (hit.severity === 'malicious') attempts += 1;
    if (attempts > maxJudged) break;
  }
  return hits;
};

/** Merges overlapping findings of one rule into their union with the worse severity. */
const merged = (hits: readonly Hit[]): readonly Hit[] => {
  const lastOf = new Map<string, Hit>();
  const kept = new Set<Hit>();
  for (const hit of hits.toSorted((one, other) => one.start - other.start)) {
    const last = lastOf.get(hit.rule);
    const isSame = last !== undefined && overlap(last, hit);
    const severity = isSame && weight[last.severity] > weight[hit.severity] ? last.severity : hit.severity;
    const one = isSame ? { ...hit, severity, start: last.start, end: Math.max(last.end, hit.end) } : hit;
    if (isSame) kept.delete(last);
    lastOf.set(hit.rule, one);
    kept.add(one);
  }
  return [...kept];
};

/** Rules that rarely match ordinary files. */
const about: ReadonlySet<string> = new Set(['override', 'persona', 'prompt-theft', 'new-instructions', 'secrecy']);

/** Rules that ordinary front matter and comments with data do not match. */
const telling: ReadonlySet<string> = new Set([...about, 'skips-approval', 'persistence', 'regardless']);

/** Returns requests by their grammar. In hidden regions, half of the weight is an attempt. */
const requestHits = (folded: Folded, sentences: readonly Sentence[]): readonly Said[] =>
  requestsIn(folded, sentences, attempt / 2).map(({ rule, weight, isPattern, isDiscussed, start, end }) => ({
    rule,
    isStrong: weight >= attempt,
    isHiddenStrong: true,
    isTelling: weight >= attempt - 1 || telling.has(rule),
    isDiscussed,
    isSuspicious: weight >= attempt - 1 && (isPattern || about.has(rule)),
    start,
    end,
  }));

/** Maximum number of characters of a phrase before and after a sentence. */
const margin = 60;

const phraseHits = ({ text, at }: Folded, sentences: readonly Sentence[]): readonly Said[] => {
  const hits: Said[] = [];
  const spoken = sentences.reduce((bits, { second }) => bits | second, 0);
  for (const [language, groupOf] of phraseGroups) {
    if ((spoken & language) === 0) continue;
    const { stems, phrases } = groupOf();
    for (const { start, end } of windowsOf(text, sentences, language)) {
      const part = text.slice(start, end);
      const bits = stems.bitsIn(part);
      for (const { rule, isStrong, pattern, needs } of phrases) {
        if ((bits & needs) !== needs) continue;
        // `matchAll` would copy the pattern for each call.
        pattern.lastIndex = 0;
        for (let found = pattern.exec(part); found !== null; found = pattern.exec(part)) {
          const { 0: match, index } = found;
          hits.push({ rule, isStrong, start: at(start + index), end: at(start + index + match.length - 1) + 1 });
        }
      }
    }
  }
  return hits;
};

/** Returns the phrases and the requests of a text. */
const saidIn = (folded: Folded, sentences: readonly Sentence[]): readonly Said[] => [
  ...phraseHits(folded, sentences),
  ...requestHits(folded, sentences),
];

/**
 * Marks what other languages than English say only in quotations that sentences mention: the text without them does not
 * say it. In English, words tell a mention from a request.
 */
const withMentions = (text: string, { text: said, at }: Folded, sentences: readonly Sentence[]): readonly Said[] => {
  const hits = saidIn({ text: said, at }, sentences);
  const foreign = regionLookup(
    sentences
      .filter(({ second }) => (second & LANGUAGES) !== 0)
      .map(({ start, end }) => ({ start: at(start), end: at(end) })),
  );
  const isForeign = (hit: Said): boolean => (hit.isStrong || hit.isSuspicious === true) && foreign(hit) !== undefined;
  const blanked = hits.some(isForeign) ? withoutMentions(text) : undefined;
  if (blanked === undefined) return hits;
  const rest = fold(blanked);
  const outside = saidIn(rest, sentencesOf(blanked, rest));
  const isMentioned = (hit: Said): boolean =>
    isForeign(hit) && !outside.some((one) => one.rule === hit.rule && overlap(one, hit));
  return hits.map((hit) => (isMentioned(hit) ? { ...hit, isMentioned: true } : hit));
};

/** Returns the regions of a language's sentences; close sentences share a region. */
const windowsOf = (text: string, sentences: readonly Sentence[], language: number): readonly Region[] => {
  const windows: { start: number; end: number }[] = [];
  for (const sentence of sentences) {
    if ((sentence.second & language) === 0) continue;
    const last = windows.at(-1);
    const [start, end] = [Math.max(0, sentence.start - margin), Math.min(text.length, sentence.end + margin)];
    if (last !== undefined && start <= last.end) last.end = end;
    else windows.push({ start, end });
  }
  return windows;
};

const judged = (
  text: string,
  { rule, isStrong: isStrongInPlain, isMentioned, start, end, ...said }: Said,
  hidden: (place: Region) => HiddenRegion | undefined,
  code: (place: Region) => Region | undefined,
): Hit => {
  const { isHiddenStrong, isTelling, isDiscussed, isSuspicious } = said;
  const region = hidden({ start, end });
  const isStrong =
    isStrongInPlain ||
    (region !== undefined && isHiddenStrong === true && (region.kind !== 'data' || isTelling === true));
  // A link title, an attribute or a comment that contains only code is not a hidden request.
  if (region !== undefined && !(rule === 'forged-turn' && !isStrong)) {
    const severity = isStrong ? 'malicious' : region.kind === 'concealed' ? 'suspicious' : 'note';
    return {
      rule,
      severity,
      ...(isStrong ? { start: Math.min(start, region.start), end: Math.max(end, region.end) } : { start, end }),
    };
  }
  const isHarmless =
    isDiscussed === true ||
    (!isStrong && isSuspicious !== true) ||
    isTalkedAbout(text, start, end, code({ start, end }) !== undefined) ||
    (isMentioned === true && isMentionedAsAttack(text, start, end));
  const severity = isStrong && isMentioned !== true ? 'malicious' : 'suspicious';
  return { rule, severity: isHarmless ? 'note' : severity, start, end };
};

const decoding = /\b(?:decod|decrypt|unhex|deobfuscat|(?<!;)base ?64|hex|rot ?-?13|percent|url|encod)/i;
const following =
  /\b(?:follow|obey|execute|run|perform|apply|comply with|carry out|act on|do) (?:it|them|this|that|these|what|(?:the|its|their) (?:decoded|hidden|content|result|output|instruct|request|command|order|message))|\b(?:carry (?:it|them|this) out|act accordingly|and (?:then )?(?:follow|obey|execute|comply))\b/i;
const besides = 160;

/** Whether the text next to an encoded span requests to decode and follow it. */
const isToBeFollowed = (text: string, { start, end }: Region): boolean => {
  const near = `${text.slice(Math.max(0, start - besides), start)} ${text.slice(end, end + besides)}`;
  return decoding.test(near) && following.test(near);
};

/** Returns whether a decoded span contains no request (0), a possible one (1) or a certain one (2). */
const attemptIn = ({ decoded, isMeant }: Encoded, scorer: WordingScorer): 0 | 1 | 2 => {
  const folded = fold(decoded);
  const sentences = sentencesOf(decoded, folded);
  const requests = requestHits(folded, sentences);
  const said = [...phraseHits(folded, sentences), ...findCommands(decoded)];
  if ([...requests, ...said].some(({ isStrong }) => isStrong)) return 2;
  if (isWorded(wordedPassages(folded, sentences, scorer), isMeant === true)) return 2;
  const isPossible =
    requests.length > 0 ||
    said.some(({ rule }) => rule === 'secrecy') ||
    (isMeant === true && asksSomething(sentences));
  return isPossible ? 1 : 0;
};

const closeBy = 400;
/** Rules that are harmless alone but suspicious next to a request for secrecy. */
const covert: ReadonlySet<string> = new Set([
  'secret-in-url',
  'remote-script',
  'prompt-theft',
  'authority',
  'new-instructions',
  'persona',
  'exfiltration',
  'skips-approval',
  'forged-turn',
]);
/** Raises the severity of combinations: secrecy with an action, or two rare rules. */
const combined = (text: string, hits: readonly Hit[]): readonly Hit[] => {
  const secrecy = hits.filter(({ rule }) => rule === 'secrecy').slice(0, maxHits);
  if (secrecy.length === 0) return pairs(hits);
  const deeds = hits.filter(({ rule }) => covert.has(rule)).slice(0, maxHits);
  const raised = new Map<Hit, Severity>();
  for (const one of secrecy) {
    const near = { start: one.start - closeBy, end: one.end + closeBy };
    for (const deed of deeds) {
      if (!overlap(near, deed)) continue;
      raised.set(one, 'suspicious');
      if (deed.severity !== 'malicious') raised.set(deed, 'suspicious');
    }
  }
  const worse = (hit: Hit): Severity => {
    const severity = raised.get(hit);
    return severity !== undefined && weight[severity] > weight[hit.severity] ? severity : hit.severity;
  };
  return pairs(hits.map((hit) => (raised.has(hit) ? { ...hit, severity: worse(hit) } : hit)));
};

/** Rules that rarely match ordinary files. Two different ones close together are suspicious. */
const rare: ReadonlySet<string> = new Set([
  'authority',
  'new-instructions',
  'persona',
  'prompt-theft',
  'skips-approval',
  'forged-turn',
]);

const pairs = (hits: readonly Hit[]): readonly Hit[] => {
  const signs = hits
    .filter(({ rule }) => rare.has(rule))
    .toSorted((one, other) => one.start - other.start)
    .slice(0, maxHits);
  const raised = new Set<Hit>();
  for (const [index, one] of signs.entries()) {
    for (const other of signs.slice(index + 1, index + 9)) {
      if (one.rule !== other.rule && other.start - one.end < closeBy / 2) raised.add(one).add(other);
    }
  }
  return hits.map((hit) => (raised.has(hit) && hit.severity === 'note' ? { ...hit, severity: 'suspicious' } : hit));
};
