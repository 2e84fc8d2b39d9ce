import { machineMark, settingsMark } from '../../read/words/known-output.js';
import { isCodeVariable, pathsInVariable } from '../../read/commands/program-variables.js';
import { secretMark, secretVariableMark, storedMark } from '../../read/files/secrets.js';
import type { CommandRule } from '../rule.js';

/** Programs that send their arguments to another machine; name lookups send them, too. */
const senders = [
  'curl',
  'wget',
  'wget2',
  'http',
  'https',
  'xh',
  'scp',
  'rsync',
  'sftp',
  'nc',
  'ncat',
  'netcat',
  'socat',
  'telnet',
  'ftp',
  'lftp',
  'tftp',
  'aws',
  'gsutil',
  'rclone',
  's3cmd',
  'mc',
  'gcloud',
  'azcopy',
  'croc',
  'wormhole',
  'magic-wormhole',
  'transfer',
  'gh',
  'glab',
  'ssh',
  'dig',
  'nslookup',
  'host',
  'drill',
  'ping',
  'ping6',
  'traceroute',
  'whois',
  'mail',
  'mailx',
  'mutt',
  'sendmail',
  'swaks',
  'msmtp',
  'openssl',
  'websocat',
  'grpcurl',
  'mosquitto_pub',
  'kcat',
  'redis-cli',
  'termbin',
  'pastebinit',
  'logger',
  'ngrok',
];

