import { formats } from './formats.js';
import { indexSchema, isObject, type Schema, type SchemaIndex, type SchemaNode } from './schema-index.js';
import {
  checkNumber,
  checkUnique,
  listOf,
  quoted,
  valid,
  Visit,
  type Result,
  type SchemaIssue,
} from './schema-visit.js';

/** Options of {@link schemaValidator}. */
export interface SchemaValidatorOptions {
  /**
   * Whether regular expressions (`pattern`, `patternProperties`) and formats are checked. `false` for a schema that you
   * do not trust: an expression with exponential time would block the process. Whatever depends on them is then
   * allowed.
   *
   * @defaultValue `true`
   */
  readonly hasPatterns?: boolean | undefined;
}

/** Checks values against one schema. */
export interface SchemaValidator {
  /** What is wrong with the schema itself: those keywords and references are ignored. Empty for a valid schema. */
  readonly problems: readonly string[];
  /** Returns the issues of a value, at most 100; none if it matches. */
  readonly check: (value: unknown) => readonly SchemaIssue[];
  /** Returns what the keywords of a schema in this document refer to. */
  readonly nodeOf: (schema: Schema) => SchemaNode | undefined;
}

/**
 * Creates a validator for a JSON Schema (2020-12 unless `$schema` names another draft). It coerces no values and adds
 * no defaults. Nothing is compiled to code, and nothing is fetched.
 *
 * Apart from the regular expressions of the schema, a check takes polynomial time: a recursive schema is applied to each
 * part of a value once, however many alternatives lead there. The result is shared, also for equal primitive values.
 *
 * @example
 * ```ts
 * schemaValidator({ type: 'object', required: ['path'] }).check({}); // [{ path: [], message: '…' }]
 * ```
 */
export const schemaValidator = (
  schema: Schema,
  { hasPatterns = true }: SchemaValidatorOptions = {},
): SchemaValidator => {
  const index = indexSchema(schema, hasPatterns);
  return {
    problems: index.problems,
    check: (value) => new Check(index, hasPatterns).issuesOf(value, schema),
    nodeOf: (inner) => index.nodes.get(inner),
  };
};

/** Maximum number of times that a value is checked; more than 2 need several entangled cycles. */
const maxRounds = 10;

/** The result of a reference while it is computed. */
class Assumption {
  isUsed = false;
  readonly result: Result;

  constructor(result: Result) {
    this.result = result;
  }
}

/** A map whose keys are pairs. */
class PairMap<Item> {
  readonly #maps = new Map<unknown, Map<unknown, Item>>();

  get(first: unknown, second: unknown): Item | undefined {
    return this.#maps.get(first)?.get(second);
  }

  set(first: unknown, second: unknown, item: Item): void {
    const inner = this.#maps.get(first) ?? new Map<unknown, Item>();
    this.#maps.set(first, inner.set(second, item));
  }

  clear(): void {
    this.#maps.clear();
  }
}

/** One check of a value. */
class Check {
  readonly #index: SchemaIndex;
  readonly #hasPatterns: boolean;
  /** Results of the targets of references: only through them, one schema is applied to a value repeatedly. */
  readonly #known = new PairMap<Result | Assumption>();
  /** Results that refute an assumption, for the next round. */
  readonly #refuted = new PairMap<Result>();
  #isRefuted = false;

  constructor(index: SchemaIndex, hasPatterns: boolean) {
    this.#index = index;
    this.#hasPatterns = hasPatterns;
  }

