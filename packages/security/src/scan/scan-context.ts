import { anyString, checkOptions, oneOf } from '@h/options';
import { findEncoded } from './encoded.js';
import { findCommands } from './exfiltration.js';
import { overlap, type Finding, type Hit, type Severity } from './finding.js';
import { fold } from './fold.js';
import { findInvisible } from './invisible.js';
import { blocked, stripped, warned } from './policy.js';
import { phrases } from './phrases.js';
import { placed } from './placed.js';
import { codeRegions, hiddenRegions, regionLookup, type Region } from './regions.js';
import { findSpelledOut } from './spelled-out.js';
import { isTalkedAbout } from './talk.js';

/** What is done about a malicious text. */
export type ScanPolicy = 'block' | 'strip' | 'warn';

/** Options of {@link scanContext}. */
export interface ScanContextOptions {
  /** Where the text comes from. It is told to nobody but whoever reads the findings. */
  readonly path?: string | undefined;
  /**
   * What becomes of a malicious text: the passages are taken out visibly (`strip`), all of it is replaced by a note (`block`), or
   * a warning is put before it (`warn`).
   *
   * @defaultValue `'strip'`, because without the rest of the file its safety rules would be gone too
   */
  readonly policy?: ScanPolicy | undefined;
}

/** What a scan found, and what is to be used. */
export interface ScanContextResult {
  readonly verdict: 'clean' | 'suspicious' | 'malicious';
  readonly findings: readonly Finding[];
  /** The text to use: as it was, where nothing malicious is in it, but for a byte order mark. */
  readonly text: string;
  readonly path?: string | undefined;
}

/**
 * Looks for attempts to redirect a model in a text from outside: a context file, a rule, a skill, a page.
 *
 * It reads the text as a model would: folded, in comments and hidden markup, decoded from base64 and tag characters, and
 * tells phrases that are said from those that are spoken about. Time is in proportion to the length.
 *
 * It never throws for any text. It cannot find what is said in words that nobody thought of.
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
  const findings = placed(text, hitsIn(text));
  const verdict = verdictOf(findings);
  const used = text.startsWith('\ufeff') ? text.slice(1) : text;
  const result = { verdict, findings, ...(path !== undefined && { path }) };
  if (verdict !== 'malicious') return { ...result, text: used };
  if (policy === 'block') return { ...result, text: blocked(findings) };
  return { ...result, text: policy === 'warn' ? warned(used, findings) : stripped(text, findings) };
};

const verdictOf = (findings: readonly Finding[]): ScanContextResult['verdict'] => {
  if (findings.some(({ severity }) => severity === 'malicious')) return 'malicious';
  return findings.some(({ severity }) => severity === 'suspicious') ? 'suspicious' : 'clean';
};

/** More are not told, the worst first. */
const maxHits = 200;
const weight: Readonly<Record<Severity, number>> = { note: 0, suspicious: 1, malicious: 2 };

const hitsIn = (text: string): readonly Hit[] => {
  const invisible = findInvisible(text.startsWith('\ufeff') ? ` ${text.slice(1)}` : text);
  const hidden = regionLookup(hiddenRegions(text));
  const code = regionLookup(codeRegions(text));
  const said = [...phraseHits(text), ...findCommands(text)].map((hit) => judged(text, hit, hidden, code));
  const encoded = findEncoded(text)
    .filter(({ decoded }) => isAttempt(decoded))
    .map(({ start, end }): Hit => ({ rule: 'encoded', severity: 'malicious', start, end }));
  const spelled = findSpelledOut(text).map((region): Hit => ({
    rule: 'spelled-out',
    severity: 'malicious',
    ...region,
  }));
  const worstFirst = merged(combined([...invisible, ...said, ...encoded, ...spelled])).toSorted(
    (one, other) => weight[other.severity] - weight[one.severity],
  );
  return worstFirst.slice(0, maxHits).toSorted((one, other) => one.start - other.start);
};

/** Findings of one rule that overlap are one: as long as both, and as bad as the worse. */
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

/** A phrase or a command, before it is judged by where it stands. */
interface Said extends Region {
  readonly rule: string;
  readonly isStrong: boolean;
}

const phraseHits = (text: string): readonly Said[] => {
  const folded = fold(text);
  return phrases.flatMap(({ rule, isStrong, pattern }) =>
    Array.from(folded.text.matchAll(pattern), ({ 0: match, index }) => ({
      rule,
      isStrong,
      start: folded.at(index),
      end: folded.at(index + match.length - 1) + 1,
    })),
  );
};

const judged = (
  text: string,
  { rule, isStrong, start, end }: Said,
  hidden: (place: Region) => Region | undefined,
  code: (place: Region) => Region | undefined,
): Hit => {
  const region = hidden({ start, end });
  if (region !== undefined) {
    return { rule, severity: isStrong ? 'malicious' : 'note', ...(isStrong ? region : { start, end }) };
  }
  const isHarmless = !isStrong || isTalkedAbout(text, start, end, code({ start, end }) !== undefined);
  return { rule, severity: isHarmless ? 'note' : 'malicious', start, end };
};

/** What is said in a decoded stretch, where nothing is spoken about. */
const isAttempt = (decoded: string): boolean =>
  [...phraseHits(decoded), ...findCommands(decoded)].some(
    ({ isStrong, rule }) => isStrong || rule === 'secrecy' || rule === 'prompt-theft',
  );

const closeBy = 400;
/** Harmless by themselves, and not together with a request to keep them quiet. */
const covert: ReadonlySet<string> = new Set([
  'secret-in-url',
  'remote-script',
  'prompt-theft',
  'authority',
  'new-instructions',
  'exfiltration',
  'skips-approval',
]);

/** To keep something from the user and to send or reveal something, close together, is one thing. */
const combined = (hits: readonly Hit[]): readonly Hit[] => {
  const secrecy = hits.filter(({ rule }) => rule === 'secrecy');
  const deeds = hits.filter(({ rule }) => covert.has(rule));
  if (secrecy.length === 0 || deeds.length === 0) return hits;
  const raised = new Set<Hit>();
  for (const one of secrecy.slice(0, maxHits)) {
    for (const deed of deeds.slice(0, maxHits)) {
      if (overlap({ start: one.start - closeBy, end: one.end + closeBy }, deed)) raised.add(one).add(deed);
    }
  }
  const worse = (severity: Severity): Severity => (severity === 'note' ? 'suspicious' : severity);
  return hits.map((hit) => (raised.has(hit) ? { ...hit, severity: worse(hit.severity) } : hit));
};
