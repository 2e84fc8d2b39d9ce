import type { CommandRule } from '../rule.js';

/** Words with which a package manager removes programs; of `-r` only that of dpkg does. */
const removal =
  /^(?:-r|purge|remove|autoremove|erase|dist-upgrade|full-upgrade|-R[a-z]*|-P|--purge|-e|--erase|del|--remove|uninstall|rm|undo|--force-(?:all|depends|remove-\w+))$/;

/** Servers for development: the programs that @vercel/frameworks 3.34.0 (November 2026) starts, without runtimes. */
const developmentServer =
  /^(?:(?:[\w-]+-)?dev-server|(?:blitz|next|gatsby|remix|react-router|astro|hexo|eleventy|docusaurus|preact|vinxi|solid-start|dojo|ember|vue-cli-service|polymer|rollup|svelte-kit|vite|react-scripts|gridsome|umi|sapper|saber|stencil|nuxt|hugo|jekyll|brunch|middleman|zola|hydrogen|vitepress|vuepress|parcel|uvicorn|sanity|storybook|nitro|xmcp|mastra)(?:-server)?)$/;

/** Names of PowerShell that remove or stop something, except for those whose noun belongs to the session. */
const endingCmdlet =
  /\b(?:Remove|Clear|Uninstall|Unregister|Revoke|Reset|Disable|Suspend|Stop|Restart)-(?!(?:Variable|Module|Alias|Job|Event|PS\w+|Host|History|Transcript|TypeData|Member)\b)[A-Z]\w+(?! -Id\b)\b|\b(?:Format|Initialize|Dismount)-(?:Volume|Disk|Partition|VHD)\b/;

/** Programs that run services or end processes, and whose rules concern only what belongs to others. */
const serviceRunners = 'docker podman nerdctl docker-compose podman-compose pm2 kill tmux screen forever'.split(' ');

