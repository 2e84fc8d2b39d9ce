/**
 * Normalizes invisible differences, so that they do not change the bytes of a prompt.
 *
 * Removes the byte order mark, trailing whitespace and surrounding empty lines, and converts line endings to `\n`. Runs
 * in linear time.
 *
 * @example
 * ```ts
 * normalizeText('Use tabs.  \r\n\r\n') === normalizeText('Use tabs.'); // true
 * ```
 */
export const normalizeText = (text: string): string => {
  const lines = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n').split('\n');
  const trimmed = lines.map((line) => line.trimEnd());
  const first = trimmed.findIndex((line) => line !== '');
  if (first < 0) return '';
  const body = trimmed.slice(first, trimmed.findLastIndex((line) => line !== '') + 1).join('\n');
  return body.replace(/^\uFEFF+/, '');
};

/**
 * Normalizes capabilities for comparison: trimmed, lower case, sorted by code unit, without duplicates.
 *
 * Section functions receive the original case, because tool names are case-sensitive.
 */
export const normalizeCapabilities = (capabilities: readonly string[]): readonly string[] =>
  [
    ...new Set(
      capabilities.map((capability) => capability.trim().toLowerCase()).filter((capability) => capability !== ''),
    ),
  ].toSorted(byCodeUnit);

/** Compares by code unit, which does not depend on the locale. */
export const byCodeUnit = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);
