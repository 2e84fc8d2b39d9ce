/** Checks the links of a built site: each relative link leads to a file, and each fragment to an element with that id. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';

const attribute = /<a\b[^>]*?\shref="(?<href>[^"]*)"/g;
const id = /\sid="(?<id>[^"]*)"/g;

/** @type {(text: string) => string} */
const decoded = (text) => decodeURIComponent(text.replaceAll('&amp;', '&'));

/** Returns the file that a path of the site serves. @type {(site: string, path: string) => string | undefined} */
const fileOf = (site, path) =>
  [path, `${path}.html`, posix.join(path, 'index.html')].find(
    (file) => existsSync(join(site, file)) && statSync(join(site, file)).isFile(),
  );

/** Returns the broken links of all HTML pages of a site. @type {(site: string) => string[]} */
export const siteLinkProblems = (site) => {
  const files = readdirSync(site, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.html'));
  const pages = new Map(files.map((file) => [file, readFileSync(join(site, file), 'utf8')]));
  const ids = new Map(
    [...pages].map(([file, html]) => [file, new Set([...html.matchAll(id)].map(({ groups }) => groups?.['id'] ?? ''))]),
  );
  return [...pages].flatMap(([file, html]) =>
    [...new Set([...html.matchAll(attribute)].map(({ groups }) => decoded(groups?.['href'] ?? '')))].flatMap((href) => {
      if (href === '' || /^[a-z][a-z0-9+.-]*:|^\/\//i.test(href)) return [];
      const [path = '', fragment] = href.split('#');
      const target = path === '' ? file : posix.join('/', posix.dirname(`/${file}`), path).slice(1);
      const absolute = path.startsWith('/') ? path.slice(1) : target;
      const found = fileOf(site, absolute === '' ? 'index.html' : absolute);
      if (found === undefined) return [`${file}: ${href} leads nowhere`];
      if (fragment === undefined || fragment === '' || !found.endsWith('.html')) return [];
      return ids.get(found)?.has(fragment) === true ? [] : [`${file}: ${href} has no target`];
    }),
  );
};
