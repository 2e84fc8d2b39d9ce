import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { commonJsProblems } from './commonjs.js';
import { manifestProblems } from './manifest.js';
import { publishedProblems } from './published.js';
import { sizeProblems, sizesOf } from './size.js';

/** @type {import('./manifest.js').Manifest} */
const sound = {
  name: '@h/sample',
  version: '0.1.0',
  description: 'A sample.',
  license: 'MIT',
  type: 'module',
  sideEffects: false,
  files: ['dist', 'src', '!src/**/*.test.ts'],
  exports: {
    '.': { '@h/source': './src/index.ts', types: './dist/index.d.ts', default: './dist/index.js' },
    './package.json': './package.json',
  },
  engines: { node: '>=20.19' },
  peerDependencies: { '@h/turn': 'workspace:^', rxjs: '^7.8.0' },
  devDependencies: { '@h/turn': 'workspace:*', rxjs: 'catalog:' },
  h: { size: { '.': 100 } },
};

const built = {
  'src/index.ts': 'export const one = (): number => 1;\n',
  'dist/index.js': 'export const one = () => 1;\n',
  'dist/index.d.ts': 'export declare const one: () => number;\n',
};

/**
 * Writes a package to a temporary folder. @type {(files: Record<string, string>, manifest?: object) => Promise<string>}
 */
const lay = async (files, manifest = sound) => {
  const folder = await mkdtemp(join(tmpdir(), 'h-sample-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries({ ...files, 'package.json': JSON.stringify(manifest) })) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
};

/** @type {(files: Record<string, string>, manifest?: object) => Promise<string>} */
const pack = async (files, manifest) => {
  const folder = await lay(files, manifest);
  await promisify(execFile)('npm', ['pack', '--silent'], { cwd: folder, shell: process.platform === 'win32' });
  return join(folder, 'h-sample-0.1.0.tgz');
};

describe('the manifest of a package', () => {
  it('passes if it follows all rules', () => {
    expect(manifestProblems(sound)).toEqual([]);
  });

  it.each([
    ['a missing sideEffects', { sideEffects: undefined }, '"sideEffects" must be false'],
    ['CommonJS', { type: 'commonjs' }, '"type" must be "module"'],
    ['another license', { license: 'ISC' }, '"license" must be "MIT"'],
    ['another range of Node.js', { engines: { node: '>=22' } }, '"engines.node" must be ">=20.19"'],
    ['tests that are published', { files: ['dist', 'src'] }, '"files" must exclude "!src/**/*.test.ts"'],
    ['a library that is not a peer', { dependencies: { rxjs: '7.8.2' } }, 'rxjs must be a peer dependency'],
    ['a missing peer', { peerDependencies: { rxjs: '^7.8.0' } }, '@h/turn must be a peer dependency'],
    [
      'an entry that points elsewhere',
      {
        exports: {
          ...sound.exports,
          './more': { '@h/source': './src/more.ts', types: './dist/more.d.ts', default: './more.js' },
        },
      },
      '"exports" of "./more" must be {"@h/source":"./src/more.ts","types":"./dist/more.d.ts","default":"./dist/more.js"}',
    ],
  ])('refuses %s', (_, change, rule) => {
    expect(manifestProblems({ ...sound, ...change })).toEqual([`package.json: ${rule}`]);
  });
});

describe('the published package', () => {
  it('passes if types and code are published', async () => {
    expect(await publishedProblems(await pack(built))).toEqual([]);
  });

  it('rejects an entry whose file is not published', async () => {
    const problems = await publishedProblems(
      await pack({ ...built, 'dist/index.js': '' }, { ...sound, files: ['src', 'dist/*.d.ts'] }),
    );
    expect(problems.join('\n')).toMatch(/publint: .*index\.js.* does not exist/);
  });

  it('rejects types that cannot be resolved', async () => {
    const problems = await publishedProblems(
      await pack({
        ...built,
        'dist/index.d.ts': "export * from './one';\n",
        'dist/one.d.ts': built['dist/index.d.ts'],
      }),
    );
    expect(problems.join('\n')).toMatch(/attw: .*InternalResolutionError/);
  });
});

describe('the size of an entry', () => {
  it('counts the files that the entry loads immediately, without peers', async () => {
    const long = `export const text = ${JSON.stringify(Array.from({ length: 999 }, (_, index) => index * 7919).join())};\n`;
    const folder = await lay({
      'dist/index.js':
        "import 'rxjs';\nexport { one } from './one.js';\nexport const later = () => import('./long.js');\n",
      'dist/one.js': 'export const one = 1;\n',
      'dist/long.js': long,
    });
    const [size] = await sizesOf(folder, sound);
    expect(size?.minified).toBeGreaterThan(40);
    expect(size?.minified).toBeLessThan(200);
    expect(size?.gzip).toBeLessThan(200);

    await writeFile(join(folder, 'dist/index.js'), "export * from './long.js';\n");
    expect((await sizesOf(folder, sound))[0]?.minified).toBeGreaterThan(5000);
  });

  it('passes within the budget', () => {
    expect(sizeProblems([{ subpath: '.', minified: 300, gzip: 100, budget: 100 }], sound)).toEqual([]);
  });

  it('rejects a size over the budget', () => {
    expect(sizeProblems([{ subpath: '.', minified: 300, gzip: 101, budget: 100 }], sound)).toEqual([
      'size: "." is 101 bytes with gzip, 1 over its budget',
    ]);
  });

  it('rejects an entry without a budget', () => {
    expect(sizeProblems([{ subpath: '.', minified: 300, gzip: 99, budget: undefined }], { ...sound, h: {} })).toEqual([
      'size: "h": { "size": { ".": … } } in package.json is missing; the size is 99 bytes with gzip',
    ]);
  });

  it('rejects a budget without an entry', () => {
    expect(sizeProblems([], sound)).toEqual(['size: "." has a budget but is not an entry']);
  });
});

describe('a bundle in CommonJS', () => {
  /** @type {(code: string, manifest?: object) => Promise<string[]>} */
  const problemsOf = async (code, manifest) => {
    const folder = await lay({ 'dist/index.js': code });
    return commonJsProblems([{ folder, manifest: { ...sound, ...manifest } }]);
  };

  it('passes if the entry loads', async () => {
    expect(await problemsOf('export const folder = () => new URL("..", import.meta.url);\n')).toEqual([]);
  });

  it('rejects an entry that needs its address to load', async () => {
    expect(await problemsOf('export const folder = new URL("..", import.meta.url);\n')).toEqual([
      'in a CommonJS bundle: @h/sample: TypeError: Invalid URL',
    ]);
  });

  it('rejects an entry that waits while it loads', async () => {
    const [problem] = await problemsOf('export const one = await Promise.resolve(1);\n');
    expect(problem).toMatch(/^a CommonJS bundle: .*Top-level await/s);
  });

  it('does not bundle a program', async () => {
    const manifest = { bin: { sample: './dist/index.js' } };
    expect(await problemsOf('await Promise.resolve(1);\n', manifest)).toEqual([]);
  });
});
