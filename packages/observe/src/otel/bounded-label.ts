/**
 * Bounds the values of a label: after `maxValues` different ones, new ones become `other`. Names of models and tools
 * are few by nature, until a model makes them up.
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
