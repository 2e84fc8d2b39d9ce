/** Runs the programs in the documentation and compares what they print. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { transform } from 'esbuild';

/** Longest run of a program. */
const timeoutMs = 60_000;

/** Removes what differs between runs: durations. @type {(text: string) => string} */
const comparable = (text) => text.replaceAll(/\b\d+(?:\.\d+)? m?s\b/g, 'N ms').trim();

/**
 * Runs a program in a process without keys. Returns what it prints, or the reason why it failed.
 *
 * @type {(file: string, code: string) => Promise<{ output: string, problem: string | undefined }>}
 */
const run = async (file, code) => {
  const program = await transform(code, { loader: 'ts', format: 'esm', target: 'node20' });
  await writeFile(file, program.code);
  const { HOME, PATH, TMPDIR } = process.env;
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--no-warnings', file],
      { env: { HOME, PATH, TMPDIR, NO_COLOR: '1' }, timeout: timeoutMs },
      (error, stdout, stderr) =>
        resolve({ output: stdout, problem: error === null ? undefined : (stderr || error.message).trim() }),
    );
  });
};

/**
 * Returns the problems of programs: those that fail, and those that do not print what the page shows.
 *
 * @type {(programs: readonly { page: string, file: string, module: import('./blocks.js').Module }[]) => Promise<string[]>}
 */
export const programProblems = async (programs) => {
  /** @type {string[]} */
  const problems = [];
  for (const { page, file, module } of programs) {
    const { output, problem } = await run(file, module.code);
    if (problem !== undefined) problems.push(`${page}:${module.line}: the program failed\n${problem}`);
    else if (module.output !== undefined && comparable(output) !== comparable(module.output)) {
      problems.push(`${page}:${module.line}: the program prints something else\n${output.trim()}`);
    }
  }
  return problems;
};
