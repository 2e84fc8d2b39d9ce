import { isKnown, programName } from './read/words/field.js';
import type { Invocation } from './read/invocation.js';
import { readCommandLine } from './read/read-command-line.js';

/** One command of a line, as it would run. */
export interface CommandEffect {
  /** The name of the program, without its folder. */
  readonly program: string;
  readonly args: readonly string[];
  /** Whether it changes something if it succeeds, judging by its name and arguments. */
  readonly writes: boolean;
  /** Whether it is the first command of a pipeline, or not in a pipeline. */
  readonly isFirst: boolean;
}

/** Programs that always change something. */
const writers: ReadonlySet<string> = new Set(
  'rm rmdir mv cp mkdir touch ln dd truncate chmod chown chgrp patch apply_patch unzip rsync kill pkill killall tee createdb dropdb install shred mkfifo mktemp split unlink'.split(
    ' ',
  ),
);

const packages =
  /^(?:install|i|ci|add|remove|rm|uninstall|update|up|upgrade|dist-upgrade|full-upgrade|fix|get|sync|tidy|init|publish|link|unlink|dedupe|prune)$/;

/** Programs that change something if one of their first arguments is such a word. */
const writingWords: Readonly<Record<string, RegExp>> = {
  sed: /^-[A-Za-z]*i|^--in-place/,
  gsed: /^-[A-Za-z]*i|^--in-place/,
  perl: /^-[A-Za-z0]*i/,
  git: /^(?:add|commit|checkout|switch|restore|reset|merge|rebase|pull|push|apply|am|clean|rm|mv|cherry-pick|revert|bisect|stash|submodule|init|clone|fetch|worktree|pop|drop)$/,
  ...Object.fromEntries(
    'npm pnpm yarn bun pip pip3 uv poetry cargo gem bundle composer apt apt-get apk brew dnf yum go'
      .split(' ')
      .map((name) => [name, packages]),
  ),
  ...Object.fromEntries(
    ['docker', 'podman', 'docker-compose'].map((name) => [
      name,
      /^(?:build|run|rm|rmi|stop|start|restart|up|down|pull|push|kill|create|prune)$/,
    ]),
  ),
  kubectl: /^(?:apply|create|delete|scale|patch|edit|set|restart|annotate|label|drain|cordon|replace)$/,
  systemctl: /^(?:start|stop|restart|reload|enable|disable)$/,
  gh: /^(?:create|merge|close|edit|comment|rerun|cancel|delete|review)$/,
  tar: /^-?[A-Za-z]*[xc][A-Za-z]*$|^--(?:extract|create)$/,
  curl: /^(?:-X|--request|-d|--data|--data-raw|--data-binary|-F|-T|-o|-O|--output)$/,
  terraform: /^(?:apply|destroy|import|init)$/,
};

/** Number of arguments that are searched for such a word. */
const maxArguments = 8;

/**
 * Guesses which commands of a line change something.
 *
 * The line is analyzed as by `judgeCommand`, behind wrappers and in `bash -c`. The guess is for statistics, such as
 * distinguishing progress from a loop. Use `commandPermissions` to decide what may run.
 *
 * @example
 * ```ts
 * commandEffects('sudo npm ci | tee log').map(({ program, writes }) => [program, writes]);
 * // [['sudo', false], ['npm', true], ['tee', true]]
 * ```
 */
export const commandEffects = (line: string): readonly CommandEffect[] =>
  readCommandLine(line, '/project', '/home/user').invocations.map(effectOf);

const effectOf = ({ argv, redirections, input }: Invocation): CommandEffect => {
  const [first, ...rest] = argv.map(({ text }) => text);
  const program = first === undefined || !isKnown(first) ? '' : programName(first);
  const isRedirected = redirections.some(({ operator, target }) => operator.includes('>') && !isSink(target.text));
  const word = Object.hasOwn(writingWords, program) ? writingWords[program] : undefined;
  return {
    program,
    args: rest,
    writes:
      isRedirected ||
      (writers.has(program) && !(program === 'tee' && rest.every(isSink))) ||
      (word !== undefined && rest.slice(0, maxArguments).some((text) => word.test(text))),
    isFirst: input === undefined || input.programs.length === 0,
  };
};

const isSink = (path: string): boolean => /^\/dev\/(?:null|stdout|stderr|tty)$/.test(path);
