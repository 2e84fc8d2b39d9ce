import { hooks, type Hook } from '@h/hooks';
import { createLanes, queue, type LocalLanes } from '@h/queue';
import { fileSessions, recoverTurns } from '@h/session';
import { harness, reply, type Agent, type TurnEvent } from '@h/turn';
import { call, response, scriptedTools, type ScriptedTools } from '@h/turn/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { asIfKilled } from './killed-sessions.js';

const concurrency = 2;
const careful: Hook = {
  name: 'careful',
  beforeTool: ({ call: { name } }) =>
    name === 'deploy' ? { decision: 'ask', reason: 'Deploying requires approval.' } : undefined,
};

interface World {
  readonly agent: Agent;
  readonly lanes: LocalLanes;
  readonly tools: ScriptedTools;
  /** The highest number of tools that ran at once. */
  readonly busiest: () => number;
}

/** A world whose sessions either deploy, which requires approval, or only look, depending on their input. */
const worldIn = (directory: string): World => {
  let [running, busiest] = [0, 0];
  const work = (text: string) => async (): Promise<string> => {
    running += 1;
    busiest = Math.max(busiest, running);
    await new Promise((resolve) => setTimeout(resolve, 5));
    running -= 1;
    return text;
  };
  const tools = scriptedTools({ deploy: work('deployed'), look: work('seen') }, { look: { effect: 'read-only' } });
  const model: Parameters<typeof harness>[0]['model'] = ({ messages }) => {
    const [said, ...rest] = [...messages];
    const answer = rest.some(({ role }) => role === 'tool')
      ? response('Done.')
      : response(call('c1', said?.content === 'deploy' ? 'deploy' : 'look'));
    return [{ type: 'response', response: answer }];
  };
  const lanes = createLanes({ concurrency });
  const agent: Agent = harness({ model, tools, sessions: fileSessions({ directory, fsync: 'never' }) }).pipe(
    queue(lanes),
    hooks([careful], { approvalTimeoutMs: 3_600_000 }),
  );
  return { agent, lanes, tools, busiest: () => busiest };
};

const deploying = Array.from({ length: 6 }, (_, index) => `deploy-${index}`);

/** Resolves with the ids of the first `count` approval requests. */
const asksIn = (
  count: number,
): { readonly onEvent: (event: TurnEvent) => void; readonly all: Promise<readonly string[]> } => {
  const ids: string[] = [];
  let resolveAll: (ids: readonly string[]) => void;
  const all = new Promise<readonly string[]>((resolve) => (resolveAll = resolve));
  const onEvent = (event: TurnEvent): void => {
    if (event.type === 'approval.request' && event.replayed !== true) ids.push(event.id);
    if (ids.length === count) resolveAll(ids);
  };
  return { onEvent, all };
};

/** Runs turns in other sessions, which need slots while the first turns wait for approval. */
const othersRun = async ({ agent }: World): Promise<readonly string[]> => {
  const looks = Array.from({ length: 8 }, (_, index) => reply(agent.turn({ session: `look-${index}`, input: 'look' })));
  return (await Promise.all(looks)).map(({ outcome }) => outcome);
};

/** Returns the states of the sessions that wait for approval. */
const statesIn = ({ lanes }: World): readonly (string | undefined)[] =>
  lanes.snapshot().sessions.flatMap(({ session, running }) => (deploying.includes(session) ? [running?.state] : []));

const ranIn = ({ tools }: World, name: string): number => tools.ran.filter((one) => one.name === name).length;

const answerAll = async ({ agent }: World, ids: readonly string[]): Promise<void> => {
  for (const id of ids) expect(agent.answer(id, 'once')).toBe(true);
};

describe('turns that wait for approval and outnumber the slots', () => {
  it('release their slots and continue when they are answered', async () => {
    const world = worldIn(temporaryFolder());
    const { onEvent, all } = asksIn(deploying.length);
    const turns = deploying.map(
      (session) =>
        new Promise<string>((resolve) => {
          world.agent.turn({ session, input: 'deploy' }).subscribe((event) => {
            onEvent(event);
            if (event.type === 'turn.end') resolve(event.outcome);
          });
        }),
    );
    const ids = await all;
    expect(await othersRun(world)).toEqual(Array.from({ length: 8 }, () => 'completed'));
    expect([ids.length, ranIn(world, 'deploy')]).toEqual([6, 0]);
    await answerAll(world, ids);
    expect(await Promise.all(turns)).toEqual(deploying.map(() => 'completed'));
    expect([ranIn(world, 'deploy'), ranIn(world, 'look'), world.busiest()]).toEqual([6, 8, concurrency]);
    expect([world.agent.running(), world.lanes.snapshot().sessions]).toEqual([[], []]);
  });

  it('repeat their approval requests after a crash, and run each tool once', async () => {
    const directory = temporaryFolder();
    const first = worldIn(directory);
    const asked = asksIn(deploying.length);
    for (const session of deploying) {
      const running = first.agent.turn({ session, input: 'deploy' }).subscribe(asked.onEvent);
      onTestFinished(() => running.unsubscribe());
    }
    await asked.all;
    const second = worldIn(await asIfKilled(directory));
    const again = asksIn(deploying.length);
    const recovering = recoverTurns(second.agent, { policy: 'resume', concurrency, onEvent: again.onEvent });
    const ids = await again.all;
    expect(await othersRun(second)).toEqual(Array.from({ length: 8 }, () => 'completed'));
    expect(statesIn(second)).toEqual(deploying.map(() => 'away'));
    await answerAll(second, ids);
    expect((await recovering).map(({ outcome }) => outcome)).toEqual(deploying.map(() => 'completed'));
    expect([ranIn(first, 'deploy'), ranIn(second, 'deploy'), second.busiest()]).toEqual([0, 6, concurrency]);
    expect([second.agent.running(), await second.agent.unfinished(), second.lanes.snapshot().sessions]).toEqual([
      [],
      [],
      [],
    ]);
  });
});