  /**
   * A reference that leads back to itself is assumed to match. If it does not, the results of the round are discarded,
   * and the next one knows.
   */
  issuesOf(value: unknown, schema: unknown): readonly SchemaIssue[] {
    for (let round = 0; round < maxRounds; round += 1) {
      this.#known.clear();
      this.#isRefuted = false;
      const { issues } = this.visit(value, schema);
      if (!this.#isRefuted) return issues;
    }
    return [{ path: [], message: 'The references of the schema lead back to themselves too often.' }];
  }

  visit(value: unknown, schema: unknown): Result {
    if (schema === false) return { ...valid, issues: [{ path: [], message: 'It is not allowed.' }] };
    const node = isObject(schema) ? this.#index.nodes.get(schema) : undefined;
    if (node === undefined) return valid;
    const visit = new Visit(value, node, this.#index.hasUnevaluated);
    if (node.target !== undefined) visit.include(this.#shared(value, node.target));
    visit.checkValue();
    this.#combine(visit);
    if (Array.isArray(value)) this.#checkItems(visit, value);
    else if (isObject(value)) this.#checkMembers(visit, value);
    else if (typeof value === 'number') checkNumber(visit, value);
    else if (typeof value === 'string') this.#checkString(visit, value);
    return visit;
  }

  #shared(value: unknown, schema: unknown): Result {
    const known = this.#known.get(schema, value);
    if (known instanceof Assumption) {
      known.isUsed = true;
      return known.result;
    }
    if (known !== undefined) return known;
    const assumption = new Assumption(this.#refuted.get(schema, value) ?? valid);
    this.#known.set(schema, value, assumption);
    const result = this.visit(value, schema);
    this.#known.set(schema, value, result);
    if (assumption.isUsed && assumption.result === valid && result.issues.length > 0) {
      this.#refuted.set(schema, value, result);
      this.#isRefuted = true;
    }
    return result;
  }

  #combine(visit: Visit): void {
    const { value, node } = visit;
    const { not, allOf, anyOf, oneOf, if: condition, then, else: otherwise } = node.keywords;
    if (not !== undefined) {
      const { issues, isCertain } = this.visit(value, not);
      if (issues.length > 0 || !isCertain) visit.isCertain &&= isCertain;
      else visit.fail('Instance matched "not" schema.');
    }
    for (const schema of listOf(allOf)) visit.include(this.visit(value, schema));
    for (const [schemas, isExclusive] of [
      [anyOf, false],
      [oneOf, true],
    ] as const) {
      if (schemas === undefined) continue;
      const results = listOf(schemas).map((schema) => this.visit(value, schema));
      const matches = results.filter(({ issues }) => issues.length === 0);
      const certain = matches.filter(({ isCertain }) => isCertain);
      if (matches.length > 0 && (!isExclusive || matches.length === 1 || certain.length < 2)) {
        for (const match of matches) visit.include(match);
        continue;
      }
      visit.fail(
        isExclusive
          ? `Instance does not match exactly one subschema (${matches.length} matches).`
          : 'Instance does not match any subschemas.',
      );
      for (const result of results) visit.include(result);
    }
    if (condition === undefined) return;
    const tested = this.visit(value, condition);
    const isMet = tested.issues.length === 0;
    if (isMet) visit.include(tested);
    if (isMet && !tested.isCertain) return;
    const consequence = isMet ? then : otherwise;
    if (consequence !== undefined) visit.include(this.visit(value, consequence));
  }

  #checkMembers(visit: Visit, value: Schema): void {
    const { keywords, patternProperties } = visit.node;
    const keys = Object.keys(value).filter((key) => value[key] !== undefined);
    const present = new Set(keys);
    const { minProperties, maxProperties, propertyNames, dependencies } = keywords;
    for (const name of listOf(keywords['required'])) {
      if (!present.has(name as string)) visit.fail(`Instance does not have required property ${quoted(name)}.`);
    }
    if (keys.length < (minProperties as number)) {
      visit.fail(`Instance has less than ${String(minProperties)} properties.`);
    }
    if (keys.length > (maxProperties as number)) {
      visit.fail(`Instance has more than ${String(maxProperties)} properties.`);
    }
    if (propertyNames !== undefined) for (const key of keys) visit.include(this.visit(key, propertyNames), key);
    for (const [key, dependent] of entriesOf(keywords['dependentRequired'], dependencies)) {
      if (!present.has(key)) continue;
      for (const name of listOf(dependent)) {
        if (!present.has(name as string)) visit.fail(`Instance has ${quoted(key)} but does not have ${quoted(name)}.`);
      }
    }
    for (const [key, dependent] of entriesOf(keywords['dependentSchemas'], dependencies)) {
      if (present.has(key) && !Array.isArray(dependent)) visit.include(this.visit(value, dependent));
    }
    const properties = (keywords['properties'] ?? {}) as Schema;
    const { additionalProperties, unevaluatedProperties } = keywords;
    const rest: string[] = [];
    for (const key of keys) {
      const named = Object.hasOwn(properties, key) ? [properties[key]] : [];
      for (const [expression, schema] of patternProperties) if (expression.test(key)) named.push(schema);
      if (named.length === 0) rest.push(key);
      for (const schema of named) visit.includeMember(key, this.visit(value[key], schema));
    }
    const hasUntestedPatterns = !this.#hasPatterns && keywords['patternProperties'] !== undefined;
    if (hasUntestedPatterns) visit.isCertain = false;
    else if (additionalProperties !== undefined) this.#checkRest(visit, value, rest, additionalProperties);
    if (unevaluatedProperties !== undefined && visit.issues.length === 0 && visit.isCertain) {
      this.#checkRest(
        visit,
        value,
        keys.filter((key) => !visit.evaluated.has(key)),
        unevaluatedProperties,
      );
    }
  }

