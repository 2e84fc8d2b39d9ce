/** Writes the pages of the site to a folder: docs, READMEs and other pages, with links that are valid there. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findPages, forSite, root, titleOf } from '../../../tooling/docs/pages.js';

/** @type {(file: string, text: string) => void} */
const write = (file, text) => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
};

/** Removes comments with hidden declarations, which only the compiler needs. */
const visible = (/** @type {string} */ text) => text.replaceAll(/^<!-- ts\n[^]*?^-->\n/gm, '');

/** Replaces the front matter of a skill by a note, because VitePress would read it as its own. */
const withoutFrontMatter = (/** @type {string} */ source, /** @type {string} */ text) =>
  source.startsWith('skills/') ? text.replace(/^---\n[^]*?\n---\n\s*/, '') : text;

/**
 * Writes all pages and the repository files that they link. Pages of packages link their API reference if there is one.
 *
 * @type {(folder: string, hasReference: boolean) => { page: string, title: string, description: string, text: string }[]}
 */
export const collectPages = (folder, hasReference) => {
  rmSync(folder, { recursive: true, force: true });
  const pages = findPages();
  /** @type {Set<string>} */
  const linked = new Set();
  const collected = [...pages.values()].map((page) => {
    const source = readFileSync(join(root, page.source), 'utf8');
    const onSite = visible(forSite(page, source, pages, (path) => linked.add(path)));
    const text = `${withoutFrontMatter(page.source, onSite)}${hasReference ? referenceOf(page.page) : ''}`;
    write(join(folder, page.page), text);
    return { page: page.page, title: titleOf(source) ?? page.page, description: descriptionOf(text), text };
  });
  for (const name of pages.keys()) {
    const skill = /^skills\/(?<name>[^/]+)\/SKILL\.md$/.exec(name)?.groups?.['name'];
    if (skill !== undefined) copy(name, join(folder, 'public/skills', skill, 'SKILL.txt'));
  }
  for (const path of linked) {
    if (existsSync(join(root, path))) copy(path, join(folder, 'public/source', `${path}.txt`));
  }
  return collected;
};

/** @type {(page: string) => string} */
const referenceOf = (page) => {
  const name = /^packages\/(?<name>[^/]+)\.md$/.exec(page)?.groups?.['name'];
  const exists = name !== undefined && existsSync(join(root, 'packages', name, 'src/index.ts'));
  return exists ? `\n## API\n\n[The API reference of @h/${name}](../api/@h/${name}.md)\n` : '';
};

const copy = (/** @type {string} */ path, /** @type {string} */ target) => {
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(join(root, path), target);
};

/** Returns the first sentence below the heading. @type {(text: string) => string} */
const descriptionOf = (text) => {
  const paragraph = /^# .+\n+(?<text>(?:[^\n#|`<-][^\n]*\n?)+)/m.exec(text)?.groups?.['text'] ?? '';
  const plain = paragraph
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return /^.*?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, '.') ?? plain;
};
