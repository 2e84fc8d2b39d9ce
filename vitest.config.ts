import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { project } from './tooling/vitest/project.js';
import { SummaryReporter } from './tooling/vitest/summary-reporter.js';

const root = import.meta.dirname;
const folders = ['packages', 'apps']
  .flatMap((parent) => readdirSync(join(root, parent)).map((name) => `${parent}/${name}`))
  .filter((folder) => existsSync(join(root, folder, 'vitest.config.ts')));

const configOf = (folder: string): string => readFileSync(join(root, folder, 'vitest.config.ts'), 'utf8');

/** The configuration of a package without options. */
const plain = configOf('packages/template');

/** The number of packages that share a project, which loads each module once. */
const packagesPerProject = 100;

/**
 * Packages without options share projects, which load and transform each module once. With `--project`, each package
 * is a project.
 */
const projects = () => {
  if (process.argv.some((argument) => argument.startsWith('--project'))) return [...folders, 'tooling'];
  const { test, ...config } = project();
  const shared = folders.filter((folder) => configOf(folder) === plain);
  const groups = Array.from({ length: Math.ceil(shared.length / packagesPerProject) }, (_, index) => {
    const members = shared.slice(index * packagesPerProject, (index + 1) * packagesPerProject);
    const include = members.flatMap((folder) => (test?.include ?? []).map((glob) => `${folder}/${glob}`));
    return { ...config, test: { ...test, include, name: `packages ${index + 1}`, root } };
  });
  return [...folders.filter((folder) => !shared.includes(folder)), 'tooling', ...groups];
};

export default defineConfig({
  test: {
    projects: projects(),
    // One more than cores, because many tests wait for a process or a timer.
    maxWorkers: availableParallelism() + 1,
    reporters: [
      'default',
      new SummaryReporter(process.env['TEST_LONG'] === '1' ? '.cache/tests/long.json' : '.cache/tests/summary.json'),
    ],
    coverage: {
      provider: 'v8',
      include: ['packages/*/src/**/*.ts', 'apps/*/src/**/*.ts'],
      exclude: ['**/*.test.ts', '**/*.bench.ts', '**/fixtures/**'],
      reporter: ['text', 'html', 'json-summary'],
    },
  },
});
