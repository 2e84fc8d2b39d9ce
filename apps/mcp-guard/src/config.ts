import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ConfigError as FileError, parseConfig as parseFile } from '@h/config';
import { CodedError, readProblem } from '@h/options';
import { configSchema, type Config } from './config-schema.js';

/** The configuration is invalid. The message names the file, the line, the column and the key. */
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
    throw new ConfigError(readProblem(error, file), { cause: error });
  }
  return parseConfig(source, file, environment);
};

/**
 * Parses a configuration. Paths in it are relative to the folder of the file.
 *
 * @throws ConfigError
 */
export const parseConfig = (source: string, file: string, environment: NodeJS.ProcessEnv): Config => {
  try {
    const config = parseFile(source, file);
    const value = expandIn(config.value, [], environment, (path, name) => {
      const key = JSON.stringify(path.join('.'));
      const message = `${key} refers to the variable ${name}, which is not set. Set it, or remove it.`;
      throw new FileError([config.problem(path, message)]);
    });
    return absolute(config.check(configSchema, value), dirname(resolve(file)));
  } catch (error) {
    if (error instanceof FileError) throw new ConfigError(error.message, { cause: error });
    throw error;
  }
};

/** The configuration without a file. */
export const defaultConfig = (): Config => configSchema.parse({});

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
