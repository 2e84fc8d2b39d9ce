import { isUtf8 } from 'node:buffer';
import type { FoundFile, GrepEngine, GrepQuery } from './grep-query.js';
import { Pace, searchText, type TextSearch } from './search-text.js';
import { walkTree, type TreeEntry } from './walk-tree.js';

/** Searches a tree without ripgrep: the same files, the same lines, more slowly. */
export const ownSearch: GrepEngine = async function* ownSearch(query) {
  const { paths, start, includeIgnored, signal, glob, maxVisited } = query;
  const pace = new Pace(signal);
  const search = await textSearch(query, pace);
  let visited = 0;
  for await (const entry of walkTree({ paths, start, includeIgnored, signal, ...(glob && { enters: (name) => glob.mayMatchBelow(name) }) })) {
    visited += 1;
    if (visited > maxVisited) return `Stopped after ${maxVisited} files and folders; give a path to look in.`;
    if (!isWanted(query, entry)) continue;
    const found = await searchFile(query, entry.path, search);
    if (found !== undefined) yield found;
  }
  return skipped(pace);
};

/** Searches one file. */
export const searchOneFile: GrepEngine = async function* searchOneFile(query) {
  const pace = new Pace(query.signal);
  const found = await searchFile(query, query.start, await textSearch(query, pace));
  if (found !== undefined) yield found;
  return skipped(pace);
};

const isWanted = ({ paths, glob }: GrepQuery, { kind, name, path }: TreeEntry): boolean =>
  kind === 'file' && (glob === undefined || glob.matches(name)) && paths.permits(path, { for: 'read' });

const textSearch = async (query: GrepQuery, pace: Pace): Promise<TextSearch> => {
  // Its engine is a quarter of a megabyte that nobody needs who has ripgrep.
  const { lineMatcher } = await import('./line-matcher.js');
  return { matcher: lineMatcher(query), context: query.context, maxMatches: query.maxPerFile, maxLineChars: query.maxLineChars, pace };
};

const searchFile = async (query: GrepQuery, path: string, search: TextSearch): Promise<FoundFile | undefined> => {
  const text = await readText(query, path);
  const lines = text === undefined ? [] : await searchText(text, search);
  return lines.length === 0 ? undefined : { path, lines };
};

/** The text of a file; nothing for one that is binary, too large, or cannot be read. */
const readText = async ({ paths, maxFileBytes }: GrepQuery, path: string): Promise<string | undefined> => {
  try {
    const handle = await paths.openFile(path);
    try {
      const stats = await handle.stat();
      return stats.isFile() && stats.size <= maxFileBytes ? decode(await handle.readFile()) : undefined;
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
};

const decode = (bytes: Buffer): string | undefined => {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  if (bytes.includes(0)) return undefined;
  const text = isUtf8(bytes) ? bytes.toString('utf8') : new TextDecoder().decode(bytes);
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
};

const skipped = ({ skippedLines }: Pace): string | undefined =>
  skippedLines === 0 ? undefined : `${skippedLines} line${skippedLines === 1 ? ' was' : 's were'} too long for this pattern and not searched; use a simpler one, or literal.`;
