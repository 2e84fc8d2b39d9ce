import { createHash } from 'node:crypto';

/** Deeper values have no canonical form, so that no input can overflow the stack. */
const maxDepth = 200;

/**
 * Writes a value as JSON with sorted keys, so that equal values give equal strings. Members that are `undefined` are
 * left out.
 *
 * @returns `undefined` for a value that JSON cannot represent without loss (`NaN`, a `Date`, a function, a class
 * instance) or that is nested deeper than 200 levels
 *
 * @example
 * ```ts
 * canonicalJson({ b: 1, a: [true] }); // '{"a":[true],"b":1}'
 * ```
 */
export const canonicalJson = (value: unknown): string | undefined => {
  const parts: string[] = [];
  return write(value, parts, 0) ? parts.join('') : undefined;
};

/**
 * Hashes the canonical JSON of a value: SHA-256 in hexadecimal.
 *
 * @returns `undefined` if the value has no canonical JSON
 *
 * @example
 * ```ts
 * hashJson(['bash', { command: 'git push' }]);
 * ```
 */
export const hashJson = (value: unknown): string | undefined => {
  const text = canonicalJson(value);
  return text === undefined ? undefined : createHash('sha256').update(text).digest('hex');
};

const write = (value: unknown, parts: string[], depth: number): boolean => {
  if (depth > maxDepth) return false;
  if (value === null || typeof value === 'boolean' || typeof value === 'string' || Number.isFinite(value)) {
    parts.push(JSON.stringify(value));
    return true;
  }
  if (typeof value !== 'object') return false;
  return Array.isArray(value) ? writeArray(value, parts, depth) : writeObject(value, parts, depth);
};

const writeArray = (items: readonly unknown[], parts: string[], depth: number): boolean => {
  for (const [index, item] of items.entries()) {
    parts.push(index === 0 ? '[' : ',');
    if (!write(item, parts, depth + 1)) return false;
  }
  parts.push(items.length === 0 ? '[]' : ']');
  return true;
};

const writeObject = (object: object, parts: string[], depth: number): boolean => {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== null && prototype !== Object.prototype) return false;
  const members = object as Readonly<Record<string, unknown>>;
  const keys = Object.keys(members)
    .filter((key) => members[key] !== undefined)
    .toSorted();
  for (const [index, key] of keys.entries()) {
    parts.push(index === 0 ? '{' : ',', JSON.stringify(key), ':');
    if (!write(members[key], parts, depth + 1)) return false;
  }
  parts.push(keys.length === 0 ? '{}' : '}');
  return true;
};
