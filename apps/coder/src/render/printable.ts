/** Control characters except tab and line feed, and bidirectional marks. */
// oxlint-disable-next-line eslint/no-control-regex -- finding control characters is the purpose
const unprintable = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Removes control characters from the text of a model or a tool, so that it cannot move the cursor, change colors or
 * titles, or hide content. Keeps line feeds and tabs.
 */
export const printable = (text: string): string => text.replaceAll('\r\n', '\n').replaceAll(unprintable, '');

/** Like {@link printable}, with each run of white space replaced by one space. */
export const oneLine = (text: string): string => printable(text.replaceAll(/\s+/g, ' ')).trim();

/** Controls except tab and line feed, and characters that hide or reorder the text around them. */
const deceptive = /[^\P{Cc}\t\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * Shows the characters that {@link printable} removes, and invisible ones, by their code points, such as `\u{202e}`.
 * For text to decide about: a command must not look different from what would run.
 */
export const visible = (text: string): string =>
  text.replaceAll(deceptive, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
