import type { JSONObject, JSONValue } from '@h/turn';
import { isPlain } from '../json-copy.js';

/** Members whose keys are property names, not keywords: a property may be named `pattern`. */
const named: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'dependentSchemas']);
/** Members that contain values, not schemas. */
const verbatim: ReadonlySet<string> = new Set([
  'const',
  'enum',
  'default',
  'examples',
  'required',
  'dependentRequired',
]);

/**
 * Returns a schema without its regular expressions: an expression with exponential time would block the whole process.
 * Members that a pattern names are allowed, because the server checks its input itself.
 */
export const relaxed = (schema: JSONObject): JSONObject => {
  const { pattern: _pattern, format: _format, patternProperties, ...rest } = schema;
  const kept = Object.entries(rest).map(
    ([key, value]) => [key, verbatim.has(key) ? value : relaxedMember(key, value)] as const,
  );
  return { ...Object.fromEntries(kept), ...(patternProperties !== undefined && { additionalProperties: true }) };
};

const relaxedMember = (key: string, value: JSONValue | undefined): JSONValue | undefined => {
  if (Array.isArray(value)) return value.map((item) => relaxedMember('', item as JSONValue) ?? null);
  if (!isPlain(value)) return value;
  if (!named.has(key)) return relaxed(value);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, relaxedMember('', item as JSONValue)]));
};
