import { programName } from '../../read/words/field.js';
import { interpreters, shells, wrappers } from '../../read/commands/wrappers.js';
import type { CommandRule } from '../rule.js';

const programs = ['chmod', 'chown', 'chgrp', 'setfacl', 'chattr', 'chflags', 'xattr', 'icacls', 'takeown'];

/** `sudo env /bin/sh`: a shell as the last word, behind a program that runs others. */
const opensShell = (operands: readonly { readonly text: string }[]): boolean =>
  shells.has(programName(operands.at(-1)?.text ?? '')) &&
  operands.slice(0, -1).every(({ text }) => Object.hasOwn(wrappers, text) || !/^[a-z]/.test(text)) &&
  !/^(?:docker|podman|kubectl)$/.test(operands[0]?.text ?? '');

/** Returns whether a program without arguments reads commands from the terminal. */
const isInteractive = (name: string): boolean =>
  shells.has(name) ||
  Object.hasOwn(interpreters, name) ||
  /^(?:ed|ex|vim?|nvim|emacs|screen|tmux|gdb|irb|ftp)$/.test(name);

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
    rule: 'permissions/opens-keys',
    decision: 'ask',
    programs: ['chmod', 'setfacl'],
    argument:
      /^(?:(?:[ugo]|user|group|other):[^:\s]*:[wx-]*r[wx-]*|0?[0-7](?:[1-7][0-7]|0[1-7])|(?:[ugo]*[ago][ugoa]*)?[+=][wxX]*r[rwxX]*)$/,
    test: ({ arguments: { operands }, isSecret, zoneOf }) =>
      operands.slice(1).some(({ text }) => isSecret(text) && zoneOf(text) === 'secret' && !/\.ssh\/?$/.test(text)),
    why: 'Other users of the machine can read the keys afterwards.',
    instead: 'Use mode 600.',
  },
  {
    rule: 'permissions/default-mode',
    decision: 'ask',
    programs: ['umask'],
    argument: /^0{1,4}[0-2]?$/,
    test: ({ arguments: { words } }) => !words.includes('002') && !words.includes('0002'),
    why: 'Every user of the machine can change the files that are created afterwards.',
  },
  {
    rule: 'permissions/quarantine',
    decision: 'ask',
    programs: ['xattr'],
    test: ({ arguments: { words } }) => words.some((word) => word === 'com.apple.quarantine' || /^-[a-z]*c/.test(word)),
    why: 'The system no longer checks that program before it starts.',
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
    programs: [
      'su',
      'sudo',
      'doas',
      'pkexec',
      'unshare',
      'nsenter',
      'run0',
      'machinectl',
      'capsh',
      'setpriv',
      'chroot',
    ],
    test: ({ program, arguments: { operands, has, words, valuesOf }, input, reads }) => {
      if (input !== undefined || reads.length > 0) return false;
      if (program === 'nsenter' && valuesOf('-t').concat(valuesOf('--target')).includes('1')) return true;
      if (program === 'capsh') return words.includes('--');
      // The folder of another system contains other files.
      if (program === 'chroot' && operands[0]?.text !== '/') return false;
      if (program === 'chroot' && operands.length === 1) return true;
      if (program === 'machinectl') return operands[0]?.text === 'shell';
      if (program !== 'su' && operands.length > 1 && opensShell(operands)) return true;
      const names = operands.map(({ text }) => text).filter((text) => text !== '-');
      if (program !== 'su' && names.length === 1 && isInteractive(programName(names[0] ?? ''))) {
        return has('-c') === 'no';
      }
      return program === 'su'
        ? has('-c') === 'no' && has('--command') === 'no' && names.every((name) => name === 'root')
        : names.length === 0 && ['-i', '-s', '--login', '--shell'].some((option) => has(option) === 'yes');
    },
    why: 'It opens a shell as root, and the commands in that shell are not judged.',
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
      'vigr',
      'chage',
      'newusers',
      'dseditgroup',
      'sysadminctl',
      'pam-auth-update',
    ],
    test: ({ program, arguments: { words } }) =>
      !words.includes('checkmember') && !(program === 'chage' && words.includes('-l')),
    unless: ['--help|--status|-S|--list'],
    why: 'It changes the users of the machine.',
  },
];
