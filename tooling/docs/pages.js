/** The pages of the documentation: where each Markdown file of the repository is on the site. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * @typedef {{ source: string, page: string }} Page A Markdown file of the repository, and its path on the site.
 * @typedef {{ target: string, line: number, from: string }} Link The target of a link, its line, and the linking file.
 */

/** Path of the API reference on the site, which is generated when the site is built. */
export const apiFolder = 'api';

const list = (/** @type {string} */ folder) =>
  existsSync(`${root}/${folder}`) ? readdirSync(`${root}/${folder}`).toSorted() : [];

/** Packages and apps with a README, as folders of the repository. @type {() => string[]} */
export const projectFolders = () =>
  ['packages', 'apps'].flatMap((group) =>
    list(group)
      .map((name) => `${group}/${name}`)
      .filter((folder) => existsSync(`${root}/${folder}/README.md`)),
  );

/** Returns all pages, by their file in the repository. @type {() => Map<string, Page>} */
export const findPages = () => {
  const folders = projectFolders();
  /** @type {Page[]} */
  const pages = [
    ...list('docs')
      .filter((file) => file.endsWith('.md'))
      .map((file) => ({ source: `docs/${file}`, page: file })),
    ...folders.map((folder) => ({ source: `${folder}/README.md`, page: `${folder}.md` })),
    ...folders.flatMap((folder) =>
      list(folder)
        .filter((file) => /^[a-z][a-z0-9-]*\.md$/.test(file))
        .map((file) => ({ source: `${folder}/${file}`, page: `${folder}-${file}` })),
    ),
    ...list('skills').map((name) => ({ source: `skills/${name}/SKILL.md`, page: `skills/${name}.md` })),
    { source: 'CONTRIBUTING.md', page: 'contributing.md' },
    { source: 'SECURITY.md', page: 'security.md' },
  ];
  return new Map(pages.filter(({ source }) => existsSync(`${root}/${source}`)).map((page) => [page.source, page]));
};

/** Returns the heading of a page. @type {(text: string) => string | undefined} */
export const titleOf = (text) => /^# (.+)$/m.exec(withoutCode(text))?.[1]?.replaceAll('`', '');

/** Blanks code blocks, code spans and comments, so that links and headings in them do not count. */
export const withoutCode = (/** @type {string} */ text) =>
  text
    .replaceAll(/^(?<indent>\s*)(?<ticks>`{3,}|~{3,}).*\n(?:.*\n)*?\s*\k<ticks>[`~]*[ \t]*$/gm, blank)
    .replaceAll(/<!--[^]*?-->/g, blank);

const blank = (/** @type {string} */ text) => text.replaceAll(/[^\n]/g, ' ');

