import { defineTool, toolOutput, type Tool, type ToolContext, type ToolOutput } from '@h/tools';
import { asFileFailure, fileFailure } from '../files/failures.js';
import { kindOfPath } from '../files/load-file.js';
import { findRipgrep } from '../search/find-ripgrep.js';
import { GrepPatternError, type GrepEngine, type GrepQuery } from '../search/grep-query.js';
import { GrepReport } from '../search/grep-report.js';
import { ownSearch, searchOneFile } from '../search/own-search.js';
import { RipgrepError, ripgrepSearch } from '../search/ripgrep.js';
import type { Workspace } from '../workspace.js';
import { globOf } from './glob.js';
import { resourcesOf } from './tool-paths.js';

const maxPatternChars = 1_000;
const maxContext = 20;

const input = {
  type: 'object',
  properties: {
    pattern: {
      type: 'string',
      minLength: 1,
      maxLength: maxPatternChars,
      description: 'A regular expression, without look-around and back references.',
    },
    path: { type: 'string', description: 'The folder or file to search. Default: the whole workspace.' },
    glob: { type: 'string', description: 'Only files that match, such as "*.ts" or "src/**/*.{ts,tsx}".' },
    ignoreCase: { type: 'boolean' },
    literal: { type: 'boolean', description: 'The pattern is plain text.' },
    context: {
      type: 'integer',
      minimum: 0,
      maximum: maxContext,
      description: 'The number of lines to show before and after each match.',
    },
    filesOnly: { type: 'boolean', description: 'Show only the paths of matching files.' },
    includeIgnored: { type: 'boolean', description: 'Also search files that .gitignore excludes.' },
  },
  required: ['pattern'],
} as const;

interface GrepInput {
  readonly pattern: string;
  readonly path?: string;
  readonly glob?: string;
  readonly ignoreCase?: boolean;
  readonly literal?: boolean;
  readonly context?: number;
  readonly filesOnly?: boolean;
  readonly includeIgnored?: boolean;
}

/**
 * Creates the tool `grep`, which lists matching lines by file in the order of names.
 *
 * It runs ripgrep if it is installed, and otherwise the built-in search. Git's own folders and ignored, binary and
 * unreadable files are omitted; links are not followed. Its `details` are `{ kind: 'grep', pattern, path, matches,
 * files, isCut }`.
 */
export const grepTool = (workspace: Workspace): Tool =>
  defineTool({
    name: 'grep',
    description: 'Searches the contents of files for a regular expression. Omits files that .gitignore excludes.',
    input,
    effect: 'read-only',
    idempotent: true,
    paths: { root: workspace.paths.root, read: ['path'] },
    resources: (given) => resourcesOf(workspace, (given as unknown as GrepInput).path ?? '.', 'read'),
    run: (given, context) => grep(workspace, given as unknown as GrepInput, context),
  });

const grep = async (workspace: Workspace, given: GrepInput, { signal }: ToolContext): Promise<ToolOutput> => {
  if (/[\n\0]/u.test(given.pattern)) {
    throw fileFailure(
      'invalid-pattern',
      'The pattern cannot contain a line end, because lines are searched one by one; search for a part of one line.',
    );
  }
  const start = await workspace.paths.authorize(given.path ?? '.', { for: 'read' });
  const shown = workspace.paths.display(start);
  const query = queryOf(workspace, given, start, signal);
  try {
    return await answer(workspace, given, query, await engineFor(workspace, start));
  } catch (error) {
    if (error instanceof GrepPatternError) {
      throw fileFailure(error.code, `The pattern cannot be used: ${error.message}`, { cause: error });
    }
    if (error instanceof RipgrepError) throw error;
    throw asFileFailure(error, shown);
  }
};

const queryOf = ({ paths, limits }: Workspace, given: GrepInput, start: string, signal: AbortSignal): GrepQuery => ({
  paths,
  start,
  signal,
  pattern: given.pattern,
  isLiteral: given.literal ?? false,
  ignoreCase: given.ignoreCase ?? false,
  context: given.filesOnly === true ? 0 : (given.context ?? 0),
  glob: given.glob === undefined ? undefined : globOf(given.glob),
  includeIgnored: given.includeIgnored ?? false,
  // One more than is shown, to detect further matches.
  maxPerFile: given.filesOnly === true ? 1 : limits.maxGrepMatches + 1,
  maxLineChars: limits.maxGrepLineChars,
  maxFileBytes: limits.maxFileBytes,
  maxVisited: limits.maxVisited,
});

/** Searches a single file without ripgrep, which would open it by its name. */
const engineFor = async (workspace: Workspace, start: string): Promise<GrepEngine> => {
  if ((await kindOfPath(workspace, start)) === 'file') return searchOneFile;
  const program = findRipgrep(workspace);
  return program === undefined ? ownSearch : ripgrepSearch(program);
};

const answer = async (
  workspace: Workspace,
  given: GrepInput,
  query: GrepQuery,
  engine: GrepEngine,
): Promise<ToolOutput> => {
  const { maxGrepMatches, maxGlobResults, maxOutputBytes } = workspace.limits;
  const filesOnly = given.filesOnly ?? false;
  const report = new GrepReport({
    filesOnly,
    hasContext: query.context > 0,
    maxMatches: filesOnly ? maxGlobResults : maxGrepMatches,
    maxBytes: maxOutputBytes,
  });
  let note: string | undefined;
  // A manual loop, because for-of would drop the return value of the generator.
  const files = engine(query);
  try {
    for (let next = await files.next(); ; next = await files.next()) {
      if (next.done === true) {
        note = next.value;
        break;
      }
      if (!report.add(workspace.paths.display(next.value.path), next.value.lines)) break;
    }
  } finally {
    await files.return(undefined);
  }
  return toolOutput({
    output: report.text(note),
    details: { kind: 'grep', pattern: given.pattern, path: workspace.paths.display(query.start), ...report.details },
  });
};
