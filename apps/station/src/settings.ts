import { join, resolve } from 'node:path';
import { ensureFolder } from '@h/files';
import { userFolder } from '@h/process';
import { UsageError, type StationArguments } from './arguments.js';
import { loadText, type LoadedConfig } from './config/load-config.js';
import { serviceSettings } from './config/service-settings.js';
import type { Backend } from './service/backend.js';
import { embeddedBackend } from './service/embedded.js';
import type { NatsSettings } from './service/nats.js';

/** Settings of the program, from its arguments and the configuration. */
export interface Settings {
  readonly host: string;
  readonly port: number;
  readonly data: string;
  readonly databaseUrl: string | undefined;
  readonly concurrency: number;
  readonly tenantConcurrency: number | undefined;
  readonly origins: readonly string[];
  readonly publicUrl: string | undefined;
  readonly maxBodyBytes: number;
  readonly approvalLinkTtlMs: number;
  readonly reservedForeground: number;
  readonly nats: NatsSettings | undefined;
}

/** @throws UsageError for a role that needs a database, or for two stores of sessions */
export const checkRole = (role: StationArguments['role'], { databaseUrl, nats }: Settings): void => {
  if (nats && databaseUrl !== undefined) {
    throw new UsageError(
      '--database-url shares sessions through PostgreSQL, but harness.nats.enabled stores them in NATS. Remove one of them.',
    );
  }
  if (role === 'all' || databaseUrl !== undefined) return;
  throw new UsageError(
    `--role ${role} needs --database-url or database.url_env: with files, one process does everything.`,
  );
};

/** @throws ConfigError if a variable of the configuration is not set */
export const settingsOf = (given: StationArguments, loaded: LoadedConfig | undefined): Settings => {
  const { config, source } = loaded ?? withoutFile();
  const service = serviceSettings(config, source, process.env);
  return {
    host: given.host ?? service.host,
    port: given.port ?? service.port,
    data: given.data ?? (loaded ? service.folder : stateFolder()),
    databaseUrl: given.databaseUrl ?? service.databaseUrl,
    concurrency: given.concurrency ?? config.lanes.concurrency,
    tenantConcurrency: config.lanes.per_tenant,
    origins: [...given.origins, ...service.corsOrigins],
    publicUrl: service.publicUrl,
    maxBodyBytes: service.maxBodyBytes,
    approvalLinkTtlMs: service.approvalLinkTtlMs,
    reservedForeground: config.lanes.reserved_foreground,
    nats: service.nats,
  };
};

/** The configuration of a start without a file: the defaults. */
export const withoutFile = (): LoadedConfig => loadText('', resolve('config.yaml'));

/** A start without a file belongs to the user and not to a folder. */
const stateFolder = (): string => join(userFolder('XDG_STATE_HOME', process.env), 'h/station');

/**
 * Opens files, with NATS for sessions if it is enabled, or PostgreSQL if its URL is set.
 *
 * @throws UsageError for a folder that cannot be created
 */
export const openBackend = async (
  { data, databaseUrl, concurrency, tenantConcurrency, reservedForeground, nats }: Settings,
  onProblem: (problem: unknown) => void,
): Promise<Backend> => {
  await ensureFolder(data).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(
      `The folder ${JSON.stringify(data)} cannot be created: ${reason}. Choose another one with --data or database.folder.`,
    );
  });
  const common = { concurrency, tenantConcurrency, reservedForeground, onProblem };
  if (databaseUrl === undefined) {
    const openStores = nats && (async () => (await import('./service/nats.js')).openNatsStores(nats, onProblem));
    return embeddedBackend({ ...common, directory: data, openStores });
  }
  const { postgresBackend } = await import('./service/postgres.js');
  return postgresBackend({ ...common, databaseUrl, directory: join(data, 'artifacts') });
};
