import { cutText } from './cut-text.js';

/** Maximum length of a value: that of the longest names of models and tools. */
const maxChars = 100;

/**
 * Returns a function that limits the values of a metric label: after `maxValues` distinct values, each new one becomes
 * `other`, and a value is cut after 100 characters. It bounds the time series where a model or a client chooses the
 * value.
 *
 * @example
 * ```ts
 * const label = boundedLabel(1);
 * label('gpt-5'); // 'gpt-5'
 * label('made-up'); // 'other'
 * label('gpt-5'); // 'gpt-5'
 * ```
 */
export const boundedLabel = (maxValues: number): ((value: string) => string) => {
  const known = new Set<string>();
  return (value) => {
    const label = cutText(value, maxChars);
    if (known.has(label)) return label;
    if (known.size >= maxValues) return 'other';
    known.add(label);
    return label;
  };
};
