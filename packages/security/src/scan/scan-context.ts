import { anyString, checkOptions, checkValue, oneOf } from '@h/options';
import { hitsOf } from './all-hits.js';
import { maxHits, type Finding } from './finding.js';
import { placed } from './placed.js';
import { blocked, stripped, warned } from './policy.js';

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
  checkValue('scanContext()', 'text', text, anyString);
  checkOptions('scanContext()', options, { path: anyString, policy: oneOf('block', 'strip', 'warn') });
  const { path, policy = 'strip' } = options;
  const hits = hitsOf(text);
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

/** Returns the worst severity of the findings, which `severity.ts` decides. */
const verdictOf = (findings: readonly Finding[]): ScanContextResult['verdict'] => {
  if (findings.some(({ severity }) => severity === 'malicious')) return 'malicious';
  return findings.some(({ severity }) => severity === 'suspicious') ? 'suspicious' : 'clean';
};
