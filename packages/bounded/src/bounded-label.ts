/**
 * Returns a function that limits the distinct values of a metric label: after `maxValues` values, each new one becomes
 * `other`. It bounds the number of time series where a model or a client chooses the value.
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
    if (known.has(value)) return value;
    if (known.size >= maxValues) return 'other';
    known.add(value);
    return value;
  };
};