  #checkRest(visit: Visit, value: Schema, keys: readonly string[], schema: unknown): void {
    for (const key of keys) {
      if (schema === false) visit.fail(`Property ${quoted(key)} is not allowed.`);
      else visit.includeMember(key, this.visit(value[key], schema));
    }
  }

  #checkItems(visit: Visit, items: readonly unknown[]): void {
    const { keywords } = visit.node;
    const { minItems, maxItems, contains, uniqueItems, unevaluatedItems } = keywords;
    if (items.length > (maxItems as number)) {
      visit.fail(`Array has too many items (${items.length} > ${String(maxItems)}).`);
    }
    if (items.length < (minItems as number)) {
      visit.fail(`Array has too few items (${items.length} < ${String(minItems)}).`);
    }
    const tuple = listOf(keywords['prefixItems'] ?? keywords['items']);
    const rest = Array.isArray(keywords['items']) ? keywords['additionalItems'] : keywords['items'];
    for (const [index, item] of items.entries()) {
      const schema = index < tuple.length ? tuple[index] : rest;
      if (schema !== undefined) visit.includeMember(index, this.visit(item, schema));
    }
    if (contains !== undefined) this.#checkContained(visit, items, contains);
    if (unevaluatedItems !== undefined && visit.issues.length === 0 && visit.isCertain) {
      for (const [index, item] of items.entries()) {
        if (!visit.evaluated.has(String(index))) visit.includeMember(index, this.visit(item, unevaluatedItems));
      }
    }
    if (uniqueItems === true) checkUnique(visit, items);
  }

  #checkContained(visit: Visit, items: readonly unknown[], contains: unknown): void {
    const { minContains = 1, maxContains = Infinity } = visit.node.keywords as Readonly<Record<string, number>>;
    let count = 0;
    let certain = 0;
    for (const [index, item] of items.entries()) {
      const { issues, isCertain } = this.visit(item, contains);
      visit.isCertain &&= isCertain;
      if (issues.length > 0) continue;
      count += 1;
      if (isCertain) certain += 1;
      visit.evaluated.add(String(index));
    }
    if (count < minContains) {
      visit.fail(`Array has ${count} items that "contains" describes; at least ${minContains} are required.`);
    }
    if (certain > maxContains) {
      visit.fail(`Array has ${certain} items that "contains" describes; at most ${maxContains} are allowed.`);
    }
  }

  #checkString(visit: Visit, text: string): void {
    const { minLength, maxLength, format } = visit.node.keywords as {
      readonly minLength?: number;
      readonly maxLength?: number;
      readonly format?: string;
    };
    if (minLength !== undefined || maxLength !== undefined) {
      const length = charactersIn(text);
      if (length < (minLength ?? 0)) visit.fail(`String is too short (${length} < ${minLength}).`);
      if (length > (maxLength ?? Infinity)) visit.fail(`String is too long (${length} > ${maxLength}).`);
    }
    if (!this.#hasPatterns) {
      if (format !== undefined || 'pattern' in visit.node.keywords) visit.isCertain = false;
      return;
    }
    const { pattern } = visit.node;
    if (pattern?.test(text) === false) visit.fail(`String does not match the pattern ${pattern.source}.`);
    if (format !== undefined && formats.get(format)?.(text) === false) {
      visit.fail(`String does not match format ${quoted(format)}.`);
    }
  }
}

const charactersIn = (text: string): number => {
  let count = 0;
  for (const _character of text) count += 1;
  return count;
};

const entriesOf = (...values: readonly unknown[]): readonly (readonly [string, unknown])[] =>
  values.flatMap((value) => (isObject(value) ? Object.entries(value) : []));
