/**
 * Builds the site in `apps/docs/dist/site`: collects the pages, writes the API reference, runs VitePress, adds the copies
 * for coding agents, and checks every link of the result. With `--no-reference`, leaves the API reference out.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vitepress';
import { writeReference } from './api.js';
import { collectPages } from './collect.js';
import { writeCopies } from './copies.js';
import { siteLinkProblems } from './links.js';
import { siteSections } from './sections.js';

const app = fileURLToPath(new URL('..', import.meta.url));
const folder = join(app, 'dist/pages');
const site = join(app, 'dist/site');

rmSync(site, { recursive: true, force: true });
const hasReference = !process.argv.includes('--no-reference');
const pages = collectPages(folder, hasReference);
const reference = hasReference ? await writeReference(folder) : [];
await build(app);
writeCopies(site, folder, pages, siteSections(), reference);
const problems = siteLinkProblems(site);
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exitCode = 1;
} else console.log(`${pages.length + reference.length} pages were written to ${site}.`);
