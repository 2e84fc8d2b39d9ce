import { nearestName, showValue } from '@h/options';
import type * as z from 'zod';
import { printable } from './paths/printable.js';

/** An option that does not exist, is missing, or has a value it cannot have. The message names it and what it takes. */
export class WorkspaceOptionsError extends Error {
  readonly code = 'invalid-options';
  /** The option as a path, such as `permissions.read.deny[0]`; empty when it is the options as a whole. */
  readonly option: string;

  constructor(factory: string, option: string, problem: string, options?: ErrorOptions) {
    super(
      `${factory}: ${option === '' ? 'the options are' : `the option ${JSON.stringify(option)} is`} not valid: ${problem}`,
      options,
    );
    this.name = 'WorkspaceOptionsError';
    this.option = option;
  }
}

/**
 * Checks the options of a factory against a strict schema and fills in its defaults.
 *
 * @throws WorkspaceOptionsError that names the first option that is wrong.
 */
export const parseOptions = <Schema extends z.ZodType>(
  factory: string,
  schema: Schema,
  options: unknown,
): z.output<Schema> => {
  const parsed = schema.safeParse(options);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0] as z.core.$ZodIssue;
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0] ?? '';
    const meant = issue.path.length === 0 ? nearestName(key, knownBy(schema)) : undefined;
    const problem =
      meant === undefined
        ? 'there is no such option.'
        : `there is no such option; did you mean ${JSON.stringify(meant)}?`;
    throw new WorkspaceOptionsError(factory, printable(pathText([...issue.path, key])), problem, {
      cause: parsed.error,
    });
  }
  const option = pathText(issue.path);
  throw new WorkspaceOptionsError(
    factory,
    option,
    `${issue.message}; it was given ${showValue(valueAt(options, issue.path), option)}.`,
    { cause: parsed.error },
  );
};

const knownBy = (schema: z.ZodType): readonly string[] =>
  'shape' in schema ? Object.keys(schema.shape as object) : [];

const valueAt = (options: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, key) => (value as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[key],
    options,
  );

const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./u, '');
