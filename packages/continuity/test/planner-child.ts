/**
 * Plans a project in a separate process, or waits for another planner: `node planner-child.mjs <folder> <session>
 * [leaseMs]`. Waits for the file `go`.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { response, scriptedModel } from '@h/turn/testing';
import { openProject, workThrough } from '../src/index.js';
import { runSession, use } from './agents.js';
import { planned } from './projects.js';

const [folder = '', session = '', leaseMs = '300000'] = process.argv.slice(2);
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const project = openProject({ folder, leaseMs: Number(leaseMs) });

const hold = async (): Promise<string> => {
  say('plans');
  while (!existsSync(join(folder, 'go'))) await new Promise((resolve) => setTimeout(resolve, 10));
  return 'Held.';
};
const { reason } = await workThrough({
  project,
  goal: 'Build it.',
  maxSessions: 1,
  nameSession: () => session,
  onWait: ({ text }) => say(text),
  runSession: async ({ role }) => {
    const model = scriptedModel([
      response(use('hold')),
      response(use('task_plan', { goal: 'Build it.', tasks: planned(session) })),
      'Planned.',
    ]);
    const events = await runSession({
      project,
      session,
      model,
      check: { command: 'true', run: () => Promise.resolve({ exitCode: 0, output: '' }) },
      tools: { hold },
    });
    const end = events.at(-1);
    if (end?.type !== 'turn.end') throw new Error('The turn has not ended.');
    say(`${role} ${end.outcome}`);
    return end;
  },
});
say(`end ${reason}`);
