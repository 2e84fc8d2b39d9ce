/**
 * What the file tools cost on a large tree and on large files, side by side with the bare system calls or ripgrep itself.
 *
 * Run after a build: `npm run bench`. It makes its files in the system's temporary folder and removes them again.
 */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { editTool, createWorkspace, globTool, grepTool, readTool } from '@h/workspace';

const rounds = 5;
const folders = 2_000;
const filesPerFolder = 10;

const root = await mkdtemp(join(tmpdir(), 'h-bench-'));

const makeTree = async () => {
  await writeFile(join(root, '.gitignore'), '*.log\nnode_modules/\n/dist/\n');
  for (let folder = 0; folder < folders; folder += 1) {
    const path = join(root, 'src', `a${folder % 20}`, `b${folder}`);
    await mkdir(path, { recursive: true });
    const files = Array.from({ length: filesPerFolder }, (_, file) => {
      const needle = folder % 100 === 0 && file === 0 ? 'const NEEDLE_7 = true;\n' : '';
      return writeFile(
        join(path, `file${file}.${file % 4 === 0 ? 'md' : 'ts'}`),
        `export const value${file} = compute(${folder});\n`.repeat(60) + needle,
      );
    });
    await Promise.all(files);
  }
  await writeFile(
    join(root, 'large.txt'),
    'a line of a log file, neither long nor short, 64 characters\n'.repeat(1_700_000),
  );
  await writeFile(
    join(root, 'medium.txt'),
    'a line of a log file, neither long nor short, 64 characters\n'.repeat(17_000),
  );
  await writeFile(
    join(root, 'one-line.json'),
    JSON.stringify({ rows: Array.from({ length: 40_000 }, (_, id) => ({ id, value: `v${id}` })) }),
  );
};

const context = (name) => ({
  call: { id: '1', name },
  turn: 't',
  session: 's',
  step: 1,
  signal: new AbortController().signal,
  progress: () => undefined,
});

const caller = (tool) => (input) => tool.run(input, context(tool.name));

const median = (numbers) => numbers.toSorted((left, right) => left - right)[Math.floor(numbers.length / 2)];

/** Milliseconds of wall time, the median of some rounds after one that is not counted. */
const time = async (run) => {
  await run();
  const times = [];
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    await run();
    times.push(performance.now() - start);
  }
  return median(times).toFixed(1);
};

const listAll = async (path) => {
  const entries = await readdir(path, { withFileTypes: true });
  await Promise.all(entries.filter((entry) => entry.isDirectory()).map(({ name }) => listAll(join(path, name))));
};

const ripgrep = (pattern) => {
  try {
    execFileSync('rg', ['--no-config', '-n', pattern, '.'], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 2 ** 28,
    });
  } catch (error) {
    if (error.code === 'ENOENT') throw error;
  }
};

try {
  await makeTree();
  const workspace = createWorkspace({ root, limits: { maxFileBytes: 256 * 1024 * 1024 } });
  const small = createWorkspace({ root });
  const own = createWorkspace({ root, ripgrep: 'never' });
  const [read, edit, glob] = [readTool, editTool, globTool].map((create) => caller(create(small)));
  const grep = caller(grepTool(small));
  const ownGrep = caller(grepTool(own));
  const readWhole = caller(readTool(workspace));
  let turn = 0;
  const rows = {
    'glob, no match, over 20,000 files': () => glob({ pattern: '**/*.none' }),
    '  bare readdir of all folders': () => listAll(root),
    'grep, rare match, with ripgrep': () => grep({ pattern: 'NEEDLE_\\d' }),
    '  rg itself': () => ripgrep('NEEDLE_\\d'),
    'grep, rare match, without': () => ownGrep({ pattern: 'NEEDLE_\\d' }),
    'grep, 200 of many, with ripgrep': () => grep({ pattern: 'value' }),
    'grep, 200 of many, without': () => ownGrep({ pattern: 'value' }),
    'read, beginning of 1 MB': () => read({ path: 'medium.txt' }),
    '  bare readFile of it': () => readFile(join(root, 'medium.txt')),
    'read, beginning of 100 MB': () => read({ path: 'large.txt' }),
    'read, end of 100 MB': () => read({ path: 'large.txt', offset: 1_699_000 }),
    'read, 100 MB counted and hashed': () => readWhole({ path: 'large.txt' }),
    'read, 1 MB in one line': () => read({ path: 'one-line.json', column: 500_000 }),
    'edit, 1 MB in one line': () =>
      edit({ path: 'one-line.json', old: `"v39999${turn > 0 ? `-${turn}` : ''}"`, new: `"v39999-${(turn += 1)}"` }),
  };
  for (const [name, run] of Object.entries(rows)) {
    const figure = await time(run).catch((error) => `not measured: ${error.message}`);
    console.log(`${name.padEnd(36)}${figure.padStart(10)} ms`);
  }
} finally {
  await rm(root, { recursive: true, force: true });
}
