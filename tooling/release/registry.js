/** A registry on loopback that has the packages of a rehearsed release and reads everything else from the usual registry. */
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** @typedef {{ url: string, env: NodeJS.ProcessEnv, stop: () => Promise<void> }} Registry `env` selects it for npm. */

const run = promisify(execFile);
const shell = process.platform === 'win32';
const folder = fileURLToPath(new URL('registry', import.meta.url));
const program = join(folder, 'node_modules/verdaccio/bin/verdaccio');

/** Longest start of the registry. */
const startTimeoutMs = 60_000;

/** @type {() => Promise<number>} */
const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });

/** @type {(upstream: string) => string} */
const configuration = (upstream) =>
  JSON.stringify({
    storage: './storage',
    auth: { htpasswd: { file: './htpasswd' } },
    uplinks: { upstream: { url: upstream, timeout: '60s', maxage: '60m' } },
    packages: {
      '@h/*': { access: '$all', publish: '$all' },
      'create-h': { access: '$all', publish: '$all' },
      '**': { access: '$all', proxy: 'upstream' },
    },
    max_body_size: '100mb',
    log: { type: 'stdout', format: 'pretty', level: 'warn' },
  });

/**
 * Starts a registry whose data is in a folder. The first start installs the registry.
 *
 * @type {(data: string) => Promise<Registry>}
 */
export const startRegistry = async (data) => {
  if (!existsSync(program)) {
    await run('npm', ['ci', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts'], { shell });
  }
  const { stdout } = await run('npm', ['config', 'get', 'registry'], { shell, cwd: data });
  const config = join(data, 'config.yaml');
  await writeFile(config, configuration(stdout.trim()));
  const host = `127.0.0.1:${await freePort()}`;
  const child = spawn(process.execPath, [program, '--config', config, '--listen', host], {
    cwd: data,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const ended = new Promise((resolve) => child.once('close', resolve));
  const stop = async () => {
    process.off('exit', kill);
    child.kill();
    await ended;
  };
  const kill = () => void child.kill();
  process.once('exit', kill);

  const url = `http://${host}/`;
  const isUp = async () => {
    const response = await fetch(`${url}-/ping`).catch(() => undefined);
    return response?.ok === true;
  };
  const deadline = performance.now() + startTimeoutMs;
  while (!(await isUp())) {
    if (child.exitCode !== null || performance.now() > deadline) {
      await stop();
      throw new Error(`The registry did not start.\n${output}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const npmrc = join(data, 'npmrc');
  // npm publishes only with a token, which this registry ignores.
  await writeFile(npmrc, `registry=${url}\n//${host}/:_authToken=none\n`);
  const env = { ...process.env, npm_config_registry: url, npm_config_userconfig: npmrc, npm_config_cache: join(data, 'cache') };
  return { url, env, stop };
};
