import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { publishedManifests } from '../release/publish.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const published = new Set(publishedManifests(root).map(({ name }) => name));
const changesets = readdirSync(`${root}/.changeset`).filter((name) => name.endsWith('.md') && name !== 'README.md');

/** Returns the packages in the front matter of a changeset. @type {(text: string) => string[]} */
const namedIn = (text) =>
  [...(text.split(/^---$/m)[1] ?? '').matchAll(/^['"]?((?:@[\w-]+\/)?[\w-]+)['"]?: (?:major|minor|patch)$/gm)].map(
    ([, name = '']) => name,
  );

describe('a changeset', () => {
  it.each(changesets)('%s names only published packages', (name) => {
    const named = namedIn(readFileSync(`${root}/.changeset/${name}`, 'utf8'));
    expect(named).not.toEqual([]);
    expect(named.filter((each) => !published.has(each))).toEqual([]);
  });
});
