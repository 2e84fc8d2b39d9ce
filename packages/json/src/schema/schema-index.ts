import { expressionOf } from './formats.js';
import { schemaDraft } from './schema-draft.js';

/** A JSON Schema that is an object. */
export type Schema = Readonly<Record<string, unknown>>;

/** A schema with what its keywords refer to. */
export interface SchemaNode {
  /** The keywords that have a valid value. */
  readonly keywords: Schema;
  /** The target of its reference. */
  target: unknown;
  readonly pattern: RegExp | undefined;
  readonly patternProperties: readonly (readonly [RegExp, unknown])[];
}

/** All schemas of a document. */
export interface SchemaIndex {
  readonly nodes: ReadonlyMap<Schema, SchemaNode>;
  /** Whether a schema depends on which members other schemas have evaluated. */
  readonly hasUnevaluated: boolean;
  readonly problems: readonly string[];
}

/** Returns whether a value is an object that is not an array. */
export const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Resolves the references and compiles the expressions of a schema. Keywords with a wrong value are reported and
 * ignored. With `hasPatterns: false`, no expression is compiled.
 */
export const indexSchema = (root: Schema, hasPatterns: boolean): SchemaIndex => new Indexer(root, hasPatterns);

const types: readonly unknown[] = ['null', 'boolean', 'object', 'array', 'number', 'integer', 'string'];

