import { ConfigError, type ConfigFile } from '@h/config';
import type { LanesOptions } from '@h/queue';
import type { NatsSettings } from '../service/nats.js';
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
  readonly approvalLinkTtlMs: number;
  /** NATS for sessions and artifacts. */
  readonly nats: NatsSettings | undefined;
}

/**
 * Translates the sections `server`, `database`, `lanes`, `approvals` and `harness.nats`.
 *
 * @throws ConfigError if a variable is not set, or NATS is combined with PostgreSQL
 */
export const serviceSettings = (
  { server, database, lanes, approvals, harness: { nats } }: StationConfig,
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
    approvalLinkTtlMs: approvals.link_ttl,
    nats: nats.enabled ? natsSettings(nats, databaseUrl, source, environment) : undefined,
  };
};

const natsSettings = (
  nats: StationConfig['harness']['nats'],
  databaseUrl: string | undefined,
  source: ConfigFile,
  environment: Readonly<Record<string, string | undefined>>,
): NatsSettings => {
  if (databaseUrl !== undefined) {
    const message =
      'NATS stores sessions of one process, but "database.url_env" shares them through PostgreSQL. Disable one of them.';
    throw new ConfigError([source.problem(['harness', 'nats', 'enabled'], message)]);
  }
  const { token_env: variable } = nats;
  const token = variable === undefined ? undefined : (environment[variable] ?? '');
  if (token === '') {
    const message = `the variable ${variable} of "harness.nats.token_env" is not set. Set it to the token of the NATS servers.`;
    throw new ConfigError([source.problem(['harness', 'nats', 'token_env'], message)]);
  }
  return {
    servers: nats.servers,
    token,
    sessionBucket: nats.kv_bucket,
    artifactBucket: nats.object_bucket,
    maxFileBytes: nats.max_file_size,
    ttlMs: nats.ttl,
  };
};
