/** Controls except tab and line feed, and characters that hide or reorder the text around them. */
const deceptive = /[^\P{Cc}\t\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * Shows characters that control a terminal, or that hide or reorder text, as escapes of JSON, such as `\u202e`. A call
 * must not look different from what would run.
 */
export const visible = (text: string): string =>
  text.replaceAll(deceptive, (character) =>
    Array.from({ length: character.length }, (_, index) => escapeOf(character.charCodeAt(index))).join(''),
  );

const escapeOf = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;
