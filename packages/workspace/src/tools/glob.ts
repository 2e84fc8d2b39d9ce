import { join } from 'node:path';
import { defineTool, toolOutput, type Tool, type ToolOutput } from '@h/tools';
import { asFileFailure, fileFailure } from '../files/failures.js';
import { compileGlob, GlobPatternError, type GlobPattern } from '../search/glob-pattern.js';
import { walkTree } from '../search/walk-tree.js';
import type { Workspace } from '../workspace.js';
import { resourcesOf } from './tool-paths.js';

const input = {
  type: 'object',
  properties: {
    pattern: {
      type: 'string',
      description: 'For example "*.ts" (in any folder), "src/**/*.{ts,tsx}", or "src/*/" for folders.',
    },
    path: { type: 'string', description: 'The folder to search. Default: the whole workspace.' },
    includeIgnored: { type: 'boolean', description: 'Also list files that .gitignore excludes.' },
  },
  required: ['pattern'],
} as const;

interface GlobInput {
  readonly pattern: string;
  readonly path?: string;
  readonly includeIgnored?: boolean;
}

/**
 * Creates the tool `glob`, which lists the paths that match a pattern in the order of their names.
 *
 * Links are listed but not followed. Git's own folders, ignored files and unreadable files are omitted. Its `details`
 * are `{ kind: 'glob', pattern, path, count, isCut }`.
 */
export const globTool = (workspace: Workspace): Tool =>
  defineTool({
    name: 'glob',
    description: 'Finds files by a pattern with *, **, ?, [a-z] and {a,b}. Omits files that .gitignore excludes.',
    input,
    effect: 'read-only',
    idempotent: true,
    paths: { root: workspace.paths.root, read: ['path'] },
    resources: (given) => resourcesOf(workspace, (given as unknown as GlobInput).path ?? '.', 'read'),
    run: async (given, { signal }) => {
      const { pattern, path = '.', includeIgnored = false } = given as unknown as GlobInput;
      const start = await workspace.paths.authorize(path, { for: 'read' });
      await checkFolder(workspace, start);
      return findPaths(workspace, { pattern, start, includeIgnored, signal });
    },
  });

/** Compiles a pattern of a call. @throws ToolError */
export const globOf = (pattern: string): GlobPattern => {
  try {
    return compileGlob(pattern);
  } catch (error) {
    if (error instanceof GlobPatternError) {
      throw fileFailure(error.code, `The pattern cannot be used. ${error.message}`, { cause: error });
    }
    throw error;
  }
};

const checkFolder = async ({ paths }: Workspace, path: string): Promise<void> => {
  try {
    const folder = await paths.openFolder(path);
    await folder.close();
  } catch (error) {
    throw asFileFailure(error, paths.display(path));
  }
};

interface Search {
  readonly pattern: string;
  readonly start: string;
  readonly includeIgnored: boolean;
  readonly signal: AbortSignal;
}

const findPaths = async (
  { paths, limits }: Workspace,
  { pattern, start, includeIgnored, signal }: Search,
): Promise<ToolOutput> => {
  const glob = globOf(withoutStart(pattern, start));
  const found: string[] = [];
  let bytes = 0;
  let visited = 0;
  let stopped: string | undefined;
  for await (const entry of walkTree({
    paths,
    start,
    includeIgnored,
    signal,
    enters: (name) => glob.mayMatchBelow(name),
  })) {
    visited += 1;
    if (visited > limits.maxVisited) {
      stopped = `Stopped after ${limits.maxVisited} files and folders; narrow the search with path.`;
    } else if (
      (entry.kind === 'folder') === glob.foldersOnly &&
      glob.matches(entry.name) &&
      paths.permits(entry.path, { for: 'read' })
    ) {
      const shown = paths.display(join(start, entry.name)) + (glob.foldersOnly ? '/' : '');
      bytes += Buffer.byteLength(shown) + 1;
      if (found.length >= limits.maxGlobResults || bytes > limits.maxOutputBytes) {
        stopped = `These are the first ${found.length}; more match. Use a narrower pattern or path.`;
      } else found.push(shown);
    }
    if (stopped !== undefined) break;
  }
  const lines = found.length === 0 ? ['No path matches.'] : found;
  return toolOutput({
    output: [...lines, ...(stopped === undefined ? [] : [`[${stopped}]`])].join('\n'),
    details: { kind: 'glob', pattern, path: paths.display(start), count: found.length, isCut: stopped !== undefined },
  });
};

/** Converts an absolute pattern below the searched folder to a relative one, because models write both. */
const withoutStart = (pattern: string, start: string): string => {
  const below = start.endsWith('/') ? start : `${start}/`;
  return pattern.startsWith(below) ? `./${pattern.slice(below.length)}` : pattern;
};