const withoutSpans = (/** @type {string} */ text) =>
  text.replaceAll(/(?<ticks>`+)(?:(?!\k<ticks>)[^\n])+\k<ticks>/g, (span) => ' '.repeat(span.length));

/** Returns the anchor of a heading. @type {(heading: string) => string} */
export const anchorOf = (heading) =>
  heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

/** Returns the anchors of a page; a repeated heading gets a number. @type {(text: string) => Set<string>} */
export const anchorsIn = (text) => {
  /** @type {Map<string, number>} */
  const counts = new Map();
  const anchors = [...withoutCode(text).matchAll(/^#{1,6} (?<heading>.+)$/gm)].map(({ groups }) => {
    const anchor = anchorOf(groups?.['heading'] ?? '');
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
  return new Set(anchors);
};

const linkPattern = /(?<=\]\()(?<target>[^()\s]+(?:\([^()\s]*\))?)(?=\))/g;

/** Returns the links of a page, without those in code. @type {(source: string, text: string) => Link[]} */
export const linksIn = (source, text) => {
  const visible = withoutSpans(withoutCode(text));
  return [...visible.matchAll(linkPattern)].map(({ groups, index }) => ({
    target: groups?.['target'] ?? '',
    line: visible.slice(0, index).split('\n').length,
    from: source,
  }));
};

/** Files that only the site has. */
const generated = new Set(['/llms.txt', '/llms-full.txt']);

const isExternal = (/** @type {string} */ target) => /^[a-z][a-z0-9+.-]*:/i.test(target) || generated.has(target);

/**
 * Returns the file of the repository that a relative link means, and its anchor. A folder means its README.
 *
 * @type {(source: string, target: string) => { path: string, anchor: string | undefined } | undefined}
 */
export const resolveLink = (source, target) => {
  if (isExternal(target)) return undefined;
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? source : posix.join(posix.dirname(source), decodeURIComponent(file));
  const isFolder = existsSync(`${root}/${path}`) && statSync(`${root}/${path}`).isDirectory();
  return { path: isFolder ? posix.join(path, 'README.md') : path, anchor };
};

/**
 * Returns a page as it is on the site: links to other pages lead to them, and links to other files to a copy of the file
 * in `source/`, which `onFile` receives.
 *
 * @type {(page: Page, text: string, pages: Map<string, Page>, onFile: (path: string) => void) => string}
 */
export const forSite = ({ source, page }, text, pages, onFile) => {
  const visible = withoutSpans(withoutCode(text));
  /** @type {{ start: number, end: number, link: string }[]} */
  const changes = [];
  for (const { groups, index } of visible.matchAll(linkPattern)) {
    const target = groups?.['target'] ?? '';
    const resolved = resolveLink(source, target);
    if (resolved === undefined) continue;
    const { path, anchor } = resolved;
    const known = pages.get(path)?.page ?? (path === 'README.md' ? 'index.md' : undefined);
    if (known === undefined && !path.startsWith(`docs/${apiFolder}/`)) onFile(path);
    const goal = known ?? (path.startsWith(`docs/${apiFolder}/`) ? path.slice('docs/'.length) : undefined);
    const link = goal === undefined ? `/source/${path}.txt` : relativeTo(page, goal);
    changes.push({ start: index, end: index + target.length, link: anchor === undefined ? link : `${link}#${anchor}` });
  }
  return changes.reduceRight((result, { start, end, link }) => result.slice(0, start) + link + result.slice(end), text);
};

const relativeTo = (/** @type {string} */ from, /** @type {string} */ to) => {
  const path = posix.relative(posix.dirname(from), to);
  return path.startsWith('.') ? path : `./${path}`;
};

/**
 * Returns the problems of the links of all pages: files that do not exist, and anchors that the linked page does not
 * have.
 *
 * @type {(sources: Iterable<string>) => string[]}
 */
export const linkProblems = (sources) =>
  [...sources].flatMap((source) => {
    const text = readFileSync(`${root}/${source}`, 'utf8');
    return linksIn(source, text).flatMap(({ target, line }) => {
      const resolved = resolveLink(source, target);
      if (resolved === undefined) return [];
      const { path, anchor } = resolved;
      if (path.startsWith(`docs/${apiFolder}/`)) {
        const name = path.slice(`docs/${apiFolder}/`.length).replace(/\.md$/, '').split('/')[0];
        return existsSync(`${root}/packages/${name}/src`)
          ? []
          : [`${source}:${line}: no package "${name}" for ${target}`];
      }
      if (!existsSync(`${root}/${path}`)) return [`${source}:${line}: ${target} does not exist`];
      if (anchor === undefined || !path.endsWith('.md')) return [];
      const isKnown = anchorsIn(readFileSync(`${root}/${path}`, 'utf8')).has(anchor);
      return isKnown ? [] : [`${source}:${line}: ${path} has no heading with the anchor #${anchor}`];
    });
  });

/** The page that lists all packages and apps. */
const listing = 'docs/packages.md';

/**
 * Returns the groups of the page that lists all packages and apps, in its order.
 *
 * @type {() => { title: string, folders: string[] }[]}
 */
export const projectGroups = () => {
  const [, ...sections] = readFileSync(`${root}/${listing}`, 'utf8').split(/^## /m);
  return sections.map((section) => {
    const links = section
      .split('\n')
      .filter((line) => line.startsWith('| ['))
      .map((line) => resolveLink(listing, linksIn(listing, line)[0]?.target ?? '')?.path ?? '');
    return { title: section.split('\n')[0] ?? '', folders: links.map((path) => posix.dirname(path)) };
  });
};

/** Returns the packages and apps that are not listed. @type {() => string[]} */
export const listingProblems = () => {
  const listed = new Set(projectGroups().flatMap(({ folders }) => folders));
  return projectFolders()
    .filter((folder) => !listed.has(folder))
    .map((folder) => `${listing}: ${folder} is missing`);
};
