import { listMark, parallelCommands, xargsCommands, type ListedCommands } from '../words/argument-lists.js';
import { gitPrograms, type GitAliases } from './git-programs.js';
import { known, programName, type Field } from '../words/field.js';
import { readFind } from './find-targets.js';
import { elsewhere, here, ofInput, ofOption, ofPath, ofText, spentInput, unknownInput, type Inner } from './inner.js';
import { ofEditor } from './editors.js';
import { isHost, isVirtualMachine, runsElsewhere } from './engines.js';
import { ofBuildFiles } from '../code/build-files.js';
import { ofMakefile } from '../code/makefiles.js';
import { runsLines, sedFiles, sedLines, tclLines } from '../code/sed-scripts.js';
import { ofCode, written } from '../code/code-commands.js';
import { guessedCommands } from './guessed-commands.js';
import { isWide, type Input } from '../words/known-output.js';
import { isOrdinary } from './ordinary.js';
import { valueOf, type Scope } from '../scope.js';
import { ofFile, ofLogin, ofRemote, ofShell, ofSource, sshPrograms } from './shell-commands.js';
import { bracketedLines, namedPrograms, withScripts } from './text-commands.js';
import { joined, ofWrapper } from './wrapped-commands.js';
import { ofDownloadedCode, ofWrittenCode } from '../code/written-code.js';
import { interpreters, shells } from './wrappers.js';

/** Returns what a command runs: through wrappers, shells, `eval`, `find`, `xargs` and code of other languages. */
export const innerCommands = (
  argv: readonly Field[],
  input: Input | undefined,
  scope: Scope,
  aliases: Map<string, string>,
): readonly Inner[] => {
  const [first, ...words] = argv;
  const name = programName(first?.text ?? '');
  const args = withScripts(name, words, scope);
  // `time -o file` has no name, because the parser reads `time` as the keyword.
  if (first?.text.startsWith('-') === true) return ofWrapper('time', argv, input);
  // A script may have the name of a program.
  const script = ofFile(first, args, scope);
  if (script.length > 0) return script;
  if (shells.has(name)) return ofShell(args, input, scope);
  if (name === 'git') return ofGit(args, aliases);
  return [
    ...namedPrograms(args),
    ...bracketedLines(name, args, input),
    ...ofWrittenCode(name, args, input, scope),
    ...ofBuildFiles(name, args, scope),
    ...ofDownloadedCode(name, args, scope),
    ...ofProgram(first, name, args, input, scope),
  ];
};

const same = (inner: Inner): Inner => inner;

const ofProgram = (
  first: Field | undefined,
  name: string,
  args: readonly Field[],
  input: Input | undefined,
  scope: Scope,
): readonly Inner[] => {
  const direct = Object.hasOwn(runners, name) ? runners[name]?.(args, input, scope) : undefined;
  if (direct !== undefined) return sessions.has(name) ? direct : direct.map(withoutShell);
  const language = /^(?:python|pypy|node|ruby|perl|php|lua)[\d.]*$/.test(name) ? name.replace(/[\d.]+$/, '') : name;
  const commands = ofWrapper(name, args, input);
  const wrapped = runsElsewhere(name, args, scope) ? commands.map(elsewhere) : commands;
  return Object.hasOwn(interpreters, language)
    ? [...wrapped, ...ofCode(language, args, input, scope).map(withoutShell), ...ofDependency(name, args)]
    : [
        ...wrapped,
        ...(wrapped.length > 0
          ? []
          : (isUnknown(first?.text ?? '', name) && !scope.isGuess) ||
              args.slice(0, 4).some(({ text }) => /^(?:exec|rsh|ssh|shell|develop)$/.test(text))
            ? guessedCommands(args, input).map(isVirtualMachine(name) ? here : isHost(name) ? elsewhere : same)
            : ofDependency(name, args)),
      ];
};

/** Programs that are meant to open a shell. */
const sessions: ReadonlySet<string> = new Set(
  'ssh autossh adb tmux screen su newgrp sg runuser nix-shell eval source . at batch parallel sem fd fdfind'.split(' '),
);

