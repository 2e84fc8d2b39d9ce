/** The sections of the site, in the order of the sidebar. Pages that no section names are added to the guides. */
import { findPages, projectGroups } from '../../../tooling/docs/pages.js';

/** @typedef {{ title: string, pages: string[] }} Section */

/** @type {readonly Section[]} */
const fixed = [
  { title: 'Start', pages: ['pick.md', 'compose.md', 'run.md'] },
  { title: 'Concepts', pages: ['turn.md', 'ordering.md', 'writing-an-operator.md', 'glossary.md'] },
  { title: 'Recipes', pages: ['recipes.md', 'picks.md', 'skills/add-operator.md'] },
  {
    title: 'Trust',
    pages: [
      'failure-modes.md',
      'checklist.md',
      'threat-model.md',
      'packages/security-threat-model.md',
      'security.md',
      'comparison.md',
      'stability.md',
      'runtimes.md',
      'licenses.md',
    ],
  },
];

/** Returns the sections with all pages of the site except the home page. @type {() => Section[]} */
export const siteSections = () => {
  const all = [...findPages().values()].map(({ page }) => page);
  const groups = projectGroups().map(({ title, folders }) => ({
    title,
    pages: folders.map((folder) => `${folder}.md`),
  }));
  const named = new Set([...fixed, ...groups].flatMap(({ pages }) => pages));
  const others = all.filter((page) => !named.has(page) && page !== 'index.md' && page !== 'packages.md');
  const known = new Set(all);
  const [start, concepts, recipes, trust] = fixed;
  return [
    start,
    concepts,
    recipes,
    { title: 'Guides', pages: others },
    trust,
    { title: 'All packages', pages: ['packages.md'] },
    ...groups,
  ]
    .filter((section) => section !== undefined)
    .map(({ title, pages }) => ({ title, pages: pages.filter((page) => known.has(page)) }));
};
