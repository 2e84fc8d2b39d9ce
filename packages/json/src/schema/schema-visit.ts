import { canonicalJson } from '../canonical-json.js';
import type { SchemaNode } from './schema-index.js';

/** Why a value does not match a schema. */
export interface SchemaIssue {
  /** The keys that lead to the wrong part of the value. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** More issues tell a reader nothing, and their number may be exponential. */
const maxIssues = 100;

/** The result of a schema for a value. */
export interface Result {
  readonly issues: readonly SchemaIssue[];
  /** The members that the schema has evaluated, for schemas that ask for it. */
  readonly evaluated: Iterable<string>;
  /** Whether no expression was left out, so that a match is one. */
  readonly isCertain: boolean;
}

export const valid: Result = { issues: [], evaluated: [], isCertain: true };

/** A schema that is applied to a value: the keywords of the value itself, and its result. */
export class Visit implements Result {
  readonly value: unknown;
  readonly node: SchemaNode;
  readonly issues: SchemaIssue[] = [];
  readonly evaluated: Set<string> = new Set();
  isCertain = true;
  readonly #isTracked: boolean;

  constructor(value: unknown, node: SchemaNode, isTracked: boolean) {
    this.value = value;
    this.node = node;
    this.#isTracked = isTracked;
  }

  fail(message: string): void {
    if (this.issues.length < maxIssues) this.issues.push({ path: [], message });
  }

  /** Adds the result of another schema for the value, or for the name of a member. */
  include({ issues, evaluated, isCertain }: Result, name?: string): void {
    this.isCertain &&= isCertain;
    for (const issue of issues.slice(0, maxIssues - this.issues.length)) {
      this.issues.push(name === undefined ? issue : { ...issue, path: [name, ...issue.path] });
    }
    if (this.#isTracked && issues.length === 0) for (const key of evaluated) this.evaluated.add(key);
  }

  /** Adds the result of a schema for a member. */
  includeMember(key: string | number, { issues, isCertain }: Result): void {
    this.isCertain &&= isCertain;
    if (this.#isTracked) this.evaluated.add(String(key));
    for (const { path, message } of issues.slice(0, maxIssues - this.issues.length)) {
      this.issues.push({ path: [key, ...path], message });
    }
  }

  checkValue(): void {
    const { type, const: only, enum: choices } = this.node.keywords;
    const allowed = type === undefined || Array.isArray(type) ? listOf(type) : [type];
    if (type !== undefined && !allowed.some((name) => isOfType(this.value, name))) {
      this.fail(`Instance type ${quoted(typeOf(this.value))} is invalid. Expected ${allowed.map(quoted).join(', ')}.`);
    }
    if ('const' in this.node.keywords && !isEqual(this.value, only)) {
      this.fail(`Instance does not match ${JSON.stringify(only)}.`);
    }
    if (choices !== undefined && !listOf(choices).some((choice) => isEqual(this.value, choice))) {
      this.fail(`Instance does not match any of ${JSON.stringify(choices)}.`);
    }
  }
}

export const checkNumber = (visit: Visit, value: number): void => {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = visit.node.keywords as Readonly<
    Record<string, number | true | undefined>
  >;
  const [above, below] = [
    exclusiveMinimum === true ? minimum : exclusiveMinimum,
    exclusiveMaximum === true ? maximum : exclusiveMaximum,
  ];
  if (typeof minimum === 'number' && value < minimum) visit.fail(`${value} is less than ${minimum}.`);
  if (typeof maximum === 'number' && value > maximum) visit.fail(`${value} is greater than ${maximum}.`);
  if (typeof above === 'number' && value <= above) visit.fail(`${value} is less than or equal to ${above}.`);
  if (typeof below === 'number' && value >= below) visit.fail(`${value} is greater than or equal to ${below}.`);
  if (typeof multipleOf === 'number' && !isMultiple(value, multipleOf)) {
    visit.fail(`${value} is not a multiple of ${multipleOf}.`);
  }
};

/** `0.07` is a multiple of `0.01`, although its quotient is not an integer. */
const isMultiple = (value: number, divisor: number): boolean => {
  if (value % divisor === 0) return true;
  const quotient = value / divisor;
  return Math.abs(quotient - Math.round(quotient)) <= Math.abs(quotient) * Number.EPSILON;
};

export const checkUnique = (visit: Visit, items: readonly unknown[]): void => {
  const seen = new Map<unknown, number>();
  for (const [index, item] of items.entries()) {
    // A prefix separates objects from strings that look like them.
    const key = typeof item === 'object' && item !== null ? `\0${canonicalJson(item) ?? index}` : item;
    const earlier = seen.get(key);
    if (earlier !== undefined) return visit.fail(`Duplicate items at indexes ${earlier} and ${index}.`);
    seen.set(key, index);
  }
};

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

const isOfType = (value: unknown, type: unknown): boolean =>
  type === 'integer' ? Number.isInteger(value) : typeOf(value) === type;

const isEqual = (value: unknown, other: unknown): boolean => {
  if (typeof value !== 'object' || value === null || typeof other !== 'object') return value === other;
  const text = canonicalJson(value);
  return text !== undefined && text === canonicalJson(other);
};

export const quoted = (name: unknown): string => JSON.stringify(name);

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
