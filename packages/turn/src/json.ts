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

const hasJSONMembers = (value: object, depth: number, known?: object): boolean => {
  for (const key in value) {
    const item: unknown = value[key as keyof typeof value];
    if (item === undefined || (known !== undefined && isMemberOf(known, key, item))) continue;
    if (!isJSONValue(item, depth)) return false;
  }
  return true;
};

const isMemberOf = (object: object, key: string, item: unknown): boolean =>
  Object.hasOwn(object, key) && object[key as keyof typeof object] === item;

const isPlainObject = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
};

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a value is an object that survives JSON without loss, except for `undefined` members. */
export const isJSONObject = (value: unknown): value is JSONObject => isObject(value) && isJSONValue(value);

/** The same for an object made from another one, whose members are valid. */
export const isJSONObjectFrom = (value: unknown, known: unknown): boolean =>
  isObject(value) && isPlainObject(value) && hasJSONMembers(value, 1, isObject(known) ? known : undefined);
