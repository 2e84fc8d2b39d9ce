/**
 * Type-checks every TypeScript example in the documentation, or in the pages given as arguments, against the sources of
 * the packages.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { modulesOf } from './blocks.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
await mkdir(join(root, '.cache'), { recursive: true });
const work = await mkdtemp(join(root, '.cache/docs-'));

/** @type {(folder: string) => Promise<string[]>} */
const list = async (folder) => {
  const names = await readdir(join(root, folder)).catch(() => /** @type {string[]} */ ([]));
  return names.toSorted();
};

/** @type {() => Promise<string[]>} */
const findPages = async () => {
  const docs = (await list('docs')).filter((file) => file.endsWith('.md'));
  const pages = ['README.md', 'CONTRIBUTING.md', ...docs.map((file) => `docs/${file}`)];
  for (const group of ['packages', 'apps']) {
    for (const name of await list(group)) pages.push(`${group}/${name}/README.md`);
  }
  return pages;
};

/** Links all dependencies of workspace packages, so that examples can import them. */
const linkLibraries = async () => {
  /** @type {Map<string, string>} */
  const targets = new Map();
  for (const folder of [
    '.',
    ...(await list('packages')).map((name) => `packages/${name}`),
    ...(await list('apps')).map((name) => `apps/${name}`),
  ]) {
    const text = await readFile(join(root, folder, 'package.json'), 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    const { name, dependencies, peerDependencies, devDependencies } = JSON.parse(text);
    if (folder.startsWith('packages/')) targets.set(name, join(root, folder));
    for (const library of Object.keys({ ...dependencies, ...peerDependencies, ...devDependencies })) {
      const path = await realpath(join(root, folder, 'node_modules', library)).catch(() => undefined);
      if (path !== undefined && !targets.has(library)) targets.set(library, path);
    }
  }
  for (const [library, target] of targets) {
    const link = join(work, 'node_modules', library);
    await mkdir(dirname(link), { recursive: true });
    await symlink(target, link, 'junction');
  }
};

/** @type {(files: string[]) => Promise<string>} */
const typeCheck = async (files) => {
  const settings = {
    extends: '../../tsconfig.base.json',
    compilerOptions: { types: ['node'], noUnusedLocals: false },
    files,
  };
  await writeFile(join(work, 'tsconfig.json'), JSON.stringify(settings));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [tsc, '--project', work, '--pretty', 'false'],
      { cwd: work, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error !== null && stdout === '') reject(new Error(stderr, { cause: error }));
        else resolve(stdout);
      },
    );
  });
};

/** @type {(pages: readonly string[]) => Promise<string[]>} */
const writeExamples = async (pages) => {
  /** @type {string[]} */
  const files = [];
  for (const page of pages) {
    const text = await readFile(join(root, page), 'utf8').catch(() => undefined);
    for (const { line, code } of text === undefined ? [] : modulesOf(text)) {
      const file = `${page}.${line}.ts`;
      await mkdir(dirname(join(work, file)), { recursive: true });
      await writeFile(join(work, file), code);
      files.push(file);
    }
  }
  return files;
};

try {
  await writeFile(join(work, 'package.json'), JSON.stringify({ type: 'module' }));
  await linkLibraries();
  const files = await writeExamples(process.argv.length > 2 ? process.argv.slice(2) : await findPages());
  const output = files.length === 0 ? '' : await typeCheck(files);
  if (output === '') {
    console.log(`${files.length} examples in the documentation compile.`);
  } else {
    console.error(
      output
        .replaceAll(/^(?<page>\S+\.md)\.\d+\.ts\((?<line>\d+),(?<column>\d+)\)/gm, '$<page>:$<line>:$<column>')
        .trimEnd(),
    );
    process.exitCode = 1;
  }
} finally {
  await rm(work, { recursive: true, force: true });
}
