import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createLanes, queue } from '@h/queue';
import { fileSessions, recoverTurns, type FileSessions } from '@h/session';
import { isChildSession, subagents, type ChildStore, type Orphan, type Subagents } from '@h/subagents';
import { fileChildStore, type FileChildStore } from '@h/subagents/file-store';
import { defineTool, toolDriver } from '@h/tools';
import { harness, type Agent, type ModelDriver, type ModelResponse } from '@h/turn';
import { call, response } from '@h/turn/testing';
import { watching } from '../crash/watching.js';

/** Called at each moment at which a process could die, in order. */
type OnMoment = (name: string, tear?: () => void) => void;

/** A parent with two sub-agents, one of which spawns a third. Models and tools behave the same in every process. */
export interface CrashWorld {
  readonly agent: Agent;
  readonly team: Subagents;
  readonly sessions: FileSessions;
  readonly store: FileChildStore;
}

export const bossTurn = 'turn-boss';

const spawn = (id: string, task: string) => call(id, 'spawn', { agent: 'worker', task });
const work = (id: string) => call(id, 'work', { id });

/** The answers of agents by step, selected by their input. */
const scripts: Readonly<Record<string, readonly ModelResponse[]>> = {
  Go: [
    response(spawn('s1', 'quick'), spawn('s2', 'slow')),
    response(work('boss-work')),
    response(call('t', 'wait', {})),
    response('All is done.'),
  ],
  quick: [response(work('quick-work')), response('Result of quick.')],
  slow: [
    response(spawn('s3', 'deep'), work('slow-work')),
    response(call('t', 'wait', {})),
    response('Result of slow.'),
  ],
  deep: [response(work('deep-work')), response('Result of deep.')],
};

const model: ModelDriver = ({ messages }, { step }) => {
  const told = messages
    .toArray()
    .findLast(({ role, metadata }) => role === 'user' && metadata?.['internal'] !== true)?.content;
  const script = scripts[typeof told === 'string' ? told : ''] ?? [];
  return [{ type: 'response', response: script[step - 1] ?? response('I see.') }];
};

export const crashWorld = (directory: string, onMoment: OnMoment = () => undefined): CrashWorld => {
  const folder = join(directory, 'sessions');
  mkdirSync(folder, { recursive: true });
  const sessions = fileSessions({ directory: folder, fsync: 'never' });
  const watched = watching(sessions, folder, onMoment);
  const store = fileChildStore({ directory: join(directory, 'children') });
  const lanes = createLanes({ concurrency: 2 });
  const workTool = defineTool({
    name: 'work',
    description: 'Works.',
    input: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } as const,
    effect: 'local-write',
    run: async (input) => {
      const { id } = input as { readonly id: string };
      appendFileSync(join(directory, 'effects.txt'), `${id}\n`);
      onMoment(`${id} was done`);
      await new Promise((resolve) => void setTimeout(resolve, 5));
      return 'Worked.';
    },
  });
  const driver = () => toolDriver([workTool, ...team.tools.map((tool) => defineTool(tool))]);
  const team: Subagents = subagents({
    limits: { children: 2, tree: 3, depth: 2, concurrency: 2 },
    lanes,
    store: telling(store, onMoment),
    agents: {
      worker: {
        description: 'Works.',
        create: ({ guard }) => harness({ model, tools: driver(), sessions: watched }).pipe(team, guard),
      },
    },
  });
  return {
    team,
    sessions,
    store,
    agent: harness({ model, tools: driver(), sessions: watched }).pipe(queue(lanes), team),
  };
};

const telling = (store: FileChildStore, onMoment: OnMoment): ChildStore => ({
  save: async (record) => {
    const what = record.end ? 'end' : 'beginning';
    onMoment(`the ${what} of ${record.task} is about to be stored`);
    await store.save(record);
    onMoment(`the ${what} of ${record.task} is stored`);
  },
  delete: async (id) => {
    onMoment('a record is about to be deleted');
    await store.delete(id);
    onMoment('a record is deleted');
  },
  list: (isWanted) => store.list(isWanted),
});

/** Recovers as an app does: reports orphaned sub-agents to their parents, ends their turns, resumes all others. */
export const startAgain = async ({ agent, team }: CrashWorld): Promise<readonly Orphan[]> => {
  const orphans = await team.recover({ unfinished: () => agent.unfinished() });
  await recoverTurns(agent, { policy: 'ask', ask: ({ session }) => (isChildSession(session) ? 'finish' : 'resume') });
  return orphans;
};
