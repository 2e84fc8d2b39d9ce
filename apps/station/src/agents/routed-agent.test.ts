import { memorySessions, type Agent, type TurnEvent } from '@h/turn';
import { NEVER, of, type Subscription } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { routedAgent, type OpenAgent } from './routed-agent.js';

/** Agents of workplaces that the test opens, or lets fail, one by one. A turn with the input `wait` does not end. */
const setUp = (maxIdle = 0) => {
  const opening: { open: () => Promise<void>; fail: () => Promise<void> }[] = [];
  const closed: number[] = [];
  const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
  const agent = routedAgent({
    sessions: memorySessions(),
    keyOf: (session) => session.split('.')[0] ?? '',
    prepare: async () => undefined,
    maxIdle,
    open: (key) =>
      new Promise<OpenAgent>((resolve, reject) => {
        const number = opening.length;
        const own: Partial<Agent> = {
          turn: ({ input }) => (input === 'wait' ? NEVER : of({ type: 'turn.start' } as TurnEvent)),
          steer: (session) => session.startsWith(key),
        };
        opening.push({
          open: () => {
            resolve({ agent: own as Agent, close: async () => void closed.push(number) });
            return settled();
          },
          fail: () => {
            reject(new Error('The disk is full.'));
            return settled();
          },
        });
      }),
  });
  const run = (session: string, input: string, error: () => void = () => undefined): Subscription =>
    agent.turn({ session, input }).subscribe({ error });
  return { agent, opening, closed, run, settled };
};

describe('routedAgent', () => {
  it('keeps the agent of a turn open that began as an earlier opening failed for others', async () => {
    const { opening, closed, run } = setUp();
    run('a.1', 'x', () => run('a.3', 'wait'));
    run('a.2', 'x');
    await opening[0]?.fail();
    await opening[1]?.open();
    run('b.1', 'x');
    await opening[2]?.open();
    expect(closed).toEqual([2]);
  });

  it('closes an agent whose turn left while it was opened, and passes no messages to it', async () => {
    const { agent, opening, closed, run } = setUp();
    run('a.1', 'wait').unsubscribe();
    await opening[0]?.open();
    expect([closed, agent.steer('a.1', 'Hi')]).toEqual([[0], false]);
  });

  it('closes the other agents if one cannot be opened', async () => {
    const { agent, opening, closed, run, settled } = setUp();
    run('a.1', 'wait');
    run('b.1', 'wait');
    await opening[0]?.open();
    const end = agent.close();
    await settled();
    await opening[1]?.fail();
    await expect(end).resolves.toBeUndefined();
    expect(closed).toEqual([0]);
  });
});
