/** A pattern of a request, for folded text. */
export interface Phrase {
  readonly rule: string;
  /** Whether a match alone is an attempt; other matches need a second signal. */
  readonly isStrong: boolean;
  readonly pattern: RegExp;
}

/** Creates a phrase from the parts of its pattern. */
export const phrase = (rule: string, isStrong: boolean, ...parts: readonly string[]): Phrase => ({
  rule,
  isStrong,
  pattern: new RegExp(parts.join(''), 'gu'),
});
