/**
 * A text as it goes into a prompt: what nobody sees never changes bytes.
 *
 * A byte order mark goes, line ends become `\n`, and space at the end of a line and empty lines around the text are taken
 * away. Linear in the length of the text.
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
 * Capabilities as a key: trimmed, in lower case, sorted by code unit, each once.
 *
 * For comparing only. What is shown keeps its case, because names of tools are case-sensitive.
 */
export const normalizeCapabilities = (capabilities: readonly string[]): readonly string[] =>
  [
    ...new Set(
      capabilities.map((capability) => capability.trim().toLowerCase()).filter((capability) => capability !== ''),
    ),
  ].toSorted(byCodeUnit);

/** An order that is the same on every machine, whatever its locale. */
export const byCodeUnit = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);
