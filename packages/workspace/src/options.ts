import { InvalidOptionError, nearestName, showValue } from '@h/options';
import { printable } from '@h/paths';
import type * as z from 'zod';

/**
 * Checks options against a strict zod schema and fills in its defaults.
 *
 * @throws InvalidOptionError for the first invalid option
 */
export const parseOptions = <Schema extends z.ZodType>(
  factory: string,
  schema: Schema,
  options: unknown,
): z.output<Schema> => {
  const parsed = schema.safeParse(options);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0] as z.core.$ZodIssue;
  const owner = `${factory}()`;
  const fail = (option: string, problem: string): never => {
    const message = `${owner}: ${problem}`;
    throw new InvalidOptionError({ owner, option, message }, { cause: parsed.error });
  };
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0] ?? '';
    const near = issue.path.length === 0 ? nearestName(key, knownBy(schema)) : undefined;
    const option = printable(pathText([...issue.path, key]));
    const hint = near === undefined ? '' : ` Did you mean ${JSON.stringify(near)}?`;
    return fail(option, `unknown option ${JSON.stringify(option)}.${hint}`);
  }
  const option = pathText(issue.path);
  const received = showValue(valueAt(options, issue.path), option);
  return fail(option, `${JSON.stringify(option)} is not valid: ${issue.message}; received ${received}.`);
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
