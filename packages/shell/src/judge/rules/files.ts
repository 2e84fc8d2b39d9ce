import { listMark } from '../../read/words/argument-lists.js';
import { temporaryFolder } from '../../read/words/known-output.js';
import type { CommandRule, RuleContext } from '../rule.js';
import { extracts, writtenPaths } from '../written-paths.js';

const removers = [
  'rm',
  'unlink',
  'rmdir',
  'trash',
  'trash-put',
  'trash-cli',
  'gio',
  'srm',
  'del',
  'rimraf',
  'del-cli',
  'shred',
  'wipe',
  'rd',
];
const recursive = '-r|-R|--recursive';

const keepsAncestors = 'Delete exactly the intended files, by their paths within the project.';

/** Returns whether a path is outside the project. On another machine, others may use even temporary files. */
const isOutside = (path: string, { isElsewhere, zoneOf }: RuleContext): boolean => {
  const zone = zoneOf(path);
  return (
    zone === 'outside' ||
    (isElsewhere &&
      (zone === 'inside' || zone === 'scratch') &&
      !(path.startsWith(temporaryFolder) && !path.includes('..')))
  );
};

/** Returns whether the last operand, the target, is in one of these zones. */
const movesTo =
  (zones: readonly string[]) =>
  ({ arguments: { operands }, zoneOf }: RuleContext): boolean => {
    const last = operands.at(-1);
    return operands.length > 1 && last !== undefined && zones.includes(zoneOf(last.text));
  };

/** Folders of a home folder that contain the files of the user, or the settings of all programs. */
const ofUser =
  /^(?:\/(?:home|Users)\/[^/]+|\/root)\/(?:Documents|Desktop|Downloads|Library|\.config|\.local(?:\/share)?)\/?\*?$/;

