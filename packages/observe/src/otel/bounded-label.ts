/**
 * Keeps the values of a label few: after so many different ones, all new ones are `other`. Names of models and tools are
 * few by nature, until a model makes them up.
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
