import { keyStrength, type KeyStrength } from './key-name.js';
import { isPlaceholder, isPublicIdentifier, looksRandom } from './value.js';

const maxDepth = 200;

/** What is replaced in structured data: texts, and what stands under the name of a secret. */
export interface DataRules {
  readonly redact: (text: string) => string;
  readonly replacement: string;
  /** Tells of each value that was replaced for its name. */
  readonly onFound: (kind: string) => void;
}

/**
 * A copy of a value without secrets; the value itself, if there are none in it.
 *
 * Plain objects and arrays are gone through, all else is left as it is. Circles end where they close.
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
  for (const [index, item] of items.entries()) {
    const walked = walk(item, rules, within);
    if (walked === item) continue;
    copy ??= [...items];
    copy[index] = walked;
  }
  return copy ?? items;
};

const walkMembers = (members: Readonly<Record<string, unknown>>, rules: DataRules, within: Set<object>): object => {
  let copy: Record<string, unknown> | undefined;
  for (const [name, member] of Object.entries(members)) {
    const cleanName = rules.redact(name);
    const walked = walkMember(name, member, rules, within);
    if (walked === member && cleanName === name) continue;
    copy ??= Object.assign(Object.create(Object.getPrototypeOf(members) as object | null) as object, members);
    if (cleanName !== name) delete copy[name];
    // Not by assignment, which means something else for `__proto__`.
    Object.defineProperty(copy, cleanName, { value: walked, enumerable: true, configurable: true, writable: true });
  }
  return copy ?? members;
};

/** What stands under the name of a secret goes as a whole; of a list each item. */
const walkMember = (name: string, member: unknown, rules: DataRules, within: Set<object>): unknown => {
  const strength = keyStrength(name);
  if (strength === undefined) return walk(member, rules, within);
  if (isSecretValue(member, strength)) return named(rules);
  if (!Array.isArray(member) || !member.some((item) => isSecretValue(item, strength))) {
    return walk(member, rules, within);
  }
  return member.map((item: unknown) => (isSecretValue(item, strength) ? named(rules) : walk(item, rules, within)));
};

const named = ({ replacement, onFound }: DataRules): string => {
  onFound('named');
  return replacement;
};

/** Under a name that says so itself everything is secret that is no word for nothing; under others what looks random. */
const isSecretValue = (value: unknown, strength: KeyStrength): boolean => {
  if (strength === 'weak') {
    return typeof value === 'string' && looksRandom(value) && !isPublicIdentifier(value) && !isPlaceholder(value);
  }
  return typeof value === 'number' ? String(value).length >= 4 : typeof value === 'string' && !isPlaceholder(value);
};

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
};
