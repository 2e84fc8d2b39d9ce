const escape = '\u001B';
// A bell or `ESC \` ends a title or a link; the length is bounded, so that each escape is read in constant time.
const sequence = new RegExp(
  String.raw`${escape}(?:\[[0-?]{0,32}[ -/]{0,8}[@-~]|\][^\u0007${escape}]{0,400}(?:\u0007|${escape}\\)|[()][A-Z0-9]|[=>78cDEHMZ])`,
  'g',
);

/**
 * Returns what a terminal shows of a text: without colors and cursor moves, and of a line that was overwritten, such as
 * a progress bar, only its last state.
 */
export const shownText = (text: string): string => {
  const plain = text.includes(escape) ? text.replaceAll(sequence, '') : text;
  if (!plain.includes('\r')) return plain;
  const lines = plain.replaceAll('\r\n', '\n');
  return lines.includes('\r') ? lines.split('\n').map(lastState).join('\n') : lines;
};

const lastState = (line: string): string => {
  const shown = line.trimEnd();
  return shown.slice(shown.lastIndexOf('\r') + 1);
};