/** Rules about processes, services and the machine itself. */
export const processRules: readonly CommandRule[] = [
  {
    rule: 'processes/kill-all',
    decision: 'deny',
    programs: ['kill', 'killall5'],
    test: ({ program, arguments: { words } }) => {
      if (program === 'killall5') return true;
      if (['-l', '-L', '--list'].includes(words[0] ?? '')) return false;
      const rest = words[0] === '-s' || words[0] === '-n' || words[0] === '--signal' ? words.slice(2) : words;
      const targets = rest.filter(
        (word, index) => word !== '--' && !(index === 0 && word.startsWith('-') && rest.length > 1),
      );
      return targets.some((target) => target === '-1' || target === '1');
    },
    why: 'It ends every process of the user, or the init process.',
    instead: 'End the intended process by its id.',
  },
  {
    rule: 'processes/kill-by-name',
    decision: 'ask',
    programs: ['pkill', 'killall', 'taskkill', 'skill'],
    test: ({ isElsewhere, arguments: { words, operands, has } }) =>
      !words.some((word) => /^(?:-0|-l|--list|-P|--parent|-V|--version|--help)$/.test(word)) &&
      // A command line of several words, or with a file, selects one program, and a server for development is one's own.
      !(
        !isElsewhere &&
        has('-v') === 'no' &&
        has('--inverse') === 'no' &&
        (has('-f') === 'yes' || has('--full') === 'yes') &&
        operands.length > 0 &&
        operands.every(
          ({ text }) =>
            !/[*\u{FFFF}]/u.test(text) &&
            (/^(?=.*\w{3}).+?(?:\s|\/|\w\.\w)/s.test(text) || developmentServer.test(text)),
        )
      ),
    why: 'It ends every process of that name, including those of other programs and of this agent.',
    instead: 'End the intended process by its id.',
  },
  {
    rule: 'processes/stop-elsewhere',
    decision: 'ask',
    programs: serviceRunners,
    test: ({ isElsewhere, program, arguments: { operands, words } }) =>
      isElsewhere &&
      (program === 'kill'
        ? !/^-[lL0]$/.test(words[0] ?? '')
        : operands
            .slice(0, 5)
            .some(({ text }) => /^(?:stop|stopall|kill|kill-\w+|rm|remove|down|delete|quit)$/.test(text))),
    unless: ['--help|--dry-run'],
    why: 'It stops a program on another machine, which others may use.',
    instead: 'Show the person the command.',
  },
  {
    rule: 'processes/end-sessions',
    decision: 'ask',
    programs: ['tmux', 'screen', 'zellij'],
    test: ({ program, arguments: { operands, words, has, valuesOf } }) => {
      const [first] = operands.map(({ text }) => text);
      if (program === 'zellij') return /^(?:kill|delete)-all-sessions$/.test(first ?? '');
      if (program === 'tmux') {
        return words.includes('kill-server') || (words.includes('kill-session') && words.includes('-a'));
      }
      return has('-X') === 'yes' && words.includes('quit') && !valuesOf('-S').some((name) => /\w\w/.test(name));
    },
    why: 'It ends all sessions of the terminal, with every program in them.',
    instead: 'End one session by its name.',
  },
  {
    rule: 'processes/kill-found',
    decision: 'ask',
    programs: ['kill'],
    test: ({ madeBy, reads }) => [...madeBy, ...reads].some((name) => ['pgrep', 'pidof', 'ps'].includes(name)),
    why: 'It ends every process that was found by name, including those of other programs.',
    instead: 'End the intended process by its id.',
  },
  {
    rule: 'processes/shut-down',
    decision: 'deny',
    programs: ['shutdown', 'reboot', 'halt', 'poweroff', 'init', 'telinit', 'systemctl', 'loginctl', 'pm-suspend'],
    test: ({ program, arguments: { operands } }) => {
      if (program === 'systemctl' || program === 'loginctl') {
        return /^(?:poweroff|reboot|halt|suspend|hibernate|kexec|emergency|rescue|isolate|terminate-user|kill-user)$/.test(
          operands[0]?.text ?? '',
        );
      }
      return program === 'init' || program === 'telinit' ? /^[0-6sS]$/.test(operands[0]?.text ?? '') : true;
    },
    unless: ['-c|--help|--version'],
    why: 'It stops the machine, or everything on it.',
  },
  {
    rule: 'processes/services',
    decision: 'ask',
    programs: [
      'systemctl',
      'service',
      'launchctl',
      'rc-service',
      'sc',
      'supervisorctl',
      'pm2',
      'snap',
      'brew',
      'initctl',
      'chkconfig',
      'sv',
      'monit',
      'fail2ban-client',
      'rcctl',
      'pg_ctl',
      'pg_ctlcluster',
      'apachectl',
      'nginx',
    ],
    words: [
      '(stop|disable|mask|kill|restart|try-restart|reset-failed|revert|delete|unload|bootout|remove|down|unmonitor|unban)',
      '* (stop|restart|force-reload|off)',
      'services (stop|restart)',
      'quit',
    ],
    unless: ['--user'],
    test: ({ program, arguments: { operands } }) => {
      const [first, second] = operands.map(({ text }) => text);
      if (program === 'brew') return first === 'services';
      if (program === 'snap') return first === 'remove' || first === 'stop';
      if (program === 'pm2') return first === 'kill' || second === 'all';
      return true;
    },
    why: 'It stops or changes a service of the machine.',
  },
  {
    rule: 'processes/stress',
    decision: 'ask',
    programs: ['stress', 'stress-ng', 'memtester', 'prime95', 'cpuburn'],
    unless: ['-t|--timeout|--help|--version'],
    why: 'It uses the whole machine, without a limit of time.',
    instead: 'Set --timeout.',
  },
  {
    rule: 'processes/schedule-once',
    decision: 'ask',
    programs: ['systemd-run'],
    argument: /^--on-/,
    why: 'It changes what the machine runs automatically.',
  },
  {
    rule: 'processes/kill-users-of-files',
    decision: 'ask',
    programs: ['fuser', 'xkill'],
    test: ({ program, arguments: { operands, words, has } }) =>
      program === 'xkill'
        ? words.length > 0
        : has('-k') === 'yes' && operands.some(({ text }) => !/^\d+\/(?:tcp|udp)$|^-/.test(text)),
    why: 'It ends every process that uses those files.',
    instead: 'End the intended process by its id.',
  },
  {
    rule: 'processes/power-by-bus',
    decision: 'deny',
    programs: ['busctl', 'dbus-send', 'gdbus', 'qdbus'],
    argument: /(?:^|\.)(?:PowerOff|Reboot|Halt|Suspend|Hibernate|KExec|TerminateUser|KillUser|StopUnit|KillUnit)$/,
    why: 'It stops the machine, or services of it.',
  },
  {
    rule: 'processes/schedule',
    decision: 'ask',
    programs: ['crontab', 'at', 'batch', 'schtasks'],
    unless: ['-l|-V|/query'],
    why: 'It changes what the machine runs automatically.',
    instead: 'Give the user the line to add.',
  },
  {
    rule: 'processes/kernel',
    decision: 'ask',
    programs: [
      'rmmod',
      'insmod',
      'modprobe',
      'sysctl',
      'kexec',
      'nvram',
      'csrutil',
      'spctl',
      'setenforce',
      'setsebool',
      'mokutil',
      'aa-disable',
      'aa-complain',
      'aa-teardown',
      'apparmor_parser',
      'do-release-upgrade',
    ],
    test: ({ program, arguments: { words } }) =>
      program !== 'sysctl' || words.some((word) => /^(?:-w|--write|-p|--load.*|--system|[\w.]+=.*)$/.test(word)),
    why: 'It changes the kernel or its safeguards.',
  },
  {
    rule: 'processes/uninstall',
    decision: 'ask',
    programs: ['apt', 'apt-get', 'aptitude', 'dnf', 'yum', 'zypper', 'pacman', 'dpkg', 'rpm', 'apk', 'flatpak'],
    argument: removal,
    test: ({ program, arguments: { words, has } }) =>
      (program !== 'rpm' || !words.includes('-q')) &&
      (program === 'pacman' || has('-s') === 'no') &&
      (program === 'dpkg' || words.some((word) => word !== '-r' && removal.test(word))),
    unless: ['--simulate|--dry-run|--print'],
    why: 'It removes programs from the machine.',
  },
  {
    rule: 'processes/uninstall-all',
    decision: 'ask',
    programs: 'brew port nix nix-env pip pip3 pipx npm gem conda mamba scoop choco'.split(' '),
    argument: /^(?:-e|--uninstall|uninstall|remove|rm|uninstall-all)$/,
    test: ({ program, arguments: { words }, madeBy, reads }) =>
      program === 'conda' || program === 'mamba'
        ? words.some((word, index) => /^(?:-n|--name)=?base$/.test(`${words[index - 1] ?? ''}${word}`))
        : // Its own list is the argument; `$(brew uses x)` lists what needs a package.
          reads.includes(program) ||
          (madeBy.includes(program) &&
            (program !== 'brew' || words.some((word) => /^(?:-f|--force|--zap)$/.test(word)))) ||
          (program === 'gem' && words.some((word) => /^-[a-zA-Z]*a/.test(word)) && words.length === 2) ||
          words.some((word, index) => index > 0 && /^(?:\.?\*|all|installed|--all)$/.test(word)),
    unless: ['--dry-run|-h|--help'],
    why: 'It removes all programs of a package manager.',
  },
  {
    rule: 'processes/unverified-packages',
    decision: 'ask',
    programs: 'apt apt-get dnf yum zypper apk pip pip3 uv npm pnpm yarn bun gem poetry'.split(' '),
    test: ({ arguments: { words } }) =>
      words.some((word) =>
        /^(?:--allow-unauthenticated|--force-yes|--nogpgcheck|--no-gpg-checks|--allow-untrusted|--trusted-host(?:=.*)?)$/.test(
          word,
        ),
      ) ||
      words.some((word, index) =>
        /^(?:-i|(?:--|[a-z]+\.)(?:(?:extra-)?index-url|index|registry|source))=http:\/\/(?!localhost|127\.)/.test(
          word.includes('=') ? word : `${words[index - 1] ?? ''}=${word}`,
        ),
      ),
    why: 'It installs packages whose source is not verified.',
  },
  {
    rule: 'processes/powershell',
    decision: 'ask',
    programs: ['powershell', 'powershell.exe', 'pwsh', 'cmd', 'cmd.exe'],
    test: ({ arguments: { words } }) =>
      words.some(
        (word) =>
          endingCmdlet.test(word) ||
          /Remove-Item|Clear-Content|\b(?:rd|rmdir|del|erase)\b.{0,200}\/s|\b(?:rm|ri|rd|rmdir|del|erase)\b.{0,200}-r(?:e(?:c(?:u\w*)?)?)?\b|(?:Stop|Restart)-(?:Computer|Service)|Set-(?:ExecutionPolicy|MpPreference)|-enc(?:odedcommand)?\b|\biex\b|Invoke-Expression/i.test(
            word,
          ),
      ),
    why: 'It deletes files, or stops the machine, in code of another language.',
  },
  {
    rule: 'processes/edit-privileges',
    decision: 'ask',
    programs: ['sudoedit', 'visudo'],
    why: 'It changes files that belong to the system.',
  },
];
