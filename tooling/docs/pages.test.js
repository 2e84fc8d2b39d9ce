import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evidenceProblems } from './evidence.js';
import { anchorsIn, findPages, forSite, linkProblems, linksIn, projectFolders, projectGroups } from './pages.js';

describe('links of a page', () => {
  it('are found outside of code and comments only, with their lines', () => {
    const text = '[a](b.md)\n```\n[c](d.md)\n```\n`[e](f.md)` [`g`](h.md#i)\n<!-- [j](k.md) -->';
    expect(linksIn('x.md', text).map(({ target, line }) => `${line} ${target}`)).toEqual(['1 b.md', '5 h.md#i']);
  });

  it('change on the site, whatever surrounds them', () => {
    const pages = findPages();
    const page = { source: 'docs/turn.md', page: 'turn.md' };
    const links = fc.constantFrom(
      '[x](../packages/queue)',
      '[`y`](ordering.md#a)',
      '```\n[z](../README.md)\n```',
      'text `[q](r)`',
    );
    fc.assert(
      fc.property(fc.array(links), (parts) => {
        const site = parts.map((part) =>
          part.replace('](../packages/queue)', '](./packages/queue.md)').replace('](ordering', '](./ordering'),
        );
        expect(forSite(page, parts.join('\n\n'), pages, () => undefined)).toBe(site.join('\n\n'));
      }),
    );
  });

  it('lead to a copy if the file is not a page', () => {
    /** @type {string[]} */
    const files = [];
    const page = { source: 'docs/turn.md', page: 'turn.md' };
    const text = forSite(page, '[x](../tooling/start.js)', findPages(), (path) => files.push(path));
    expect([text, files]).toEqual(['[x](/source/tooling/start.js.txt)', ['tooling/start.js']]);
  });

  it('are reported if the file or the anchor does not exist', () => {
    expect(linkProblems(['tooling/docs/fixtures/links.md'])).toEqual([
      'tooling/docs/fixtures/links.md:3: missing.md does not exist',
      'tooling/docs/fixtures/links.md:4: tooling/docs/fixtures/links.md has no heading with the anchor #nowhere',
      'tooling/docs/fixtures/links.md:5: no package "nothing" for ../../../docs/api/nothing.md',
    ]);
  });
});

describe('anchorsIn', () => {
  it('returns an anchor for each heading, and numbers repeated ones', () => {
    expect([...anchorsIn('# One `two` [three](x.md)!\n## One\n## One\n```\n# Code\n```')]).toEqual([
      'one-two-three',
      'one',
      'one-1',
    ]);
  });
});

describe('the list of packages', () => {
  it('names each package and app once', () => {
    expect(
      projectGroups()
        .flatMap(({ folders }) => folders)
        .toSorted(),
    ).toEqual(projectFolders().toSorted());
  });
});

describe('a page of claims', () => {
  const check = (/** @type {string} */ row) => evidenceProblems('docs/x.md', row, 1);
  const test =
    '[finds each once, and of a batch the last count](../packages/compaction/src/summary/identifiers.test.ts)';

  it('passes if each row links a package and a test under its title', () => {
    expect(check(`| 1 | claim | [\`@h/compaction\`](../packages/compaction) | ${test} |`)).toEqual([]);
  });

  it.each([
    ['no package is linked', `| 1 | claim | | ${test} |`],
    ['no test is linked', '| 1 | claim | [x](../packages/compaction) | |'],
    [
      'has no test "invents a title"',
      '| 1 | [x](../packages/json) | [invents a title](../tooling/docs/blocks.test.js) |',
    ],
    ['does not exist', '| 1 | [x](../packages/json) | [a](../packages/json/src/none.test.ts) |'],
    ['must be numbered from 1', `| 2 | [x](../packages/compaction) | ${test} |`],
  ])('reports that it %s', (problem, row) => {
    expect(check(row).join('\n')).toContain(problem);
  });
});
