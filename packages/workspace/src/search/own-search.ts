import type { FoundLine, GrepEngine, GrepQuery } from './grep-query.js';
import { readTextSync } from './read-text.js';
import { Pace, searchText, type TextSearch } from './search-text.js';
import { walkTree, type TreeEntry } from './walk-tree.js';

/** Cost of opening and reading a file, in the unit of {@link Pace}. */
const fileWork = 30_000;

/** Searches a tree without ripgrep: more slowly, with the same results. */
export const ownSearch: GrepEngine = async function* ownSearch(query) {
  const { paths, start, includeIgnored, signal, glob, maxVisited } = query;
  const pace = new Pace(signal);
  const search = await textSearch(query, pace);
  let visited = 0;
  for await (const entry of walkTree({
    paths,
    start,
    includeIgnored,
    signal,
    ...(glob && { enters: (name) => glob.mayMatchBelow(name) }),
  })) {
    visited += 1;
    if (visited > maxVisited) return `Stopped after ${maxVisited} files and folders; narrow the search with path.`;
    if (!isWanted(query, entry)) continue;
    await pace.spend(fileWork);
    const lines = await searchFile(query, entry.path, search);
    if (lines.length > 0) yield { path: entry.path, lines };
  }
  return skipped(pace);
};

/** Searches one file. */
export const searchOneFile: GrepEngine = async function* searchOneFile(query) {
  const pace = new Pace(query.signal);
  const lines = await searchFile(query, query.start, await textSearch(query, pace));
  if (lines.length > 0) yield { path: query.start, lines };
  return skipped(pace);
};

const isWanted = ({ paths, glob }: GrepQuery, { kind, name, path }: TreeEntry): boolean =>
  kind === 'file' && (glob === undefined || glob.matches(name)) && paths.permits(path, { for: 'read' });

const textSearch = async (query: GrepQuery, pace: Pace): Promise<TextSearch> => {
  // Loaded on demand: the engine is 250 kB and not needed with ripgrep.
  const { lineMatcher } = await import('./line-matcher.js');
  return {
    matcher: lineMatcher(query),
    context: query.context,
    maxMatches: query.maxPerFile,
    maxLineChars: query.maxLineChars,
    pace,
  };
};

const searchFile = async (
  { maxFileBytes }: GrepQuery,
  path: string,
  search: TextSearch,
): Promise<readonly FoundLine[]> => {
  const text = readTextSync(path, maxFileBytes);
  return text === undefined ? [] : searchText(text, search);
};

const skipped = ({ skippedLines }: Pace): string | undefined =>
  skippedLines === 0
    ? undefined
    : `${skippedLines} line${skippedLines === 1 ? ' was' : 's were'} too long for this pattern and not searched; use a simpler one, or literal.`;
