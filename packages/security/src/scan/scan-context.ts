import { anyString, checkOptions, oneOf } from '@h/options';
import { findDisguised, findEncoded, type Encoded } from './encoded.js';
import { findCommands } from './exfiltration.js';
import { attempt, overlap, type Finding, type Hit, type Said, type Severity } from './finding.js';
import { fold, type Folded } from './fold.js';
import { cutWords, hiddenRegions, judgeHidden, type HiddenRegion } from './hiding.js';
import { findInvisible } from './invisible.js';
import { blocked, stripped, warned } from './policy.js';
import { phraseGroups } from './phrases.js';
import { placed } from './placed.js';
import { codeRegions, regionLookup, type Region } from './regions.js';
import { asksSomething, requestsIn } from './requests.js';
import { findSeams } from './seams.js';
import { sentencesOf, type Sentence } from './sentences.js';
import { findSpelledOut } from './spelled-out.js';
import { isTalkedAbout } from './talk.js';

/** What happens to a malicious text. */
export type ScanPolicy = 'block' | 'strip' | 'warn';

/** Options of {@link scanContext}. */
export interface ScanContextOptions {
  /** Where the text comes from. Returned with the findings, never part of the text. */
  readonly path?: string | undefined;
  /**
   * What happens to a malicious text: `strip` replaces the passages with notes, `block` replaces all of it with a note, `warn`
   * puts a warning before it.
   *
   * @defaultValue `'strip'`, because without the rest of the file its safety rules would be gone too
   */
  readonly policy?: ScanPolicy | undefined;
}

/** What a scan found, and the text to use. */
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
 * Reads the text as a model would: folded, including comments and hidden markup, and decoded from base64 and tag characters.
 * Distinguishes requests from text about requests. Runs in linear time and never throws for any text. A scan finds known
 * forms of requests; a clean verdict is not a proof.
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
  const hits = hitsIn(text);
  const findings = placed(text, hits.slice(0, maxHits));
  const verdict = verdictOf(findings);
  const used = text.startsWith('\ufeff') ? text.slice(1) : text;
  const result = { verdict, findings, ...(path !== undefined && { path }) };
  if (verdict !== 'malicious') return { ...result, text: used };
  // What is beyond the findings would stay.
  const isFlooded = hits.length > maxHits;
  if (policy === 'block' || (policy === 'strip' && isFlooded)) return { ...result, text: blocked(findings) };
  return { ...result, text: policy === 'warn' ? warned(used, findings) : stripped(text, findings) };
};

const verdictOf = (findings: readonly Finding[]): ScanContextResult['verdict'] => {
  if (findings.some(({ severity }) => severity === 'malicious')) return 'malicious';
  return findings.some(({ severity }) => severity === 'suspicious') ? 'suspicious' : 'clean';
};

/** Maximum number of reported findings; the worst are reported. */
const maxHits = 200;
/** Attempts that are judged; several of them may be merged into one finding. */
const maxJudged = 400;
const weight: Readonly<Record<Severity, number>> = { note: 0, suspicious: 1, malicious: 2 };

const hitsIn = (text: string): readonly Hit[] => {
  const invisible = findInvisible(text.startsWith('\ufeff') ? ` ${text.slice(1)}` : text);
  const regions = hiddenRegions(text);
  const hidden = regionLookup(regions);
  const code = regionLookup(codeRegions(text));
  const folded = fold(text);
  const sentences = sentencesOf(text, folded);
  const said = judgedUntilFlooded(
    [
      ...phraseHits(folded, sentences),
      ...requestHits(folded, sentences),
      ...findCommands(text),
      ...findSeams(text, folded),
    ],
    (hit) => judged(text, hit, hidden, code),
  );
  const encoded = [...findEncoded(text), ...findDisguised(text)]
    .filter(
      (span) =>
        isToBeFollowed(text, span) ||
        (isAttempt(span) &&
          (span.isMeant === true || !isAttempt({ ...span, decoded: text.slice(span.start, span.end) }))),
    )
    .map(({ start, end }): Hit => ({ rule: 'encoded', severity: 'malicious', start, end }));
  const spelled = findSpelledOut(text).map((region): Hit => ({
    rule: 'spelled-out',
    severity: 'malicious',
    ...region,
  }));
  const all = [...invisible, ...cutWords(text), ...judgeHidden(text, regions), ...said, ...encoded, ...spelled];
  const worstFirst = merged(combined(text, all)).toSorted(
    (one, other) => weight[other.severity] - weight[one.severity],
  );
  const isFlooded = (worstFirst[maxHits]?.severity ?? 'note') === 'malicious';
  return worstFirst.slice(0, isFlooded ? maxHits + 1 : maxHits).toSorted((one, other) => one.start - other.start);
};

/** Judges what was said, until it has so many attempts that the whole text is blocked. */
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

/** Rules that ordinary files rarely come close to. */
const about: ReadonlySet<string> = new Set(['override', 'persona', 'prompt-theft', 'new-instructions', 'secrecy']);

