/** Checks pages that claim something in each row of a table and link the tests that show it. */
import { existsSync, readFileSync } from 'node:fs';
import { resolveLink, root } from './pages.js';

/** Pages of claims, and the number of their claims. */
export const evidencePages = new Map([
  ['docs/failure-modes.md', 21],
  ['docs/checklist.md', 55],
]);

const numberedRow = /^\| (?<number>\d+) \|(?<cells>.*)\|$/;
const link = /\[(?<text>[^\]]+)\]\((?<target>[^)\s]+)\)/g;

/** Returns the test titles and their escaped form in source code. @type {(title: string, code: string) => boolean} */
const contains = (title, code) =>
  ["'", '"', '`'].some((quote) => code.includes(`${quote}${title.replaceAll(quote, `\\${quote}`)}${quote}`));

/**
 * Returns the problems of one row: it must link a package or app, and at least one test under its title.
 *
 * @type {(source: string, cells: string) => string[]}
 */
const rowProblems = (source, cells) => {
  const links = [...cells.matchAll(link)].map(({ groups }) => ({
    text: groups?.['text'] ?? '',
    path: resolveLink(source, groups?.['target'] ?? '')?.path ?? '',
  }));
  const tests = links.filter(({ path }) => /\.test\.(?:ts|js)$/.test(path));
  return [
    ...(tests.length === 0 ? ['no test is linked'] : []),
    ...(links.some(({ path }) => /^(?:packages|apps)\/[^/]+\/README\.md$/.test(path)) ? [] : ['no package is linked']),
    ...tests.flatMap(({ text, path }) => {
      if (!existsSync(`${root}/${path}`)) return [`${path} does not exist`];
      return contains(text, readFileSync(`${root}/${path}`, 'utf8')) ? [] : [`${path} has no test "${text}"`];
    }),
  ];
};

/**
 * Returns the problems of a page of claims. The rows must be numbered from 1 to `count`.
 *
 * @type {(source: string, text: string, count: number) => string[]}
 */
export const evidenceProblems = (source, text, count) => {
  const rows = text.split('\n').flatMap((line, index) => {
    const { number, cells = '' } = numberedRow.exec(line)?.groups ?? {};
    return number === undefined ? [] : [{ number: Number(number), cells, line: index + 1 }];
  });
  const isComplete = rows.length === count && rows.every(({ number }, index) => number === index + 1);
  return [
    ...(isComplete ? [] : [`${source}: the rows must be numbered from 1 to ${count}`]),
    ...rows.flatMap(({ cells, line }) => rowProblems(source, cells).map((problem) => `${source}:${line}: ${problem}`)),
  ];
};
