import { evidenceOf } from './evidence.js';

const smallestWindow = 500;

/**
 * The context window that an overflow error names, in tokens: 200,000 for `… 210000 tokens > 200000 maximum`.
 *
 * @returns `undefined` if the error names no window
 */
export const contextWindowIn = (error: unknown): number | undefined => windowNamedIn(evidenceOf(error).text);

const windowNamedIn = (text: string): number | undefined => {
  const [, compared] = />\s{0,3}(\d[\d,]{2,10})/.exec(text) ?? [];
  const [, after] =
    /(?:maximum|limit|window|at most|only|less than|<=|context (?:length|size))\D{0,60}?(\d[\d,]{2,10})/i.exec(text) ??
    [];
  const [, before] = /(\d[\d,]{2,10})\s{0,3}(?:tokens?\s{0,3})?(?:maximum|limit|max)\b/i.exec(text) ?? [];
  const named = Number((compared ?? after ?? before)?.replaceAll(',', ''));
  return named >= smallestWindow ? named : undefined;
};

/** Whether the prompt fills most of the window that the error names, so that no setting of the output can help. */
export const isPromptTooLarge = (text: string): boolean => {
  const input = Number(/(\d{1,9}) input tokens/i.exec(text)?.[1]);
  const window = windowNamedIn(text.replaceAll(/\([^)\n]{0,80}\)/g, ''));
  return window !== undefined && input > window / 2;
};
