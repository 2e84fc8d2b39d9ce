import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, relative, resolve } from 'node:path';
import * as z from 'zod';
import { ifExists } from '@h/files';
import { anyFunction, nonEmptyString, checkOptions, required } from '@h/options';
import { toErrorInfo, TurnError } from '@h/turn';
import { changeFile } from './change-file.js';
import type { CommandDefinition } from './definitions.js';

/** A command of a project that is about to run. */
export interface TrustRequest {
  /** Identifies the command and the contents of the project's files that it names. */
  readonly hash: string;
  /** Identifies the place of the command: file, event and matcher. */
  readonly place: string;
  readonly definition: CommandDefinition;
  /** The files of the project that the command names. */
  readonly files: readonly string[];
  /**
   * Reasons why the command may run files that the hash does not cover, such as a script that a pattern selects. If the
   * list is not empty, request trust for every run.
   */
  readonly unknown: readonly string[];
}

/** Decides whether a command of a project may run. An error is a denial. */
export type HookTrust = (request: TrustRequest, context: TrustContext) => boolean | PromiseLike<boolean>;

/** The turn whose command requires trust. */
export interface TrustContext {
  readonly signal: AbortSignal;
  /** Emits a `hook.notice`. */
  readonly notify: (message: string) => void;
}

/** A request for trust, with the data that the user needs. */
export interface TrustQuestion extends TrustRequest {
  /** Whether another version was trusted before; `uncertain` if the files that run are not known. */
  readonly change: 'unknown' | 'changed' | 'uncertain';
}

/** Options of {@link trustFile}. */
export interface TrustFileOptions {
  /** The file that stores trusted hashes. Choose a path outside the project. */
  readonly path: string;
  /** Asks the user. Without it, no new command is trusted. */
  readonly ask?: ((question: TrustQuestion, context: TrustContext) => boolean | PromiseLike<boolean>) | undefined;
}

const trustSchema = z.object({ version: z.literal(1), trusted: z.record(z.string(), z.string()) });

/**
 * Stores the commands that the user trusts, by content. `ask` is called for a new or changed command, and for every run
 * of a command whose files cannot be determined.
 *
 * If the file cannot be read, no command is trusted. An answer that cannot be stored applies in this process, and a
 * notice reports the error.
 *
 * @example
 * ```ts
 * const path = '/home/alice/.config/agent/trusted-hooks.json';
 * trustFile({ path, ask: ({ definition, change }) => confirm(definition.command, change) });
 * ```
 */
export const trustFile = (options: TrustFileOptions): HookTrust => {
  checkOptions('trustFile()', options, { path: required(nonEmptyString), ask: anyFunction });
  const { path, ask } = options;
  let last: Promise<unknown> = Promise.resolve();
  const decide = async (request: TrustRequest, context: TrustContext): Promise<boolean> => {
    const trusted = await readTrusted(path);
    const known = trusted[request.place];
    const isCertain = request.unknown.length === 0;
    if (isCertain && known === request.hash) return true;
    const change = !isCertain ? 'uncertain' : known === undefined ? 'unknown' : 'changed';
    const isTrusted = (await ask?.({ ...request, change }, context)) === true;
    if (isTrusted && isCertain) {
      // The file may have changed while the user was asked.
      const store = async (): Promise<object> => ({
        version: 1,
        trusted: { ...(await readTrusted(path)), [request.place]: request.hash },
      });
      await changeFile(path, store).catch((error: unknown) => {
        const command = JSON.stringify(request.definition.command);
        const { message } = toErrorInfo(error);
        context.notify(
          `The trust in the hook command ${command} was not stored, so you will be asked again: ${message}`,
        );
      });
    }
    return isTrusted;
  };
  // Commands run concurrently; the user answers one question at a time.
  return (request, context) => {
    const decided = last.then(() => decide(request, context));
    last = decided.catch(() => undefined);
    return decided;
  };
};

const readTrusted = async (path: string): Promise<Readonly<Record<string, string>>> => {
  try {
    const text = await ifExists(readFile(path, 'utf8'));
    return text === undefined ? {} : trustSchema.parse(JSON.parse(text)).trusted;
  } catch (cause) {
    throw new TurnError('trust-store', `The trusted commands in ${path} cannot be read. Fix or delete the file.`, {
      cause,
    });
  }
};

