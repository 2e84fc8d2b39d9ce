import { createHash } from 'node:crypto';

const maxDepth = 200;

/**
 * JSON text in which the order of keys makes no difference, so that equal inputs are equal texts.
 *
 * @returns nothing for a value that JSON cannot write without loss
 */
export const canonicalJson = (value: unknown): string | undefined => {
  const parts: string[] = [];
  return write(value, parts, 0) ? parts.join('') : undefined;
};

const write = (value: unknown, parts: string[], depth: number): boolean => {
  if (depth > maxDepth) return false;
  if (value === null || typeof value === 'boolean' || typeof value === 'string' || Number.isFinite(value)) {
    parts.push(JSON.stringify(value));
    return true;
  }
  if (typeof value !== 'object') return false;
  return Array.isArray(value) ? writeList(value, parts, depth) : writeObject(value, parts, depth);
};

const writeList = (list: readonly unknown[], parts: string[], depth: number): boolean => {
  for (const [index, item] of list.entries()) {
    parts.push(index === 0 ? '[' : ',');
    if (!write(item, parts, depth + 1)) return false;
  }
  parts.push(list.length === 0 ? '[]' : ']');
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

/**
 * What stands for exactly this call: SHA-256 of the tool's name and its input in canonical JSON, as hexadecimal text.
 *
 * @returns nothing for an input that JSON cannot write without loss
 *
 * @example
 * ```ts
 * hashCall({ name: 'bash', input: { command: 'git push' } });
 * ```
 */
export const hashCall = (call: { readonly name: string; readonly input: unknown }): string | undefined => {
  const text = canonicalJson([call.name, call.input ?? null]);
  return text === undefined ? undefined : createHash('sha256').update(text).digest('hex');
};
