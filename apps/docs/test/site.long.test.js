import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { findPages } from '../../../tooling/docs/pages.js';
import { siteLinkProblems } from '../src/links.js';

const script = fileURLToPath(new URL('../src/build.js', import.meta.url));
const site = fileURLToPath(new URL('../dist/site', import.meta.url));
const read = (/** @type {string} */ file) => readFileSync(`${site}/${file}`, 'utf8');

/** Returns the pages that `llms.txt` lists. @type {(text: string) => string[]} */
const listed = (text) =>
  [...text.matchAll(/^- \[.*?\]\(\/(?<page>[^)]*)\)/gm)].map(({ groups }) => groups?.['page'] ?? '');

describe('the site with the API reference', () => {
  beforeAll(() => promisify(execFile)(process.execPath, [script], { maxBuffer: 64 * 1024 * 1024 }), 600_000);

  it('has no broken links', () => {
    expect(siteLinkProblems(site)).toEqual([]);
  });

  it('has each page as HTML and as Markdown', () => {
    const pages = [...findPages().values()].flatMap(({ page }) => [page, page.replace(/\.md$/, '.html')]);
    expect(pages.filter((page) => !existsSync(`${site}/${page}`))).toEqual([]);
  });

  it('lists each page in llms.txt, with the API reference', () => {
    const names = listed(read('llms.txt'));
    const expected = [...findPages().values()].map(({ page }) => page).filter((page) => page !== 'index.md');
    expect(expected.filter((page) => !names.includes(page))).toEqual([]);
    expect(names.filter((name) => !existsSync(`${site}/${name}`))).toEqual([]);
    expect(names).toContain('api/@h/turn.md');
  });

  it('documents exported names with their comments', () => {
    const reference = read('api/@h/guardrails.md');
    expect(reference).toContain('createBudget');
    expect(reference).toMatch(/^### guardrails$/m);
  });
});
