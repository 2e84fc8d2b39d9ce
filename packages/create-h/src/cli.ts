#!/usr/bin/env node
import { relative } from 'node:path';
import { createProject, CreateProjectError } from './create-project.js';
import { shellWord } from './shell-word.js';

const usage = 'Usage: npm create h <folder>';

/** Signals that stop the creation. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Creates the project in the folder of the arguments. Returns the exit code. */
const main = async (words: readonly string[]): Promise<number> => {
  const [folder, ...others] = words;
  if (folder === '--help' || folder === '-h') {
    process.stdout.write(`${usage}\nCreates a project with an agent that runs without a key.\n`);
    return 0;
  }
  if (folder === undefined || folder === '' || folder.startsWith('-') || others.length > 0) {
    process.stderr.write(`${usage}\n`);
    return 2;
  }
  const stopped = new AbortController();
  for (const signal of signals) process.once(signal, () => stopped.abort(signal));
  try {
    const project = await createProject({ folder, signal: stopped.signal });
    const path = relative(process.cwd(), project.folder) || '.';
    const enter = path === '.' ? '' : `  cd ${shellWord(path)}\n`;
    process.stdout.write(
      `Created ${project.name} with ${project.files.join(', ')}.\n\n${enter}  npm install\n  npm start\n`,
    );
    return 0;
  } catch (error) {
    if (error === stopped.signal.reason) {
      // Ends the process by the signal: Node.js aborts with a core dump if it exits after its terminal was closed.
      process.kill(process.pid, stopped.signal.reason as NodeJS.Signals);
      return 1;
    }
    if (!(error instanceof CreateProjectError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
};

// The reader of an output may leave: `npm create h --help | head -1`.
for (const output of [process.stdout, process.stderr]) {
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
process.exitCode = await main(process.argv.slice(2));
