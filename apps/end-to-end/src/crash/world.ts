import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compaction } from '@h/compaction';
import { failover } from '@h/failover';
import { hooks, type Hook } from '@h/hooks';
import { createLanes, queue } from '@h/queue';
import { fileSessions, recoverTurns, type FileSessions, type RecoveredTurn } from '@h/session';
import { subagents, type ChildStore, type Subagents } from '@h/subagents';
import { fileChildStore } from '@h/subagents/file-store';
import { createRegistry, defineTool, toolDriver, tools, type Tool } from '@h/tools';
import { harness, type Agent, type ModelDriver, type ModelResponse, type TurnEvent } from '@h/turn';
import { call, failure, response } from '@h/turn/testing';
import { watching, type OnMoment } from './watching.js';

/** An agent of real packages whose model and tools behave the same in every process. */
export interface World {
  readonly agent: Agent;
  readonly sessions: FileSessions;
  readonly team: Subagents;
}

/** Ids of calls that must not run twice. */
export const onlyOnce = ['w1', 'w2', 'w3', 'cw1', 'p1'] as const;
/** Ids of calls that may run twice: reads and idempotent writes. */
export const repeatable = ['r1', 'r2', 'r3', 'i1', 'cr1'] as const;

const steps: readonly ModelResponse[] = [
  response(
    'Let me look.',
    call('r1', 'read', { path: 'a' }),
    call('w1', 'log', { line: 'w1' }),
    call('r2', 'read', { path: 'b' }),
    call('i1', 'put', { text: 'settings' }),
  ),
  response('Now both.', call('w2', 'log', { line: 'w2' }), call('w3', 'log', { line: 'w3' })),
  response(call('s1', 'spawn', { agent: 'explorer', task: 'Look elsewhere.' }), call('r3', 'read', { path: 'c' })),
  response(call('t1', 'wait', {})),
  response('I will publish it.', call('p1', 'publish', { version: '1.0.0' })),
  response('All is done.'),
];
const childSteps: readonly ModelResponse[] = [
  response(call('cr1', 'read', { path: 'x' }), call('cw1', 'log', { line: 'cw1' })),
  response('Nothing elsewhere.'),
];

export const mainSession = 'main';
export const mainTurn = 'turn-main';

/** Creates a model that answers each step by its script and fails the first attempt of step 2. */
const modelIn =
  (directory: string, onMoment: OnMoment): ModelDriver =>
  (_, { session, step, attempt }) => {
    appendFileSync(join(directory, 'asked.txt'), `${session}/${step}\n`);
    onMoment(`the model is called in step ${step} of ${session}`);
    if (session === mainSession && step === 2 && attempt === 1) {
      return [{ type: 'error', error: failure('Internal server error', { status: 500 }) }];
    }
    return [
      {
        type: 'response',
        response: (session === mainSession ? steps : childSteps)[step - 1] ?? response('There is nothing more to do.'),
      },
    ];
  };

const toolsIn = (directory: string, onMoment: OnMoment): readonly Tool[] => {
  /** Performs an effect. The process can die before the effect, and before it is reported. */
  const doing = (id: string, act: () => void): void => {
    onMoment(`${id} begins`);
    act();
    appendFileSync(join(directory, 'effects.txt'), `${id}\n`);
    onMoment(`${id} was done`);
  };
  const textInput = (key: string) =>
    ({ type: 'object', properties: { [key]: { type: 'string' } }, required: [key] }) as const;
  const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
  const log = join(directory, 'log.txt');
  return [
    defineTool({
      name: 'read',
      description: 'Reads.',
      input: textInput('path'),
      effect: 'read-only',
      run: ({ path }, { call: { id } }) => (
        doing(id, () => undefined),
        `Contents of ${textOf(path)}: ${'nothing of interest, '.repeat(400)}`
      ),
    }),
    defineTool({
      name: 'put',
      description: 'Writes the whole file.',
      input: textInput('text'),
      effect: 'local-write',
      idempotent: true,
      resources: () => ['file:/settings'],
      run: ({ text }, { call: { id } }) => (
        doing(id, () => writeFileSync(join(directory, 'settings.txt'), textOf(text))),
        'Written.'
      ),
    }),
    defineTool({
      name: 'log',
      description: 'Adds a line.',
      input: textInput('line'),
      effect: 'local-write',
      run: ({ line }, { call: { id } }) => (doing(id, () => appendFileSync(log, `${textOf(line)}\n`)), 'Added.'),
    }),
    defineTool({
      name: 'publish',
      description: 'Publishes.',
      input: textInput('version'),
      effect: 'destructive',
      run: (_, { call: { id } }) => (doing(id, () => appendFileSync(log, `${id}\n`)), 'Published.'),
    }),
  ];
};

