import { spawn, type ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { OpenFolder } from '@h/paths';
import { GrepPatternError, type FoundFile, type GrepEngine, type GrepQuery } from './grep-query.js';
import { rulesAbove, noRules } from './ignore-rules.js';
import { RipgrepOutput } from './ripgrep-output.js';

/** ripgrep could not be started, or failed in another way than by a bad pattern. */
export class RipgrepError extends Error {
  override readonly name = 'RipgrepError';
  readonly code = 'ripgrep-failed';
}

/**
 * Searches a tree with this ripgrep, which is killed when the search ends before it does.
 *
 * ripgrep opens files by their names. It follows no links, but one that takes the place of a folder at the very moment it
 * goes there would get the better of it; the search without ripgrep is proof against that, too.
 */
export const ripgrepSearch = (program: string): GrepEngine =>
  async function* searchWithRipgrep(query) {
    const args = await argumentsFor(query);
    const folder = await query.paths.openFolder(query.start);
    try {
      yield* run(program, folder, query, args);
    } finally {
      await folder.close();
    }
    return undefined;
  };

async function* run(
  program: string,
  folder: OpenFolder,
  query: GrepQuery,
  args: readonly string[],
): AsyncGenerator<FoundFile, void, void> {
  const { signal } = query;
  signal.throwIfAborted();
  // It begins in the very folder that was checked, whatever its path means by now. Windows starts nothing without SystemRoot.
  const child = spawn(program, args, {
    cwd: folder.at('.'),
    env: { SystemRoot: process.env['SystemRoot'] },
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
  const ended = endOf(child);
  const kill = (): boolean => child.kill('SIGKILL');
  signal.addEventListener('abort', kill);
  try {
    const output = new RipgrepOutput(query);
    let hasOutput = false;
    for await (const line of linesOf(child.stdout)) {
      hasOutput = true;
      const found = output.add(line);
      if (found !== undefined) yield found;
    }
    const end = await ended;
    signal.throwIfAborted();
    checkEnd(end, hasOutput);
  } finally {
    signal.removeEventListener('abort', kill);
    kill();
    await ended;
  }
}

const argumentsFor = async (query: GrepQuery): Promise<readonly string[]> => [
  // One thread, for the order of names: what is shown when there is too much to show must not be a matter of chance.
  '--json',
  '--no-config',
  '--no-messages',
  '--sort',
  'path',
  '--crlf',
  '--no-follow',
  '--max-count',
  String(query.maxPerFile),
  '--max-filesize',
  String(query.maxFileBytes),
  '--context',
  String(query.context),
  // Hidden files are files; of the rules, those of .gitignore count, and only those.
  '--hidden',
  '--glob',
  '!.git',
  '--no-ignore-dot',
  '--no-ignore-exclude',
  '--no-ignore-global',
  '--no-require-git',
  ...(await ignoreArguments(query)),
  ...typeArguments(query),
  ...(query.isLiteral ? ['--fixed-strings'] : []),
  query.ignoreCase ? '--ignore-case' : '--case-sensitive',
  '-e',
  query.pattern,
  '--',
  '.',
];

const ignoreArguments = async ({ includeIgnored, paths, start }: GrepQuery): Promise<readonly string[]> => {
  if (includeIgnored) return ['--no-ignore'];
  return start === paths.root || (await rulesAbove(paths, start)) === noRules ? ['--no-ignore-parent'] : [];
};

/** Lets ripgrep pass over files by the last names of the pattern; what it finds is compared with the whole pattern afterwards. */
const typeArguments = ({ glob }: GrepQuery): readonly string[] => {
  const names = glob?.lastNames;
  if (names === undefined || !names.every((name) => /^[\w.*?-]+$/u.test(name))) return [];
  return [...names.flatMap((name) => ['--type-add', `wanted:${name}`]), '--type', 'wanted'];
};

interface ProcessEnd {
  readonly exitCode: number | null;
  /** What it complained about, or why it could not be started. */
  readonly problem: string;
}

const maxProblemChars = 2_000;

const endOf = (child: ChildProcess): Promise<ProcessEnd> =>
  new Promise((resolve) => {
    let problem = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      problem = (problem + text).slice(0, maxProblemChars);
    });
    child.once('error', (error) => resolve({ exitCode: null, problem: error.message }));
    child.once('close', (exitCode) => resolve({ exitCode, problem: problem.trim() }));
  });

/** 0: it found something; 1: nothing; 2: an error, which may also be that some file could not be read. */
const checkEnd = ({ exitCode, problem }: ProcessEnd, hasOutput: boolean): void => {
  if (exitCode === 2 && !hasOutput) throw new GrepPatternError(problem.replace(/^regex parse error:\s*/u, ''));
  if (exitCode === null || exitCode > 2) {
    throw new RipgrepError(`ripgrep failed: ${problem === '' ? 'it was killed' : problem}.`);
  }
};

async function* linesOf(stream: Readable): AsyncGenerator<string, void, void> {
  let rest: string[] = [];
  for await (const chunk of stream.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = chunk.split('\n');
    const last = lines.pop() ?? '';
    for (const [index, line] of lines.entries()) {
      yield index === 0 ? rest.join('') + line : line;
      rest = index === 0 ? [] : rest;
    }
    rest.push(last);
  }
  if (rest.join('') !== '') yield rest.join('');
}
