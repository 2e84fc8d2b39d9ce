import { LLMock } from '@copilotkit/aimock';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const { HOME, PATH } = process.env;

/** Packs all packages, creates a project with the packed `create-h`, and installs it from the tarballs. */
describe('a project that the packed create-h creates', () => {
  let parent = '';
  let folder = '';

  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), 'create-h-'));
    await run('pnpm', ['--recursive', '--filter', './packages/*', 'pack', '--pack-destination', parent], { cwd: root });
    const tarballs = await readdir(parent);
    const pathOf = (name: string): string =>
      `file:${join(parent, tarballs.find((file) => /^(?<base>.*)-\d/.exec(file)?.[1] === name) ?? `${name}.tgz`)}`;
    const tool = join(parent, 'tool');
    const packed = ['create-h', 'h-options', 'h-files', 'h-process'].map(pathOf);
    await run('npm', ['install', '--prefix', tool, '--no-audit', '--no-fund', ...packed]);
    const createH = join(tool, 'node_modules/.bin/create-h');
    // The limit on the size of files lets only the first of them be written.
    const limited = run('/bin/sh', ['-c', `ulimit -f 3; exec "${createH}" my-agent`], { cwd: parent });
    await expect(limited).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Cannot write .*EFBIG/) as string,
    });
    const created = await run(createH, ['my-agent'], { cwd: parent });
    expect(created.stdout).toMatch(/Created my-agent with .*agent\.js[^]*npm install/);
    folder = join(parent, 'my-agent');
    const path = join(folder, 'package.json');
    const manifest = JSON.parse(await readFile(path, 'utf8')) as { dependencies: Record<string, string> };
    expect(Object.values(manifest.dependencies).filter((range) => !/^\^?\d/.test(range))).toEqual([]);
    const own = Object.fromEntries(
      tarballs.map((file) => {
        const name = file.replace(/-\d.*$/, '');
        return [name.replace(/^h-/, '@h/'), pathOf(name)];
      }),
    );
    const dependencies = Object.fromEntries(
      Object.entries(manifest.dependencies).map(([name, range]) => [name, own[name] ?? range]),
    );
    await writeFile(path, JSON.stringify({ ...manifest, dependencies, overrides: own }));
    await run('npm', ['install', '--no-audit', '--no-fund', '--legacy-peer-deps', '--prefer-offline'], { cwd: folder });
  }, 600_000);

  afterAll(() => rm(parent, { recursive: true, force: true }));

  it('passes its own tests', async () => {
    await expect(run('npm', ['test'], { cwd: folder, env: { HOME, PATH } })).resolves.toBeDefined();
  });

  it('runs without a key, and denies the destructive command of its script', async () => {
    const { stdout } = await run('npm', ['start'], { cwd: folder, env: { HOME, PATH } });
    expect(stdout).toContain('rm -rf ~ /"} (denied)');
    expect(stdout).toContain('completed after 4 steps');
    expect(await readFile(join(folder, 'workspace/note.md'), 'utf8')).toBe('# Hello\n');
  });

  it('runs with a key and continues the conversation', async () => {
    const mock = new LLMock({ port: 0 });
    mock.on({ predicate: () => true }, () => ({ content: 'Nothing to do.' }));
    await mock.start();
    try {
      const env = { HOME, PATH, OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: `${mock.url}/v1` };
      const { stdout } = await run('npm', ['start', 'Anything else?'], { cwd: folder, env });
      expect(stdout).toContain('model: gpt-5.1');
      expect(stdout).toContain('Nothing to do.');
      const [request] = mock.getRequests();
      expect(JSON.stringify(request?.body)).toContain('Look around and leave a note.');
    } finally {
      await mock.stop();
    }
  });
});
