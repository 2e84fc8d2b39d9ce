/** Writes what coding agents read: a Markdown copy of each page, `llms.txt` and `llms-full.txt`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * @typedef {{ page: string, title: string, description: string, text: string }} Collected A page of the site.
 * @typedef {{ title: string, pages: readonly string[] }} Section A section of the site, with its pages.
 */

/** @type {(site: string, page: string, text: string) => void} */
const write = (site, page, text) => {
  mkdirSync(dirname(join(site, page)), { recursive: true });
  writeFileSync(join(site, page), text);
};

/** @type {(page: Collected) => string} */
const entryOf = ({ page, title, description }) =>
  `- [${title}](/${page})${description === '' ? '' : `: ${description}`}`;

/**
 * Writes the copies into a built site.
 *
 * @type {(site: string, folder: string, pages: readonly Collected[], sections: readonly Section[], reference: readonly
 * string[]) => void}
 */
export const writeCopies = (site, folder, pages, sections, reference) => {
  const byPage = new Map(pages.map((page) => [page.page, page]));
  for (const { page, text } of pages) write(site, page, text);
  for (const name of reference) {
    const page = `api/@h/${name}.md`;
    write(site, page, readFileSync(join(folder, page), 'utf8'));
  }
  const blocks = sections.map(({ title, pages: names }) => {
    const entries = names.flatMap((name) => byPage.get(name) ?? []).map(entryOf);
    return `## ${title}\n\n${entries.join('\n')}\n`;
  });
  const optional = reference.map((name) => `- [@h/${name}](/api/@h/${name}.md)`).join('\n');
  const summary = [
    '# h',
    '',
    '> Middleware for LLM agents: small TypeScript packages for the loop around a language model. A turn of an agent is',
    '> one stream of events, and each package is one RxJS operator on it, for the loop of `@h/turn` or of other frameworks.',
    '',
  ].join('\n');
  write(site, 'llms.txt', `${summary}\n${blocks.join('\n')}\n## Optional: API reference\n\n${optional}\n`);
  const full = sections
    .flatMap(({ pages: names }) => names.flatMap((name) => byPage.get(name) ?? []))
    .map(({ page, text }) => `<!-- ${page} -->\n\n${text.trim()}\n`);
  write(site, 'llms-full.txt', `${summary}\n${full.join('\n')}`);
};
