import { fromCode } from './code-commands.js';
import { textsOf } from './code-texts.js';
import { tclLines } from './sed-scripts.js';
import { guessedCommands } from '../commands/guessed-commands.js';
import { here, type Inner } from '../commands/inner.js';
import type { Scope } from '../scope.js';
import { isKnown, known, unknownText, type Field } from '../words/field.js';

/** Files that a program runs without naming them, as a line may have written them before. */
interface BuildFile {
  readonly programs: RegExp;
  readonly files: RegExp;
  /** A word that must be among the arguments. */
  readonly word?: RegExp;
  /** Tests create and delete files of their own: what they delete counts only if its path is known. */
  readonly kind: 'code' | 'configuration' | 'test' | 'lines' | 'shell';
}

const packageManagers = /^(?:npm|pnpm|yarn|bun)$/;

const buildFiles: readonly BuildFile[] = [
  { programs: /^gradlew?$/, files: /^(?:build|settings|init)\.gradle(?:\.kts)?$/, kind: 'code' },
  { programs: /^(?:ant|mvnw?)$/, files: /^(?:build|pom)\.xml$/, kind: 'code' },
  { programs: /^rake$/, files: /^rakefile(?:\.rb)?$|\.rake$/i, kind: 'code' },
  {
    programs: /^(?:pip3?|pipx|uv|poetry|pdm|build)$/,
    files: /^setup\.py$/,
    word: /^(?:install|add|sync|build|wheel|run|download|\.)$/,
    kind: 'code',
  },
  { programs: /^nox$/, files: /^noxfile\.py$/, kind: 'code' },
  { programs: /^inv(?:oke)?$/, files: /^tasks\.py$/, kind: 'code' },
  { programs: /^fab$/, files: /^fabfile\.py$/, kind: 'code' },
  { programs: /^doit$/, files: /^dodo\.py$/, kind: 'code' },
  { programs: /^(?:scons|waf)$/, files: /^(?:SConstruct|SConscript|wscript)$/, kind: 'code' },
  { programs: /^vagrant$/, files: /^Vagrantfile$/, kind: 'code' },
  {
    programs: /^(?:bundler?|gem|pod|fastlane|cap|guard|danger|brew)$/,
    files: /^(?:Gem|Pod|Fast|Cap|Guard|Danger|Brew)file$|\.(?:gem|pod)spec$/,
    kind: 'code',
  },
  {
    programs: /^(?:sphinx-build|gunicorn|locust|snakemake|alembic|celery)$/,
    files: /^(?:conf|gunicorn\.conf|locustfile|env|celeryconfig)\.py$|^Snakefile$/,
    kind: 'code',
  },
  {
    programs: /^(?:mix|iex|lein|sbt|zig|swift|mage|xmake)$/,
    files: /^(?:mix\.exs|project\.clj|build\.sbt|build\.zig|Package\.swift|magefile\.go|xmake\.lua)$/,
    kind: 'code',
  },
  { programs: /^cmake$/, files: /^CMakeLists\.txt$|\.cmake$/, kind: 'code' },
  { programs: /^(?:meson|muon)$/, files: /^meson\.build$/, kind: 'code' },
  { programs: /^cargo$/, files: /^build\.rs$/, word: /^(?:b|build|c|check|install|clippy)$/, kind: 'code' },
  { programs: /^cargo$/, files: /\.rs$/, word: /^(?:r|run|t|test|bench|nextest)$/, kind: 'test' },
  { programs: /^go$/, files: /\.go$/, word: /^(?:run|test|generate)$/, kind: 'test' },
  { programs: /^dotnet$/, files: /\.(?:cs|fs|csx)$/, word: /^(?:run|test|watch)$/, kind: 'test' },
  { programs: /^(?:pytest|py\.test|tox|nox)$/, files: /^(?:conftest|test_\w+|\w+_test)\.py$/, kind: 'test' },
  {
    programs: /^(?:jest|vitest|mocha|ava|tap|playwright|cypress)$/,
    files: /[._](?:test|spec)\.[cm]?[jt]sx?$/,
    kind: 'test',
  },
  {
    programs: /^(?:node|deno|npm|pnpm|yarn|bun|tsx)$/,
    files: /[._](?:test|spec)\.[cm]?[jt]sx?$/,
    word: /^(?:--test|test|t)$/,
    kind: 'test',
  },
  {
    programs:
      /^(?:vite|vitest|jest|eslint|prettier|webpack|rollup|esbuild|next|nuxt|astro|tsup|gulp|grunt|karma|babel|postcss|tailwind\w*|playwright|cypress)$/,
    files: /\.config\.[cm]?[jt]s$|^\.\w+rc\.[cm]?js$|^(?:gulp|grunt)file\.[cm]?[jt]s$/i,
    kind: 'configuration',
  },
  { programs: /^lefthook$/, files: /^\.?lefthook\.ya?ml$/, kind: 'lines' },
  { programs: /^pre-commit$/, files: /^\.pre-commit-config\.yaml$/, kind: 'lines' },
  { programs: /^tox$/, files: /^(?:tox|setup)\.(?:ini|cfg)$/, kind: 'lines' },
  { programs: /^(?:foreman|honcho|overmind|hivemind|heroku|nf)$/, files: /^Procfile/, kind: 'lines' },
  { programs: /^(?:ansible-playbook|act|dvc|gitlab-runner|gitlab-ci-local)$/, files: /\.ya?ml$/, kind: 'lines' },
  { programs: /^direnv$/, files: /^\.envrc$/, word: /^(?:allow|exec|reload)$/, kind: 'shell' },
  { programs: packageManagers, files: /^\.pnpmfile\.cjs$|^\.yarnrc\.cjs$/, kind: 'configuration' },
];

