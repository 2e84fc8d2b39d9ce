import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const fixtures = fileURLToPath(new URL('fixtures', import.meta.url));
const sources = (await readdir(fixtures, { recursive: true }))
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts'))
  .toSorted();

/** @type {(folder: string) => Promise<{ filename: string, code: string, labels: { span: { line: number } }[] }[]>} */
const lint = (folder) =>
  new Promise((resolve, reject) => {
    const oxlint = join(root, 'node_modules/oxlint/bin/oxlint');
    const args = [oxlint, '--config', '.oxlintrc.json', '--type-aware', '--format', 'json', 'packages', 'apps'];
    execFile(process.execPath, args, { cwd: folder, timeout: 25_000 }, (error, stdout) => {
      if (stdout === '') reject(error ?? new Error('The linter printed nothing.'));
      else resolve(JSON.parse(stdout).diagnostics);
    });
  });

/**
 * Returns the expectations of `red below: rule, rule` and `red here: rule` as `line rule`. @type {(text: string) =>
 * string[]}
 */
const expectedIn = (text) =>
  text.split('\n').flatMap((line, index) => {
    const { place, rules } = /red (?<place>below|here): (?<rules>.*)$/.exec(line)?.groups ?? {};
    return rules?.split(', ').map((rule) => `${place === 'here' ? index + 1 : index + 2} ${rule}`) ?? [];
  });

describe('the lint settings', () => {
  /** @type {string} */
  let folder;
  /** @type {Map<string, Set<string>>} */
  let found;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'h-lint-'));
    await cp(fixtures, folder, { recursive: true });
    await cp(join(root, 'tooling/lint'), join(folder, 'tooling/lint'), { recursive: true });
    for (const file of ['.oxlintrc.json', 'tsconfig.base.json']) await cp(join(root, file), join(folder, file));
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
    found = new Map();
    for (const { filename, code, labels } of await lint(folder)) {
      const file = filename.replaceAll('\\', '/');
      const rule = code.replace(/^(?<plugin>.*)\((?<rule>.*)\)$/, '$<plugin>/$<rule>');
      found.set(file, (found.get(file) ?? new Set()).add(`${labels[0]?.span.line} ${rule}`));
    }
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(sources)('reports exactly the marked problems of %s', async (file) => {
    const expected = expectedIn(await readFile(join(fixtures, file), 'utf8'));
    expect([...(found.get(file) ?? [])].toSorted()).toEqual(expected.toSorted());
  });
});
