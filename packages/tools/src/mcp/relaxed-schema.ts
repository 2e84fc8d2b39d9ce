import type { JSONObject, JSONValue } from '@h/turn';
import { isPlain } from '../json-copy.js';

/** Members whose keys are property names, not keywords: a property may be called `pattern`. */
const named: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'dependentSchemas']);
/** Members that hold values, whatever they look like. */
const verbatim: ReadonlySet<string> = new Set([
  'const',
  'enum',
  'default',
  'examples',
  'required',
  'dependentRequired',
]);

/**
 * A schema without the regular expressions that a server has written: one that takes exponential time would stop the
 * whole process. The server checks its input itself, and members that a pattern names are let through.
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
