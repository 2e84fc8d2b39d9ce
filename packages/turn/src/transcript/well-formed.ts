/**
 * Replaces every lone surrogate by U+FFFD; returns the same value if it contains none.
 *
 * A single lone surrogate makes a request body invalid JSON for most providers, and therefore the session unusable.
 */
export const wellFormed = <Value>(value: Value): Value => visit(value) as Value;

const visit = (value: unknown): unknown => {
  if (typeof value === 'string') return value.isWellFormed() ? value : value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return visitArray(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? visitObject(value) : value;
};

const visitArray = (items: readonly unknown[]): readonly unknown[] => {
  let copy: unknown[] | undefined;
  for (let index = 0; index < items.length; index += 1) {
    const item = visit(items[index]);
    if (item === items[index]) continue;
    copy ??= [...items];
    copy[index] = item;
  }
  return copy ?? items;
};

const visitObject = (source: object): object => {
  let copy: Record<string, unknown> | undefined;
  for (const key in source) {
    if (!Object.hasOwn(source, key)) continue;
    const item: unknown = source[key as keyof typeof source];
    const kept = visit(item);
    const keptKey = visit(key) as string;
    if (kept === item && keptKey === key) continue;
    copy ??= { ...source };
    if (keptKey !== key) delete copy[key];
    copy[keptKey] = kept;
  }
  return copy ?? source;
};
