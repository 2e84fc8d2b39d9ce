/**
 * Builds the site in `apps/docs/dist/site`: collects the pages, writes the API reference, runs VitePress, adds the copies
 * for coding agents, and checks every link of the result. With `--no-reference`, leaves the API reference out.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { build } from 'vitepress';
import { writeReference } from './api.js';
import { collectPages } from './collect.js';
import { writeCopies } from './copies.js';
import { siteLinkProblems } from './links.js';
import { siteSections } from './sections.js';

/**
 * VitePress logs an error of a page, and goes on with an incomplete page.
 *
 * @type {(work: () => Promise<unknown>) => Promise<string[]>}
 */
const errorsDuring = async (work) => {
  const { error: log } = console;
  /** @type {string[]} */
  const errors = [];
  console.error = (/** @type {unknown[]} */ ...args) => void errors.push(inspect(args[0]));
  try {
    await work();
  } finally {
    console.error = log;
  }
  return errors;
};

const app = fileURLToPath(new URL('..', import.meta.url));
const folder = join(app, 'dist/pages');
const site = join(app, 'dist/site');

rmSync(site, { recursive: true, force: true });
const hasReference = !process.argv.includes('--no-reference');
const pages = collectPages(folder, hasReference);
const reference = hasReference ? await writeReference(folder) : [];
const errors = await errorsDuring(() => build(app));
writeCopies(site, folder, pages, siteSections(), reference);
const problems = [...errors, ...siteLinkProblems(site)];
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exitCode = 1;
} else console.log(`${pages.length + reference.length} pages were written to ${site}.`);
