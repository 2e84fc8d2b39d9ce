import { realpath, stat, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { errorCode, ifExists, packageVersion, replaceFile } from '@h/files';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import picocolors from 'picocolors';
import { totalsOf, type AuditTotals } from './analysis/totals.js';
import { audit } from './audit.js';
import { defaultFolders, findFiles, type AuditFile } from './read/find-files.js';
import { defaultStack, loadStack, type Stack } from './replay/stack.js';
import { createProgress } from './progress.js';
import { htmlReport } from './report/html.js';
import { textReport } from './report/text.js';
import { SessionThreads } from './threads/session-threads.js';

/** The parts of `process` that the program uses. */
export interface Process {
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stdin?: Readable;
  readonly env: NodeJS.ProcessEnv;
  once(signal: 'SIGINT', listener: () => void): unknown;
}

/**
 * The exit codes: everything was audited; some files were skipped, none was found or a report could not be written;
 * wrong usage; interrupted; the reader closed the output.
 */
export const exitCodes = { ok: 0, incomplete: 1, usage: 2, interrupted: 130, unread: 141 } as const;

/** Bytes per thread, below which its start takes longer than it saves. */
const bytesPerThread = 16_000_000;
/** The reader of the files keeps about six threads busy. */
const maxThreads = 6;

/**
 * Runs the command line and returns the exit code.
 *
 * @param program - the module that serves sessions in a thread; without it, all work is done in this thread
 */
export const run = async (argv: readonly string[], process: Process, program?: URL): Promise<number> => {
  // Without a listener, an output that fails ends the process with a stack trace.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  const command = new Command('h-audit')
    .description('Reports what a harness would have done in the sessions of coding agents.')
    .argument(
      '[path...]',
      'transcripts or folders; by default those of Claude Code, Codex, pi and OpenHands of this user',
    )
    .option('--json', 'print the report of every session and the totals as JSON')
    .option('--html <file>', 'write the report as one HTML page')
    .option('--replay', 'run the sessions through a pipeline of our packages at their defaults')
    .option('--stack <module>', 'run the sessions through the operators that the default export of a module returns')
    .option('--threads <n>', 'number of threads that analyze sessions; 0 analyzes them one after the other', threadsOf)
    .version(packageVersion(import.meta.url))
    .allowExcessArguments(false)
    .showHelpAfterError('See --help.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void process.stdout.write(text),
      writeErr: (text) => void process.stderr.write(text),
    });
  try {
    command.parse([...argv], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    throw error;
  }
  const options = command.opts<AuditFlags>();
  return runAudit(command.args, options, process, program);
};

const threadsOf = (value: string): number => {
  if (/^\d{1,2}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('Give a number from 0 to 99.');
};

interface AuditFlags {
  readonly json?: true;
  readonly html?: string;
  readonly replay?: true;
  readonly stack?: string;
  readonly threads?: number;
}

/**
 * Returns the threads of an audit beside this one; none if there is little to read or one core for them, and for a replay,
 * which is done here.
 */
const threadsFor = (
  files: readonly AuditFile[],
  { replay, stack, threads }: AuditFlags,
  program: URL | undefined,
): SessionThreads | undefined => {
  if (program === undefined || replay || stack !== undefined) return undefined;
  const size = files.reduce((sum, file) => sum + file.size, 0);
  const useful = Math.min(maxThreads, availableParallelism() - 1, files.length, Math.floor(size / bytesPerThread));
  const count = threads ?? (useful > 1 ? useful : 0);
  return count > 0 ? new SessionThreads(program, count) : undefined;
};

const runAudit = async (
  paths: readonly string[],
  flags: AuditFlags,
  process: Process,
  program: URL | undefined,
): Promise<number> => {
  const { json, html, replay, stack: module, threads } = flags;
  const abort = new AbortController();
  process.once('SIGINT', () => abort.abort());
  if (threads !== undefined && (replay || module !== undefined)) {
    process.stderr.write('--threads: a replay is not done in threads. Leave out one of the two.\n');
    return exitCodes.usage;
  }
  const misplaced = html === undefined ? undefined : await problemWithPlace(html);
  if (misplaced !== undefined) {
    process.stderr.write(`--html: ${misplaced}\n`);
    return exitCodes.usage;
  }
  const files = await filesOf(paths, process);
  if (files === undefined) return exitCodes.usage;
  let stack: Stack | undefined;
  try {
    if (module !== undefined) stack = await loadStack(resolve(module));
    else if (replay) stack = defaultStack;
  } catch (error) {
    process.stderr.write(`--stack: ${error instanceof Error ? error.message : String(error)}\n`);
    return exitCodes.usage;
  }
  if (files.length === 0) {
    process.stderr.write('No transcripts were found. Pass a file or a folder.\n');
    return exitCodes.incomplete;
  }
  const progress = createProgress(process.stderr, files);
  let result: Awaited<ReturnType<typeof audit>>;
  let totals: AuditTotals;
  let unwritten: string | undefined;
  try {
    const audited = audit(files, {
      stack,
      onBytes: progress.add,
      signal: abort.signal,
      threads: threadsFor(files, flags, program),
    });
    // An operator of the stack may hold its turn after the signal.
    result = await Promise.race([audited, rejectionOf(abort.signal)]);
    totals = totalsOf(result.sessions, result.skipped);
    if (html !== undefined) {
      unwritten = await failureOf(writeReport(html, htmlReport(totals, result.sessions), abort.signal));
    }
    if (unwritten !== undefined) abort.signal.throwIfAborted();
  } catch (error) {
    if (abort.signal.aborted) return exitCodes.interrupted;
    throw error;
  } finally {
    progress.end();
  }
  const { sessions, skipped } = result;
  if (unwritten !== undefined) process.stderr.write(`--html: the report could not be written: ${unwritten}\n`);
  else if (html !== undefined) process.stderr.write(`The report is in ${html}.\n`);
  const isColored = process.stdout.isTTY === true && process.env['NO_COLOR'] === undefined;
  const failed = await print(
    process,
    json === true
      ? `${JSON.stringify({ totals, sessions }, undefined, 2)}\n`
      : textReport(totals, sessions, picocolors.createColors(isColored)),
  );
  if (failed !== undefined) return failed;
  return skipped.length > 0 || unwritten !== undefined ? exitCodes.incomplete : exitCodes.ok;
};

/**
 * Prints a report.
 *
 * @returns the exit code if the output failed
 */
const print = async ({ stdout, stderr }: Process, report: string): Promise<number | undefined> => {
  const error = await new Promise<Error | null | undefined>((resolve) => stdout.write(report, resolve));
  if (!error) return undefined;
  if (errorCode(error) === 'EPIPE') return exitCodes.unread;
  stderr.write(`The report could not be printed: ${error.message}\n`);
  return exitCodes.incomplete;
};

/** The message of the error that an operation fails with; `undefined` if it succeeds. */
const failureOf = (operation: Promise<unknown>): Promise<string | undefined> =>
  operation.then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

/** Returns a promise that is rejected when the signal aborts. */
const rejectionOf = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });

