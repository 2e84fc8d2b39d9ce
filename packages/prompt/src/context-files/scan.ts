import { toErrorInfo, type MaybePromise } from '@h/turn';
import type { SectionProblem } from '../sections.js';

/** What a scanner says about a text. */
export interface ScanResult {
  /** `clean` texts are used; `suspicious` ones too, with a notice; of `malicious` ones only what the scanner has made of them. */
  readonly verdict: 'clean' | 'suspicious' | 'malicious';
  /** The text to use, cleaned if the scanner cleans. */
  readonly text?: string | undefined;
}

/** Looks at a text from outside before a model reads it. The scanner of `@h/security` is one. */
export type ContextScan = (text: string, about: { readonly path: string }) => MaybePromise<ScanResult>;

/** What is said in place of a text that was withheld, so that nobody takes its rules for absent. */
const placeholder =
  '[This file is withheld: the scanner refused its content. Its rules are unknown; be careful, and say so if they matter.]';

/**
 * A text as the scanner lets it through.
 *
 * A scanner that fails, or whose verdict is unknown, lets nothing through. Of a malicious text that it hands back
 * unchanged, nothing is used either.
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
  if (typeof cleaned !== 'string') return withheld(path, 'The scanner answered with something that is no text.');
  if (verdict === 'clean') return { text: cleaned };
  if (verdict === 'suspicious') {
    return {
      text: cleaned,
      problem: { code: 'suspicious', message: 'The scanner finds it suspicious; it is used.', path },
    };
  }
  const isKnown = verdict === 'malicious';
  if (!isKnown || cleaned === text) {
    return withheld(path, isKnown ? 'The scanner finds it malicious.' : 'The scanner gave no verdict that is known.');
  }
  return {
    text: cleaned,
    problem: { code: 'cleaned', message: 'The scanner finds it malicious; what it left of it is used.', path },
  };
};

const withheld = (path: string, message: string): { readonly text: string; readonly problem: SectionProblem } => ({
  text: placeholder,
  problem: { code: 'withheld', message, path },
});
