import type * as z from 'zod';
import { printable } from './paths/printable.js';

/** An option that does not exist, is missing, or has a value it cannot have. The message names it and what it takes. */
export class WorkspaceOptionsError extends Error {
  readonly code = 'invalid-options';
  /** The option as a path, such as `permissions.read.deny[0]`; empty when it is the options as a whole. */
  readonly option: string;

  constructor(factory: string, option: string, problem: string, options?: ErrorOptions) {
    super(`${factory}: ${option === '' ? 'the options are' : `the option ${JSON.stringify(option)} is`} not valid: ${problem}`, options);
    this.name = 'WorkspaceOptionsError';
    this.option = option;
  }
}

/**
 * Checks the options of a factory against a strict schema and fills in its defaults.
 *
 * @throws WorkspaceOptionsError that names the first option that is wrong.
 */
export const parseOptions = <Schema extends z.ZodType>(factory: string, schema: Schema, options: unknown): z.output<Schema> => {
  const parsed = schema.safeParse(options);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0] as z.core.$ZodIssue;
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0] ?? '';
    throw new WorkspaceOptionsError(factory, printable(pathText([...issue.path, key])), 'there is no such option.', { cause: parsed.error });
  }
  throw new WorkspaceOptionsError(factory, pathText(issue.path), `${issue.message}.`, { cause: parsed.error });
};

const pathText = (path: readonly PropertyKey[]): string =>
  path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('').replace(/^\./u, '');