const askBeforePublishing: Hook = {
  name: 'ask-before-publishing',
  beforeTool: ({ call: { name } }) =>
    name === 'publish' ? { decision: 'ask', reason: 'Publishing requires approval.' } : undefined,
};

/** Creates a store that keeps sub-agent records in files and reports the moments around each change. */
const childStoreIn = (directory: string, onMoment: OnMoment): ChildStore => {
  const store = fileChildStore({ directory: join(directory, 'children') });
  const telling = async (change: () => Promise<void>): Promise<void> => {
    onMoment('the records of sub-agents are about to be stored');
    await change();
    onMoment('the records of sub-agents are stored');
  };
  return {
    save: (record) => telling(() => store.save(record)),
    delete: (id) => telling(() => store.delete(id)),
    list: () => store.list(),
  };
};

export const worldIn = (directory: string, onMoment: OnMoment = () => undefined): World => {
  mkdirSync(directory, { recursive: true });
  const sessions = fileSessions({ directory: join(directory, 'sessions'), fsync: 'never' });
  const watched = watching(sessions, join(directory, 'sessions'), onMoment);
  const model = modelIn(directory, onMoment);
  const own = toolsIn(directory, onMoment);
  const lanes = createLanes({ concurrency: 1 });
  let ids = 0;
  const team: Subagents = subagents({
    lanes,
    store: childStoreIn(directory, onMoment),
    newId: () => `${(ids += 1)}`,
    agents: {
      explorer: {
        description: 'Looks elsewhere.',
        policy: { tools: ['read', 'log'] },
        create: ({ allows, guard }) => {
          const driver = toolDriver(createRegistry().register(...own.filter(({ name }) => allows(name))));
          return harness({ model, tools: driver, sessions: watched }).pipe(tools({ driver }), team, guard);
        },
      },
    },
  });
  const driver = toolDriver(createRegistry().register(...own, ...team.tools.map((tool) => defineTool(tool))));
  const summarize = (): string => {
    onMoment('a summary is requested');
    return 'The agent has looked around and found nothing of interest.';
  };
  const agent = harness({ model, tools: driver, sessions: watched }).pipe(
    queue(lanes),
    hooks([askBeforePublishing]),
    team,
    failover({ backoff: () => 0, random: () => 0 }),
    compaction({ window: 12_000, reserve: 2000, protectTokens: 600, summarize }),
    tools({ driver, maxChars: 16_000 }),
  );
  return { agent, sessions, team };
};

/** Approves each request after a short delay, as a person would. */
export const approving =
  ({ agent }: World) =>
  (event: TurnEvent): void => {
    if (event.type === 'approval.request' && event.replayed !== true) {
      queueMicrotask(() => agent.answer(event.id, 'once'));
    }
  };

/** Runs the turn to its end. */
export const runTurn = (world: World): Promise<void> =>
  new Promise((resolve) => {
    world.agent
      .turn({ session: mainSession, input: 'Go.', id: mainTurn })
      .subscribe({ next: approving(world), complete: resolve });
  });

/** Recovers as an app does: reports orphaned sub-agents to their parents, ends their turns, resumes all others. */
export const startAgain = async (world: World): Promise<readonly RecoveredTurn[]> => {
  const { agent, team } = world;
  const orphans = await team.recover({ unfinished: () => agent.unfinished() });
  const ended = new Set(orphans.map(({ record }) => record.session));
  return recoverTurns(agent, {
    policy: 'ask',
    ask: ({ session }) => (ended.has(session) || session.startsWith('subagent-') ? 'finish' : 'resume'),
    onEvent: approving(world),
  });
};
