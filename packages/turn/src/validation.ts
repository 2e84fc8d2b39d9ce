import type * as z from 'zod';
import { InvalidInputError } from './errors.js';

const maxShown = 80;

/**
 * Checks a value from outside and returns it unchanged.
 *
 * The error names the source, the path, the value found there and what was expected.
 */
export const checked = <Value>(schema: z.ZodType<Value>, value: unknown, what: string): Value => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return value as Value;
  throw new InvalidInputError(`${what} is not valid: ${explain(parsed.error, value)}`, { cause: parsed.error });
};

const explain = (error: z.ZodError, value: unknown): string => {
  const issue = deepest(error.issues[0] as z.core.$ZodIssue);
  const path = issue.path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  const found = issue.path.reduce<unknown>(
    (inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key],
    value,
  );
  return `at ${path === '' ? 'the top' : path.replace(/^\./, '')}, found ${show(found)}: ${issue.message}`;
};

/** Selects the form of a union that matches the value best, to explain what is wrong with it. */
const deepest = (issue: z.core.$ZodIssue): z.core.$ZodIssue => {
  if (issue.code !== 'invalid_union') return issue;
  const inner = issue.errors
    .flatMap((errors) => (errors[0] ? [deepest(errors[0])] : []))
    .toSorted((left, right) => right.path.length - left.path.length)[0];
  return inner && inner.path.length > 0 ? { ...inner, path: [...issue.path, ...inner.path] } : issue;
};

const show = (value: unknown): string => {
  if (value === undefined) return 'nothing';
  const text = typeof value === 'string' ? JSON.stringify(value) : safeJson(value);
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
};

const safeJson = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
};
