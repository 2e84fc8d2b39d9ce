import { toErrorInfo, type MaybePromise } from '@h/turn';
import type { SkillProblem } from './problem.js';

/** What a scanner says about a text. */
export interface SkillScanResult {
  /** `clean` and `suspicious` texts are used, of `malicious` ones only what the scanner has made of them. */
  readonly verdict: 'clean' | 'suspicious' | 'malicious';
  /** The text to use, cleaned if the scanner cleans. */
  readonly text?: string | undefined;
}

/** Looks at a file of a skill before a model reads anything of it. The scanner of `@h/security` is one. */
export type SkillScan = (text: string, about: { readonly path: string }) => MaybePromise<SkillScanResult>;

/** What a scanner lets through; no text where it lets nothing through, which is so when it fails. */
export const scanSkill = async (
  text: string,
  path: string,
  scan: SkillScan | undefined,
): Promise<{ readonly text?: string | undefined; readonly problem?: SkillProblem | undefined }> => {
  if (!scan) return { text };
  const withheld = (message: string): { readonly problem: SkillProblem } => ({
    problem: { code: 'withheld', message, path },
  });
  try {
    const answer: Partial<SkillScanResult> = await scan(text, { path });
    const used = answer.text ?? text;
    switch (answer.verdict) {
      case 'clean':
        return { text: used };
      case 'suspicious':
        return {
          text: used,
          problem: { code: 'suspicious', message: 'The scanner finds it suspicious; it is used.', path },
        };
      case 'malicious':
        if (used === text) return withheld('The scanner finds it malicious.');
        return {
          text: used,
          problem: { code: 'suspicious', message: 'The scanner has cleaned it; the rest is used.', path },
        };
      default:
        return withheld('The scanner gave no verdict that is known.');
    }
  } catch (error) {
    return withheld(`The scanner failed: ${toErrorInfo(error).message}`);
  }
};
