import { ConfigError, type ConfigFile } from '@h/config';
import type { LanesOptions } from '@h/queue';
import type { StationConfig } from './schema.js';

/** The part of a configuration that the service reads. */
export interface ServiceSettings {
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string | undefined;
  readonly corsOrigins: readonly string[];
  readonly maxBodyBytes: number;
  /** Folder of the embedded database. */
  readonly folder: string;
  /** PostgreSQL to use instead of the folder. */
  readonly databaseUrl: string | undefined;
  readonly lanes: LanesOptions;
  readonly approvalTimeoutMs: number;
  readonly approvalLinkTtlMs: number;
}

/**
 * Translates the sections `server`, `database`, `lanes` and `approvals`.
 *
 * @throws ConfigError if the variable of the database URL is not set
 */
export const serviceSettings = (
  { server, database, lanes, approvals }: StationConfig,
  source: ConfigFile,
  environment: Readonly<Record<string, string | undefined>>,
): ServiceSettings => {
  const { url_env: variable } = database;
  const databaseUrl = variable === undefined ? undefined : (environment[variable] ?? '');
  if (databaseUrl === '') {
    const message = `the variable ${variable} of "database.url_env" is not set. Set it to a URL such as postgres://user@host/name.`;
    throw new ConfigError([source.problem(['database', 'url_env'], message)]);
  }
  const tenants = lanes.per_tenant === undefined ? {} : { tenant: { concurrency: lanes.per_tenant } };
  return {
    host: server.host,
    port: server.port,
    publicUrl: server.public_url,
    corsOrigins: server.cors_origins,
    maxBodyBytes: server.max_body,
    folder: database.folder,
    databaseUrl,
    lanes: { concurrency: lanes.concurrency, reservedForeground: lanes.reserved_foreground, groups: tenants },
    approvalTimeoutMs: approvals.timeout,
    approvalLinkTtlMs: approvals.link_ttl,
  };
};
