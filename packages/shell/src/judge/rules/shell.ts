import type { CommandRule } from '../rule.js';

/** Rules about the line itself: what cannot be told beforehand, and what comes from elsewhere. */
export const shellRules: readonly CommandRule[] = [
  {
    rule: 'shell/unparsable',
    decision: 'ask',
    problem: 'unparsable',
    why: 'It cannot be read as shell.',
    instead: 'Mind quotes and brackets, or write simpler commands.',
  },
  {
    rule: 'shell/too-complex',
    decision: 'ask',
    problem: 'too-complex',
    why: 'It runs too much, or too deeply nested, to be checked.',
    instead: 'Run the commands one by one.',
  },
  {
    rule: 'shell/unknown-program',
    decision: 'ask',
    problem: 'unknown-program',
    why: 'Which program it runs is only known when it runs.',
    instead: 'Write the name of the program out.',
  },
  {
    rule: 'shell/unknown-text',
    decision: 'ask',
    problem: 'unknown-text',
    why: 'It runs text that is only known when it runs.',
    instead: 'Write the commands out.',
  },
  {
    rule: 'shell/runs-download',
    decision: 'ask',
    problem: 'runs-download',
    why: 'It runs what it fetches from elsewhere, unseen.',
    instead: 'Fetch it into a file, read it, then run it.',
  },
  {
    rule: 'shell/fork-bomb',
    decision: 'deny',
    problem: 'fork-bomb',
    why: 'The function starts itself until the machine stands still.',
  },
  {
    rule: 'shell/reverse-shell',
    decision: 'deny',
    test: ({ program, arguments: { words } }) =>
      /^(?:nc|ncat|netcat|socat)$/.test(program) &&
      words.some((word) => /^(?:-[a-z]*[ec]|--exec|--sh-exec)$|^exec:|^system:/i.test(word)),
    why: 'It hands a shell to somebody elsewhere.',
  },
  {
    rule: 'shell/socket',
    decision: 'deny',
    paths: { in: ['redirections'], zones: ['nowhere'] },
    test: ({ redirected }) => redirected.some((path) => /^\/dev\/(?:tcp|udp)\//.test(path)),
    why: 'It opens a connection from within the shell, as those do who take machines over.',
    instead: 'Use curl.',
  },
  {
    rule: 'shell/sends-secrets',
    decision: 'deny',
    programs: [
      'curl',
      'wget',
      'http',
      'https',
      'xh',
      'scp',
      'rsync',
      'sftp',
      'nc',
      'ncat',
      'ftp',
      'aws',
      'gsutil',
      'rclone',
    ],
    test: ({ arguments: { words }, zoneOf }) =>
      words.some((word) => {
        const path = word.replace(/^(?:-d|-F|-T|--[\w-]+=)?(?:\w+=)?@?/, '');
        return /^[/~.]/.test(path) && !/^https?:/.test(path) && zoneOf(path) === 'secret';
      }),
    why: 'It sends keys or credentials elsewhere.',
  },
  {
    rule: 'shell/sends-environment',
    decision: 'ask',
    programs: ['curl', 'wget', 'nc', 'ncat', 'http', 'https'],
    test: ({ arguments: { words }, reads, madeBy }) =>
      [...reads, ...madeBy].some((name) => name === 'env' || name === 'printenv') &&
      (reads.length === 0 || words.some((word) => /@-|^-T|^-d|--data|--post/.test(word)) || words.length < 4),
    why: 'It sends the environment, with the secrets in it, elsewhere.',
  },
];
