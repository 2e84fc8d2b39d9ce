import { toErrorInfo, type MaybePromise } from '@h/turn';
import type { SkillProblem } from './problem.js';

/** Result of a scanner. */
export interface SkillScanResult {
  /** `clean` and `suspicious` text is used; `malicious` text is used only as cleaned by the scanner. */
  readonly verdict: 'clean' | 'suspicious' | 'malicious';
  /** The text to use instead of the original. */
  readonly text?: string | undefined;
}

/** Scans a file of a skill before it is used. `scanContext` of `@h/security` is one. */
export type SkillScan = (text: string, about: { readonly path: string }) => MaybePromise<SkillScanResult>;

/** Scans a text. The result has no text if the scanner rejects it or fails. */
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
          problem: { code: 'suspicious', message: 'The scanner reports the file as suspicious. It is used.', path },
        };
      case 'malicious':
        if (used === text) return withheld('The scanner reports the file as malicious.');
        return {
          text: used,
          problem: {
            code: 'suspicious',
            message: 'The scanner reports the file as malicious. Its cleaned text is used.',
            path,
          },
        };
      default:
        return withheld('The scanner returned an unknown verdict.');
    }
  } catch (error) {
    return withheld(`The scanner failed: ${toErrorInfo(error).message}`);
  }
};
