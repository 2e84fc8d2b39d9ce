import { toErrorInfo, type MaybePromise } from '@h/turn';
import type { SectionProblem } from '../sections.js';

/** Result of a scanner. */
export interface ScanResult {
  /**
   * `clean` text is used; `suspicious` text is used with a notice; `malicious` text is used only as cleaned by the
   * scanner.
   */
  readonly verdict: 'clean' | 'suspicious' | 'malicious';
  /** The text to use instead of the original. */
  readonly text?: string | undefined;
}

/** Scans an external text before a model reads it. `scanContext` of `@h/security` is one. */
export type ContextScan = (text: string, about: { readonly path: string }) => MaybePromise<ScanResult>;

/** Replaces a withheld text, so that the model does not assume that it has no rules. */
const placeholder =
  '[This file is withheld: the scanner refused its content. Its rules are unknown; be careful, and say so if they matter.]';

/**
 * Scans a text and returns the text to use.
 *
 * The text is withheld if the scanner fails, returns an unknown verdict, or returns a malicious text unchanged.
 */
export const scanned = async (
  text: string,
  path: string,
  scan: ContextScan | undefined,
): Promise<{ readonly text: string; readonly problem?: SectionProblem | undefined }> => {
  if (!scan) return { text };
  let result: Partial<ScanResult> | undefined;
  try {
    result = await scan(text, { path });
  } catch (error) {
    return withheld(path, `The scanner failed: ${toErrorInfo(error).message}`);
  }
  const { verdict, text: cleaned = text } = result ?? {};
  if (typeof cleaned !== 'string') return withheld(path, 'The scanner returned a text that is not a string.');
  if (verdict === 'clean') return { text: cleaned };
  if (verdict === 'suspicious') {
    return {
      text: cleaned,
      problem: { code: 'suspicious', message: 'The scanner reports the file as suspicious. It is used.', path },
    };
  }
  const isKnown = verdict === 'malicious';
  if (!isKnown || cleaned === text) {
    return withheld(
      path,
      isKnown ? 'The scanner reports the file as malicious.' : 'The scanner returned an unknown verdict.',
    );
  }
  return {
    text: cleaned,
    problem: { code: 'cleaned', message: 'The scanner reports the file as malicious. Its cleaned text is used.', path },
  };
};

const withheld = (path: string, message: string): { readonly text: string; readonly problem: SectionProblem } => ({
  text: placeholder,
  problem: { code: 'withheld', message, path },
});
