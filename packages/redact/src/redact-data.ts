import { isKeyOfBytes } from './values/byte-list.js';
import { isOpaqueName, keyStrength, type KeyStrength } from './names/key-name.js';
import { isPlaceholder, isPublicIdentifier, looksRandom } from './values/value.js';

const maxDepth = 200;

/** Rules for structured data. */
export interface DataRules {
  readonly redact: (text: string) => string;
  readonly replacement: string;
}

/**
 * Returns a copy of a value without secrets, or the value itself if it has none.
 *
 * Walks plain objects and arrays. Values of names such as `password` are replaced, also if the name is in another
 * member (`{ name: 'DB_PASSWORD', value: '…' }`, `['Authorization', '…']`). Signatures and ids are preserved. A cyclic
 * reference is not followed.
 */
export const redactData = <Value>(value: Value, rules: DataRules): Value => walk(value, rules, new Set()) as Value;

const walk = (value: unknown, rules: DataRules, within: Set<object>): unknown => {
  if (typeof value === 'string') return rules.redact(value);
  if (typeof value !== 'object' || value === null || within.has(value) || within.size >= maxDepth) return value;
  if (!Array.isArray(value) && !isPlain(value)) return value;
  within.add(value);
  const copy = Array.isArray(value)
    ? walkItems(value, rules, within)
    : walkMembers(value as Record<string, unknown>, rules, within);
  within.delete(value);
  return copy;
};

const walkItems = (items: readonly unknown[], rules: DataRules, within: Set<object>): readonly unknown[] => {
  let copy: unknown[] | undefined;
  const [name] = items;
  const isPair = items.length === 2 && typeof name === 'string' && keyStrength(name) === 'strong';
  for (const [index, item] of items.entries()) {
    const walked = isPair && index === 1 ? walkMember(name, item, rules, within) : walk(item, rules, within);
    if (walked === item) continue;
    copy ??= [...items];
    copy[index] = walked;
  }
  return copy ?? items;
};

const walkMembers = (members: Readonly<Record<string, unknown>>, rules: DataRules, within: Set<object>): object => {
  let copy: Record<string, unknown> | undefined;
  const named = nameBeside(members);
  for (const [name, member] of Object.entries(members)) {
    const cleanName = rules.redact(name);
    const walked = walkMember(named !== undefined && /^value$/i.test(name) ? named : name, member, rules, within);
    if (walked === member && cleanName === name) continue;
    copy ??= Object.assign(Object.create(Object.getPrototypeOf(members) as object | null) as object, members);
    if (cleanName !== name) delete copy[name];
    // An assignment would set the prototype for `__proto__`.
    Object.defineProperty(copy, cleanName, { value: walked, enumerable: true, configurable: true, writable: true });
  }
  return copy ?? members;
};

/** Returns the name in `{ name: 'DB_PASSWORD', value: '…' }`. */
const nameBeside = (members: Readonly<Record<string, unknown>>): string | undefined => {
  const entry = Object.entries(members).find(
    ([name, member]) => /^(?:name|key)$/i.test(name) && typeof member === 'string',
  );
  return (entry?.[1] as string | undefined)?.replace(/^.*\//, '');
};

/** Replaces the whole value of a secret name; in a list, each item. */
const walkMember = (name: string, member: unknown, rules: DataRules, within: Set<object>): unknown => {
  if (typeof member === 'string' && isOpaqueName(name)) return member;
  const strength = keyStrength(name);
  if (strength === undefined) return walk(member, rules, within);
  if (isSecretValue(member, strength) || (strength === 'strong' && isBytes(member))) return rules.replacement;
  if (!Array.isArray(member) || !member.some((item) => isSecretValue(item, strength))) {
    return walk(member, rules, within);
  }
  return member.map((item: unknown) => (isSecretValue(item, strength) ? rules.replacement : walk(item, rules, within)));
};

/** Whether the value is a secret: any value of a strong name except a placeholder, a random value of a weak name. */
const isSecretValue = (value: unknown, strength: KeyStrength): boolean => {
  if (strength === 'weak') {
    return typeof value === 'string' && looksRandom(value) && !isPublicIdentifier(value) && !isPlaceholder(value);
  }
  return typeof value === 'number' ? String(value).length >= 4 : typeof value === 'string' && !isPlaceholder(value);
};

/** Whether the value is a key as bytes: a list of numbers, an array of bytes, or a buffer of Node in JSON. */
const isBytes = (value: unknown): boolean => {
  if (Array.isArray(value)) return isKeyOfBytes(value);
  if (value instanceof Uint8Array) return value.length > 0;
  if (typeof value !== 'object' || value === null || !('type' in value && 'data' in value)) return false;
  return value.type === 'Buffer' && Array.isArray(value.data) && isKeyOfBytes(value.data);
};

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
};
