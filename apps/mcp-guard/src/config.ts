import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { CodedError, nearestName } from '@h/options';
import { isMap, LineCounter, parseDocument, type Document } from 'yaml';
import type * as z from 'zod';
import { configSchema, type Config } from './config-schema.js';

/** The configuration is invalid. The message names the file, the line and the key. */
export class ConfigError extends CodedError {
  constructor(message: string, options?: ErrorOptions) {
    super('invalid-config', message, options);
  }
}

/** Members whose values may refer to variables of the guard's environment, as `${NAME}`. */
const expanded: readonly (readonly string[])[] = [
  ['servers', '*', 'env', '*'],
  ['servers', '*', 'headers', '*'],
  ['servers', '*', 'url'],
  ['servers', '*', 'args', '*'],
  ['listen', 'token'],
];
const variable = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** @throws ConfigError if the file cannot be read or is not a valid configuration */
export const readConfig = (file: string, environment: NodeJS.ProcessEnv): Config => {
  let source: string;
  try {
    source = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`${file} cannot be read: ${(error as Error).message}.`, { cause: error });
  }
  return parseConfig(source, file, environment);
};

/**
 * Parses a configuration. Paths in it are relative to the folder of the file.
 *
 * @throws ConfigError
 */
export const parseConfig = (source: string, file: string, environment: NodeJS.ProcessEnv): Config => {
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, uniqueKeys: true });
  const [syntax] = document.errors;
  if (syntax !== undefined) {
    const { line } = lines.linePos(syntax.pos[0]);
    throw new ConfigError(`${file}:${line}: ${firstLine(syntax.message)}`, { cause: syntax });
  }
  const at = (path: readonly PropertyKey[]): string => `${file}:${lineOf(document, lines, path)}`;
  const value: unknown = plainValue(document, file) ?? {};
  const whole = expandIn(value, [], environment, (path, name) => {
    const key = path.join('.');
    throw new ConfigError(
      `${at(path)}: "${key}" refers to the variable ${name}, which is not set. Set it, or remove it.`,
    );
  });
  const parsed = configSchema.safeParse(whole);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new ConfigError(issue === undefined ? `${file} is invalid.` : describeIssue(issue, at));
  }
  return absolute(parsed.data, dirname(resolve(file)));
};

/** The configuration without a file. */
export const defaultConfig = (): Config => configSchema.parse({});

/** @throws ConfigError for an alias without an anchor, or too many aliases */
const plainValue = (document: Document, file: string): unknown => {
  try {
    return document.toJS({ maxAliasCount: 10 });
  } catch (error) {
    throw new ConfigError(`${file}: ${firstLine((error as Error).message)}.`, { cause: error });
  }
};

const firstLine = (message: string): string => message.split('\n')[0] ?? message;

const describeIssue = (issue: z.core.$ZodIssue, at: (path: readonly PropertyKey[]) => string): string => {
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    const path = [...issue.path, key];
    const known = keysAt(issue.path);
    const near = nearestName(key, known);
    const hint = near === undefined ? `Known keys: ${known.join(', ')}.` : `Did you mean ${JSON.stringify(near)}?`;
    return `${at(path)}: unknown key ${JSON.stringify(path.join('.'))}. ${hint}`;
  }
  const key = issue.path.join('.');
  return `${at(issue.path)}: ${key === '' ? 'the configuration' : JSON.stringify(key)} is invalid: ${issue.message}.`;
};

/** The keys that the schema knows at a path. */
const keysAt = (path: readonly PropertyKey[]): readonly string[] => {
  let schema: unknown = configSchema;
  for (const part of path) schema = childOf(unwrapped(schema), part);
  const { shape } = (unwrapped(schema) ?? {}) as { readonly shape?: object };
  return Object.keys(shape ?? {});
};

interface Definition {
  readonly innerType?: unknown;
  readonly valueType?: unknown;
  readonly element?: unknown;
}

const definitionOf = (schema: unknown): Definition => (schema as { readonly def?: Definition } | undefined)?.def ?? {};

const unwrapped = (schema: unknown): unknown => {
  const { innerType } = definitionOf(schema);
  return innerType === undefined ? schema : unwrapped(innerType);
};

const childOf = (schema: unknown, part: PropertyKey): unknown => {
  const { shape } = (schema ?? {}) as { readonly shape?: Readonly<Record<PropertyKey, unknown>> };
  if (shape !== undefined) return shape[part];
  const { valueType, element } = definitionOf(schema);
  return valueType ?? element;
};

/** The line of a key, or of the nearest one above it. */
const lineOf = (document: Document, lines: LineCounter, path: readonly PropertyKey[]): number => {
  for (let length = path.length; length > 0; length -= 1) {
    const parent = document.getIn(path.slice(0, length - 1), true);
    const key = path[length - 1];
    if (isMap(parent)) {
      const pair = parent.items.find((item) => String(item.key) === key);
      const { range } = (pair?.key ?? {}) as { readonly range?: readonly [number, number, number] };
      if (range !== undefined) return lines.linePos(range[0]).line;
    }
    const { range } = (document.getIn(path.slice(0, length), true) ?? {}) as { readonly range?: readonly number[] };
    if (range?.[0] !== undefined) return lines.linePos(range[0]).line;
  }
  return 1;
};

const expandIn = (
  value: unknown,
  path: readonly string[],
  environment: NodeJS.ProcessEnv,
  fail: (path: readonly string[], name: string) => never,
): unknown => {
  if (typeof value === 'string') {
    const isExpanded = expanded.some(
      (place) => place.length === path.length && place.every((part, index) => part === '*' || part === path[index]),
    );
    if (!isExpanded) return value;
    return value.replaceAll(variable, (_match, name: string) => environment[name] ?? fail(path, name));
  }
  if (Array.isArray(value)) {
    return value.map((item, index) => expandIn(item, [...path, String(index)], environment, fail));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, expandIn(item, [...path, key], environment, fail)]),
  );
};

/** Makes the paths of a configuration absolute. */
const absolute = (config: Config, folder: string): Config => {
  const path = <Value>(value: Value): Value => (typeof value === 'string' ? resolve(folder, value) : value) as Value;
  const { results, security, approvals, log, servers } = config;
  return {
    ...config,
    results: { ...results, artifacts: path(results.artifacts) },
    security: { ...security, pins: path(security.pins) },
    approvals: { ...approvals, file: path(approvals.file) },
    log: { ...log, file: path(log.file), recording: path(log.recording) },
    ...(servers !== undefined && {
      servers: Object.fromEntries(
        Object.entries(servers).map(([name, server]) => [
          name,
          server.command === undefined ? server : { ...server, cwd: path(server.cwd ?? '.') },
        ]),
      ),
    }),
  };
};
