import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { transform } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modulesOf } from '../docs/blocks.js';
import { newerNode } from '../vitest/newer-node.js';
import { findBrowser, runInBrowser } from './browser.js';
import { entriesOf, installAll, installBun, installProgram, loadEntries, supports } from './consumer.js';
import { rehearse } from './rehearsal.js';

const run = promisify(execFile);
const docs = fileURLToPath(new URL('../../docs', import.meta.url));

/** Returns the entries that `docs/runtimes.md` claims for browsers. */
const browserEntries = () => {
  const [, section = ''] = readFileSync(join(docs, 'runtimes.md'), 'utf8').split('## In a browser');
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`(?<name>[^`]+)`/g)].map(([, name = '']) => name),
  );
};

describe('a release', () => {
  /** @type {import('./rehearsal.js').Rehearsal} */
  let rehearsal;
  /** @type {readonly import('./publish.js').Manifest[]} */
  let manifests;
  let project = '';

  beforeAll(async () => {
    rehearsal = await rehearse();
    manifests = rehearsal.packages.flatMap(({ manifest, isProgram }) => (isProgram ? [] : [manifest]));
    project = await installAll(rehearsal.folder, manifests, rehearsal.registry.url);
  }, 900_000);

  afterAll(() => rehearsal?.stop(), 120_000);

  it('raises the version of each package with a changeset, and installs it', () => {
    const installed = manifests.map(({ name, version }) => {
      const manifest = JSON.parse(readFileSync(join(project, 'node_modules', name, 'package.json'), 'utf8'));
      return [name, manifest.version === version];
    });
    expect(installed.filter(([, isSame]) => isSame !== true)).toEqual([]);
    expect(manifests.length).toBeGreaterThan(40);
  });

  it('contains no reference to the workspace', () => {
    const texts = manifests.map(({ name }) =>
      readFileSync(join(project, 'node_modules', name, 'package.json'), 'utf8'),
    );
    expect(texts.filter((text) => /"(?:workspace|catalog):/.test(text))).toEqual([]);
  });

  it.each([
    ['this Node', process.versions.node, () => Promise.resolve(process.execPath)],
    ['Node 22', '22.23.2', () => newerNode('22.23.2')],
    ['Node 24', '24.9.0', () => newerNode('24.9.0')],
  ])('loads in %s, by import and by require()', async (_, version, nodeFor) => {
    const entries = manifests.filter((manifest) => supports(manifest, version)).flatMap(entriesOf);
    expect(entries.length).toBeGreaterThan(60);
    expect(await loadEntries(await nodeFor(), project, entries)).toEqual({ canRequire: true, problems: [] });
  });

  it('loads in Bun, and runs the program of the documentation', async () => {
    const bun = await installBun(rehearsal.folder);
    const { problems } = await loadEntries(bun, project, manifests.flatMap(entriesOf));
    expect(problems).toEqual([]);
    const [program] = modulesOf(readFileSync(join(docs, 'compose.md'), 'utf8')).filter(({ runs }) => runs);
    const { code } = await transform(program?.code ?? '', { loader: 'ts', format: 'esm' });
    await writeFile(join(project, 'compose.mjs'), code);
    const { stdout } = await run(bun, ['compose.mjs'], { cwd: project, timeout: 120_000 });
    expect(stdout.trim()).toBe(program?.output?.trim());
  });

  it('loads in a browser where the documentation claims it, and runs a turn', async (context) => {
    const browser = await findBrowser();
    context.skip(browser === undefined, 'Chromium is not installed.');
    const entries = browserEntries();
    expect(entries).toContain('@h/turn');
    const code = `
      ${entries.map((entry, index) => `import * as entry${index} from '${entry}';`).join('\n')}
      import { guardrails } from '@h/guardrails';
      import { harness, reply } from '@h/turn';
      import { scriptedModel } from '@h/turn/testing';
      const loaded = [${entries.map((_, index) => `entry${index}`).join()}].filter((entry) => Object.keys(entry).length > 0);
      const agent = harness({ model: scriptedModel(['Hello.']) }).pipe(guardrails({ maxSteps: 3 }));
      reply(agent.turn({ session: 'a', input: 'Hi' })).then(({ outcome, text }) => done(loaded.length + ' ' + outcome + ' ' + text));`;
    expect(await runInBrowser(browser ?? '', project, code)).toBe(`${entries.length} completed Hello.`);
  });

  it('starts each program', async () => {
    const programs = rehearsal.packages.flatMap(({ manifest, isProgram }) => (isProgram ? [manifest] : []));
    expect(programs.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['@h/audit', '@h/mcp-guard', '@h/model-proxy']),
    );
    for (const program of programs) {
      const commands = await installProgram(rehearsal.folder, program, rehearsal.registry.url);
      expect(commands.length).toBeGreaterThan(0);
      for (const { name, help } of commands) expect(help).toMatch(new RegExp(`^Usage:\\s+${name} `));
    }
  });

  it('creates a project that runs with npm create h', async () => {
    const { env } = rehearsal.registry;
    const { HOME, PATH } = process.env;
    await run('npm', ['init', '--yes', 'h', 'my-agent'], { cwd: rehearsal.folder, env });
    const cwd = join(rehearsal.folder, 'my-agent');
    await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'], { cwd, env });
    const { stdout } = await run('npm', ['start'], { cwd, env: { HOME, PATH } });
    expect(stdout).toContain('completed after 4 steps');
  });
});
