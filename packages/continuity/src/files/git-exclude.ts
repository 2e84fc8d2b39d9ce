import { execFile } from 'node:child_process';
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ifThere } from './errors.js';

const timeoutMs = 5_000;

/**
 * Adds a pattern to what git ignores in this repository on this machine, `.git/info/exclude`: the project's own `.gitignore` stays
 * as its people wrote it. Does nothing where there is no repository.
 */
export const excludeFromGit = async (folder: string, pattern: string): Promise<void> => {
  const answer = await gitAnswer(folder, ['rev-parse', '--git-path', 'info/exclude', '--show-prefix']);
  const [path, prefix = ''] = answer?.split('\n') ?? [];
  if (path === undefined || path === '') return;
  const file = resolve(folder, path);
  const line = prefix === '' ? pattern : `/${escaped(prefix.replace(/\/$/, ''))}${pattern}`;
  const text = (await ifThere(readFile(file, 'utf8'))) ?? '';
  if (text.split(/\r?\n/).includes(line)) return;
  await mkdir(dirname(file), { recursive: true });
  await appendFile(file, `${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`);
};

/** A path in which nothing is a pattern. */
const escaped = (path: string): string => path.replaceAll(/[\\*?[\]!# ]/g, String.raw`\$&`);

const gitAnswer = (folder: string, args: readonly string[]): Promise<string | undefined> =>
  new Promise((done) => {
    execFile('git', ['-C', folder, ...args], { timeout: timeoutMs, env: { PATH: process.env['PATH'], HOME: process.env['HOME'] } }, (error, stdout) => done(error === null ? stdout : undefined));
  });