/** Rules about files: deleting, moving, overwriting. */
export const fileRules: readonly CommandRule[] = [
  {
    rule: 'files/delete-system',
    decision: 'deny',
    programs: removers,
    paths: { in: ['operands'], zones: ['root', 'system', 'home', 'above', 'secret', 'device'] },
    why: 'It deletes system folders, a home folder or keys.',
    instead: keepsAncestors,
  },
  {
    rule: 'files/delete-system-file',
    decision: 'ask',
    programs: removers,
    paths: { in: ['operands'], zones: ['system-file', 'startup'] },
    why: 'It deletes files that belong to the system or that run automatically.',
    instead: keepsAncestors,
  },
  {
    rule: 'files/delete-outside',
    decision: 'ask',
    programs: ['rm', 'trash', 'srm', 'rimraf', 'rd'],
    flags: [recursive],
    test: (command) => command.arguments.operands.some(({ text }) => isOutside(text, command)),
    why: 'It deletes a folder outside the project.',
    instead: keepsAncestors,
  },
  {
    rule: 'files/delete-many-outside',
    decision: 'ask',
    programs: removers,
    test: (command) =>
      command.arguments.operands.some(
        ({ text }) => isOutside(text, command) && (command.program !== 'rm' || /[*?]/.test(text)),
      ),
    why: 'It deletes files outside the project.',
    instead: keepsAncestors,
  },
  {
    rule: 'files/delete-project',
    decision: 'ask',
    programs: removers.filter((name) => name !== 'rmdir'),
    paths: { in: ['operands'], zones: ['project', 'git'] },
    why: 'It deletes the whole project or its history.',
    instead: 'Name the intended folders, such as dist or node_modules.',
  },
  {
    rule: 'files/delete-unknown',
    decision: 'ask',
    programs: ['rm', 'trash', 'srm', 'rimraf', 'rd'],
    flags: [recursive],
    paths: { in: ['operands'], zones: ['unknown'] },
    why: 'Its target is known only at run time, and an empty variable may select the whole disk.',
    instead: 'Use a literal path.',
  },
  {
    rule: 'files/delete-settings',
    decision: 'ask',
    test: ({ program, arguments: { operands, words }, redirected, shown, isSecret, zoneOf }) => {
      const isDeleted = removers.includes(program) || program === 'truncate';
      // A redirection without output empties its file.
      const isEmptied = /^(?:|:|true)$/.test(program) || (program === 'cat' && words.join('') === '/dev/null');
      const paths = [
        ...(isDeleted ? operands.map(({ text }) => text) : []),
        ...(isEmptied && !shown.includes('>>') ? redirected : []),
      ];
      return paths.some(
        (path) => /(?:^|\/)\.env(?:\.[\w.-]+)?$/.test(path) && isSecret(path) && zoneOf(path) !== 'scratch',
      );
    },
    why: 'Git does not track the file, so its secret settings cannot be recovered.',
    instead: 'Move it to another name.',
  },
  {
    rule: 'files/no-preserve-root',
    decision: 'deny',
    programs: ['rm', 'chmod', 'chown', 'chgrp'],
    flags: ['--no-preserve-root'],
    why: 'It disables the protection of the root folder.',
  },
  {
    rule: 'files/shred',
    decision: 'ask',
    programs: ['shred', 'wipe', 'srm'],
    why: 'The deleted files cannot be recovered.',
    instead: 'Use rm on tracked files.',
  },
  {
    rule: 'files/move-system',
    decision: 'deny',
    programs: ['mv'],
    paths: { in: ['not last'], zones: ['root', 'system', 'home', 'above', 'secret', 'device'] },
    why: 'It moves folders away that the system or the user needs.',
  },
  {
    rule: 'files/move-project',
    decision: 'ask',
    programs: ['mv'],
    paths: { in: ['not last'], zones: ['project', 'git'] },
    test: ({ arguments: { operands }, zoneOf }) =>
      zoneOf(operands.at(-1)?.text ?? '') !== 'inside' ||
      operands.slice(0, -1).some(({ text }) => zoneOf(text) === 'git'),
    why: 'It moves the whole project or its history away.',
    instead: 'Name the intended files.',
  },
  {
    rule: 'files/delete-listed',
    decision: 'ask',
    programs: ['rm', 'trash', 'srm', 'unlink', 'shred'],
    test: ({ madeBy }) => madeBy.includes(listMark),
    why: 'It deletes the files of a list that is known only at run time.',
    instead: 'Show the list first, or name the files.',
  },
  {
    rule: 'files/move-system-file',
    decision: 'ask',
    programs: ['mv'],
    test: ({ arguments: { operands }, zoneOf }) =>
      operands.slice(0, -1).some(({ text }) => ofUser.test(text) || ['system-file', 'startup'].includes(zoneOf(text))),
    why: 'It moves files away that the system or the user needs.',
  },
  {
    rule: 'files/move-to-nowhere',
    decision: 'deny',
    programs: ['mv', 'rename'],
    test: movesTo(['nowhere']),
    why: 'Files that are moved there are lost.',
    instead: 'Use rm to delete it.',
  },
  {
    rule: 'files/extract-anywhere',
    decision: 'ask',
    programs: ['tar', 'bsdtar', 'gtar'],
    test: ({ arguments: { words } }) =>
      extracts(words) &&
      words.some(
        (word, index) =>
          word === '--absolute-names' || /^-[A-Za-z]*P/.test(word) || (index === 0 && /^[A-Za-z]*P/.test(word)),
      ),
    why: 'The archive decides which files of the machine it overwrites.',
    instead: 'Extract it without -P.',
  },
  {
    rule: 'files/write-device',
    decision: 'deny',
    paths: { in: ['redirections'], zones: ['device'] },
    why: 'It writes directly to a device.',
  },
  {
    rule: 'files/write-system',
    decision: 'deny',
    paths: { in: ['redirections'], zones: ['root', 'system', 'secret', 'home', 'above'] },
    why: 'It overwrites system files or keys.',
  },
  {
    rule: 'files/write-git',
    decision: 'ask',
    paths: { in: ['redirections'], zones: ['git', 'project'] },
    test: ({ redirected }) => !redirected.every((path) => /\.git\/info\/(?:exclude|attributes)$/.test(path)),
    why: 'It overwrites every file of the project, or files that git keeps its history in.',
  },
  {
    rule: 'files/replace-git',
    decision: 'ask',
    programs: ['mv', 'cp', 'install', 'ln', 'rsync', 'tee', 'dd'],
    test: ({ program, arguments: { operands }, zoneOf }) =>
      operands.length > (program === 'tee' ? 0 : 1) && zoneOf(operands.at(-1)?.text ?? '') === 'git',
    why: 'It overwrites files that git keeps its history in.',
  },
  {
    rule: 'files/archive-and-delete',
    decision: 'ask',
    programs: ['tar', 'bsdtar', 'gtar', 'zip', '7z', '7za', '7zz', 'rsync', 'rar'],
    test: ({ program, arguments: { words } }) =>
      words.some((word) =>
        program === 'zip'
          ? /^-[A-Za-ln-z]*m[A-Za-z]*$|^--move$/.test(word)
          : /^(?:--remove-(?:files|source-files)|-sdel)$/.test(word) || (program === 'rar' && word === '-df'),
      ),
    why: 'It deletes the files that it has archived or copied.',
    instead: 'Keep the originals until the copy has been checked.',
  },
  {
    rule: 'files/write-system-file',
    decision: 'ask',
    paths: { in: ['redirections'], zones: ['system-file', 'startup'] },
    why: 'It changes files that belong to the system or that run automatically.',
    instead: 'Give the user the text to add.',
  },
  {
    rule: 'files/write-system-by-program',
    decision: 'ask',
    test: (command) =>
      writtenPaths(command).some(
        (path) =>
          /^[^\s;|]+$/.test(path) &&
          ['root', 'system', 'system-file', 'startup', 'secret', 'device'].includes(command.zoneOf(path)),
      ),
    unless: ['--dry-run'],
    why: 'It writes files that belong to the system or that run automatically.',
    instead: 'Write into the project.',
  },
  {
    rule: 'files/overwrite-project',
    decision: 'ask',
    programs: ['tee', 'sponge'],
    paths: { in: ['operands'], zones: ['project'] },
    unless: ['-a|--append'],
    why: 'It overwrites every file of the project.',
    instead: 'Name the intended file.',
  },
  {
    rule: 'files/truncate',
    decision: 'ask',
    programs: ['truncate', 'fallocate'],
    paths: {
      in: ['operands'],
      zones: [
        'root',
        'system',
        'system-file',
        'home',
        'secret',
        'startup',
        'device',
        'outside',
        'unknown',
        'git',
        'project',
      ],
    },
    why: 'It truncates every file of the project, or a file outside of it.',
  },
  {
    rule: 'files/mirror',
    decision: 'ask',
    programs: ['rsync'],
    flags: ['--delete|--delete-after|--delete-before|--delete-during|--delete-excluded|--del'],
    unless: ['-n|--dry-run'],
    test: ({ arguments: { operands }, zoneOf }) =>
      /^[\w.@-]+:/.test(operands.at(-1)?.text ?? '') ||
      !['inside', 'scratch'].includes(zoneOf(operands.at(-1)?.text ?? '')),
    why: 'Files that are missing in the source are deleted in the target.',
    instead: 'Run it with --dry-run first.',
  },
  {
    rule: 'files/empty-by-copy',
    decision: 'ask',
    programs: ['cp'],
    paths: { in: ['first'], zones: ['nowhere'] },
    test: ({ arguments: { operands } }) => operands.length > 1,
    why: 'It empties the files that it copies /dev/null over.',
  },
];
