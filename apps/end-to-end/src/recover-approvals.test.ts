import { hooks, type Hook } from '@h/hooks';
import { createLanes, queue } from '@h/queue';
import { fileSessions, recoverTurns, type FileSessions } from '@h/session';
import { harness, type Agent, type TurnEvent } from '@h/turn';
import { call, response, scriptedTools, type ScriptedTools } from '@h/turn/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { asIfKilled } from './killed-sessions.js';

const careful: Hook = {
  name: 'careful',
  beforeTool: ({ call: { name } }) =>
    name === 'deploy' ? { decision: 'ask', reason: 'Deploying requires approval.' } : undefined,
};

interface World {
  readonly agent: Agent;
  readonly sessions: FileSessions;
  readonly tools: ScriptedTools;
}

/** Creates a world whose sessions deploy or only look, depending on their names. */
const worldIn = (directory: string): World => {
  const sessions = fileSessions({ directory, fsync: 'never' });
  const tools = scriptedTools({ deploy: 'deployed', look: 'seen' }, { look: { effect: 'read-only' } });
  const model: Parameters<typeof harness>[0]['model'] = ({ messages }) => {
    const [said, ...rest] = [...messages];
    const wanted = said?.content === 'deploy' ? 'deploy' : 'look';
    const answer = rest.some(({ role }) => role === 'tool') ? response('Done.') : response(call('c1', wanted));
    return [{ type: 'response', response: answer }];
  };
  const agent = harness({ model, tools, sessions }).pipe(
    queue(createLanes({ concurrency: 64 })),
    hooks([careful], { approvalTimeoutMs: 3_600_000 }),
  );
  return { agent, sessions, tools };
};

describe('a process that died while several turns waited for approval', () => {
  it('resumes the other turns at once, and the waiting turns when they are answered', async () => {
    const directory = temporaryFolder();
    const first = worldIn(directory);
    const deploying = Array.from({ length: 6 }, (_, index) => `deploy-${index}`);
    const asked = deploying.map(
      (session) =>
        new Promise<void>((resolve) => {
          const running = first.agent.turn({ session, input: 'deploy' }).subscribe(({ type }) => {
            if (type === 'approval.request') resolve();
          });
          onTestFinished(() => running.unsubscribe());
        }),
    );
    await Promise.all(asked);
    const found = await asIfKilled(directory);

    // The youngest turn requires no approval.
    const before = worldIn(found);
    const open = await before.sessions.open('look');
    await open.append({
      v: 1,
      seq: 0,
      derived: false,
      event: {
        type: 'turn.start',
        turn: 'turn-look',
        at: Date.now() + 1000,
        session: 'look',
        input: [{ role: 'user', content: 'look' }],
        trigger: 'user',
      },
    });
    await open.close();

    const { agent, tools } = worldIn(found);
    const ids: string[] = [];
    const order: string[] = [];
    const onEvent = (event: TurnEvent): void => {
      if (event.type === 'approval.request' && !event.replayed) ids.push(event.id);
      if (event.type !== 'turn.end') return;
      order.push(event.turn);
      // Approvals arrive only after all other turns have ended.
      if (event.turn === 'turn-look') {
        setTimeout(() => ids.forEach((id, index) => agent.answer(id, index === 0 ? 'deny' : 'once')));
      }
    };
    const recovered = await recoverTurns(agent, { policy: 'resume', concurrency: 1, onEvent });
    expect(recovered.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 7 }, () => 'completed'));
    expect([order[0], ids.length]).toEqual(['turn-look', 6]);
    expect(tools.ran.map(({ name }) => name).toSorted()).toEqual([
      ...Array.from({ length: 5 }, () => 'deploy'),
      'look',
    ]);
    expect([agent.running(), await agent.unfinished()]).toEqual([[], []]);
  });
});
