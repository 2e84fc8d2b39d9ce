/**
 * Works on a project in a separate process until no task is left: `node worker.cjs <folder> <name> [sessions]`.
 *
 * Prints one line per action: `session <role> <name>`, `build <task>`, `end <reason> <sessions>`.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { continuity, continuityTools, openProject, workThrough, type SessionCommit } from '@h/continuity';
import { localChecks } from '@h/process';
import { createRegistry, defineTool, toolDriver } from '@h/tools';
import { harness, reply, type ModelRequest } from '@h/turn';
import { call, response, scriptedModel } from '@h/turn/testing';
import { contentOf, planOfShop } from './shop.js';

const [folder = '', name = '', sessions = '50'] = process.argv.slice(2);
const project = openProject({ folder });
const run = localChecks();
const say = (...words: readonly string[]): void => void process.stdout.write(`${words.join(' ')}\n`);

/** Writes a file in two parts, so that the process can be killed between them. */
const build = defineTool({
  name: 'build',
  description: 'Builds the file of a task.',
  input: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'], additionalProperties: false },
  effect: 'local-write',
  resources: () => undefined,
  run: async (input) => {
    const id = typeof input['id'] === 'string' ? input['id'] : '';
    const file = join(folder, `${id}.txt`);
    const text = contentOf(id);
    await writeFile(file, text.slice(0, 3));
    say('build', id);
    while (existsSync(join(folder, '.git', `hold-edit-${id}`))) await new Promise((resolve) => setTimeout(resolve, 10));
    await writeFile(file, text);
    return 'Built.';
  },
});

/** Plans if the planning tool is offered; otherwise claims, builds and completes one task and writes a note. */
const answer = ({ messages, tools }: ModelRequest) => {
  const results = messages.toArray().filter(({ role }) => role === 'tool');
  const use = (tool: string, input: object = {}) => response(call(`call-${results.length}`, tool, input));
  if (tools.some((tool) => tool.name === 'task_plan')) {
    return results.length === 0 ? use('task_plan', planOfShop) : 'It is planned.';
  }
  const id = /Task ([\w-]+):/.exec(JSON.stringify(results))?.[1];
  if (results.length > 0 && id === undefined) return 'No task is left.';
  const steps = [
    use('task_next'),
    use('build', { id }),
    use('task_done', { id, summary: 'It works.' }),
    use('note', { text: `${name} has built ${id ?? ''}.` }),
  ];
  return steps[results.length] ?? 'Done.';
};

const git = promisify(execFile);

/** Commits, and retries while another process of the same work tree holds the lock of git. */
const commit = async ({ message }: SessionCommit, tries = 20): Promise<string> => {
  try {
    await git('git', ['-C', folder, 'add', '--all']);
    await git('git', [
      '-C',
      folder,
      '-c',
      'user.name=Test',
      '-c',
      'user.email=test@example.com',
      'commit',
      '--quiet',
      '--allow-empty',
      '-m',
      message,
    ]);
    return message;
  } catch (error) {
    if (tries === 0) throw error;
    await new Promise((resolve) => setTimeout(resolve, 25));
    return commit({ message } as SessionCommit, tries - 1);
  }
};

const check = { command: ({ id }: { readonly id: string }) => `sh .git/check.sh ${id}`, run };
const tools = toolDriver(
  createRegistry().register(build, ...continuityTools({ project, check }).map((tool) => defineTool(tool))),
);

const end = await workThrough({
  project,
  goal: 'Build a shop.',
  maxSessions: Number(sessions),
  nameSession: (number) => `${name}-${number}`,
  runSession: ({ session, input, role }) => {
    say('session', role, session);
    const model = scriptedModel(Array.from({ length: 20 }, () => answer));
    const agent = harness({ model, tools, closeGraceMs: 30_000 }).pipe(continuity({ project, run, commit }));
    return reply(agent.turn({ session, input }));
  },
});
say('end', end.reason, `${end.sessions}`);
