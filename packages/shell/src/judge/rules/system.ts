import type { CommandRule } from '../rule.js';

/** Programs of Windows, with the arguments that delete something. */
const windows: Readonly<Record<string, RegExp>> = {
  bcdedit: /^\/(?:set|delete|import|deletevalue)$/i,
  cipher: /^\/w/i,
  del: /^\/[sqf]$/i,
  diskpart: /./,
  erase: /^\/[sqf]$/i,
  format: /^[a-z]:$/i,
  fsutil: /^(?:dirty|deletejournal|setzerodata)$/i,
  net: /^(?:\/delete|\/add|stop)$/i,
  rd: /^\/s$/i,
  robocopy: /^\/(?:mir|purge|move?)$/i,
  reg: /^(?:delete|import|restore)$/i,
  rmdir: /^\/[sq]$/i,
  takeown: /^\/f$/i,
  vssadmin: /^(?:delete|resize)$/i,
  wbadmin: /^delete$/i,
  wmic: /^(?:delete|call|uninstall)$/i,
  wsl: /^(?:--(?:unregister|shutdown|terminate)|-t)$/,
};

/** Rules about settings of the machine, its logs and its histories. */
export const systemRules: readonly CommandRule[] = [
  {
    rule: 'system/settings',
    decision: 'ask',
    programs: [
      'hostnamectl',
      'timedatectl',
      'localectl',
      'hostname',
      'date',
      'hwclock',
      'update-alternatives',
      'scutil',
    ],
    test: ({ program, arguments: { operands, words } }) => {
      switch (program) {
        case 'date':
          return (
            words.some((word) => /^(?:-[a-z]*s$|--set|-s)/.test(word)) ||
            operands.some(({ text }, index) => index === 0 && /^\d{8,12}(?:\.\d\d)?$/.test(text))
          );
        case 'hostname':
          return operands.length > 0;
        case 'hwclock':
        case 'update-alternatives':
        case 'scutil':
          return words.some((word) => /^-(?:w|s)$|^--(?:set|systohc|hctosys|install|remove|config|auto)/.test(word));
        default:
          return /^set-|^(?:hostname|deployment|location)$/.test(operands[0]?.text ?? '') && operands.length > 1;
      }
    },
    why: 'It changes settings of the machine.',
    instead: 'Give the user the command.',
  },
  {
    rule: 'system/starts-automatically',
    decision: 'ask',
    programs: ['systemctl', 'launchctl', 'update-rc.d', 'chkconfig', 'rc-update', 'loginctl'],
    words: [
      '(enable|unmask|edit|link|set-default|set-environment|import-environment|daemon-reexec|load|bootstrap|submit|enable-linger|add)',
      '* (defaults|enable|on)',
      '(del|delete)',
    ],
    unless: ['--user'],
    why: 'It changes what the machine runs automatically.',
    instead: 'Give the user the command.',
  },
  {
    rule: 'system/history',
    decision: 'ask',
    programs: ['history', 'fc', 'set', 'unset', 'export', 'declare', 'typeset', 'readonly', 'env'],
    test: ({ program, arguments: { words } }) =>
      program === 'history'
        ? words.some((word) => /^-[a-z]*[cdw]/.test(word))
        : program === 'fc'
          ? words.includes('-p')
          : words.some(
              (word, index) =>
                /^HISTFILE(?:=|$)|^HIST(?:FILE)?SIZE=0$/.test(word) ||
                (word === 'history' && words[index - 1] === '+o'),
            ),
    why: 'It hides commands from the history of the shell.',
  },
  {
    rule: 'system/logs',
    decision: 'ask',
    programs: ['journalctl', 'dmesg', 'auditctl', 'wevtutil', 'logrotate', 'log', 'lastlog', 'faillock'],
    test: ({ program, arguments: { words } }) =>
      words.some((word, index) =>
        program === 'journalctl'
          ? /^--(?:vacuum-files|rotate|relinquish)|^--vacuum-time=\d+(?:s|m|h|$)|^--vacuum-size=\d+(?:[BK]|$)|^--vacuum-size=\d{1,2}M$/.test(
              word.includes('=') ? word : `${word}=${words[index + 1] ?? ''}`,
            )
          : program === 'logrotate'
            ? /^(?:-f|--force)$/.test(word)
            : /^(?:-[cCD]|-e\d?|--(?:clear|read-clear|console-off|reset|clean)|cl|clear-log|sl|erase|-C)$/.test(word),
      ),
    why: 'It deletes or stops logs of the machine.',
  },
  {
    rule: 'system/package-trust',
    decision: 'ask',
    programs: [
      'apt-key',
      'add-apt-repository',
      'apt-add-repository',
      'rpm',
      'pacman-key',
      'dnf',
      'yum-config-manager',
      'update-ca-certificates',
      'trust',
      'security',
      'gem',
    ],
    test: ({ program, arguments: { words } }) =>
      program === 'apt-key' || program === 'pacman-key'
        ? words.some((word) => /^(?:add|adv|del|update|-a|--add|--recv-keys|-r|--lsign-key)$/.test(word))
        : program === 'rpm'
          ? words.includes('--import')
          : program === 'dnf'
            ? words[0] === 'config-manager' && words.some((word) => /^--?(?:add-?repo|addrepo)/.test(word))
            : program === 'trust'
              ? words[0] === 'anchor'
              : program === 'gem'
                ? words[0] === 'sources' &&
                  words.some((word) => /^(?:-[ar]|--(?:add|prepend|append|remove))$/.test(word))
                : program === 'security'
                  ? words[0] === 'add-trusted-cert'
                  : words.length > 0 || program === 'update-ca-certificates',
    why: 'It adds a source or a certificate that the machine then trusts.',
    instead: 'Give the user the command.',
  },
  {
    rule: 'system/break-packages',
    decision: 'ask',
    programs: ['pip', 'pip3', 'python', 'python3', 'uv', 'brew'],
    test: ({ program, arguments: { words } }) =>
      program === 'brew'
        ? /^(?:uninstall|remove|rm)$/.test(words[0] ?? '') &&
          words.some((word) => /^(?:--force|-f|--ignore-dependencies|--zap)$/.test(word))
        : words.includes('--break-system-packages'),
    why: 'It changes packages that the operating system or other programs need.',
    instead: 'Use a virtual environment.',
  },
  {
    rule: 'system/mac',
    decision: 'ask',
    programs: ['tmutil', 'defaults', 'systemsetup', 'pmset', 'bless', 'profiles', 'fdesetup', 'sysadminctl'],
    words: [
      '(delete|deletelocalsnapshots|disable|stopbackup|removedestination|thinlocalsnapshots|erase|remove|rename)',
    ],
    why: 'It deletes settings or backups of the machine.',
  },
  {
    rule: 'system/mac-settings',
    decision: 'ask',
    programs: ['defaults', 'security', 'systemsetup', 'pmset', 'kextload', 'kextunload'],
    test: ({ program, arguments: { words } }) =>
      program === 'defaults'
        ? words[0] === 'write' && words.some((word) => /loginwindow|^Log(?:in|out)Hook$|^\/Library\/|\.alf$/.test(word))
        : program === 'security'
          ? words[0] === 'authorizationdb' && words[1] === 'write'
          : program === 'systemsetup'
            ? words.some((word) => word.startsWith('-set'))
            : program === 'pmset'
              ? words.some((word) => /^-[abcu]$/.test(word)) || /^(?:schedule|repeat|sleepnow)$/.test(words[0] ?? '')
              : words.length > 0,
    why: 'It changes what the machine runs automatically, its safeguards or its power.',
    instead: 'Give the user the command.',
  },
  {
    rule: 'system/remote-power',
    decision: 'ask',
    programs: ['ipmitool', 'racadm', 'redfishtool'],
    argument: /^(?:off|cycle|reset|soft|diag|racreset\w*|serveraction|Force\w+|Graceful\w+|set|password|bootdev)$/i,
    why: 'It stops a machine, or changes who controls it.',
    instead: 'Show the person the command.',
  },
  {
    rule: 'system/mail-queue',
    decision: 'ask',
    programs: ['postsuper', 'exim', 'exim4'],
    test: ({ program, arguments: { words } }) =>
      words.some((word) => (program === 'postsuper' ? /^-[dhr]$/ : /^-M(?:rm|g|f|ad|eb)$/).test(word)),
    why: 'It deletes or holds mail of other people.',
  },
  {
    rule: 'system/name-server',
    decision: 'ask',
    programs: ['nsupdate'],
    test: ({ input, arguments: { operands } }) =>
      input === undefined ? operands.length > 0 : /^\s*(?:update\s+)?(?:del(?:ete)?|add)\s/m.test(input),
    why: 'It changes names of the network that others use.',
  },
  {
    rule: 'system/apple-script',
    decision: 'ask',
    programs: ['osascript'],
    argument: /\b(?:delete|empty (?:the )?trash|shut down|restart|log out|keystroke|key code|erase|send)\b/i,
    why: 'It deletes files, or acts as the user, in other programs.',
  },
  {
    rule: 'system/cmdlets',
    decision: 'ask',
    test: ({ program, arguments: { words } }) =>
      // A process by its id.
      !words.includes('-Id') &&
      /^(?:remove|clear|stop|restart|format|initialize|disable|uninstall|set|reset|unregister|suspend|invoke)-(?:item(?:property)?|content|recyclebin|computer|service|process|volume|disk|partition|mppreference|executionpolicy|localuser|localgroupmember|netfirewall\w+|scheduledtask|windows\w+|appxpackage|expression|eventlog|ad\w+|az\w+|vm)$/.test(
        program,
      ),
    why: 'It deletes files, settings or backups of Windows, or stops a part of it.',
  },
  {
    rule: 'system/windows',
    decision: 'ask',
    programs: Object.keys(windows),
    test: ({ program, arguments: { words } }) => words.some((word) => windows[program]?.test(word) === true),
    why: 'It deletes files, settings or backups of Windows.',
  },
];
