/** A form of request, looked for in folded text. */
export interface Phrase {
  readonly rule: string;
  /** Whether it is an attempt on its own; the others need something besides. */
  readonly isStrong: boolean;
  readonly pattern: RegExp;
}

/** Makes a phrase from the parts of its pattern. */
export const phrase = (rule: string, isStrong: boolean, ...parts: readonly string[]): Phrase => ({
  rule,
  isStrong,
  pattern: new RegExp(parts.join(''), 'gu'),
});
