/**
 * Limits the distinct values of a label: after `maxValues` values, each new one becomes `other`.
 *
 * The limit bounds the number of time series if a model invents tool names.
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
