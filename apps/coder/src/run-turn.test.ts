import { deny, harness, intercept, type TurnEvent, type TurnEventOf } from '@h/turn';
import { call, response, scriptedModel, scriptedTools } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { showTurn } from './run-turn.js';
import type { Questioner } from './view/questions.js';

/** An operator that requests approval for every tool call. */
const askFirst = () =>
  intercept('ask-first', ({ emit }) => {
    let decided = (_answer: TurnEventOf<'approval.answer'>): void => undefined;
    return {
      observe: { 'approval.answer': (event) => decided(event) },
      decide: {
        'tool.call': (event) => {
          emit({ type: 'approval.request', id: event.call.id, reason: 'It asks for everything.', call: event.call });
          return new Promise((resolve) => {
            decided = ({ decision, reason = 'No.' }) => resolve(decision === 'deny' ? deny(event, reason) : event);
          });
        },
      },
    };
  });

const run = async (questions: Questioner | undefined) => {
  const events: TurnEvent[] = [];
  const tools = scriptedTools({ ls: 'a.txt' });
  const agent = harness({ model: scriptedModel([response(call('1', 'ls')), 'Done.']), tools }).pipe(askFirst());
  const turn = showTurn(agent, { session: 's', input: 'Go' }, (event) => void events.push(event), questions);
  return { turn, events, tools };
};

const answering = (decision: 'once' | 'deny'): Questioner => ({
  ask: () => Promise.resolve({ decision }),
  abandon: () => undefined,
});
const silent: Questioner = { ask: () => new Promise(() => undefined), abandon: () => undefined };

describe('showTurn', () => {
  it('asks the user and runs an approved call', async () => {
    const { turn, tools } = await run(answering('once'));
    expect(await turn.end).toMatchObject({ outcome: 'completed' });
    expect(tools.ran).toHaveLength(1);
  });

  it('denies a call that the user denies', async () => {
    const { turn, tools } = await run(answering('deny'));
    await turn.end;
    expect(tools.ran).toHaveLength(0);
  });

  it('denies every call if no terminal is attached', async () => {
    const { turn, events, tools } = await run(undefined);
    expect(await turn.end).toMatchObject({ outcome: 'completed' });
    expect(tools.ran).toHaveLength(0);
    expect(events.find(({ type }) => type === 'tool.result')).toMatchObject({
      status: 'denied',
      reason: 'No terminal is attached, so the request was denied.',
    });
  });

  it('ends a cancelled turn', async () => {
    const { turn, events } = await run(silent);
    await Promise.resolve();
    turn.cancel('Enough.');
    expect(await turn.end).toMatchObject({ outcome: 'cancelled', reason: 'Enough.' });
    expect(events.at(-1)).toMatchObject({ type: 'turn.end' });
  });

  it('resolves immediately when the turn is abandoned', async () => {
    const { turn } = await run(silent);
    turn.leave();
    expect(await turn.end).toBeUndefined();
  });
});
