import { homedir } from 'node:os';
import { join } from 'node:path';
import { UsageError, type StationArguments } from './arguments.js';
import type { LoadedConfig } from './config/load-config.js';
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
  readonly maxBodyBytes: number | undefined;
  readonly approvalLinkTtlMs: number | undefined;
  readonly reservedForeground: number | undefined;
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
  const service = loaded && serviceSettings(loaded.config, loaded.source, process.env);
  const state = process.env['XDG_STATE_HOME'] ?? join(homedir(), '.local/state');
  return {
    host: given.host ?? service?.host ?? '127.0.0.1',
    port: given.port ?? service?.port ?? 4700,
    data: given.data ?? service?.folder ?? join(state, 'h/station'),
    databaseUrl: given.databaseUrl ?? service?.databaseUrl,
    concurrency: given.concurrency ?? service?.lanes.concurrency ?? 4,
    tenantConcurrency: loaded?.config.lanes.per_tenant,
    origins: [...given.origins, ...(service?.corsOrigins ?? [])],
    publicUrl: service?.publicUrl,
    maxBodyBytes: service?.maxBodyBytes,
    approvalLinkTtlMs: service?.approvalLinkTtlMs,
    reservedForeground: service?.lanes.reservedForeground,
    nats: service?.nats,
  };
};

/** Opens files, with NATS for sessions if it is enabled, or PostgreSQL if its URL is set. */
export const openBackend = async (
  { data, databaseUrl, concurrency, tenantConcurrency, reservedForeground, nats }: Settings,
  onProblem: (problem: unknown) => void,
): Promise<Backend> => {
  const common = { concurrency, tenantConcurrency, reservedForeground, onProblem };
  if (databaseUrl === undefined) {
    const openStores = nats && (async () => (await import('./service/nats.js')).openNatsStores(nats, onProblem));
    return embeddedBackend({ ...common, directory: data, openStores });
  }
  const { postgresBackend } = await import('./service/postgres.js');
  return postgresBackend({ ...common, databaseUrl, directory: join(data, 'artifacts') });
};
