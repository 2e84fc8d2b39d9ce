/** A session of a worker that is killed in the middle of a tool: `node session-child.mjs <folder> <session>`. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { response, scriptedModel } from '@h/turn/testing';
import { openProject } from '../src/index.js';
import { runSession, use } from './agents.js';

const [folder = '', session = ''] = process.argv.slice(2);

await runSession({
  project: openProject({ folder }),
  session,
  model: scriptedModel([
    response(use('task_next')),
    response(use('note', { text: 'The half of b is in b.txt.' })),
    response(use('crash')),
  ]),
  check: { command: 'true', run: () => Promise.resolve({ exitCode: 0, output: '' }) },
  tools: {
    crash: async () => {
      await writeFile(join(folder, 'b.txt'), 'half');
      process.kill(process.pid, 'SIGKILL');
      return 'Never said.';
    },
  },
});
