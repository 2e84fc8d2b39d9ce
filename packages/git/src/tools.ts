import { defineTool, toolOutput, type Tool, type ToolOutput } from '@h/tools';
import { checkOptions, instanceOf, objectWithMethods, required, visibleLine } from '@h/options';
import { PathError, type WorkspacePaths } from '@h/paths';
import { outputWindow } from '@h/process';
import { GitError } from './git-error.js';
import { GitRepository } from './repository.js';
import type { GitHead, StatusEntry } from './status.js';

/** What git tools read: the repository, and the paths that may be shown. */
export interface GitToolsContext {
  readonly repository: GitRepository;
  readonly paths: WorkspacePaths;
}

/** Maximum length of the output in characters, as in the tool `bash`. */
const maxChars = 30_000;
const maxEntries = 500;
const defaultCount = 10;
const maxCount = 200;

interface DiffInput {
  readonly path?: string;
  readonly staged?: boolean;
  readonly since?: string;
}

interface LogInput {
  readonly count?: number;
  readonly path?: string;
}

const checkContext = (owner: string, context: GitToolsContext): void =>
  checkOptions(owner, context, {
    repository: required(instanceOf(GitRepository, 'a repository that createGitRepository() returned')),
    paths: required(objectWithMethods('resolve', 'display')),
  });

/**
 * Creates the tools `git_status`, `git_diff` and `git_log`. They only read, and take no lock that would block a user's
 * git.
 *
 * @throws InvalidOptionError for an invalid option
 */
export const gitTools = (context: GitToolsContext): readonly Tool[] => [
  gitStatusTool(context),
  gitDiffTool(context),
  gitLogTool(context),
];

/** Creates the tool `git_status`, which shows the branch and the uncommitted files. */
export const gitStatusTool = (context: GitToolsContext): Tool => {
  checkContext('gitStatusTool()', context);
  const { repository } = context;
  return defineTool({
    name: 'git_status',
    description: 'Shows the current git branch and the uncommitted files. Ignored files are omitted.',
    // Without any input, each call is judged as one that reads the whole folder.
    input: { type: 'object', properties: {}, additionalProperties: false },
    effect: 'read-only',
    paths: { root: repository.root, read: ['path'] },
    resources: () => [`file:${repository.root}`],
    run: async () => {
      await repository.top();
      const { head, entries } = await repository.state();
      const lines = entries
        .slice(0, maxEntries)
        .map(({ staged, unstaged, path }) => `${staged}${unstaged} ${visibleLine(path)}`);
      const more = entries.length > maxEntries ? [`… and ${entries.length - maxEntries} more`] : [];
      const files = entries.length === 0 ? ['Nothing to commit.'] : [legend, ...lines, ...more];
      return toolOutput({ output: [headLine(head), ...files].join('\n'), details: statusDetails(head, entries) });
    },
  });
};

const legend = 'Uncommitted files (staged, not staged; ? is new):';

const headLine = ({ branch, commit }: GitHead): string =>
  branch === undefined
    ? `Detached head at ${commit}.`
    : `On branch ${branch}${commit === undefined ? ', which has no commit' : ''}.`;

const statusDetails = ({ branch, commit }: GitHead, entries: readonly StatusEntry[]) => ({
  kind: 'git-status',
  branch: branch ?? null,
  commit: commit ?? null,
  count: entries.length,
  files: entries.slice(0, maxEntries).map(({ path, change }) => ({ path, change })),
});

/**
 * Creates the tool `git_diff`, which shows uncommitted changes, or those since a commit. Unreadable files are omitted.
 */
export const gitDiffTool = (context: GitToolsContext): Tool => {
  checkContext('gitDiffTool()', context);
  const { repository, paths } = context;
  return defineTool({
    name: 'git_diff',
    description: 'Shows changes as a diff: unstaged, staged, or since a commit. New files appear once they are staged.',
    input: {
      type: 'object',
      properties: {
        path: { type: 'string', minLength: 1, description: 'Only this file or folder, relative to the workspace.' },
        staged: { type: 'boolean', description: 'Show staged changes instead of unstaged ones.' },
        since: { type: 'string', minLength: 1, description: 'A commit or branch to compare with.' },
      },
    },
    effect: 'read-only',
    paths: { root: paths.root, read: ['path'] },
    resources: () => [`file:${repository.root}`],
    run: async (input, { signal }) => {
      const { path, staged = false, since } = input as DiffInput;
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
          : `${hidden.length} changed ${hidden.length === 1 ? 'file is' : 'files are'} not shown: the permissions deny reading.`;
      const details = { kind: 'git-diff', files: names.length - hidden.length, hidden: hidden.length };
      if (names.length === hidden.length) return toolOutput({ output: note || 'No changes.', details });
      return windowed(repository, [...what, '--', ...pathspecs], { signal, note, details });
    },
  });
};

const isReadable = (paths: WorkspacePaths, name: string): boolean => {
  try {
    paths.resolve(name, { for: 'read' });
    return true;
  } catch (error) {
    // Git shows the target of a link, not the content of that file.
    return error instanceof PathError && error.code !== 'not-permitted';
  }
};

/** Creates the tool `git_log`, which lists the latest commits. */
export const gitLogTool = (context: GitToolsContext): Tool => {
  checkContext('gitLogTool()', context);
  const { repository, paths } = context;
  return defineTool({
    name: 'git_log',
    description: 'Lists the latest commits, newest first: id, date, author and subject.',
    input: {
      type: 'object',
      properties: {
        count: {
          type: 'integer',
          minimum: 1,
          maximum: maxCount,
          description: `The number of commits; ${defaultCount} by default.`,
        },
        path: {
          type: 'string',
          minLength: 1,
          description: 'Only commits that changed this file or folder, relative to the workspace.',
        },
      },
    },
    effect: 'read-only',
    paths: { root: paths.root, read: ['path'] },
    resources: () => [`file:${repository.root}`],
    run: async (input, { signal }) => {
      const { count = defaultCount, path } = input as LogInput;
      await repository.top();
      if ((await repository.commitOf('HEAD')) === undefined) return 'The repository has no commit.';
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
};

const commit = async (repository: GitRepository, name: string): Promise<string> => {
  const found = await repository.commitOf(name);
  if (found !== undefined) return found;
  throw new GitError('git-failed', `The commit or branch ${JSON.stringify(name.slice(0, 200))} does not exist.`);
};

interface Windowed {
  readonly signal: AbortSignal;
  readonly note: string;
  readonly details: Readonly<Record<string, string | number>>;
}

/** Runs git and shows the beginning and the end of its output. */
const windowed = async (
  repository: GitRepository,
  args: readonly string[],
  { signal, note, details }: Windowed,
): Promise<ToolOutput> => {
  const window = outputWindow({ maxChars });
  await repository.git(args, {
    signal,
    environment: { GIT_LITERAL_PATHSPECS: '0' },
    onOutput: (chunk) => window.write(chunk),
  });
  const { text, bytes, omittedBytes } = window.read();
  const shown = [text.trimEnd(), note].filter((part) => part !== '').join('\n');
  return toolOutput({ output: shown || 'No output.', details: { ...details, bytes, omittedBytes } });
};