/** A shell without a script, which reads its commands from the terminal. */
const bareShell =
  /^\s*(?:exec\s+|sudo\s+|sh\s+-c\s+)?(?:\/(?:usr\/)?(?:local\/)?bin\/)?(?:ba|z|da|k|a|fi)?sh(?:\s+-[ipl]+)*[\s;]*$/;

/** Replaces a shell that an editor, an archiver or code opens: no task needs it, and it escapes restrictions. */
const withoutShell = (inner: Inner): Inner => {
  const text =
    inner.kind === 'line'
      ? inner.text
      : inner.kind === 'command'
        ? inner.argv.map((field) => field.text).join(' ')
        : '';
  return bareShell.test(text) && !(inner.kind === 'line' && inner.input !== undefined && inner.input !== spentInput)
    ? { kind: 'problem', problem: 'opens-shell' }
    : inner;
};

/** Subcommands of package managers that are names of programs, too. */
const managing = /^(?:install|link|unlink|rm|ln|patch|init|env|set|test|import|config|exec|dlx|x)$/;

/** Options and subcommands of package managers in front of the name of a program, with their value. */
const beforeBin = /^(?:-F|--filter|-C|--dir|--cwd|--prefix|workspace)$/;

/** `yarn prisma migrate`, `pnpm --filter db prisma migrate`: a program of a dependency, or a script of the project. */
const ofDependency = (name: string, args: readonly Field[]): readonly Inner[] => {
  if (!/^(?:yarn|pnpm|bun)$/.test(name)) return [];
  const at = args.findIndex(
    ({ text }, index) => !/^-|^(?:run|workspace)$/.test(text) && !beforeBin.test(args[index - 1]?.text ?? ''),
  );
  const program = args[at]?.text;
  if (program === undefined || managing.test(program) || /[.:]/.test(program)) return [];
  return [{ kind: 'command', argv: args.slice(at), isGuess: program !== 'node' }];
};

/** Returns whether nothing is known of a program: neither a script of the project nor one whose words are data. */
const isUnknown = (path: string, name: string): boolean =>
  name !== '' && !isOrdinary(name) && (path === name || path.startsWith('/'));

const runners: Readonly<
  Record<string, (args: readonly Field[], input: Input | undefined, scope: Scope) => readonly Inner[]>
