/** Makes text from tools and models safe to look at: what a reader sees is what the text contains. */

/** As in `visibleText` of `@h/options`, without tab and line feed. */
const deceptive = /(?!\t|\n|\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{DI}]/gu;
// oxlint-disable-next-line no-control-regex -- a terminal control sequence begins with a control character
const controlSequence = /\u001B\[[0-9;?]{0,40}[ -/]{0,4}[@-~]/gu;

/**
 * Shows characters that reorder or hide text by their code points, such as `⟦U+202E⟧`. A command must not look
 * different from what would run, so nothing of the text is left out.
 */
export const visible = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replace(
      deceptive,
      (character) => `⟦U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟧`,
    );

/** Drops the colors and cursor movements that programs print for terminals. For output only: see {@link visible}. */
export const withoutColors = (text: string): string => text.replace(controlSequence, '');

/** Whether {@link visible} shows characters of the text by their code points. */
export const isDeceptive = (text: string): boolean => text.replaceAll('\r\n', '\n').search(deceptive) >= 0;

/** JSON with two spaces, in which long strings with line breaks stay readable. */
export const readableJson = (value: unknown): string => {
  const text = JSON.stringify(value, null, 2);
  return text ?? String(value);
};

/** The first lines of a text, at most `maxLines` lines and `maxCharacters` characters. */
export const head = (
  text: string,
  maxLines: number,
  maxCharacters: number,
): { readonly text: string; readonly isWhole: boolean } => {
  let end = 0;
  for (let line = 0; line < maxLines && end < maxCharacters; line += 1) {
    const next = text.indexOf('\n', end);
    if (next < 0) {
      end = text.length;
      break;
    }
    end = next + 1;
  }
  end = Math.min(end, maxCharacters);
  // A cut between the halves of a surrogate pair would show a replacement character.
  if (end < text.length && /[\uD800-\uDBFF]/u.test(text[end - 1] ?? '')) end -= 1;
  return { text: text.slice(0, end), isWhole: end >= text.length };
};
