/** Control characters but for tab and line feed, and the marks that turn the direction of writing around. */
// oxlint-disable-next-line eslint/no-control-regex -- finding control characters is the purpose
const unprintable = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Text from a model or a tool, fit to be shown: it can neither move the cursor, change colours or titles, nor hide what it
 * says. Line feeds and tabs stay.
 */
export const printable = (text: string): string => text.replaceAll('\r\n', '\n').replaceAll(unprintable, '');

/** The same on one line: every stretch of white space is one space. */
export const oneLine = (text: string): string => printable(text.replaceAll(/\s+/g, ' ')).trim();