const isSchema = (value: unknown): boolean => typeof value === 'boolean' || isObject(value);
const isSchemas = (value: unknown): boolean => Array.isArray(value) && value.every(isSchema);
const isNames = (value: unknown): boolean => Array.isArray(value) && value.every((name) => typeof name === 'string');
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);
const mapOf =
  (accepts: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    isObject(value) && Object.values(value).every(accepts);

/** The values that keywords accept. */
const keywordValues: ReadonlyMap<string, (value: unknown) => boolean> = new Map(
  (
    [
      [(value) => (Array.isArray(value) ? value : [value]).every((type) => types.includes(type)), ['type']],
      [Array.isArray, ['enum']],
      [isNames, ['required']],
      [(value) => typeof value === 'string', ['$ref', '$recursiveRef', '$dynamicRef', 'format', 'pattern']],
      [(value) => isSchema(value) || isSchemas(value), ['items']],
      [isSchemas, ['allOf', 'anyOf', 'oneOf', 'prefixItems']],
      [isSchema, ['additionalItems', 'unevaluatedItems', 'contains', 'additionalProperties', 'unevaluatedProperties']],
      [isSchema, ['propertyNames', 'not', 'if', 'then', 'else']],
      [mapOf(isSchema), ['$defs', 'definitions', 'properties', 'patternProperties', 'dependentSchemas']],
      [mapOf((value) => isNames(value) || isSchema(value)), ['dependencies']],
      [mapOf(isNames), ['dependentRequired']],
      [isNumber, ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties']],
      [isNumber, ['maxProperties', 'minContains', 'maxContains']],
      [(value) => isNumber(value) || typeof value === 'boolean', ['exclusiveMinimum', 'exclusiveMaximum']],
      [(value) => isNumber(value) && (value as number) > 0, ['multipleOf']],
    ] satisfies readonly (readonly [(value: unknown) => boolean, readonly string[]])[]
  ).flatMap(([accepts, keys]) => keys.map((key) => [key, accepts])),
);

/** The base of schemas without an identifier. Nothing is fetched from it. */
const noBase = 'schema:/';

/** Maximum length of an identifier that is resolved against its base. */
const maxIdLength = 2_000;

class Indexer implements SchemaIndex {
  readonly nodes = new Map<Schema, SchemaNode>();
  readonly problems: string[] = [];
  hasUnevaluated = false;
  readonly #draft: ReturnType<typeof schemaDraft>;
  readonly #hasPatterns: boolean;
  /** Documents and anchors by their absolute URI. */
  readonly #named = new Map<string, unknown>();
  readonly #references: { readonly node: SchemaNode; readonly base: string; readonly path: string }[] = [];

  constructor(root: Schema, hasPatterns: boolean) {
    this.#draft = schemaDraft(root);
    this.#hasPatterns = hasPatterns;
    this.#named.set(noBase, root);
    this.#add(root, noBase, '');
    // A target outside of the keywords is added here, with its own references.
    for (const { node, base, path } of this.#references) this.#resolve(node, base, path);
  }

  #add(schema: unknown, outer: string, path: string): void {
    if (!isObject(schema) || this.nodes.has(schema)) return;
    const base = this.#nameOf(schema, outer, path);
    const keywords: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(schema)) {
      if (keywordValues.get(key)?.(value) ?? true) keywords[key] = value;
      else this.problems.push(`${at(path)}"${key}" has an invalid value, ${JSON.stringify(value)?.slice(0, 40)}`);
    }
    if ((this.#draft === '4' || this.#draft === '7') && '$ref' in keywords) {
      for (const key of Object.keys(keywords)) if (!isKeptBesideReference(key)) Reflect.deleteProperty(keywords, key);
    }
    const node = { keywords, target: undefined, ...this.#expressions(keywords, path) };
    this.nodes.set(schema, node);
    this.hasUnevaluated ||= 'unevaluatedProperties' in keywords || 'unevaluatedItems' in keywords;
    if (referenceOf(node) !== undefined) this.#references.push({ node, base, path });
    for (const [key, value] of Object.entries(keywords)) {
      if (!keywordValues.has(key) || key === 'enum' || typeof value !== 'object' || value === null) continue;
      const parts = Array.isArray(value) || isMap(key) ? Object.entries(value) : undefined;
      if (parts === undefined) this.#add(value, base, `${path}/${key}`);
      for (const [name, part] of parts ?? []) this.#add(part, base, `${path}/${key}/${name}`);
    }
  }

  /** Registers the names of a schema and returns the base of its references. */
  #nameOf(schema: Schema, outer: string, path: string): string {
    const id = schema[this.#draft === '4' ? 'id' : '$id'];
    const named = typeof id === 'string' ? absolute(id, outer) : undefined;
    // Each anchor below repeats the base.
    const isTooLong = named !== undefined && named.length > maxIdLength;
    if (isTooLong) this.problems.push(`${at(path)}"$id" is longer than ${maxIdLength} characters`);
    const uri = isTooLong ? undefined : named;
    if (uri !== undefined) this.#named.set(uri, schema);
    const base = uri === undefined || uri.includes('#') ? outer : uri;
    for (const key of ['$anchor', '$dynamicAnchor']) {
      const anchor = schema[key];
      if (typeof anchor === 'string') this.#named.set(`${base}#${anchor}`, schema);
    }
    return base;
  }

  #expressions(keywords: Schema, path: string): Pick<SchemaNode, 'pattern' | 'patternProperties'> {
    if (!this.#hasPatterns) return { pattern: undefined, patternProperties: [] };
    const compiled = (key: string, pattern: string): RegExp | undefined => {
      const expression = expressionOf(pattern);
      if (expression === undefined) this.problems.push(`${at(path)}"${key}" has an invalid expression, ${pattern}`);
      return expression;
    };
    const { pattern, patternProperties } = keywords;
    return {
      pattern: pattern === undefined ? undefined : compiled('pattern', pattern as string),
      patternProperties: Object.entries((patternProperties ?? {}) as Schema).flatMap(([key, schema]) => {
        const expression = compiled('patternProperties', key);
        return expression === undefined ? [] : [[expression, schema] as const];
      }),
    };
  }

  #resolve(node: SchemaNode, base: string, path: string): void {
    const reference = referenceOf(node) as string;
    const uri = absolute(reference, base);
    const [document = '', fragment = ''] = uri?.split('#', 2) ?? [];
    node.target =
      uri === undefined ? undefined : (this.#named.get(uri) ?? pointed(this.#named.get(document), fragment));
    if (!isSchema(node.target)) {
      node.target = undefined;
      this.problems.push(`${at(path)}"$ref" has no target, ${reference}`);
    }
    this.#add(node.target, document, path);
  }
}

const isMap = (key: string): boolean =>
  ['$defs', 'definitions', 'properties', 'patternProperties', 'dependentSchemas', 'dependencies'].includes(key);

const isKeptBesideReference = (key: string): boolean => ['$ref', '$defs', 'definitions'].includes(key);

/** Dynamic references are resolved like static ones. */
const referenceOf = ({ keywords }: SchemaNode): string | undefined =>
  (keywords['$ref'] ?? keywords['$dynamicRef'] ?? keywords['$recursiveRef']) as string | undefined;

const at = (path: string): string => (path === '' ? '' : `${path}: `);

/** Returns an absolute URI without an empty fragment; `undefined` if the reference is malformed. */
const absolute = (reference: string, base: string): string | undefined => {
  if (reference.startsWith('#')) return reference === '#' ? base : `${base}${reference}`;
  return URL.canParse(reference, base) ? new URL(reference, base).href.replace(/#$/, '') : undefined;
};

/** Returns what a JSON pointer in a fragment refers to. */
const pointed = (document: unknown, fragment: string): unknown => {
  if (fragment !== '' && !fragment.startsWith('/')) return undefined;
  let place = document;
  for (const segment of fragment.split('/').slice(1)) {
    const key = decoded(segment).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, key)) return undefined;
    place = (place as Schema)[key];
  }
  return place;
};

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};
