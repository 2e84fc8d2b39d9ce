import { harness, memorySessions, reply, type TurnEvent } from '@h/turn';
import { call, response, scriptedModel, scriptedTools } from '@h/turn/testing';
import { tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { Steering } from './steering.js';

/** Runs two turns of two steps each, and calls `say` for each event so that it can add lines. */
const follow = async (say: (event: TurnEvent, steering: Steering) => void) => {
  const model = scriptedModel([response(call('1', 'ls')), 'One.', response(call('2', 'ls')), 'Two.'], { delayMs: 1 });
  const agent = harness({ model, tools: scriptedTools({ ls: 'a.txt' }) }).pipe();
  const steering = new Steering(agent);
  const see = (event: TurnEvent): void => {
    steering.see(event);
    say(event, steering);
  };
  for (const session of ['a', 'b']) await reply(agent.turn({ session, input: session }).pipe(tap(see)));
  const told = model.requests.map(({ messages }) =>
    messages.toArray().flatMap(({ role, content }) => (role === 'user' ? [content] : [])),
  );
  return { told, steering };
};

describe('Steering', () => {
  it('delivers a line at the next step of the running turn', async () => {
    const { told, steering } = await follow((event, lines) => {
      if (event.type === 'tool.result' && event.call.id === '1') lines.add('Only the tests');
    });
    expect(told).toEqual([['a'], ['a', 'Only the tests'], ['b'], ['b']]);
    expect(steering.waiting).toEqual([]);
  });

  it('keeps undelivered lines for the next turn', async () => {
    let ends = 0;
    const { told, steering } = await follow((event, lines) => {
      if (event.type === 'turn.end' && (ends += 1) === 1) for (const line of ['One', 'Two']) lines.add(line);
    });
    expect(told).toEqual([['a'], ['a'], ['b', 'One', 'Two'], ['b', 'One', 'Two']]);
    expect(steering.waiting).toEqual([]);
  });

  it('does not deliver the input of a turn that failed before its session was open', async () => {
    const model = scriptedModel(['One.']);
    const stored = memorySessions();
    let opened = 0;
    const open: typeof stored.open = (session) => {
      if ((opened += 1) === 1) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      return stored.open(session);
    };
    const agent = harness({ model, tools: scriptedTools({}), sessions: { ...stored, open } }).pipe();
    const steering = new Steering(agent);
    for (const session of ['a', 'b']) {
      await reply(agent.turn({ session, input: 'Continue.' }).pipe(tap((event) => steering.see(event))));
    }
    expect(model.requests.map(({ messages }) => messages.toArray().map(({ content }) => content))).toEqual([
      ['Continue.'],
    ]);
    expect(steering.waiting).toEqual([]);
  });

  it('delivers each line exactly once, or keeps it for the next turn', async () => {
    for (let moment = 0; moment < 24; moment += 1) {
      let count = 0;
      const { told, steering } = await follow((_, lines) => {
        if (count === moment) lines.add('Now');
        count += 1;
      });
      const heard = [told[1], told[3]].map((lines = []) => lines.filter((line) => line === 'Now').length);
      expect([...heard, steering.waiting.length].filter((times) => times > 0)).toEqual([1]);
    }
  });
});
