import { execFile } from 'node:child_process';
import { mkdtemp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { transform } from 'esbuild';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { hasServer, NatsServer } from '../../packages/nats/test/nats-server.js';
import { isAtLeast, newerNode } from '../vitest/newer-node.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const names = (await readdir(join(root, 'packages'))).toSorted();

/** Returns the packages in the install line of a README, without their versions. @type {(page: string) => string[]} */
const installed = (page) => {
  const words = /^npm install (.*)$/m.exec(page)?.[1]?.split(/\s+#/)[0]?.trim().split(/\s+/) ?? [];
  return words.map((word) => word.replace(/(?<=.)@.*$/, ''));
};

/** Returns the first TypeScript example of a README. @type {(page: string) => string | undefined} */
const firstExample = (page) => /^```ts\n(.*?)^```$/ms.exec(page)?.[1];

/** Returns the packages that an example imports. @type {(code: string) => string[]} */
const imported = (code) =>
  [...code.matchAll(/from '((?:@[^/']+\/)?[^/'.][^/']*)[^']*'/g)]
    .map(([, name = '']) => name)
    .filter((name) => !name.startsWith('node:'));

/** Returns the Node that a package requires. @type {(name: string) => Promise<string>} */
const nodeFor = async (name) => {
  const { engines } = JSON.parse(await readFile(join(root, 'packages', name, 'package.json'), 'utf8'));
  const minimum = engines.node.replace('>=', '');
  return isAtLeast(process.versions.node, minimum) ? process.execPath : newerNode();
};

/**
 * Returns the variables with the server that an example needs.
 *
 * @type {(name: string) => Promise<Record<string, string>>}
 */
const serversOf = async (name) => {
  if (name === 'postgres') return { DATABASE_URL: inject('databaseUrl') };
  if (name !== 'nats') return {};
  const server = await NatsServer.start();
  onTestFinished(() => server.stop());
  return { NATS_URL: server.address };
};

describe('the first example of the README of', () => {
  /** @type {string} */
  let folder;
  /** @type {Map<string, string>} */
  const pages = new Map();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'h-examples-'));
    const tarballs = join(folder, 'tarballs');
    await mkdir(tarballs);
    await run('pnpm', ['--recursive', '--filter', './packages/*', 'pack', '--pack-destination', tarballs], {
      cwd: root,
    });
    for (const name of names) pages.set(name, await readFile(join(root, 'packages', name, 'README.md'), 'utf8'));
    const files = await readdir(tarballs);
    const own = Object.fromEntries(
      files.map((file) => [file.replace(/^h-/, '@h/').replace(/-\d+\.\d+\.\d+\.tgz$/, ''), `file:tarballs/${file}`]),
    );
    const workspace = await readFile(join(root, 'pnpm-workspace.yaml'), 'utf8');
    const others = [...pages.values()].flatMap(installed).filter((name) => !(name in own));
    /** Returns the version of a package in the workspace catalog. @type {(name: string) => string} */
    const versionOf = (name) => new RegExp(`^  '?${name}'?: (.*)$`, 'm').exec(workspace)?.[1] ?? 'latest';
    const dependencies = { ...own, ...Object.fromEntries(others.map((name) => [name, versionOf(name)])) };
    const manifest = { name: 'examples', private: true, type: 'module', dependencies, overrides: own };
    await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
    await run('npm', ['install', '--no-audit', '--no-fund', '--legacy-peer-deps', '--prefer-offline'], { cwd: folder });
  }, 600_000);

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.for(names)('%s runs as pasted', async (name, context) => {
    context.skip(name === 'nats' && !hasServer, 'nats-server is not installed');
    const page = pages.get(name) ?? '';
    const example = firstExample(page);
    expect(example, 'the README has no example').toBeDefined();
    const known = installed(page);
    expect(
      imported(example ?? '').filter((library) => !known.includes(library)),
      'imported and not installed',
    ).toEqual([]);
    const { code } = await transform(example ?? '', { loader: 'ts', format: 'esm', target: 'node20' });
    const file = join(folder, `${name}.mjs`);
    await writeFile(file, code);
    const node = await nodeFor(name);
    const { HOME, PATH } = process.env;
    const env = { HOME, PATH, ...(await serversOf(name)) };
    await expect(run(node, [file], { cwd: folder, env, timeout: 60_000 })).resolves.toBeDefined();
  });
});
