/** Any JSON value. Everything that is journaled or persisted consists of these. */
export type JSONValue = null | string | number | boolean | JSONObject | readonly JSONValue[];

/** A JSON object; serialization omits `undefined` members. */
export type JSONObject = { readonly [key: string]: JSONValue | undefined };

const maxDepth = 200;

/** Whether a value survives JSON without loss, except for `undefined` members. */
export const isJSONValue = (value: unknown, depth = 0): value is JSONValue => {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || depth > maxDepth) return false;
  return Array.isArray(value)
    ? areJSONItems(value, depth + 1)
    : isPlainObject(value) && hasJSONMembers(value, depth + 1);
};

const areJSONItems = (items: readonly unknown[], depth: number): boolean => {
  for (const item of items) if (!isJSONValue(item, depth)) return false;
  return true;
};

type Members = Readonly<Record<string, unknown>>;
const noMembers: Members = {};

const hasJSONMembers = (value: object, depth: number, known = noMembers): boolean => {
  for (const key in value) {
    const item: unknown = value[key as keyof typeof value];
    const isKnown = item === undefined || (item === known[key] && Object.hasOwn(known, key));
    if (!isKnown && !isJSONValue(item, depth)) return false;
  }
  return true;
};

const isPlainObject = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
};

/**
 * Whether a value is an object that survives JSON without loss, except for `undefined` members.
 *
 * @param known an object that it was made from, whose members are valid
 */
export const isJSONObjectFrom = (value: unknown, known?: Members): value is JSONObject =>
  typeof value === 'object' && value !== null && isPlainObject(value) && hasJSONMembers(value, 1, known);

export const isJSONObject = (value: unknown): value is JSONObject => isJSONObjectFrom(value);