/** Files that programs read although the command does not name them. */
const implicitFiles: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^(?:npm|npx|pnpm|pnpx|yarn|bun|bunx)$/, ['package.json']],
  [/^g?make$/, ['GNUmakefile', 'makefile', 'Makefile']],
  [/^just$/, ['justfile', 'Justfile', '.justfile']],
  [/^rake$/, ['Rakefile']],
];

/** The maximum number of candidate paths that are read for one command. */
const maxCandidates = 2_000;

/** Creates the trust request for a command, from the current content of its files. */
export const trustRequestOf = async (definition: CommandDefinition, projectDir: string): Promise<TrustRequest> => {
  const { event, matcher, command, args, source } = definition;
  const hash = createHash('sha256').update(
    JSON.stringify([event, matcher, command, args ?? [], definition.if ?? null]),
  );
  const root = await realpath(projectDir);
  const line = args === undefined ? command : [command, ...args].map((word) => quoted(word, projectDir)).join(' ');
  // The parser is four times the size of this entry, and most projects have no commands.
  const { commandFiles } = await import('@h/shell/files');
  const named = commandFiles(line, { cwd: projectDir, home: homedir() });
  const unknown = [...named.unknown];
  const words = [...named.words, ...wordsOf(withProject(line, projectDir))];
  const implicit = implicitFiles.flatMap(([program, names]) => (words.some((word) => program.test(word)) ? names : []));
  const candidates = candidatePaths([...words, ...implicit], named.folders);
  if (candidates.length > maxCandidates) unknown.push('The command names too many files.');
  const files: string[] = [];
  for (const path of candidates.slice(0, maxCandidates)) {
    const real = await projectFile(path, projectDir, root);
    if (real === undefined || files.includes(real)) continue;
    files.push(real);
    hash.update(`\0${real}\0`);
    for await (const chunk of createReadStream(real)) hash.update(chunk as Buffer);
  }
  for (const script of named.scripts) {
    const isFound = await anyFile(candidatePaths([script], named.folders));
    if (!isFound) unknown.push(`${script} is not a file.`);
  }
  const place = createHash('sha256')
    .update(JSON.stringify([source, event, matcher, files.length === 0 ? command : files]))
    .digest('hex');
  return { hash: hash.digest('hex'), place, definition, files, unknown };
};

/** Resolves each word in each folder of the command, because a `cd` may fail. */
const candidatePaths = (words: readonly string[], folders: readonly string[]): readonly string[] => [
  ...new Set(words.flatMap((word) => folders.map((folder) => resolve(folder, word)))),
];

/** Returns the words of a command that may be paths, including the targets of redirections. */
const wordsOf = (command: string): readonly string[] =>
  (command.match(/(?:"[^"]*"|'[^']*'|[^\s"';&|<>()=])+/g) ?? []).map((word) => word.replaceAll(/["']/g, ''));

const withProject = (text: string, projectDir: string): string =>
  text.replaceAll(/\$CLAUDE_PROJECT_DIR\b|\$\{CLAUDE_PROJECT_DIR\}/g, () => projectDir);

const quoted = (word: string, projectDir: string): string =>
  `'${withProject(word, projectDir).replaceAll("'", String.raw`'\''`)}'`;

/** Returns the real path of a file in the project, or of the target of a link in the project. */
const projectFile = async (path: string, projectDir: string, root: string): Promise<string | undefined> => {
  try {
    const real = await realpath(path);
    const isProject = isInside(projectDir, path) || isInside(root, real);
    return isProject && (await stat(real)).isFile() ? real : undefined;
  } catch {
    return undefined;
  }
};

const isInside = (folder: string, path: string): boolean => {
  const inside = relative(folder, path);
  return !inside.startsWith('..') && !isAbsolute(inside);
};

const anyFile = async (paths: readonly string[]): Promise<boolean> => {
  for (const path of paths) {
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile() === true) return true;
  }
  return false;
};
