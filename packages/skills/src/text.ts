/** About how many characters of English text or code make a token. */
const charsPerToken = 4;

/**
 * About how many tokens a text takes. An estimate: four characters a token where they are ASCII, one character where they
 * are not, because most other scripts take about that many. For exact numbers use a tokenizer.
 */
export const estimateTokens = (text: string): number => {
  let others = 0;
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 0x7f) others += 1;
  return (text.length - others) / charsPerToken + others;
};

/** The beginning of a text that takes no more than so many tokens by {@link estimateTokens}, after a whole word where one ends near. */
export const cutToTokens = (text: string, tokens: number): string => {
  if (estimateTokens(text) <= tokens) return text;
  let room = tokens - 1;
  let end = 0;
  while (end < text.length) {
    room -= text.charCodeAt(end) > 0x7f ? 1 : 1 / charsPerToken;
    if (room < 0) break;
    end += 1;
  }
  const space = text.lastIndexOf(' ', end);
  const cut = text
    .slice(0, space > end * 0.5 ? space : end)
    .replace(/[\uD800-\uDBFF]$/, '')
    .trimEnd();
  return cut === '' ? '' : `${cut}…`;
};

/** Line ends and other control characters. */
const controls = /[\p{Cc}\u2028\u2029]/gu;

/** Characters that hide, reorder or smuggle text; not the joiners, which emoji and several scripts are written with. */
const invisible = /(?![\u200C\u200D])[\p{Cf}\u180E]/gu;

/** A text on one line, without anything that cannot be seen. */
export const oneLine = (text: string): string =>
  text.replace(controls, ' ').replace(invisible, '').replace(/\s+/g, ' ').trim();

/** A text that starts and ends no tag. */
export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
