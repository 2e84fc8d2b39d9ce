import { schemaValidator, type Schema, type SchemaIssue, type SchemaValidator } from '@h/json/schema';
import type { JSONObject } from '@h/turn';
import { isPlain, maxDepth, TooDeepError } from './json-copy.js';

/** Result of checking an input. */
export type InputCheck =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly string[] };

/**
 * Creates the check of a JSON Schema. It coerces no values and adds no defaults.
 *
 * Members that are not in the schema are removed, unless it allows others (`additionalProperties`, `patternProperties`,
 * `unevaluatedProperties`).
 */
export const jsonSchemaValidator = (
  schema: JSONObject,
  validator: SchemaValidator = schemaValidator(schema),
): ((input: unknown) => InputCheck) => {
  const strip = stripper(validator);
  return (input) => {
    const value = strip(input, [schema], 0);
    const issues = validator.check(value);
    return issues.length === 0 ? { ok: true, value } : { ok: false, issues: issues.map(described) };
  };
};

const described = ({ path, message }: SchemaIssue): string =>
  path.length === 0 ? message : `${path.join('.')}: ${message}`;

/** Removes the members of a value that none of the schemas names. All schemas apply to the value. */
type Strip = (value: unknown, schemas: readonly unknown[], depth: number) => unknown;

/** Returns a function that makes null-prototype copies. */
const stripper = ({ nodeOf }: SchemaValidator): Strip => {
  /** Returns the schema and all schemas that it includes by reference or combination. */
  const expanded = (schema: unknown, seen: Set<Schema>): readonly Schema[] => {
    if (!isPlain(schema) || seen.has(schema)) return [];
    seen.add(schema);
    const parts: unknown[] = [referred(schema), ...conditionals.map((key) => schema[key])];
    for (const key of combinators) {
      const members = schema[key];
      if (Array.isArray(members)) parts.push(...(members as readonly unknown[]));
    }
    for (const key of dependents) if (isPlain(schema[key])) parts.push(...Object.values(schema[key]));
    return [schema, ...parts.flatMap((part) => expanded(part, seen))];
  };

  /** Returns the schema that a schema references. An unresolved reference allows any member. */
  const referred = (schema: Schema): unknown =>
    references.some((key) => schema[key] !== undefined)
      ? (nodeOf(schema)?.target ?? { additionalProperties: true })
      : undefined;

  const memberSchemas = (schema: Schema, key: string): readonly unknown[] => {
    const { properties, additionalProperties, unevaluatedProperties } = schema;
    const found: unknown[] = [];
    if (isPlain(properties) && Object.hasOwn(properties, key)) found.push(properties[key]);
    for (const [expression, member] of nodeOf(schema)?.patternProperties ?? []) {
      if (expression.test(key)) found.push(member);
    }
    if (found.length === 0) {
      for (const rest of [additionalProperties, unevaluatedProperties]) if (isPlain(rest)) found.push(rest);
    }
    return found;
  };

  /** Whether a pattern names members, but was not compiled. */
  const hasUnknownNames = (schema: Schema): boolean =>
    isPlain(schema['patternProperties']) &&
    (nodeOf(schema)?.patternProperties.length ?? 0) < Object.keys(schema['patternProperties']).length;

  const strip: Strip = (value, schemas, depth) => {
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= maxDepth) throw new TooDeepError();
    const seen = new Set<Schema>();
    const applied = schemas.flatMap((schema) => expanded(schema, seen));
    if (Array.isArray(value)) {
      return value.map((item, index) =>
        strip(
          item,
          applied.flatMap((schema) => itemSchemas(schema, index)),
          depth + 1,
        ),
      );
    }
    if (!isPlain(value)) return value;
    const open = isOpen(applied) || applied.some(hasUnknownNames);
    const copy = Object.create(null) as Record<string, unknown>;
    for (const key of Object.keys(value)) {
      if (key === '__proto__') continue;
      const own = applied.flatMap((schema) => memberSchemas(schema, key));
      if (open || own.length > 0) copy[key] = strip(value[key], own, depth + 1);
    }
    return copy;
  };
  return strip;
};

const references = ['$ref', '$dynamicRef', '$recursiveRef'] as const;
const combinators = ['allOf', 'anyOf', 'oneOf'] as const;
const conditionals = ['if', 'then', 'else'] as const;
const dependents = ['dependentSchemas', 'dependencies'] as const;

/** Whether unnamed members are kept: a schema allows additional members, or no schema describes any. */
const isOpen = (schemas: readonly Schema[]): boolean => {
  const describing = schemas.filter((schema) =>
    ['properties', 'additionalProperties', 'unevaluatedProperties', 'patternProperties'].some((key) => key in schema),
  );
  const opens = (value: unknown): boolean => value === true || isPlain(value);
  return (
    describing.length === 0 ||
    describing.some((schema) => opens(schema['additionalProperties']) || opens(schema['unevaluatedProperties']))
  );
};

const itemSchemas = ({ items, prefixItems }: Schema, index: number): readonly unknown[] => {
  const listed = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
  if (index < listed.length) return [listed[index]];
  return items === undefined || Array.isArray(items) ? [] : [items];
};