/** Programs that run the files in their arguments, in a language whose strings may be programs. */
const scriptPrograms =
  /^(?:tclsh|wish|expect|sbcl|clisp|ecl|gnuplot|octave|swipl|ocaml|scala|groovy|raku|racket)[\d.]*$/;

/** Maximum length and number of files that are examined. */
const maxCode = 10_000;
const maxFiles = 20;
const maxArguments = 20;

/** Returns what a program runs from the files that the line has written, which the program finds by their names. */
export const ofBuildFiles = (name: string, args: readonly Field[], scope: Scope): readonly Inner[] => {
  if (scope.files.size === 0) return [];
  const words = args.slice(0, maxArguments).map(({ text }) => text);
  const reading = buildFiles.filter(
    ({ programs, word }) => programs.test(name) && (word === undefined || words.some((text) => word.test(text))),
  );
  const isScript = scriptPrograms.test(name);
  if (reading.length === 0 && !isScript) return [];
  return [...scope.files].slice(0, maxFiles).flatMap(([path, written]) => {
    const file = path.slice(path.lastIndexOf('/') + 1);
    const kinds = reading.filter(({ files }) => files.test(file)).map(({ kind }) => kind);
    if (isScript && words.some((word) => word === path || word.endsWith(file))) kinds.push('code');
    const code = written.slice(0, maxCode);
    return kinds.slice(0, 1).flatMap((kind) => ofContent(kind, code, file));
  });
};

const ofContent = (kind: BuildFile['kind'], code: string, file: string): readonly Inner[] => {
  if (kind === 'shell') return [{ kind: 'line', text: code, name: file }];
  if (kind === 'lines') return linesIn(code).map((text): Inner => ({ kind: 'line', text, isGuess: true }));
  const found = fromCode(plainCalls(code), /\.[cm]?[jt]sx?$/.test(file));
  if (kind === 'configuration') return found;
  if (kind === 'test') return found.filter(isCertain);
  return [
    ...found,
    ...guessedCommands([...textsOf(code), ...code.split('\n')].map(known), undefined).map(here),
    ...[...tclLines(code), ...commandsIn(code)].map((text): Inner => ({ kind: 'line', text, isGuess: true })),
  ];
};

/** Returns whether a command has no word that is only known at run time. */
const isCertain = (inner: Inner): boolean =>
  inner.kind !== 'command' || inner.argv.every(({ text }) => isKnown(text) && !text.includes(unknownText));

/** Rewrites elements of Ant and calls of CMake and Gradle that delete files, as calls of a function. */
const plainCalls = (code: string): string =>
  code
    .replaceAll(/<delete\b[^>]{0,200}?\b(?:dir|file)="([^"\n]{1,200})"/g, 'remove("$1");')
    .replaceAll(/\bfile\(\s?REMOVE(?:_RECURSE)?\s+([^\s)]{1,200})/g, 'remove("$1"')
    .replaceAll(/\bdelete\s+(["'][^"'\n]{1,200}["'])/g, 'remove($1)');

/** Commands that a build file lists word by word: `commandLine 'rm', '-rf'`, `COMMAND rm -rf x`. */
const commandsIn = (code: string): readonly string[] => [
  ...Array.from(
    code.matchAll(/\b(?:commandLine|run_command|executable|COMMAND)\b[\s(:=[]{0,5}([^\n)\]]{1,400})/g),
    ([, words = '']) => words.replaceAll(/["',]+/g, ' '),
  ),
  ...Array.from(
    code.matchAll(/\bexecutable="([^"\n]{1,100})"[\s\S]{0,100}?\b(?:line|value)="([^"\n]{1,400})"/g),
    ([, program = '', words = '']) => `${program} ${words}`,
  ),
];

/** Maximum number of lines of a file that are examined. */
const maxLines = 200;

/** Returns the values of settings that may be commands. */
const linesIn = (code: string): readonly string[] =>
  code
    .split('\n')
    .slice(0, maxLines)
    .flatMap((line) => {
      const [, path] = /^\s*(?:path|dest|name):\s*["']?([^\s"',]{1,200})/.exec(line) ?? [];
      if (path !== undefined && /\bstate:\s*["']?absent\b/.test(code)) return [`rm -rf ${path}`];
      const [, inline] = /\bpath:\s*["']?([^\s"',}]{1,200})[^}]*\bstate:\s*["']?absent\b/.exec(line) ?? [];
      if (inline !== undefined) return [`rm -rf ${inline}`];
      const [, , text] = /^\s*(?:-\s+)?(?:[\w.]{1,60}\s{0,9}[:=]\s{1,9})?(["']?)(.+?)\1$/.exec(line) ?? [];
      return text === undefined || /^(?:description|name|title):/.test(line.trim()) ? [] : [text];
    });
