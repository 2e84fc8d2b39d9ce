import { defineTool, toolOutput, type Tool, type ToolOutput } from '@h/tools';
import * as z from 'zod';
import { outputWindow } from '../process/output-window.js';
import { PathError } from '../paths/path-error.js';
import type { WorkspacePaths } from '../paths/workspace-paths.js';
import { GitError } from './git-error.js';
import type { GitRepository } from './repository.js';
import type { GitHead, StatusEntry } from './status.js';

/** What a git tool reads: the repository, and the paths that may be shown. */
export interface GitToolsContext {
  readonly repository: GitRepository;
  readonly paths: WorkspacePaths;
}

/** Characters of output that a git tool shows, as `bash` does. */
const maxChars = 30_000;
const maxEntries = 500;
const defaultCount = 10;
const maxCount = 200;

/** The tools `git_status`, `git_diff` and `git_log`. They read, and take no lock that a person's own git would wait for. */
export const gitTools = (context: GitToolsContext): readonly Tool[] => [
  gitStatusTool(context),
  gitDiffTool(context),
  gitLogTool(context),
];

/** The tool `git_status`: the branch, and which files are not committed. */
export const gitStatusTool = ({ repository }: GitToolsContext): Tool =>
  defineTool({
    name: 'git_status',
    description: 'Shows the current git branch and the files that are not committed. Ignored files are left out.',
    input: z.object({}),
    effect: 'read-only',
    resources: () => [`file:${repository.root}`],
    run: async () => {
      await repository.top();
      const { head, entries } = await repository.state();
      const lines = entries.slice(0, maxEntries).map(({ staged, unstaged, path }) => `${staged}${unstaged} ${path}`);
      const more = entries.length > maxEntries ? [`… and ${entries.length - maxEntries} more`] : [];
      const files = entries.length === 0 ? ['Nothing to commit.'] : [legend, ...lines, ...more];
      return toolOutput({ output: [headLine(head), ...files].join('\n'), details: statusDetails(head, entries) });
    },
  });

const legend = 'Files that are not committed (staged, not staged; ? is new):';

const headLine = ({ branch, commit }: GitHead): string =>
  branch === undefined
    ? `On no branch, at ${commit}.`
    : `On branch ${branch}${commit === undefined ? ', which has no commit yet' : ''}.`;

const statusDetails = ({ branch, commit }: GitHead, entries: readonly StatusEntry[]) => ({
  kind: 'git-status',
  branch: branch ?? null,
  commit: commit ?? null,
  count: entries.length,
  files: entries.slice(0, maxEntries).map(({ path, change }) => ({ path, change })),
});

/** The tool `git_diff`: changes that are not committed, or since a commit. Files that may not be read are left out. */
export const gitDiffTool = ({ repository, paths }: GitToolsContext): Tool =>
  defineTool({
    name: 'git_diff',
    description:
      'Shows changes as a diff: what is not staged, what is staged, or everything since a commit. New files appear once they are staged.',
    input: z.object({
      path: z.string().min(1).optional().describe('Only this file or folder, from the root of the workspace.'),
      staged: z.boolean().optional().describe('What is staged, instead of what is not.'),
      since: z.string().min(1).optional().describe('A commit or branch to compare with.'),
    }),
    effect: 'read-only',
    resources: () => [`file:${repository.root}`],
    run: async ({ path, staged = false, since }, { signal }) => {
      await repository.top();
      const scope = path === undefined ? '.' : paths.display(paths.resolve(path, { for: 'read' }));
      const base = since === undefined ? [] : [await commit(repository, since)];
      const what = [
        'diff',
        '--relative',
        '--no-ext-diff',
        '--no-textconv',
        '--no-color',
        '--no-renames',
        '--ignore-submodules=dirty',
        ...(staged ? ['--cached'] : []),
        ...base,
      ];
      const names = (await repository.git([...what, '--name-only', '-z', '--', scope], { signal }))
        .split('\0')
        .filter((name) => name !== '');
      const hidden = names.filter((name) => !isReadable(paths, name));
      const pathspecs = [`:(literal)${scope}`, ...hidden.map((name) => `:(exclude,literal)${name}`)];
      const note =
        hidden.length === 0
          ? ''
          : `${hidden.length} changed ${hidden.length === 1 ? 'file' : 'files'} may not be read and ${hidden.length === 1 ? 'is' : 'are'} not shown.`;
      const details = { kind: 'git-diff', files: names.length - hidden.length, hidden: hidden.length };
      if (names.length === hidden.length) return toolOutput({ output: note || 'No changes.', details });
      return windowed(repository, [...what, '--', ...pathspecs], { signal, note, details });
    },
  });

const isReadable = (paths: WorkspacePaths, name: string): boolean => {
  try {
    paths.resolve(name, { for: 'read' });
    return true;
  } catch (error) {
    // A link may lead anywhere: git shows where, not what is there.
    return error instanceof PathError && error.code !== 'not-permitted';
  }
};

/** The tool `git_log`: the latest commits. */
export const gitLogTool = ({ repository, paths }: GitToolsContext): Tool =>
  defineTool({
    name: 'git_log',
    description: 'Lists the latest commits, newest first: id, date, author and subject.',
    input: z.object({
      count: z.int().min(1).max(maxCount).optional().describe(`How many; ${defaultCount} if you do not say.`),
      path: z
        .string()
        .min(1)
        .optional()
        .describe('Only those that changed this file or folder, from the root of the workspace.'),
    }),
    effect: 'read-only',
    resources: () => [`file:${repository.root}`],
    run: async ({ count = defaultCount, path }, { signal }) => {
      await repository.top();
      if ((await repository.commitOf('HEAD')) === undefined) return 'There is no commit yet.';
      const scope = path === undefined ? [] : [paths.display(paths.resolve(path, { for: 'read' }))];
      const args = [
        'log',
        `--max-count=${count}`,
        '--no-color',
        '--no-show-signature',
        '--date=short',
        '--format=%h %ad %an: %s',
        '--',
        ...scope,
      ];
      return windowed(repository, args, { signal, note: '', details: { kind: 'git-log' } });
    },
  });

const commit = async (repository: GitRepository, name: string): Promise<string> => {
  const found = await repository.commitOf(name);
  if (found !== undefined) return found;
  throw new GitError('git-failed', `There is no commit or branch ${JSON.stringify(name.slice(0, 200))}.`);
};

interface Windowed {
  readonly signal: AbortSignal;
  readonly note: string;
  readonly details: Readonly<Record<string, string | number>>;
}

/** Runs git and shows the beginning and the end of what it says. */
const windowed = async (
  repository: GitRepository,
  args: readonly string[],
  { signal, note, details }: Windowed,
): Promise<ToolOutput> => {
  const window = outputWindow(maxChars);
  await repository.git(args, {
    signal,
    environment: { GIT_LITERAL_PATHSPECS: '0' },
    onOutput: (chunk) => window.write(chunk),
  });
  const { text, bytes, omittedBytes } = window.read();
  const shown = [text.trimEnd(), note].filter((part) => part !== '').join('\n');
  return toolOutput({ output: shown || 'Nothing found.', details: { ...details, bytes, omittedBytes } });
};
