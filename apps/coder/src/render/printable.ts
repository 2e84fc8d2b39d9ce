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
