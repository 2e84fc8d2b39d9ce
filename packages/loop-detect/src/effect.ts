import type { LoopCall } from './call.js';
import { commandsOf, shellLineOf } from './shell.js';
import { textMember, wordsOf } from './words.js';

/** Whether a call changes something when it succeeds, as far as can be told. */
export const writes = (call: LoopCall): boolean => {
  const line = shellLineOf(call.name, call.input);
  // What a shell declares is the most that it may do, not what this line does.
  if (line !== undefined) return shellWrites(line);
  if (call.effect === 'read-only') return false;
  if (call.effect === 'local-write' || call.effect === 'destructive') return true;
  return nameWrites(call);
};

const writingWords: ReadonlySet<string> = new Set([
  'write',
  'edit',
  'multiedit',
  'create',
  'update',
  'upsert',
  'delete',
  'remove',
  'insert',
  'replace',
  'patch',
  'apply',
  'move',
  'rename',
  'copy',
  'commit',
  'push',
  'set',
  'add',
  'append',
  'save',
  'put',
  'post',
  'send',
  'install',
  'upload',
  'publish',
  'deploy',
  'merge',
  'mkdir',
  'undo',
  'close',
  'assign',
  'comment',
]);
/** What such tools change is the model's own notes; more of them is not yet progress. */
const noteWords: ReadonlySet<string> = new Set([
  'todo',
  'todos',
  'plan',
  'memory',
  'think',
  'thought',
  'note',
  'notes',
]);
/** Actions of tools that read and write under one name. */
const readingActions: ReadonlySet<string> = new Set([
  'view',
  'read',
  'list',
  'get',
  'show',
  'search',
  'find',
  'poll',
  'log',
  'logs',
  'status',
  'wait',
]);

const nameWrites = ({ name, input }: LoopCall): boolean => {
  const action = textMember(input, 'action') ?? textMember(input, 'command');
  const words = wordsOf(name);
  if (words.some((word) => noteWords.has(word)) || (action !== undefined && readingActions.has(action))) return false;
  return (
    words.some((word) => writingWords.has(word)) ||
    (action !== undefined && wordsOf(action).some((word) => writingWords.has(word)))
  );
};

/** Commands that change something: always, or with one of these words behind them. */
const writingCommands: ReadonlyMap<string, ReadonlySet<string> | undefined> = new Map<
  string,
  ReadonlySet<string> | undefined
>([
  ...[
    'rm',
    'rmdir',
    'mv',
    'cp',
    'mkdir',
    'touch',
    'ln',
    'dd',
    'truncate',
    'chmod',
    'chown',
    'patch',
    'apply_patch',
    'unzip',
    'rsync',
    'kill',
    'pkill',
    'killall',
    'tee',
    'createdb',
    'dropdb',
  ].map((name) => [name, undefined] as const),
  ['sed', new Set(['-i', '--in-place', '-ie', '-Ei', '-i.bak', '-ri'])],
  ['perl', new Set(['-i', '-pi', '-pie', '-p0i', '-i.bak'])],
  [
    'git',
    new Set([
      'add',
      'commit',
      'checkout',
      'switch',
      'restore',
      'reset',
      'merge',
      'rebase',
      'stash',
      'pull',
      'push',
      'apply',
      'am',
      'clean',
      'rm',
      'mv',
      'cherry-pick',
      'revert',
      'init',
      'clone',
      'fetch',
      'tag',
      'worktree',
    ]),
  ],
  ...[
    'npm',
    'pnpm',
    'yarn',
    'bun',
    'pip',
    'pip3',
    'uv',
    'poetry',
    'cargo',
    'gem',
    'bundle',
    'composer',
    'apt',
    'apt-get',
    'apk',
    'brew',
    'dnf',
    'go',
  ].map(
    (name) =>
      [
        name,
        new Set([
          'install',
          'i',
          'ci',
          'add',
          'remove',
          'uninstall',
          'update',
          'upgrade',
          'get',
          'sync',
          'tidy',
          'init',
        ]),
      ] as const,
  ),
  ...['docker', 'podman', 'docker-compose'].map(
    (name) =>
      [
        name,
        new Set([
          'build',
          'run',
          'rm',
          'rmi',
          'stop',
          'start',
          'restart',
          'up',
          'down',
          'pull',
          'push',
          'kill',
          'create',
        ]),
      ] as const,
  ),
  [
    'kubectl',
    new Set([
      'apply',
      'create',
      'delete',
      'scale',
      'patch',
      'edit',
      'set',
      'restart',
      'annotate',
      'label',
      'drain',
      'cordon',
    ]),
  ],
  ['systemctl', new Set(['start', 'stop', 'restart', 'reload', 'enable', 'disable'])],
  ['gh', new Set(['create', 'merge', 'close', 'edit', 'comment', 'rerun', 'cancel', 'delete', 'review'])],
  ['tar', new Set(['-x', '-xf', '-xzf', 'xf', 'xzf', 'xvf', '-xvf', '-czf', 'czf'])],
  ['curl', new Set(['-X', '--request', '-d', '--data', '--data-raw', '-F', '-T', '-o', '-O'])],
  ['terraform', new Set(['apply', 'destroy', 'import', 'init'])],
]);

/** Output into a file, but not into another stream or nowhere. */
const redirection = /(?:^|\s)\d?>{1,2}\|?[ \t]{0,4}(?!&|\/dev\/null|>|\s)/;

const shellWrites = (line: string): boolean => {
  if (redirection.test(line)) return true;
  return commandsOf(line).some(([name = '', ...words]) => {
    const command = name.slice(name.lastIndexOf('/') + 1);
    const behind = writingCommands.get(command);
    return behind === undefined ? writingCommands.has(command) : words.slice(0, 6).some((word) => behind.has(word));
  });
};
