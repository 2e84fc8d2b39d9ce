import type { CommandRule } from '../rule.js';

/** Programs that connect a port of this machine to the internet. */
const tunnels = [
  'ngrok',
  'cloudflared',
  'localtunnel',
  'lt',
  'bore',
  'frpc',
  'localhost.run',
  'pinggy',
  'zrok',
  'tailscale',
  'devtunnel',
  'chisel',
  'gsocket',
  'gs-netcat',
  'pwncat',
  'tmate',
  'upterm',
  'ttyd',
  'gotty',
  'wstunnel',
  'rathole',
  'inlets',
  'sshuttle',
];

/** Programs that examine or attack other machines. */
const scanners = [
  'nmap',
  'masscan',
  'zmap',
  'rustscan',
  'hydra',
  'medusa',
  'ncrack',
  'sqlmap',
  'nikto',
  'gobuster',
  'ffuf',
  'wfuzz',
  'dirb',
  'wpscan',
  'msfconsole',
  'msfvenom',
  'arpspoof',
  'ettercap',
  'bettercap',
  'responder',
  'mitmproxy',
  'mitmdump',
  'aircrack-ng',
  'airmon-ng',
  'aireplay-ng',
  'hping3',
  'slowhttptest',
  'slowloris',
  'crackmapexec',
];

/** Names of programs, and of images, that mine. */
const miners =
  /(?:^|\/)(?:xmrig|minerd|cpuminer|ccminer|cgminer|bfgminer|ethminer|nbminer|t-rex|lolminer|phoenixminer|nanominer|gminer|teamredminer|srbminer)(?:[-_.][\w.-]*)?$/i;

const thisMachine = /^(?:\w+:\/\/)?(?:localhost|127\.[\d.]+|\[?::1\]?|0\.0\.0\.0|host\.docker\.internal)(?:[:/].*)?$/;

/** Programs that try an address. */
const probes = 'nc ncat netcat ping telnet'.split(' ');

/** An address whose last number a loop counts. */
const sweeps = /(?:^|\/)\d{1,3}\.\d{1,3}\.(?:\d{1,3}|\u{FFFF})\.\u{FFFF}(?:\/|$)/u;

/** Verbs that send something to other people. */
const sending =
  /^(?:transfer|payout|withdraw|broadcast|(?:(?:emails?|messages?):)?send(?:[-_]?(?:e?mail|message|sms|notification|to-?address|many|transaction|raw-?transaction|tx))?)$/i;

