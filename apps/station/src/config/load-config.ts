import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ConfigError, parseConfig, type ConfigFile } from '@h/config';
import { readProblem } from '@h/options';
import { configSchema, type StationConfig } from './schema.js';

/** A configuration and the file that it was read from. */
export interface LoadedConfig {
  readonly config: StationConfig;
  readonly source: ConfigFile;
}

/**
 * Reads `config.yaml`.
 *
 * @throws ConfigError if the file cannot be read or is invalid
 */
export const loadConfig = (file: string): LoadedConfig => loadText(readText(file), file);

/**
 * Checks a configuration. Paths in it are relative to the folder of the file.
 *
 * @throws ConfigError
 */
export const loadText = (text: string, file: string): LoadedConfig => {
  const source = parseConfig(text, file);
  return { source, config: absolute(source.check(configSchema), dirname(resolve(file))) };
};

/** @throws ConfigError if the file cannot be read */
export const readText = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const message = readProblem(error, 'the file');
    throw new ConfigError([{ file, line: 1, column: 1, key: '', message }], { cause: error });
  }
};

const absolute = (config: StationConfig, folder: string): StationConfig => {
  const { harness, database } = config;
  const path = (relative: string): string => resolve(folder, relative);
  return {
    ...config,
    agents: path(config.agents),
    workflows: path(config.workflows),
    database: { ...database, folder: path(database.folder) },
    harness: { ...harness, workspace: { ...harness.workspace, path: path(harness.workspace.path) } },
  };
};
