import { clipped } from './fit.js';
import { counted } from './quantity.js';

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

/** Columns that the echo of a message fills, several rows: a paste of megabytes would replace all that was shown. */
const maxEcho = 800;

/** Shows a message of the user on one line, a long one by its beginning and its size. */
export const echo = (text: string): string => {
  const line = oneLine(text.slice(0, 4 * maxEcho));
  const shown = clipped(text.length > 4 * maxEcho ? `${line}…` : line, maxEcho);
  return shown === line ? line : `${shown} (${counted(text.length, 'character')} in all)`;
};
