import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import * as z from 'zod';
import { anyFunction, nonEmptyString, checkOptions, required } from '@h/options';
import { replaceFile } from '../approvals/file-store.js';
import type { CommandDefinition } from './definitions.js';

/** A command of a project that wants to be run. */
export interface TrustRequest {
  /** Stands for the command and the contents of the project's files that it names. */
  readonly hash: string;
  /** Stands for the place of the command: file, event and matcher. */
  readonly place: string;
  readonly definition: CommandDefinition;
  /** The files of the project that the command names. */
  readonly files: readonly string[];
}

/** Decides whether a command of a project may run; whatever it throws means no. */
export type HookTrust = (
  request: TrustRequest,
  context: { readonly signal: AbortSignal },
) => boolean | PromiseLike<boolean>;

/** A request for trust as a person sees it. */
export interface TrustQuestion extends TrustRequest {
  /** Whether another version of it was trusted before. */
  readonly change: 'unknown' | 'changed';
}

/** Options of {@link trustFile}. */
export interface TrustFileOptions {
  /** Where trusted hashes are kept; outside of the project. */
  readonly path: string;
  /** Asks the person. Without it nothing new is trusted. */
  readonly ask?:
    | ((question: TrustQuestion, context: { readonly signal: AbortSignal }) => boolean | PromiseLike<boolean>)
    | undefined;
}

const trustSchema = z.object({ version: z.literal(1), trusted: z.record(z.string(), z.string()) });

/**
 * Remembers which commands a person has trusted, by content: one that is new or has changed is asked about first.
 *
 * A file that cannot be read trusts nothing.
 *
 * @example
 * ```ts
 * trustFile({ path: '/home/alice/.config/agent/trusted-hooks.json', ask: ({ definition, change }) => confirm(definition.command, change) });
 * ```
 */
export const trustFile = (options: TrustFileOptions): HookTrust => {
  checkOptions('trustFile()', options, { path: required(nonEmptyString), ask: anyFunction });
  const { path, ask } = options;
  let last: Promise<unknown> = Promise.resolve();
  const decide = async (request: TrustRequest, context: { readonly signal: AbortSignal }): Promise<boolean> => {
    const trusted = await readTrusted(path);
    const known = trusted[request.place];
    if (known === request.hash) return true;
    const isTrusted =
      (await ask?.({ ...request, change: known === undefined ? 'unknown' : 'changed' }, context)) === true;
    if (isTrusted) {
      await replaceFile(
        path,
        `${JSON.stringify({ version: 1, trusted: { ...trusted, [request.place]: request.hash } }, undefined, 2)}\n`,
      );
    }
    return isTrusted;
  };
  // One question at a time: commands run side by side, a person does not.
  return (request, context) => {
    const decided = last.then(() => decide(request, context));
    last = decided.catch(() => undefined);
    return decided;
  };
};

const readTrusted = async (path: string): Promise<Readonly<Record<string, string>>> => {
  if (!existsSync(path)) return {};
  return trustSchema.parse(JSON.parse(await readFile(path, 'utf8'))).trusted;
};

/** What must be trusted before this command runs, from the files as they are now. */
export const trustRequestOf = async (definition: CommandDefinition, projectDir: string): Promise<TrustRequest> => {
  const { event, matcher, command, args = [], source } = definition;
  const hash = createHash('sha256').update(JSON.stringify([event, matcher, command, args, definition.if ?? null]));
  const files: string[] = [];
  const root = await realpath(projectDir);
  for (const word of [
    ...wordsOf(withProject(command, projectDir)),
    ...args.map((argument) => withProject(argument, projectDir)),
  ]) {
    const path = await projectFile(word, projectDir, root);
    if (path === undefined || files.includes(path)) continue;
    files.push(path);
    hash.update(`\0${path}\0`);
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  }
  const place = createHash('sha256')
    .update(JSON.stringify([source, event, matcher, files.length === 0 ? command : files]))
    .digest('hex');
  return { hash: hash.digest('hex'), place, definition, files };
};

/** The words of a command that may be paths. */
const wordsOf = (command: string): readonly string[] =>
  (command.match(/(?:"[^"]*"|'[^']*'|[^\s"';&|<>()=])+/g) ?? []).map((word) => word.replaceAll(/["']/g, ''));

const withProject = (text: string, projectDir: string): string =>
  text.replaceAll(/\$CLAUDE_PROJECT_DIR\b|\$\{CLAUDE_PROJECT_DIR\}/g, () => projectDir);

/** The file of the project that a word names. */
const projectFile = async (word: string, projectDir: string, root: string): Promise<string | undefined> => {
  try {
    const real = await realpath(resolve(projectDir, word));
    const inside = relative(root, real);
    return !inside.startsWith('..') && !isAbsolute(inside) && (await stat(real)).isFile() ? real : undefined;
  } catch {
    return undefined;
  }
};
