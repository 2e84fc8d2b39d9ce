import { approximateTokens } from '@h/tokens';

/**
 * Returns the longest beginning of a string that takes at most `tokens` tokens by `approximateTokens`, the ellipsis
 * included. It ends after a whole word if one ends in the second half.
 */
export const cutToTokens = (text: string, tokens: number): string => {
  if (approximateTokens(text) <= tokens) return text;
  let [end, limit] = [0, text.length];
  while (limit - end > 1) {
    const middle = Math.floor((end + limit) / 2);
    if (approximateTokens(`${text.slice(0, middle)}…`) <= tokens) end = middle;
    else limit = middle;
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

/** Converts text to one line without invisible characters. */
export const oneLine = (text: string): string =>
  text.replace(controls, ' ').replace(invisible, '').replace(/\s+/g, ' ').trim();

/** Escapes text so that it cannot start or end a tag. */
export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
