/**
 * Controls, bidirectional marks, line and paragraph separators, lone surrogates, and all that Unicode shows as nothing
 * (`Default_Ignorable_Code_Point`), except for the two selectors that follow an emoji.
 */
const invisible = /(?!\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{DI}]/gu;
/** The same without tab and line feed. */
const invisibleInLines = /(?!\t|\n|\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{DI}]/gu;

/**
 * Shows characters that control a terminal, or that hide or reorder text, by their code points, such as `\u{202e}`.
 * Keeps tabs and line feeds.
 *
 * For text from outside that a person reads to decide: a command must not look different from what would run.
 */
export const visibleText = (text: string): string => text.replaceAll(invisibleInLines, escape);

/** Like {@link visibleText}, on one line: tabs and line feeds are shown by their code points, too. */
export const visibleLine = (text: string): string => text.replaceAll(invisible, escape);

const escape = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
