import { shells } from '../../read/wrappers.js';
import type { CommandRule } from '../rule.js';

const programs = ['chmod', 'chown', 'chgrp', 'setfacl', 'chattr', 'chflags', 'xattr', 'icacls', 'takeown'];

/** Rules about access rights: modes, owners, users. */
export const permissionRules: readonly CommandRule[] = [
  {
    rule: 'permissions/recursive-system',
    decision: 'deny',
    programs,
    flags: ['-R|-r|--recursive'],
    paths: { in: ['operands'], zones: ['root', 'system', 'home', 'above', 'device'] },
    why: 'It changes the permissions of a whole system or home folder, which breaks it.',
    instead: 'Change only the intended file.',
  },
  {
    rule: 'permissions/system',
    decision: 'ask',
    programs,
    // A mode such as -x is parsed as an option.
    paths: { in: ['operands'], zones: ['root', 'system', 'system-file', 'startup', 'device'] },
    why: 'It changes permissions of system files.',
  },
  {
    rule: 'permissions/recursive-outside',
    decision: 'ask',
    programs,
    flags: ['-R|-r|--recursive'],
    paths: { in: ['all but the first'], zones: ['outside', 'unknown'] },
    why: 'It changes the permissions of a folder outside the project.',
  },
  {
    rule: 'permissions/attributes-of-system',
    decision: 'ask',
    programs: ['chattr', 'setfacl', 'chflags', 'xattr'],
    paths: { in: ['operands'], zones: ['root', 'system', 'system-file', 'startup', 'device'] },
    why: 'It changes permissions of system files.',
  },
  {
    rule: 'permissions/locks-out',
    decision: 'ask',
    programs: ['chmod'],
    flags: ['-R|-r|--recursive'],
    argument: /^(?:0?[0-5][0-7]{2}|a?-[rwxX]+|u-[rwxX]+|a=|u=)$/,
    paths: { in: ['all but the first'], zones: ['project'] },
    why: 'The files of the project cannot be read or changed afterwards.',
  },
  {
    rule: 'permissions/open-to-all',
    decision: 'ask',
    programs: ['chmod'],
    argument:
      /^(?:0?[0-7]?[0-7][0-7][2367]|(?:[ugoa]*[+=][rwxXst]*,)*(?:[ugo]*[ao][ugoa]*)?[+=][rxX]*w[rwxX]*(?:,.*)?)$/,
    test: ({ arguments: { words } }) =>
      !words.every(
        (word) => !/^(?:0?[0-7]?[0-7][0-7][2367])$/.test(word) && !/(?:^|,)[ug]*[ao][ugoa]*[+=][rxX]*w/.test(word),
      ),
    why: 'Every user of the machine can change these files afterwards.',
    instead: 'Give rights to the owner only: chmod u+rwX.',
  },
  {
    rule: 'permissions/setuid',
    decision: 'ask',
    programs: ['chmod', 'setcap', 'install'],
    test: ({ program, arguments: { words } }) =>
      program === 'setcap' ||
      words.some((word) => /^(?:[ugoa]*[+=][rwxX]*s|0?[4-7][0-7]{3}|(?:-m|--mode=)0?[4-7][0-7]{3})$/.test(word)),
    why: 'Every user then runs the program with the rights of its owner.',
  },
  {
    rule: 'permissions/root-shell',
    decision: 'ask',
    programs: ['su', 'sudo', 'doas'],
    test: ({ program, arguments: { operands, has }, input, reads }) => {
      if (input !== undefined || reads.length > 0) return false;
      const names = operands.map(({ text }) => text).filter((text) => text !== '-');
      if (program !== 'su' && names.length === 1 && shells.has(names[0] ?? '')) return has('-c') === 'no';
      return program === 'su'
        ? has('-c') === 'no' && has('--command') === 'no' && names.every((name) => name === 'root')
        : names.length === 0 && ['-i', '-s', '--login', '--shell'].some((option) => has(option) === 'yes');
    },
    why: 'It opens a shell as root, whose commands nobody sees.',
    instead: 'Run the single command with sudo.',
  },
  {
    rule: 'permissions/users',
    decision: 'ask',
    programs: [
      'userdel',
      'deluser',
      'usermod',
      'useradd',
      'adduser',
      'groupdel',
      'groupadd',
      'groupmod',
      'delgroup',
      'addgroup',
      'passwd',
      'chpasswd',
      'chsh',
      'dscl',
      'gpasswd',
      'vipw',
    ],
    unless: ['--help|--status|-S'],
    why: 'It changes the users of the machine.',
  },
];