/** Commands of clients for files on a server that delete there: `rm x`, `mdelete *`, `mirror -R --delete`. */
const deletesRemotely =
  /(?:^|[;\n"'{])[ \t]{0,9}-?(?:(?:g?m)?rm(?:dir)?|rd|m?del(?:ete)?|deltree|mirror[ \t][^;\n]*(?:-e\b|--delete|--Remove-source))(?:[ \t;\n"'}]|$)/i;

/** Rules about the network: tunnels, scanners, interfaces and the firewall. */
export const networkRules: readonly CommandRule[] = [
  {
    rule: 'network/mines',
    decision: 'deny',
    test: ({ program, arguments: { words, operands }, isOrdinary }) =>
      miners.test(program) ||
      (/^(?:docker|podman)$/.test(program) && operands.some(({ text }) => miners.test(text.replace(/[:@].*$/, '')))) ||
      (!isOrdinary && words.some((word) => /^(?:-\w|--[\w-]+=)?stratum\d?\+?\w*:\/\//.test(word))),
    why: 'It mines a currency at the expense of the machine.',
  },
  {
    rule: 'network/load',
    decision: 'ask',
    programs: ['ab', 'wrk', 'wrk2', 'siege', 'vegeta', 'hey', 'bombardier', 'autocannon', 'oha', 'locust', 'artillery'],
    test: ({ arguments: { words } }) =>
      words.some((word) => /^(?:--?[\w-]+=)?\w+:\/\//.test(word) && !thisMachine.test(word.replace(/^-[^=]*=/, ''))),
    why: 'The load may bring down a server that others use.',
    instead: 'Test a server on this machine.',
  },
  {
    rule: 'network/flood',
    decision: 'ask',
    programs: ['ping', 'ping6'],
    flags: ['-f'],
    why: 'It sends packets as fast as possible.',
  },
  {
    rule: 'network/messages',
    decision: 'ask',
    programs: [
      'mail',
      'mailx',
      'mutt',
      'sendmail',
      'msmtp',
      'swaks',
      'git',
      's-nail',
      'wall',
      'curl',
      'wget',
      'http',
      'xh',
      'aws',
      'twilio',
    ],
    test: ({ program, arguments: { words }, input, reads }) =>
      /^(?:curl|wget|http|xh)$/.test(program)
        ? words.some((word) =>
            /^https:\/\/(?:hooks\.slack\.com\/|discord(?:app)?\.com\/api\/webhooks\/|api\.telegram\.org\/bot|[\w.-]+\.webhook\.office\.com\/|slack\.com\/api\/chat\.|api\.(?:sendgrid|mailgun|postmarkapp|twilio|resend)\.\w+\/)/.test(
              word,
            ),
          )
        : /^(?:aws|twilio)$/.test(program)
          ? words
              .slice(0, 3)
              .some((word) =>
                /^send-(?:raw-|templated-|bulk-)?(?:email|message)|^publish|:messages:create$/.test(word),
              ) && words[0] !== 'sqs'
          : program === 'git'
            ? words[0] === 'send-email' && !words.includes('--dry-run')
            : words.length > 0 || input !== undefined || reads.length > 0,
    unless: ['--help|--version|-V|-h'],
    why: 'It sends a message to other people.',
    instead: 'Show the person the message.',
  },
  {
    rule: 'network/sends',
    decision: 'ask',
    test: ({ program, arguments: { operands, words }, isOrdinary }) =>
      program === 'slackcat' ||
      /^(?:telegram|mail|sms|slack|discord|push)-?send$/.test(program) ||
      ((!isOrdinary || program === 'slack') &&
        !/^(?:aws|awslocal|zfs|btrfs)$/.test(program) &&
        (operands.slice(0, 3).some(({ text }) => sending.test(text)) || words.includes('--broadcast'))),
    unless: ['--dry-run|--help|-h'],
    why: 'By its words, it sends a message or money, which cannot be called back.',
    instead: 'Show the person the command.',
  },
  {
    rule: 'network/tunnel',
    decision: 'ask',
    programs: tunnels,
    test: ({ program, arguments: { operands } }) =>
      (program !== 'tailscale' || /^(?:funnel|serve|up|down|logout)$/.test(operands[0]?.text ?? '')) &&
      !/^(?:version|help|update|config|login|user|list|status)$/.test(operands[0]?.text ?? ''),
    unless: ['--help|--version|-h'],
    why: 'It opens a port of this machine to the internet.',
    instead: 'Ask the person to start it.',
  },
  {
    rule: 'network/remote-forward',
    decision: 'ask',
    programs: ['ssh', 'autossh'],
    test: ({ arguments: { words } }) =>
      words
        .slice(0, 40)
        .some(
          (word, index) =>
            /^-[A-Za-z]*R(?:$|[\d*[])|^-o ?RemoteForward/i.test(word) ||
            (/^-[A-Za-z]*[LD]$/.test(words[index - 1] ?? '') && /^(?:0\.0\.0\.0|\*):/.test(word)),
        ),
    why: 'It opens a port of this machine to another one.',
    instead: 'Ask the person to start it.',
  },
  {
    rule: 'network/grants-access',
    decision: 'ask',
    programs: ['ssh-copy-id', 'chpasswd'],
    unless: ['-n'],
    why: 'It grants access to a machine.',
  },
  {
    rule: 'network/scan',
    decision: 'ask',
    programs: [...scanners, ...probes],
    test: ({ program, arguments: { operands } }) =>
      probes.includes(program)
        ? operands.some(({ text }) => sweeps.test(text))
        : operands.length > 0 && !operands.every(({ text }) => thisMachine.test(text) || /^[\d,-]+$/.test(text)),
    why: 'It scans or attacks other machines, and their owners may not have agreed.',
  },
  {
    rule: 'network/attacks',
    decision: 'ask',
    test: ({ program }) =>
      /^(?:linpeas|linenum|lse|pspy(?:32|64)?|mimikatz|lazagne|john|hashcat|impacket-\w+|evil-winrm|bloodhound\w*|netexec|nxc)(?:\.(?:sh|py|exe))?$/.test(
        program,
      ),
    why: 'It searches for passwords, or for ways to take over the machine.',
  },
  {
    rule: 'network/listens',
    decision: 'ask',
    programs: ['tcpdump', 'tshark', 'dumpcap', 'ngrep', 'dsniff'],
    unless: ['-r|--read-file|-D|--list-interfaces|--version|-h|--help'],
    why: 'It records the traffic of the machine, passwords included.',
  },
  {
    rule: 'network/sends-dump',
    decision: 'ask',
    programs: ['curl', 'wget', 'http', 'https', 'xh', 'nc', 'ncat', 'netcat', 'socat', 'openssl', 'telnet', 'ssh'],
    test: ({ program, reads }) =>
      reads.some(
        (name) =>
          /^(?:pg_dump(?:all)?|mysqldump|mariadb-dump|mongodump|mongoexport)$/.test(name) ||
          // Archives are deployed through SSH.
          (program !== 'ssh' && /^(?:tar|bsdtar|zip|cpio)$/.test(name)),
      ),
    why: 'It sends the content of a database or an archive to another machine.',
  },
  {
    rule: 'network/deletes-files',
    decision: 'ask',
    programs: ['sftp', 'psftp', 'ftp', 'tnftp', 'lftp', 'ncftp', 'smbclient'],
    test: ({ arguments: { words }, input }) =>
      [...words.filter((word) => word.includes(' ')), input ?? ''].some((text) => deletesRemotely.test(text)),
    why: 'It deletes files on another machine.',
    instead: 'Show the person the list of the files.',
  },
  {
    rule: 'network/publishes-file',
    decision: 'ask',
    programs: ['gh', 'glab', 'pastebinit', 'termbin', 'transfer', 'croc', 'wormhole', 'ffsend'],
    test: ({ program, arguments: { operands } }) =>
      !/^(?:gh|glab)$/.test(program) ||
      /^(?:gist|snippet) create$/.test(`${operands[0]?.text ?? ''} ${operands[1]?.text ?? ''}`),
    unless: ['--help'],
    why: 'It uploads a file for others to read.',
  },
  {
    rule: 'network/firewall',
    decision: 'ask',
    programs: ['iptables', 'ip6tables', 'iptables-restore', 'nft', 'ufw', 'firewall-cmd', 'pfctl', 'netsh', 'ebtables'],
    test: ({ program, arguments: { words } }) =>
      program === 'iptables-restore' ||
      words.some((word) =>
        /^(?:-[ADIRFXPNZE]|--(?:append|delete|insert|replace|flush|policy|new-chain|zero|rename-chain)|flush|delete|add|insert|replace|disable|enable|reset|reload|allow|deny|reject|limit|default|set|-d|-e|-f|--(?:add|remove|set|panic|reload|complete-reload)\b.*)$/.test(
          word,
        ),
      ),
    unless: ['--help|--version'],
    why: 'It changes the firewall.',
    instead: 'Give the user the command.',
  },
  {
    rule: 'network/interfaces',
    decision: 'ask',
    programs: [
      'ip',
      'ifconfig',
      'ifdown',
      'ifup',
      'route',
      'nmcli',
      'networksetup',
      'brctl',
      'iwconfig',
      'resolvectl',
      'tc',
      'networkctl',
      'rfkill',
      'wg-quick',
      'zerotier-cli',
      'ethtool',
      'arp',
      'ss',
    ],
    test: ({ program, arguments: { operands, words } }) => {
      const texts = operands.map(({ text }) => text);
      switch (program) {
        case 'ifdown':
        case 'ifup':
          return texts.length > 0;
        case 'ifconfig':
        case 'iwconfig':
          return texts.length > 1;
        case 'ethtool':
        case 'arp':
          return words.some((word) => /^-[ds]$/.test(word));
        case 'ss':
          return words.some((word) => /^-[A-Za-z]*K|^--kill$/.test(word));
        case 'networksetup':
          return words.some((word) => /^-(?:set|remove|create|delete|switch)/.test(word));
        default:
          return texts
            .slice(0, 4)
            .some((text) =>
              /^(?:set|del|delete|add|flush|replace|change|down|up|off|leave|disconnect|modify|addbr|delbr|block|dns|domain|revert)$/.test(
                text,
              ),
            );
      }
    },
    why: 'It changes the network of the machine, which may cut it off.',
    instead: 'Give the user the command.',
  },
];