/** Why no report can be written to a path, before anything is read for it; `undefined` if nothing speaks against it. */
const problemWithPlace = async (path: string): Promise<string | undefined> => {
  const folder = dirname(resolve(path));
  const isFolder = async (one: string): Promise<boolean> =>
    (await stat(one).catch(() => undefined))?.isDirectory() === true;
  if (!(await isFolder(folder))) return `the folder ${folder} does not exist. Create it, or name another file.`;
  if (await isFolder(path)) return `${path} is a folder. Name a file, such as ${join(path, 'audit.html')}.`;
  return undefined;
};

/** Writes a report as a whole or not at all. Devices and pipes are written to directly. */
const writeReport = async (path: string, report: string, signal: AbortSignal): Promise<void> => {
  const known = await ifExists(stat(path));
  if (known?.isFile() === false) {
    await writeFile(path, report, { signal });
    return;
  }
  await replaceFile((await ifExists(realpath(path))) ?? path, report, {
    mode: 'keep',
    confirm: async () => signal.throwIfAborted(),
  });
};

/** Finds the files of the given paths, or of the folders of all agents that exist. */
const filesOf = async (
  paths: readonly string[],
  process: Process,
): Promise<Awaited<ReturnType<typeof findFiles>> | undefined> => {
  try {
    return await findFiles(paths.length > 0 ? paths : await existing(defaultFolders(undefined, process.env)));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return undefined;
  }
};

const existing = async (folders: readonly string[]): Promise<readonly string[]> => {
  const found = await Promise.all(folders.map((folder) => ifExists(stat(folder))));
  return folders.filter((_, index) => found[index]?.isDirectory());
};
