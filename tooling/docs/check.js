/**
 * Checks the documentation, or the pages given as arguments: every TypeScript example compiles against the sources of the
 * packages, programs print what the page shows, links and anchors exist, claims link tests that exist, tables of options
 * have the defaults of the sources, and the generated pages are current. Programs need a build.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { agentsProblems } from './agents.js';
import { modulesOf } from './blocks.js';
import { evidencePages, evidenceProblems } from './evidence.js';
import { optionsProblems } from './options.js';
import { findPages, linkProblems, listingProblems, root } from './pages.js';
import { programProblems } from './programs.js';

await mkdir(join(root, '.cache'), { recursive: true });
const work = await mkdtemp(join(root, '.cache/docs-'));

/** @type {(folder: string) => Promise<string[]>} */
const list = async (folder) => {
  const names = await readdir(join(root, folder)).catch(() => /** @type {string[]} */ ([]));
  return names.toSorted();
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

/**
 * @typedef {{ page: string, path: string, module: import('./blocks.js').Module }} Example An example, and its file in the
 * work folder.
 */

/** @type {(pages: readonly string[]) => Promise<Example[]>} */
const writeExamples = async (pages) => {
  /** @type {Example[]} */
  const examples = [];
  for (const page of pages) {
    const text = await readFile(join(root, page), 'utf8').catch(() => undefined);
    for (const module of text === undefined ? [] : modulesOf(text)) {
      const path = `${page}.${module.line}.ts`;
      await mkdir(dirname(join(work, path)), { recursive: true });
      await writeFile(join(work, path), module.code);
      examples.push({ page, path, module });
    }
  }
  return examples;
};

/** @type {() => Promise<string[]>} */
const claimProblems = async () => {
  const problems = [...evidencePages].map(async ([page, count]) =>
    evidenceProblems(page, await readFile(join(root, page), 'utf8'), count),
  );
  return (await Promise.all(problems)).flat();
};

try {
  const chosen = process.argv.slice(2);
  const pages = chosen.length > 0 ? chosen : ['README.md', ...findPages().keys()];
  await writeFile(join(work, 'package.json'), JSON.stringify({ type: 'module' }));
  await linkLibraries();
  const examples = await writeExamples(pages);
  const output = examples.length === 0 ? '' : await typeCheck(examples.map(({ path }) => path));
  const programs = examples.flatMap(({ page, path, module }) =>
    module.runs ? [{ page, file: join(work, path.replace(/\.ts$/, '.mjs')), module }] : [],
  );
  const problems = [
    output
      .replaceAll(/^(?<page>\S+\.md)\.\d+\.ts\((?<line>\d+),(?<column>\d+)\)/gm, '$<page>:$<line>:$<column>')
      .trimEnd(),
    ...linkProblems(pages),
    ...(chosen.length > 0
      ? []
      : [...(await claimProblems()), ...listingProblems(), ...agentsProblems(), ...optionsProblems()]),
    ...(output === '' ? await programProblems(programs) : []),
  ].filter((problem) => problem !== '');
  if (problems.length === 0) {
    console.log(`${examples.length} examples in the documentation compile.`);
    if (programs.length > 0) console.log(`${programs.length} programs print what the documentation shows.`);
  } else {
    console.error(problems.join('\n'));
    process.exitCode = 1;
  }
} finally {
  await rm(work, { recursive: true, force: true });
}