/** Rules about the line itself: text that is unknown until it runs, downloads and secrets. */
export const shellRules: readonly CommandRule[] = [
  {
    rule: 'shell/unparsable',
    decision: 'ask',
    problem: 'unparsable',
    why: 'It is not valid shell syntax.',
    instead: 'Check quotes and brackets, or write simpler commands.',
  },
  {
    rule: 'shell/too-complex',
    decision: 'ask',
    problem: 'too-complex',
    why: 'It runs too many commands, or is nested too deeply, to be checked.',
    instead: 'Run the commands one by one.',
  },
  {
    rule: 'shell/unknown-program',
    decision: 'ask',
    problem: 'unknown-program',
    why: 'The program that it runs is only known at run time.',
    instead: 'Use the name of the program literally.',
  },
  {
    rule: 'shell/unknown-text',
    decision: 'ask',
    problem: 'unknown-text',
    why: 'It runs text that is only known at run time.',
    instead: 'Use literal commands.',
  },
  {
    rule: 'shell/runs-download',
    decision: 'ask',
    problem: 'runs-download',
    why: 'It runs a download that was not read.',
    instead: 'Download it into a file, read it, then run it.',
  },
  {
    rule: 'shell/opens-shell',
    decision: 'ask',
    problem: 'opens-shell',
    why: 'It opens a shell from within another program, which escapes the restrictions of that program.',
    instead: 'Run the intended command directly.',
  },
  {
    rule: 'shell/fork-bomb',
    decision: 'deny',
    problem: 'fork-bomb',
    why: 'It starts processes or writes without end, until the machine is exhausted.',
  },
  {
    rule: 'shell/loads-code',
    decision: 'ask',
    programs: ['export', 'declare', 'env', 'make', 'gmake'],
    test: ({ arguments: { words }, zoneOf }) =>
      words.some((word) => {
        const [, name = '', value = ''] = /^(\w+)=(.*)$/s.exec(word) ?? [];
        return (
          isCodeVariable(name) &&
          (value.includes('data:') ||
            pathsInVariable(name, value).some(
              (path) =>
                /^\/(?!tmp\/made-by-mktemp)/.test(path) &&
                // The folder for temporary files, too.
                (zoneOf(path) === 'scratch' || zoneOf(`${path}/some`) === 'scratch'),
            ))
        );
      }),
    why: 'The following programs load code from that place, which replaces their own.',
    instead: 'Use the programs and libraries of the project.',
  },
  {
    rule: 'shell/replaces-command',
    decision: 'ask',
    programs: ['enable', 'hash'],
    flags: ['-f|-p'],
    why: 'The name of a command then runs another program.',
    instead: 'Run the program by its own name.',
  },
  {
    rule: 'shell/loads-code-by-option',
    decision: 'ask',
    test: ({ arguments: { words }, zoneOf }) =>
      words.some((word, index) => {
        const found = word.startsWith('-') ? loadingOption.exec(word) : null;
        const path = found === null ? '' : (found[1] ?? words[index + 1] ?? '');
        return path.startsWith('/') && zoneOf(path) === 'scratch';
      }),
    why: 'It loads code from a place that any program can write to.',
    instead: 'Use the programs and libraries of the project.',
  },
  {
    rule: 'shell/skips-verification',
    decision: 'ask',
    programs: ['export', 'declare', 'env', 'git'],
    test: ({ program, arguments: { words } }) =>
      words.some((word, index) =>
        program === 'git'
          ? /^http\.(?:.*\.)?sslverify(?:$|=)/i.test(word) &&
            /(?:^|=)(?:false|no|off|0)$/i.test(word.includes('=') ? word : (words[index + 1] ?? ''))
          : /^(?:GIT_SSL_NO_VERIFY=(?:1|true)|(?:NODE_TLS_REJECT_UNAUTHORIZED|PYTHONHTTPSVERIFY)=0$|^\w*(?:REGISTRY|INDEX_URL|GOPROXY)=http:\/\/(?!localhost|127\.)\S*)$/i.test(
              word,
            ),
      ),
    why: 'It accepts any certificate, so that others can read and change what is sent.',
    instead: 'Add the certificate of the server to the trusted ones.',
  },
  {
    rule: 'shell/reverse-shell',
    decision: 'deny',
    test: ({ program, arguments: { words } }) =>
      /^(?:nc|ncat|netcat|socat)$/.test(program) &&
      words.some((word) => /^(?:-[a-z]*[ec]|--exec|--sh-exec)$|^exec:|^system:/i.test(word)),
    why: 'It connects a shell to another machine.',
  },
  {
    rule: 'shell/socket',
    decision: 'deny',
    paths: { in: ['redirections'], zones: ['nowhere'] },
    // A command that sends nothing asks whether the port is open.
    test: ({ program, redirected, arguments: { words } }) =>
      redirected.some((path) => /^\/dev\/(?:tcp|udp)\//.test(path)) &&
      !(/^(?:|:|true|echo|printf)$/.test(program) && words.every((word) => /^(?:-n)?$/.test(word))),
    why: 'It opens a network connection inside the shell, a common form of a reverse shell.',
    instead: 'Use curl.',
  },
  {
    rule: 'shell/sends-secrets',
    decision: 'deny',
    programs: senders,
    test: ({ program, arguments: { words, operands, valuesOf }, input, isSecret, zoneOf }) => {
      const isPut = ([, file = '']: RegExpMatchArray): boolean => isSecret(file);
      if (program.endsWith('ftp') && Array.from((input ?? '').matchAll(putLine)).some(isPut)) return true;
      // In a copy from another machine, the last path is written, not read.
      const isDownload =
        /^(?:scp|rsync|aws|gsutil|rclone|s3cmd|gcloud)$/.test(program) && !isRemote(operands.at(-1)?.text ?? '');
      const subcommand = Object.hasOwn(sendingSubcommands, program) ? sendingSubcommands[program] : undefined;
      if (isDownload || subcommand?.test(operands[0]?.text ?? '') === false) return false;
      const isUpload = (path: string): boolean => isSecret(path) || isOfSystem(zoneOf(path));
      if (uploading.flatMap(valuesOf).some(isUpload)) return true;
      return words.some((word, index) => {
        if (
          // The address of a key is no file of this machine.
          /^(?:--[\w-]+=)?https?:\/\//.test(word) ||
          /^--?(?:cacert|cert|key|E|i|ssh-key|identity|o|O|output)$/.test(words[index - 1] ?? '') ||
          /^--(?:cacert|cert|key)=/.test(word)
        ) {
          return false;
        }
        const [, upload = ''] =
          /^(?:-[A-Za-z]*[dF]|--[\w-]+=)?(?:[\w-]+=?)?@([^;]+)|^-[A-Za-z]*F?[\w-]+=<([^;]+)|^-T(\/.+)$/
            .exec(word)
            ?.filter(Boolean) ?? [];
        if (upload !== '' && isUpload(upload)) return true;
        const path = word.replace(/^(?:-[dFT](?=[@\w./~])|--[\w-]+=)?(?:[\w:-]+[=:]|[\w-]+(?=@[./~]))?[@<]?/, '');
        return path !== '' && (isSecret(path) || isSecret(word));
      });
    },
    why: 'It sends a file with keys, credentials or secret settings to another machine.',
    instead: 'Ask the person to do it.',
  },
  {
    rule: 'shell/looks-up-output',
    decision: 'ask',
    programs: ['dig', 'nslookup', 'host', 'drill', 'ping', 'ping6', 'getent'],
    test: ({ arguments: { operands }, madeBy }) =>
      madeBy.length > 0 && operands.some(({ text }) => /\u{FFFF}\.(?:[\w-]+\.)+\w/u.test(text)),
    why: 'The name that it looks up carries the output of a command to the servers of that domain.',
  },
  {
    rule: 'shell/serves-home',
    decision: 'ask',
    test: ({ program, arguments: { operands, words, valuesOf }, zoneOf }) =>
      (serves.test(program) || words.some((word) => serves.test(word) || (program === 'php' && word === '-S'))) &&
      [...['-d', '--directory', '-t', '--root', '-h'].flatMap(valuesOf), ...operands.map(({ text }) => text)].some(
        (path) => ['root', 'system', 'home', 'above', 'secret'].includes(zoneOf(path)),
      ),
    why: 'It serves keys and private files to other machines.',
    instead: 'Serve a folder of the project.',
  },
  {
    rule: 'shell/runs-remote-package',
    decision: 'ask',
    programs: ['npx', 'pnpx', 'bunx', 'pnpm', 'yarn', 'npm', 'bun'],
    test: ({ program, arguments: { operands } }) => {
      const [first, second] = operands.map(({ text }) => text);
      const spec = program.endsWith('x') ? first : /^(?:dlx|exec|x)$/.test(first ?? '') ? second : undefined;
      return /^(?:https?:|git[+@:]|(?:github|gitlab|bitbucket|gist):)/.test(spec ?? '');
    },
    why: 'It runs a package from a URL, which no registry has checked.',
    instead: 'Download it and read it first.',
  },
  {
    rule: 'shell/installs-archive',
    decision: 'ask',
    programs: ['pip', 'pip3', 'pipx', 'uv', 'npm', 'pnpm', 'yarn', 'bun', 'gem', 'deno', 'go', 'cargo'],
    test: ({ program, arguments: { operands, words } }) => {
      const addresses = operands.slice(1).filter(({ text }) => /^https?:\/\//.test(text));
      if (program === 'deno') {
        return (
          /^(?:run|install|x)$/.test(operands[0]?.text ?? '') &&
          addresses.length > 0 &&
          words.some((word) => /^(?:-[a-z]*A[a-z]*|--allow-(?:all|run|ffi))/.test(word))
        );
      }
      return (
        /^(?:install|i|add|pip|tool)$/.test(operands[0]?.text ?? '') &&
        !words.includes('--git') &&
        addresses.some(({ text }) => !/\.git(?:[#@].*)?$/.test(text))
      );
    },
    why: 'It runs code from an address, which no registry has checked.',
    instead: 'Download it and read it first.',
  },
  {
    rule: 'shell/sends-secret-text',
    decision: 'ask',
    programs: senders,
    test: ({ program, madeBy, reads }) =>
      [...madeBy, ...reads].some((name) => name === secretMark || name === machineMark) ||
      reads.some((name) => name === storedMark || name === settingsMark || name === 'history') ||
      (/^(?:nc|ncat|netcat|socat|telnet|mailx?)$/.test(program) &&
        reads.some((name) => name.startsWith(secretVariableMark))),
    why: 'It sends a secret, the environment with the secrets in it, or settings of the machine to another machine.',
    instead: 'Ask the person to do it.',
  },
];

/** Programs and subcommands that serve a folder. */
const serves = /^(?:[\w-]{0,20}serve|httpd?[-.]server|[\w-]{0,20}httpd|live-server|miniserve|caddy|file-server)$/;

/** An option whose value is code that the program loads, or another program that it runs. */
const loadingOption =
  /^--?(?:engine|vettool|compress-program|require|import|(?:lua-)?filter|plugin|preload|load-?(?:module|extension)|init-(?:script|file)|rcfile|startup-file)(?:=(.+))?$/;

/** Options whose value is a file that clients of HTTP send. */
const uploading = ['-T', '--upload-file', '--post-file', '--body-file'];

/** A line of an FTP client that uploads a file. */
const putLine = /^\s*(?:m?put|reput|send)\s+(?:-\w+\s+)*(\S+)/gm;

/** Subcommands that send files, of programs with other subcommands; of `ssh` only the input counts. */
const sendingSubcommands: Readonly<Record<string, RegExp>> = {
  aws: /^s3$/,
  gcloud: /^storage$/,
  gh: /^(?:gist|release|pr|issue)$/,
  glab: /^snippet$/,
  openssl: /^s_(?:client|time)$/,
  'redis-cli': /^set$/i,
  ssh: /^$/,
};

/** Settings of the machine name its users and services. */
const isOfSystem = (zone: string): boolean => zone === 'startup' || zone === 'system-file';

/** Returns whether an operand refers to another machine. */
const isRemote = (operand: string): boolean => /^(?:[\w.@[\]-]+:|\w+:\/\/)/.test(operand);
