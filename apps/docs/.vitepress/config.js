import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { anchorOf, findPages, root, titleOf } from '../../../tooling/docs/pages.js';
import { siteSections } from '../src/sections.js';

const pages = [...findPages().values()];
const titles = new Map(pages.map(({ source, page }) => [page, titleOf(readFileSync(`${root}/${source}`, 'utf8'))]));
const linkTo = (/** @type {string} */ page) => `/${page.replace(/\.md$/, '')}`;

const srcDir = fileURLToPath(new URL('../dist/pages', import.meta.url));

/**
 * Shows `{{…}}` in the text and in inline code of a page, which VitePress takes for an expression of Vue.
 *
 * @type {NonNullable<import('vitepress').MarkdownOptions['config']>}
 */
const escapeBraces = ({ renderer }) => {
  for (const rule of ['text', 'code_inline']) {
    const render = renderer.rules[rule];
    renderer.rules[rule] = (...args) => (render?.(...args) ?? '').replaceAll('{{', '&#123;&#123;');
  }
};

export default defineConfig({
  title: 'h',
  description: 'Middleware for LLM agents: every package is one RxJS operator.',
  srcDir,
  outDir: fileURLToPath(new URL('../dist/site', import.meta.url)),
  cacheDir: fileURLToPath(new URL('../dist/cache', import.meta.url)),
  cleanUrls: true,
  // Copies for coding agents are added after the build; `links.js` checks all links then.
  ignoreDeadLinks: true,
  markdown: { anchor: { slugify: anchorOf }, config: escapeBraces },
  // The search index is larger than the default limit of the warning.
  vite: { build: { chunkSizeWarningLimit: 4000 }, logLevel: 'warn' },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        // The members of the API reference are most of the index; guides and READMEs answer most questions.
        miniSearch: {
          searchOptions: { boostDocument: (/** @type {string} */ id) => (id.includes('/api/') ? 0.3 : 1) },
        },
      },
    },
    outline: [2, 3],
    nav: [
      { text: 'Pick', link: '/pick' },
      { text: 'Compose', link: '/compose' },
      { text: 'Run', link: '/run' },
      { text: 'Packages', link: '/packages' },
      ...(existsSync(`${srcDir}/api`) ? [{ text: 'API', link: '/api/' }] : []),
    ],
    sidebar: siteSections().map(({ title, pages: names }) => ({
      text: title,
      collapsed: !['Start', 'Concepts', 'Recipes'].includes(title),
      items: names.map((page) => ({ text: titles.get(page) ?? page, link: linkTo(page) })),
    })),
  },
});
