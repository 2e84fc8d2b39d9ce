import { Validator, type OutputUnit } from '@cfworker/json-schema';
import { schemaDraft } from '@h/json';
import type { JSONObject, JSONValue } from '@h/turn';
import { isPlain, maxDepth, TooDeepError } from './json-copy.js';

/** Result of checking an input. */
export type InputCheck =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly string[] };

/**
 * Creates a validator for a JSON Schema (2020-12 unless `$schema` names another draft). It coerces no values and adds
 * no defaults.
 *
 * Members that are not in the schema are removed, unless it allows others (`additionalProperties`, `patternProperties`,
 * `unevaluatedProperties`).
 */
export const jsonSchemaValidator = (schema: JSONObject): ((input: unknown) => InputCheck) => {
  // The library modifies the schema.
  const validator = new Validator(structuredClone(schema), schemaDraft(schema), false);
  return (input) => {
    const value = stripped(input, [schema], schema, 0);
    const { valid, errors } = validator.validate(value);
    return valid ? { ok: true, value } : { ok: false, issues: leaves(errors) };
  };
};

/** Keywords whose errors only lead to another error; the last three occur with any wrong member of a closed object. */
const nesting: readonly string[] = [
  'properties',
  'items',
  'prefixItems',
  '$ref',
  'additionalProperties',
  'unevaluatedProperties',
  'false',
];

/** Returns the errors that name a cause, without those that only name its parents. */
const leaves = (errors: readonly OutputUnit[]): readonly string[] => {
  const causes = errors.filter(({ keyword }) => !nesting.includes(keyword));
  return (causes.length === 0 ? errors : causes).map(({ instanceLocation, error }) => {
    const path = instanceLocation.replace(/^#\/?/, '').replaceAll('/', '.');
    return path === '' ? error : `${path}: ${error}`;
  });
};

/** Returns a null-prototype copy without members that none of the schemas names. All schemas apply to the value. */
const stripped = (value: unknown, schemas: readonly JSONValue[], root: JSONObject, depth: number): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= maxDepth) throw new TooDeepError();
  const seen = new Set<JSONObject>();
  const applied = schemas.flatMap((schema) => expanded(schema, root, seen));
  if (Array.isArray(value)) {
    return value.map((item, index) =>
      stripped(
        item,
        applied.flatMap((schema) => itemSchemas(schema, index)),
        root,
        depth + 1,
      ),
    );
  }
  if (!isPlain(value)) return value;
  const open = isOpen(applied);
  const copy = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(value)) {
    if (key === '__proto__') continue;
    const own = applied.flatMap((schema) => memberSchemas(schema, key));
    if (open || own.length > 0) copy[key] = stripped(value[key], own, root, depth + 1);
  }
  return copy;
};

const combinators = ['allOf', 'anyOf', 'oneOf'] as const;
const conditionals = ['if', 'then', 'else'] as const;

/** Returns the schema and all schemas that it includes by reference or combination. */
const expanded = (schema: JSONValue | undefined, root: JSONObject, seen: Set<JSONObject>): readonly JSONObject[] => {
  if (!isPlain(schema) || seen.has(schema)) return [];
  seen.add(schema);
  const parts: (JSONValue | undefined)[] = [referred(schema, root), ...conditionals.map((key) => schema[key])];
  for (const key of combinators) {
    const members = schema[key];
    if (Array.isArray(members)) parts.push(...(members as readonly JSONValue[]));
  }
  if (isPlain(schema['dependentSchemas'])) parts.push(...(Object.values(schema['dependentSchemas']) as JSONValue[]));
  return [schema, ...parts.flatMap((part) => expanded(part, root, seen))];
};

/** Returns the schemas that a schema references. An unresolved reference allows any member. */
const referred = ({ $ref, $dynamicRef, $recursiveRef }: JSONObject, root: JSONObject): JSONValue | undefined => {
  if ($ref === undefined && $dynamicRef === undefined && $recursiveRef === undefined) return undefined;
  return (
    (typeof $ref === 'string' && $ref.startsWith('#') ? resolved($ref, root) : undefined) ?? {
      additionalProperties: true,
    }
  );
};

const resolved = (reference: string, root: JSONObject): JSONValue | undefined => {
  let place: JSONValue | undefined = root;
  for (const segment of reference.slice(1).split('/').filter(Boolean)) {
    const key = decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, key)) return undefined;
    place = (place as Record<string, JSONValue | undefined>)[key];
  }
  return place;
};

/** Whether unnamed members are kept: a schema allows additional members, or no schema describes any. */
const isOpen = (schemas: readonly JSONObject[]): boolean => {
  const describing = schemas.filter((schema) =>
    ['properties', 'additionalProperties', 'unevaluatedProperties', 'patternProperties'].some((key) => key in schema),
  );
  const opens = (value: JSONValue | undefined): boolean => value === true || isPlain(value);
  return (
    describing.length === 0 ||
    describing.some((schema) => opens(schema['additionalProperties']) || opens(schema['unevaluatedProperties']))
  );
};

const memberSchemas = (schema: JSONObject, key: string): readonly JSONValue[] => {
  const { properties, patternProperties, additionalProperties, unevaluatedProperties } = schema;
  const found: JSONValue[] = [];
  if (isPlain(properties) && Object.hasOwn(properties, key)) found.push(properties[key] as JSONValue);
  if (isPlain(patternProperties)) {
    for (const [pattern, member] of Object.entries(patternProperties)) {
      if (new RegExp(pattern, 'u').test(key)) found.push(member as JSONValue);
    }
  }
  if (found.length === 0) {
    for (const rest of [additionalProperties, unevaluatedProperties]) if (isPlain(rest)) found.push(rest);
  }
  return found;
};

const itemSchemas = ({ items, prefixItems }: JSONObject, index: number): readonly JSONValue[] => {
  const listed = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
  if (index < listed.length) return [listed[index] as JSONValue];
  return items === undefined || Array.isArray(items) ? [] : [items];
};
