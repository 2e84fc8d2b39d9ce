import { intercept } from '@h/turn';
import { call, response } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { toyFormat, toyLoop, type ToyMessage } from '../test/toy-host.js';
import { bridge, type HostSession } from './index.js';

const person = (text: string): ToyMessage => ({ from: 'person', text });
const host = { host: 'Toy', format: toyFormat };

/** Counts the answers that each session has had, in a state across turns. */
const counting = () => {
  const ended: string[] = [];
  const operator = intercept('counting', () => {
    let answers = 0;
    let name = '';
    return {
      observe: {
        'turn.start': ({ session }) => void (name = session),
        'session.loaded': ({ state }) => void (answers = Number(state['answers'] ?? 0)),
        'model.response': () => void (answers += 1),
        'turn.end': ({ outcome }) => void ended.push(`${name} ${outcome} ${answers}`),
      },
      decide: {
        'model.response': (event) => [{ type: 'session.state', key: 'answers', value: answers + 1 }, event],
      },
    };
  });
  return { ended, operator };
};

/** Runs an agent that calls a tool once. */
const run = (session: HostSession<ToyMessage>, tool: () => unknown): Promise<string> => {
  const answers = [response(call('c', 'work')), response('Done.')];
  return toyLoop({
    session,
    history: [person('Go.')],
    run: {},
    model: () => answers.shift() ?? response('Done.'),
    tools: { work: tool },
  });
};

describe('CallScope', () => {
  it('gives the agents of a tool call separate sessions, to any depth', async () => {
    const { ended, operator } = counting();
    const sessions = bridge([operator], host);
    const nested = (): Promise<string> => run(sessions.session('alice'), () => 'ok');
    const text = await run(sessions.session('alice'), () => run(sessions.session('alice'), nested));
    expect(text).toBe('Done.');
    expect(ended).toEqual(['alice/c/c completed 2', 'alice/c completed 2', 'alice completed 2']);
  });

  it('separates the agents of another bridge', async () => {
    const { ended, operator } = counting();
    const callers = bridge([operator], host);
    const others = bridge([operator], host);
    await run(callers.session('alice'), () => run(others.session('alice'), () => 'ok'));
    expect(ended).toEqual(['alice/c completed 2', 'alice completed 2']);
  });

  it('keeps the session that an agent of a tool call names itself', async () => {
    const { ended, operator } = counting();
    const sessions = bridge([operator], host);
    await run(sessions.session('alice'), () => run(sessions.session('bob'), () => 'ok'));
    expect(ended).toEqual(['bob completed 2', 'alice completed 2']);
  });

  it('forgets the sessions of a call with its end', async () => {
    const { ended, operator } = counting();
    const sessions = bridge([operator], host);
    const nested = (): Promise<string> => run(sessions.session('alice'), () => 'ok');
    await run(sessions.session('alice'), nested);
    await run(sessions.session('alice'), nested);
    expect(ended).toEqual(['alice/c completed 2', 'alice completed 2', 'alice/c completed 2', 'alice completed 4']);
  });

  it('lets an agent that a tool left running finish in its session', async () => {
    const { ended, operator } = counting();
    const sessions = bridge([operator], host);
    let finish: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (finish = resolve));
    let left: Promise<string> | undefined;
    await run(sessions.session('alice'), () => {
      left = run(sessions.session('alice'), () => released.then(() => 'ok'));
      return 'started';
    });
    await run(sessions.session('alice'), () => 'ok');
    finish();
    expect(await left).toBe('Done.');
    expect(ended).toEqual(['alice completed 2', 'alice completed 4', 'alice/c completed 2']);
  });

  it('is no scope for what a tool starts after the turn has ended', async () => {
    const { ended, operator } = counting();
    const sessions = bridge([operator], host);
    let later: Promise<string> | undefined;
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    await run(sessions.session('alice'), () => {
      later = begun.then(() => run(sessions.session('alice'), () => 'ok'));
      return 'scheduled';
    });
    begin();
    await later;
    expect(ended).toEqual(['alice completed 2', 'alice completed 4']);
  });

  it('ends the turns of agents of a tool call when the caller is forgotten', async () => {
    const { ended, operator } = counting();
    const sessions = bridge([operator], host);
    const result = run(sessions.session('alice'), () =>
      run(sessions.session('alice'), () => {
        sessions.forget('alice');
        return 'ok';
      }),
    );
    await expect(result).rejects.toThrow();
    expect(ended.map((line) => line.split(' ').slice(0, 2).join(' ')).toSorted()).toEqual([
      'alice cancelled',
      'alice/c cancelled',
    ]);
  });
});
