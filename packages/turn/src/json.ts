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
  if (Array.isArray(value)) return value.every((item) => isJSONValue(item, depth + 1));
  return (
    isPlainObject(value) && Object.values(value).every((item) => item === undefined || isJSONValue(item, depth + 1))
  );
};

const isPlainObject = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
};

/** Whether a value is an object that survives JSON without loss, except for `undefined` members. */
export const isJSONObject = (value: unknown): value is JSONObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && isJSONValue(value);
