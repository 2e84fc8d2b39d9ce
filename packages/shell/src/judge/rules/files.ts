import type { CommandRule, RuleContext } from '../rule.js';

const removers = ['rm', 'unlink', 'rmdir', 'trash', 'srm', 'del', 'rimraf', 'del-cli', 'shred', 'wipe', 'rd'];
const recursive = '-r|-R|--recursive';

const keepsAncestors = 'Delete exactly the files that are meant, by their paths within the project.';

/** Prints, or reads what it is given: its arguments are no files that it changes. */
const movesTo =
  (zones: readonly string[]) =>
  ({ arguments: { operands }, zoneOf }: RuleContext): boolean => {
    const last = operands.at(-1);
    return operands.length > 1 && last !== undefined && zones.includes(zoneOf(last.text));
  };

/** Rules about files: deleting, moving, overwriting. */
export const fileRules: readonly CommandRule[] = [
  {
    rule: 'files/delete-system',
    decision: 'deny',
    programs: removers,
    paths: { in: ['operands'], zones: ['root', 'system', 'home', 'above', 'secret', 'device'] },
    why: 'It deletes files that the system, the user or keys are made of.',
    instead: keepsAncestors,
  },
  {
    rule: 'files/delete-system-file',
    decision: 'ask',
    programs: removers,
    paths: { in: ['operands'], zones: ['system-file', 'startup'] },
    why: 'It deletes files that belong to the system or run by themselves.',
    instead: keepsAncestors,
  },
  {
    rule: 'files/delete-outside',
    decision: 'ask',
    programs: ['rm', 'trash', 'srm', 'rimraf', 'rd'],
    flags: [recursive],
    paths: { in: ['operands'], zones: ['outside'] },
    why: 'It deletes a folder outside the project.',
    instead: keepsAncestors,
  },
  {
    rule: 'files/delete-project',
    decision: 'ask',
    programs: ['rm', 'trash', 'srm', 'rimraf', 'rd', 'shred'],
    paths: { in: ['operands'], zones: ['project', 'git'] },
    why: 'It deletes the whole project or its history.',
    instead: 'Name the folders that are meant, such as dist or node_modules.',
  },
  {
    rule: 'files/delete-unknown',
    decision: 'ask',
    programs: ['rm', 'trash', 'srm', 'rimraf', 'rd'],
    flags: [recursive],
    paths: { in: ['operands'], zones: ['unknown'] },
    why: 'What it deletes is only known when it runs; an empty variable may make it the whole disk.',
    instead: 'Write the path out.',
  },
  {
    rule: 'files/no-preserve-root',
    decision: 'deny',
    programs: ['rm', 'chmod', 'chown', 'chgrp'],
    flags: ['--no-preserve-root'],
    why: 'It switches off what keeps the root folder safe.',
  },
  {
    rule: 'files/shred',
    decision: 'ask',
    programs: ['shred', 'wipe', 'srm'],
    why: 'What it deletes cannot be brought back.',
    instead: 'Use rm on files that git keeps.',
  },
  {
    rule: 'files/move-system',
    decision: 'deny',
    programs: ['mv'],
    paths: { in: ['not last'], zones: ['root', 'system', 'home', 'above', 'secret', 'device'] },
    why: 'It moves folders away that the system or the user needs in their place.',
  },
  {
    rule: 'files/move-system-file',
    decision: 'ask',
    programs: ['mv'],
    paths: { in: ['not last'], zones: ['system-file', 'startup'] },
    why: 'It moves files away that the system needs in their place.',
  },
  {
    rule: 'files/move-to-nowhere',
    decision: 'deny',
    programs: ['mv', 'rename'],
    test: movesTo(['nowhere']),
    why: 'What is moved there is gone.',
    instead: 'Use rm if it is meant to be deleted.',
  },
  {
    rule: 'files/replace-system',
    decision: 'ask',
    programs: ['mv', 'cp', 'install', 'ln', 'rsync', 'scp', 'ditto', 'unzip', 'tar'],
    test: movesTo(['root', 'system', 'system-file', 'startup', 'secret', 'device']),
    why: 'It writes over files that belong to the system, or that run by themselves.',
  },
  {
    rule: 'files/extract-over-system',
    decision: 'ask',
    programs: ['tar', 'unzip', 'bsdtar'],
    test: ({ arguments: { valuesOf }, zoneOf }) =>
      ['-C', '--directory', '-d']
        .flatMap(valuesOf)
        .some((path) => ['root', 'system', 'system-file', 'startup', 'secret', 'home'].includes(zoneOf(path))),
    why: 'It unpacks an archive over files of the system or the user.',
    instead: 'Unpack it into a folder of its own.',
  },
  {
    rule: 'files/write-device',
    decision: 'deny',
    paths: { in: ['redirections'], zones: ['device'] },
    why: 'It writes straight onto a device.',
  },
  {
    rule: 'files/write-system',
    decision: 'deny',
    paths: { in: ['redirections'], zones: ['root', 'system', 'secret'] },
    why: 'It writes over files that belong to the system, or over keys.',
  },
  {
    rule: 'files/write-system-file',
    decision: 'ask',
    paths: { in: ['redirections'], zones: ['system-file', 'startup'] },
    why: 'It changes files that belong to the system, or that run by themselves.',
    instead: 'Give the person the text to add.',
  },
  {
    rule: 'files/tee-system',
    decision: 'ask',
    programs: ['tee', 'sponge', 'touch'],
    paths: { in: ['operands'], zones: ['root', 'system', 'system-file', 'startup', 'secret', 'device'] },
    why: 'It writes to files that belong to the system, or that run by themselves.',
  },
  {
    rule: 'files/edit-system',
    decision: 'ask',
    programs: ['sed', 'perl', 'gsed', 'ed', 'ex'],
    test: ({ program, arguments: { words, operands }, zoneOf }) =>
      (program === 'ed' || program === 'ex' || words.some((word) => /^-[A-Za-z]*i|^--in-place/.test(word))) &&
      operands.some(
        ({ text }) =>
          /^[/~]/.test(text) &&
          /^[^\s;|]*$/.test(text) &&
          ['system', 'system-file', 'startup', 'secret'].includes(zoneOf(text)),
      ),
    why: 'It changes files that belong to the system, or that run by themselves.',
  },
  {
    rule: 'files/truncate',
    decision: 'ask',
    programs: ['truncate', 'fallocate'],
    paths: {
      in: ['operands'],
      zones: ['root', 'system', 'system-file', 'home', 'secret', 'startup', 'device', 'outside', 'unknown', 'git'],
    },
    why: 'It cuts off a file outside the project.',
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
    why: 'What is missing in the source is deleted in the target.',
    instead: 'Look at it with --dry-run first.',
  },
  {
    rule: 'files/empty-by-copy',
    decision: 'ask',
    programs: ['cp'],
    paths: { in: ['first'], zones: ['nowhere'] },
    test: ({ arguments: { operands } }) => operands.length > 1,
    why: 'It empties the files that it copies nothing over.',
  },
];
