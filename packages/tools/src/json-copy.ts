/** Maximum nesting of an input. Deeper ones are rejected before they can overflow the stack. */
export const maxDepth = 200;

/** Thrown for an input that is nested deeper than {@link maxDepth}. */
export class TooDeepError extends Error {
  constructor() {
    super(`nested deeper than ${maxDepth} levels`);
    this.name = 'TooDeepError';
  }
}

/**
 * Copies a value so that no plain object has a prototype and no key is `__proto__`.
 *
 * A key that a model writes can then neither read nor change inherited members. Values that are neither arrays nor
 * plain objects, such as a `Date` that a schema created, are not copied.
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

/** Returns the value, or a copy without `__proto__` keys if it has any. */
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

/** Returns whether a value is an object literal or has no prototype. */
export const isPlain = (value: unknown): value is Record<string, unknown> => {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
};
