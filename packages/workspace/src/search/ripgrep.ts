import type { OpenFolder } from '@h/paths';
import { ProcessError, runProcess, type ProcessEnd } from '@h/process';
import { GrepPatternError, type FoundFile, type GrepEngine, type GrepQuery } from './grep-query.js';
import { rulesAbove, noRules } from './ignore-rules.js';
import { RipgrepOutput } from './ripgrep-output.js';

/** ripgrep could not be started, or failed for a reason other than the pattern. */
export class RipgrepError extends Error {
  override readonly name = 'RipgrepError';
  readonly code = 'ripgrep-failed';
}

/**
 * Searches a tree with an installed ripgrep. The process ends with the search.
 *
 * ripgrep follows no links, but opens files by name, so a folder that is replaced by a link during the search can lead
 * it outside. The built-in search is not affected.
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

const maxProblemChars = 2_000;

async function* run(
  program: string,
  folder: OpenFolder,
  query: GrepQuery,
  args: readonly string[],
): AsyncGenerator<FoundFile, void, void> {
  query.signal.throwIfAborted();
  const output = new RipgrepOutput(query);
  const found: FoundFile[] = [];
  const lines = new Lines((line) => {
    const file = output.add(line);
    if (file !== undefined) found.push(file);
  });
  const messages = new TextDecoder();
  let problem = '';
  let notify = (): void => {};
  let hasEnded = false;
  const finished = new AbortController();
  const ended = runProcess({
    command: [program, ...args],
    // The process starts in the checked folder, even if its path leads elsewhere by now.
    cwd: folder.at('.'),
    environment: { SystemRoot: process.env['SystemRoot'] }, // Windows starts no process without it.
    timeoutMs: Infinity,
    signal: AbortSignal.any([query.signal, finished.signal]),
    onOutput: (chunk, source) => {
      if (source === 'stdout') lines.add(chunk);
      else problem = (problem + messages.decode(chunk, { stream: true })).slice(0, maxProblemChars);
      notify();
    },
  }).finally(() => {
    hasEnded = true;
    notify();
  });
  ended.catch(() => {}); // Awaited below; this avoids an unhandled rejection until then.
  try {
    for (;;) {
      yield* found.splice(0);
      if (hasEnded) break;
      if (found.length === 0) {
        await new Promise<void>((resolve) => {
          notify = resolve;
        });
      }
    }
    const end = await ended.catch(failed);
    query.signal.throwIfAborted();
    lines.end();
    yield* found.splice(0);
    checkEnd(end, problem.trim(), lines.count > 0);
  } finally {
    finished.abort();
    await ended.catch(() => {});
  }
}

const failed = (error: unknown): never => {
  throw error instanceof ProcessError ? new RipgrepError(`ripgrep failed: ${error.message}`, { cause: error }) : error;
};

const argumentsFor = async (query: GrepQuery): Promise<readonly string[]> => [
  // One thread keeps the order of names, so that truncated results are deterministic.
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
  // Hidden files are searched; of all ignore rules, only those of .gitignore apply.
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

/**
 * Makes ripgrep skip files by the last names of the pattern; results are checked against the whole pattern afterwards.
 */
const typeArguments = ({ glob }: GrepQuery): readonly string[] => {
  const names = glob?.lastNames;
  if (names === undefined || !names.every((name) => /^[\w.*?-]+$/u.test(name))) return [];
  return [...names.flatMap((name) => ['--type-add', `wanted:${name}`]), '--type', 'wanted'];
};

/** Exit codes of ripgrep: 0 for matches, 1 for none, 2 for an error, which may be one unreadable file. */
const checkEnd = ({ exitCode, signal }: ProcessEnd, problem: string, hasOutput: boolean): void => {
  if (exitCode === 2 && !hasOutput) throw new GrepPatternError(problem.replace(/^regex parse error:\s*/u, ''));
  if (exitCode === null || exitCode > 2) {
    throw new RipgrepError(`ripgrep failed: ${problem || `it was ended by ${signal ?? 'an unknown signal'}`}.`);
  }
};

/** Splits chunks of UTF-8 into lines. */
class Lines {
  readonly #decoder = new TextDecoder();
  readonly #onLine: (line: string) => void;
  #rest: string[] = [];
  /** Number of complete lines so far. */
  count = 0;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  add(chunk: Uint8Array): void {
    const [first = '', ...others] = this.#decoder.decode(chunk, { stream: true }).split('\n');
    this.#rest.push(first);
    for (const other of others) {
      this.#complete();
      this.#rest.push(other);
    }
  }

  end(): void {
    this.#complete();
  }

  #complete(): void {
    const line = this.#rest.join('');
    this.#rest = [];
    if (line === '') return;
    this.count += 1;
    this.#onLine(line);
  }
}