/** Requests by their grammar. In a comment half of the weight is enough, as a comment speaks to nobody else. */
const requestHits = (folded: Folded, sentences: readonly Sentence[]): readonly Said[] =>
  requestsIn(folded, sentences)
    .filter(({ weight }) => weight >= attempt / 2)
    .map(({ rule, weight, isDiscussed, start, end }) => ({
      rule,
      isStrong: weight >= attempt,
      isHiddenStrong: true,
      isDiscussed,
      isSuspicious: weight >= attempt - 1 && about.has(rule),
      start,
      end,
    }));

/** How far before and after a sentence a phrase may reach. */
const margin = 60;

const phraseHits = ({ text, at }: Folded, sentences: readonly Sentence[]): readonly Said[] => {
  const hits: Said[] = [];
  const spoken = sentences.reduce((bits, { second }) => bits | second, 0);
  for (const { language, phrases } of phraseGroups) {
    if ((spoken & language) === 0) continue;
    for (const { start, end } of windowsOf(text, sentences, language)) {
      const part = text.slice(start, end);
      for (const { rule, isStrong, pattern } of phrases) {
        // Not matchAll, which copies the pattern for each call.
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

/** The sentences of a language, joined if they are close. */
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
  { rule, isStrong: isStrongInPlain, isHiddenStrong, isDiscussed, isSuspicious, start, end }: Said,
  hidden: (place: Region) => HiddenRegion | undefined,
  code: (place: Region) => Region | undefined,
): Hit => {
  const region = hidden({ start, end });
  const isStrong = isStrongInPlain || (region !== undefined && isHiddenStrong === true);
  // A link title, an attribute or a comment that only shows code has nothing to hide.
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
    isTalkedAbout(text, start, end, code({ start, end }) !== undefined);
  const severity = isStrong ? 'malicious' : 'suspicious';
  return { rule, severity: isHarmless ? 'note' : severity, start, end };
};

const decoding = /\b(?:decod|decrypt|unhex|deobfuscat|base ?64|hex|rot ?-?13|percent|url|encod)/i;
const following =
  /\b(?:follow|obey|execute|comply|carry (?:it |them |this )?out|act (?:on|accordingly)|appl(?:y|ies)|perform|do (?:what|as) (?:it|they))\b/i;
const besides = 160;

/** Whether the text beside an encoded span asks to decode it and to follow what it says. */
const isToBeFollowed = (text: string, { start, end }: Region): boolean => {
  const near = `${text.slice(Math.max(0, start - besides), start)} ${text.slice(end, end + besides)}`;
  return decoding.test(near) && following.test(near);
};

/** Whether a decoded span contains a request. What is encoded has nothing else to hide. */
const isAttempt = ({ decoded, isMeant }: Encoded): boolean => {
  const folded = fold(decoded);
  const sentences = sentencesOf(decoded, folded);
  return (
    (isMeant === true && asksSomething(sentences)) ||
    requestHits(folded, sentences).length > 0 ||
    [...phraseHits(folded, sentences), ...findCommands(decoded)].some(
      ({ isStrong, rule }) => isStrong || rule === 'secrecy',
    )
  );
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
/** A file of secrets. */
const secretFile =
  /\.env\b(?!\.(?:example|sample|template))|\.ssh\b|\bid_(?:rsa|ed25519)\b|\.aws\b|\.netrc\b|\.npmrc\b|\bcredentials\b|\bapi[ _-]?keys?\b|\/etc\/(?:passwd|shadow)|\bprivate keys?\b|\bpasswords?\b|\bsecrets?\b|\baccess tokens?\b|environment variables|contraseñas?|passw[oö]rter|mots? de passe|\bclés?\b|\bclaves?\b|\bchaves?\b|schlüssel|zugangsdaten|credenciales|identifiants|\bchiavi\b|\bsenhas?\b|парол|ключ|密钥|密碼|密码|鍵|パスワード|비밀번호|비밀 키/gi;
const taking =
  /\b(?:read|open|cat|copy|send|upload|post|include|append|collect|print|output|fetch|curl|paste|embed|encode|forward|share|commit|write|attach|extract|report)\b/i;

/** Where something can be sent to, in any language. */
const destination = /https?:\/\/|\b[\w.+-]{1,60}@[\w-]{1,60}\.\w/i;

/** Raises the severity of combinations: secrecy with an action, or secrecy with a file of secrets. */
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
    const around = paragraphOf(text, one.start, one.end);
    if (
      around.search(secretFile) !== -1 &&
      (taking.test(around) || destination.test(around)) &&
      !/\b(?:never|do not|don.t) (?:commit|print|log|read|share|expose|include|output|send|paste|write|store|put)\b/i.test(
        around,
      )
    ) {
      raised.set(one, 'malicious');
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

const paragraphOf = (text: string, start: number, end: number): string => {
  const before = text.slice(Math.max(0, start - closeBy), start);
  const after = text.slice(end, end + closeBy);
  return before.slice(before.lastIndexOf('\n\n') + 1) + text.slice(start, end) + (after.split('\n\n', 1)[0] ?? '');
};
