/** How deep an input may be nested; deeper ones are refused before they can overflow anybody's stack. */
export const maxDepth = 200;

/** Thrown for an input that is nested deeper than {@link maxDepth}. */
export class TooDeepError extends Error {
  constructor() {
    super(`nested deeper than ${maxDepth} levels`);
    this.name = 'TooDeepError';
  }
}

/**
 * A copy in which no plain object has a prototype and no key is `__proto__`.
 *
 * What a model writes as a key can then neither reach nor change anything that objects inherit. Values that are neither
 * arrays nor plain objects (a `Date` that a schema made, say) are kept as they are.
 */
export const nullPrototypeCopy = (value: unknown, depth = 0): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= maxDepth) throw new TooDeepError();
  if (Array.isArray(value)) return value.map((item) => nullPrototypeCopy(item, depth + 1));
  if (!isPlain(value)) return value;
  const copy = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(value)) {
    if (key !== '__proto__') copy[key] = nullPrototypeCopy(value[key], depth + 1);
  }
  return copy;
};

/** The value itself, or a copy without `__proto__` where that is the key of something in it. */
export const withoutPrototypeKeys = (value: unknown): unknown =>
  hasPrototypeKey(value, 0) ? nullPrototypeCopy(value) : value;

const hasPrototypeKey = (value: unknown, depth: number): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  if (depth >= maxDepth) throw new TooDeepError();
  if (Array.isArray(value)) return value.some((item) => hasPrototypeKey(item, depth + 1));
  for (const key in value) {
    if (key === '__proto__' || hasPrototypeKey(value[key as keyof typeof value], depth + 1)) return true;
  }
  return false;
};

/** Whether this is an object as JSON has them, with or without a prototype. */
export const isPlain = (value: unknown): value is Record<string, unknown> => {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
};