> = {
  eval: (args) => (args.length === 0 ? [] : ofText(joined(args), { isSameShell: true })),
  source: (args, input, scope) => ofSource(args, input, scope),
  '.': (args, input, scope) => ofSource(args, input, scope),
  trap: (args, _, scope) => {
    const [text, ...signals] = args.filter(({ text: word }, index) => index > 0 || word !== '--');
    if (text === undefined || signals.length === 0 || /^-[lp]?$/.test(text.text)) return [];
    // It may run now or at the end. A variable without a value usually receives one before that.
    const isLater = Array.from(text.text.matchAll(/\$\{?([A-Za-z_]\w*)/g)).some(
      ([, name = '']) => valueOf(scope, name) === undefined,
    );
    return [
      ...(isLater ? [] : ofText(text, { isSameShell: true })),
      ...ofText(text, { isSameShell: true, isAtEnd: true }),
    ];
  },
  jobs: ([option, ...argv]) => (option?.text === '-x' ? [{ kind: 'command', argv }] : []),
  sqlite3: (args, input) =>
    [...args.map(({ text }) => text), ...(input?.text ?? '').split('\n')].flatMap((text): readonly Inner[] => {
      const [, line] = /^\s*\.(?:shell|system)\s+(.*)$/s.exec(text) ?? [];
      return line === undefined ? [] : [{ kind: 'line', text: line }];
    }),
  mapfile: (args) => ofOption(args, ['-C']),
  readarray: (args) => ofOption(args, ['-C']),
  compgen: (args) => ofOption(args, ['-C', '-F']),
  complete: (args) => ofOption(args, ['-C']),
  bind: (args) =>
    ofOption(args, ['-x']).map((inner) =>
      'text' in inner ? { ...inner, text: inner.text.replace(/^[^:]*:/, '') } : inner,
    ),
  find: (args) => [
    ...readFind(args).commands.map((argv): Inner => ({ kind: 'command', argv })),
    ...args
      .slice(0, maxFindWords)
      .flatMap(({ text }, index) => (/^-f(?:print[0f]?|ls)$/.test(text) ? written(args[index + 1]?.text) : [])),
  ],
  xargs: (args, input) => ofLists(xargsCommands(args, input)),
  parallel: (args, input) => ofLists(parallelCommands(args, input)),
  sem: (args, input) => ofLists(parallelCommands(args, input)),
  at: (_, input) => ofInput(input),
  batch: (_, input) => ofInput(input),
  // The scripts of a package run as root.
  ...Object.fromEntries(
    ['dpkg', 'rpm', 'apt', 'apt-get', 'dnf', 'yum'].map((name) => [
      name,
      (args: readonly Field[], _: Input | undefined, scope: Scope) =>
        args.flatMap(({ text }) => ofPath(text, scope).filter(({ kind }) => kind === 'problem')),
    ]),
  ),
  ssh: (args, input) => ofRemote(args, input),
  autossh: (args, input) =>
    ofRemote(
      args.filter(({ text }, index) => text !== '-M' && args[index - 1]?.text !== '-M'),
      input,
    ),
  adb: ([first, ...rest]) => (first?.text === 'shell' ? ofText(joined(rest), { isElsewhere: true }) : []),
  ...Object.fromEntries(
    ['salt', 'pssh', 'parallel-ssh', 'clush', 'pdsh', 'dsh'].map((name) => [
      name,
      (args: readonly Field[], input: Input | undefined) => [
        ...guessedCommands(args, input).map(elsewhere),
        ...args.slice(1).map(({ text }): Inner => ({ kind: 'line', text, isGuess: true, isElsewhere: true })),
      ],
    ]),
  ),
  // The program of a target has the last part of its name.
  ...Object.fromEntries(
    ['bazel', 'bazelisk', 'buck2'].map((name) => [
      name,
      (args: readonly Field[]): readonly Inner[] => {
        const at = args.findIndex(({ text }) => text === 'run');
        const [target, ...rest] = at === -1 ? [] : args.slice(at + 1).filter(({ text }) => !/^--\w/.test(text));
        const program = target?.text.split(/[/:]/).at(-1);
        if (program === undefined) return [];
        const words = rest[0]?.text === '--' ? behindHyphens(args) : rest;
        return [{ kind: 'command', argv: [known(program), ...words], isGuess: true }];
      },
    ]),
  ),
  'start-stop-daemon': (args, input) => {
    const at = args.findIndex(({ text }) => /^(?:--exec|--startas|-[xa])$/.test(text));
    const program = args[at + 1];
    return [
      ...(at === -1 || program === undefined
        ? []
        : [{ kind: 'command' as const, argv: [program, ...behindHyphens(args)] }]),
      ...ofWrapper('start-stop-daemon', args, input),
    ];
  },
  deno: (args, input, scope) => {
    const at = args.findIndex(({ text }) => text.startsWith('npm:'));
    const [, program = ''] = /^npm:((?:@[^/@]+\/)?[^/@]+)/.exec(args[at]?.text ?? '') ?? [];
    return [
      ...(at === -1 ? [] : [{ kind: 'command' as const, argv: [known(program), ...args.slice(at + 1)] }]),
      ...ofCode('deno', args, input, scope).map(withoutShell),
    ];
  },
  pm2: (args) => {
    const at = args.findIndex(({ text }) => text === 'start');
    const [program, ...rest] = args.slice(at + 1).filter(({ text }) => text !== '--');
    if (at === -1 || program === undefined) return [];
    return /\s/.test(program.text)
      ? [{ kind: 'line', text: program.text, isGuess: true }]
      : [{ kind: 'command', argv: [program, ...rest], isGuess: true }];
  },
  lldb: (args) => [
    ...ofEditor(args, undefined),
    ...(behindHyphens(args).length === 0 ? [] : [{ kind: 'command' as const, argv: behindHyphens(args) }]),
  ],
  repo: (args) => ofOption(args, ['-c']),
  tmux: (args) => [
    ...args.map(({ text }): Inner => ({ kind: 'line', text, isGuess: true })),
    ...guessedCommands(args, undefined),
  ],
  screen: (args, input) => [
    ...ofWrapper('screen', args, input),
    ...args.map(({ text }): Inner => ({ kind: 'line', text: text.replace(/\^M$|\\n$/, ''), isGuess: true })),
  ],
  hyperfine: (args) => args.map(({ text }) => ({ kind: 'line', text, isGuess: true })),
  make: (args, input) => ofMakefile(args, input),
  gmake: (args, input) => ofMakefile(args, input),
  gdb: (args) => {
    const at = args.findIndex(({ text }) => text === '--args');
    return [
      ...ofEditor(args, undefined),
      ...(at === -1 ? [] : [{ kind: 'command' as const, argv: args.slice(at + 1) }]),
    ];
  },
  ...Object.fromEntries(
    ['cmd', 'cmd.exe'].map((name) => [
      name,
      (args: readonly Field[]) =>
        ofText(joined(args.filter(({ text }) => !/^\/[a-z]$/i.test(text) || /^\/[sq]$/i.test(text))), {
          isGuess: true,
        }),
    ]),
  ),
  ...Object.fromEntries(
    ['vi', 'vim', 'nvim', 'view', 'ex', 'ed', 'less', 'more', 'man'].map((name) => [
      name,
      (args: readonly Field[], input: Input | undefined) => ofEditor(args, input),
    ]),
  ),
  ansible: (args) =>
    ofOption(args.slice(0, maxAnsibleWords), ['-a', '--args']).map((inner) =>
      'text' in inner ? { ...inner, isElsewhere: true, isGuess: true } : inner,
    ),
  scp: (args) => [...ofOption(args, ['-S']), ...sshPrograms(args)],
  sftp: (args, input) => [...ofOption(args, ['-S']), ...sshPrograms(args), ...guessedCommands([], input)],
  rsync: (args) => ofOption(args, ['-e', '--rsh', '--rsync-path']),
  zip: (args) => ofOption(args, ['-TT', '--unzip-command']),
  'nix-shell': (args) => ofOption(args, ['--run', '--command']),
  su: (args, input) => ofLogin(args, input),
  newgrp: (args, input) => ofLogin(args, input),
  // The command follows the group.
  sg: (args, input) => (args[1] === undefined || args[1].text === '-c' ? ofLogin(args, input) : ofText(args[1], {})),
  runuser: (args, input) => [...ofLogin(args, input), ...ofWrapper('runuser', args, input)],
  tar: (args) =>
    ofOption(args.map(withoutExec), [
      '--to-command',
      '--checkpoint-action',
      '-I',
      '--use-compress-program',
      '--rsh-command',
      '-F',
      '--new-volume-script',
    ]).map((inner) => (inner.kind === 'line' ? { ...inner, input: { text: undefined, programs: ['tar'] } } : inner)),
  go: (args) => ofOption(args, ['-exec', '-toolexec']),
  // The tools of CMake have the names of programs, with two exceptions.
  cmake: (args) => {
    const at = args.findIndex(({ text }) => text === '-E');
    const [tool, ...rest] = at === -1 ? [] : args.slice(at + 1);
    if (tool === undefined) return [];
    const program = /^remove(?:_directory)?$/.test(tool.text) ? [known('rm'), known('-rf')] : [tool];
    return [{ kind: 'command', argv: [...program, ...rest] }];
  },
  sort: (args) => ofOption(args, ['--compress-program']),
  cargo: (args) => [
    ...(args[0]?.text === 'watch'
      ? [...ofOption(args, ['-s', '--shell']), { kind: 'command' as const, argv: behindHyphens(args) }]
      : []),
    ...args.flatMap(({ text }) => {
      const [, program] = /\b(?:runner|linker|rustc(?:-workspace)?-wrapper)\s*=\s*["'](.*)["']/.exec(text) ?? [];
      return program === undefined ? [] : [{ kind: 'line', text: program, isGuess: true } as const];
    }),
  ],
  ...Object.fromEntries(
    ['sed', 'gsed'].map((name) => [
      name,
      (args: readonly Field[], input: Input | undefined) =>
        args.flatMap(({ text }) => [
          ...(runsLines(text) ? ofInput(input ?? unknownInput) : []),
          ...sedLines(text).map((line): Inner => ({ kind: 'line', text: line, isGuess: true })),
          ...sedFiles(text).flatMap(written),
        ]),
    ]),
  ),
  ...Object.fromEntries(
    ['tclsh', 'expect', 'wish'].map((name) => [
      name,
      (args: readonly Field[], input: Input | undefined) =>
        [...args.map(({ text }) => text), input?.text ?? '']
          .flatMap(tclLines)
          .map((text): Inner => ({ kind: 'line', text, isGuess: true })),
    ]),
  ),
  fd: (args) => ofFd(args),
  fdfind: (args) => ofFd(args),
};

const behindHyphens = (args: readonly Field[]): readonly Field[] => {
  const at = args.findIndex(({ text }) => text === '--');
  return at === -1 ? [] : args.slice(at + 1);
};

/** Maximum number of words of find that are searched for files to write. */
const maxFindWords = 200;

/** Maximum number of words of ansible that are searched for its arguments. */
const maxAnsibleWords = 20;

const ofLists = ({ commands, lines, runsUnknown }: ListedCommands): readonly Inner[] => [
  ...commands.flatMap((argv): readonly Inner[] => [
    { kind: 'command', argv, input: spentInput },
    ...scriptFromList(argv),
  ]),
  ...lines.map((text): Inner => ({ kind: 'line', text, mayBeInvalid: true, input: spentInput })),
  ...(runsUnknown ? [{ kind: 'problem' as const, problem: 'unknown-text' as const }] : []),
];

/** `xargs sh`: the list contains the names of scripts, or is the script. */
const scriptFromList = (argv: readonly Field[]): readonly Inner[] => {
  const [first, ...args] = argv;
  const operand = args.find(({ text }) => !/^[-+]/.test(text));
  return shells.has(programName(first?.text ?? '')) && operand?.madeBy.includes(listMark) === true
    ? [{ kind: 'problem', problem: 'unknown-text' }]
    : [];
};

const ofGit = (args: readonly Field[], aliases: Map<string, string>): readonly Inner[] => {
  const { lines, guesses, commands } = gitPrograms(args, aliases);
  return [
    ...lines.flatMap((line) => ofText(line, {})),
    ...guesses.map((text): Inner => ({ kind: 'line', text, isGuess: true })),
    ...commands.map((argv): Inner => ({ kind: 'command', argv })),
  ];
};

/** `--checkpoint-action=exec=command` */
const withoutExec = (field: Field): Field => ({ ...field, text: field.text.replace('-action=exec=', '-action=') });

/** `fd pattern -x command`: its results are in the given folders. */
const ofFd = (args: readonly Field[]): readonly Inner[] => {
  const at = args.findIndex(({ text }) => /^(?:-[a-zA-Z0-9]*[xX]|--exec(?:-batch)?)$/.test(text));
  const before = args.slice(0, Math.max(at, 0));
  const [pattern, ...folders] = before.filter(
    ({ text }, index) => !text.startsWith('-') && !/^-[a-zA-Z]*[teEdSjc]$/.test(before[index - 1]?.text ?? ''),
  );
  const isNarrow =
    !isWide(pattern?.text) ||
    before.some(({ text }) => /^-(?:e|E|S)$|^--(?:extension|exclude|size|changed)/.test(text));
  const found = (folders.length > 0 ? folders : [known('.')]).map(({ text }) =>
    known(isNarrow ? `${text}/**/found` : text),
  );
  return at === -1
    ? []
    : [{ kind: 'command', argv: [...args.slice(at + 1).filter(({ text }) => !text.includes('{')), ...found] }];
};

export type { GitAliases };
