import { harness, intercept, memorySessions, reply } from '@h/turn';
import { call, response, scriptedModel } from '@h/turn/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settled } from '../../test/settled.js';
import { said, setUpInbox as setUp } from '../../test/set-up-inbox.js';
import { virtualTime } from '../../test/virtual-time.js';
import type { InboxMode } from './delivery.js';
import { createInbox } from './inbox.js';
import { createLanes } from '../lanes/lanes.js';
import { queue } from '../queue.js';

const tools = response(call('1', 'ls'));

describe('an inbox', () => {
  it('starts a turn if none runs', async () => {
    const { inbox, advance, sessions, turns, time, lanes } = setUp(['Hello.']);
    const delivery = inbox.send('alice', 'Hi');
    await advance(300);
    expect(await delivery).toMatchObject({ status: 'delivered', how: 'turn' });
    expect([said(sessions), turns]).toEqual([['Hi'], ['completed']]);
    expect([inbox.snapshot(), lanes.snapshot().sessions, time.timers]).toEqual([[], [], 0]);
  });

  it('steers a message into the running turn at its next step', async () => {
    const { inbox, advance, sessions, turns, model } = setUp([tools, 'Done.']);
    const first = inbox.send('alice', 'List the files');
    await advance(50);
    const second = inbox.send('alice', 'Only text files');
    await advance(600);
    expect([await first, await second]).toMatchObject([{ how: 'turn' }, { how: 'steered', status: 'delivered' }]);
    expect([said(sessions), turns, model.requests.length]).toEqual([
      ['List the files', 'Only text files'],
      ['completed'],
      2,
    ]);
  });

  it('keeps a message for a turn that waits for its slot, and steers it once the turn begins', async () => {
    const { inbox, advance, sessions, turns, lanes } = setUp(['One.']);
    const place = lanes.enter({ session: 'alice' }, { admitted: () => undefined, refused: () => undefined });
    const all = ['a', 'b', 'c'].map((text) => inbox.send('alice', text));
    await advance(200);
    place.release();
    await advance(500);
    expect((await Promise.all(all)).map((delivery) => 'how' in delivery && delivery.how)).toEqual([
      'turn',
      'steered',
      'steered',
    ]);
    expect([said(sessions), turns]).toEqual([['a', 'b', 'c'], ['completed']]);
  });

  it('raises a waiting turn to the priority of the messages behind it', async () => {
    const { inbox, advance, lanes } = setUp(['Beat.', 'Hello.']);
    const places = Array.from({ length: 4 }, (_, index) =>
      lanes.enter({ session: `busy-${index}` }, { admitted: () => undefined, refused: () => undefined }),
    );
    const all = [inbox.send('alice', 'tick', { trigger: 'heartbeat', mode: 'followup' })];
    await advance(100);
    expect(lanes.snapshot().atGate).toEqual({ foreground: 0, normal: 0, background: 1 });
    all.push(inbox.send('alice', 'Hi', { mode: 'followup' }));
    expect(lanes.snapshot().atGate).toEqual({ foreground: 1, normal: 0, background: 0 });
    for (const place of places) place.release();
    await advance(600);
    expect(await Promise.all(all)).toMatchObject([{ status: 'delivered' }, { status: 'delivered' }]);
    const later = lanes.enter(
      { session: 'alice', priority: 'background' },
      { admitted: () => undefined, refused: () => undefined },
    );
    expect(lanes.snapshot().active).toEqual({ foreground: 0, normal: 0, background: 1 });
    later.release();
  });

  it('delivers a message that is too late for a turn with the next turn', async () => {
    const time = virtualTime();
    const { scheduler } = time;
    const sessions = memorySessions();
    const lanes = createLanes({ scheduler });
    // The message is held until the turn has ended.
    const slow = intercept('slow', () => ({
      decide: { 'input.received': () => new Promise<undefined>(() => undefined) },
    }));
    const model = scriptedModel(['One.', 'Two.'], { delayMs: 100, scheduler });
    const agent = harness({ model, sessions, scheduler }).pipe(queue(lanes), slow);
    const inbox = createInbox(agent, lanes, { scheduler });
    const first = inbox.send('alice', 'a');
    await settled();
    const second = inbox.send('alice', 'b');
    for (let step = 0; step < 20; step += 1) {
      time.advance(50);
      await settled();
    }
    expect([await first, await second]).toMatchObject([{ how: 'turn' }, { how: 'turn' }]);
    expect(said(sessions)).toEqual(['a', 'b']);
  });

  it('followup: delivers each message in a separate turn, in order', async () => {
    const { inbox, advance, sessions, turns } = setUp(['1', '2', '3'], { mode: 'followup' });
    const all = ['a', 'b', 'c'].map((text) => inbox.send('alice', text));
    await advance(1000);
    expect((await Promise.all(all)).map((delivery) => 'turn' in delivery && delivery.how)).toEqual([
      'turn',
      'turn',
      'turn',
    ]);
    expect([said(sessions), turns]).toEqual([
      ['a', 'b', 'c'],
      ['completed', 'completed', 'completed'],
    ]);
  });

  it('collect: delivers messages until a pause in one turn', async () => {
    const { inbox, advance, sessions, turns, model } = setUp(['1', '2'], { mode: 'collect', debounceMs: 300 });
    const all = [inbox.send('alice', 'a')];
    await advance(200);
    all.push(inbox.send('alice', 'b'));
    await advance(250);
    expect(model.requests).toHaveLength(0);
    await advance(500);
    expect([said(sessions), turns]).toEqual([['a', 'b'], ['completed']]);
    all.push(inbox.send('alice', 'c'));
    await advance(700);
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual(['delivered', 'delivered', 'delivered']);
    expect(turns).toHaveLength(2);
  });

  it('collect: waits at most maxDebounceMs while messages keep arriving', async () => {
    const { inbox, advance, model } = setUp(['1', '2'], { mode: 'collect', debounceMs: 300, maxDebounceMs: 600 });
    for (let step = 0; step < 4; step += 1) {
      void inbox.send('alice', `${step}`);
      await advance(200);
    }
    expect(model.requests).toHaveLength(1);
    expect(model.requests[0]?.messages.length).toBe(3);
  });

  it('never merges messages with different rights, and keeps their order', async () => {
    const { inbox, advance, model } = setUp(['1', '2', '3'], { mode: 'collect', debounceMs: 100 });
    for (const [text, user] of [
      ['a', 1],
      ['b', 1],
      ['c', 2],
      ['d', 1],
    ] as const) {
      void inbox.send('alice', text, { metadata: { user } });
    }
    await advance(1500);
    expect(
      model.requests.map(({ messages }) =>
        [...messages].filter(({ role }) => role === 'user').map(({ content }) => content),
      ),
    ).toEqual([
      ['a', 'b'],
      ['a', 'b', 'c'],
      ['a', 'b', 'c', 'd'],
    ]);
  });

  it('merges messages with the same key of mergeKeyOf()', async () => {
    const { inbox, advance, model } = setUp(['1'], { mode: 'collect', debounceMs: 100, mergeKeyOf: () => 'all' });
    for (const user of [1, 2]) void inbox.send('alice', `${user}`, { metadata: { user } });
    await advance(500);
    expect(model.requests).toHaveLength(1);
  });

  it('interrupt: cancels the running turn and delivers its undelivered messages again', async () => {
    const { inbox, advance, sessions, turns, model } = setUp([{ never: ['Hm'] }, 'Two.']);
    const all = [inbox.send('alice', 'a')];
    await advance(150);
    all.push(inbox.send('alice', 'b'));
    await advance(50);
    all.push(inbox.send('alice', 'c', { mode: 'interrupt' }));
    await advance(600);
    expect(await Promise.all(all)).toMatchObject([{ how: 'turn' }, { how: 'turn' }, { how: 'turn' }]);
    expect([said(sessions), turns, model.abandoned]).toEqual([['a', 'b', 'c'], ['cancelled', 'completed'], 1]);
  });

  it('interrupt: delivers the input of a turn that has not begun', async () => {
    const { inbox, advance, sessions, lanes, turns } = setUp(['One.']);
    const place = lanes.enter({ session: 'alice' }, { admitted: () => undefined, refused: () => undefined });
    const all = [inbox.send('alice', 'a'), inbox.send('alice', 'b', { mode: 'interrupt' })];
    await advance(100);
    place.release();
    await advance(400);
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual(['delivered', 'delivered']);
    expect([said(sessions), turns]).toEqual([
      ['a', 'b'],
      ['cancelled', 'completed'],
    ]);
  });

  it('cancels the running turn on request, and reports its messages as failed', async () => {
    const { inbox, advance, turns } = setUp([{ never: ['Hm'] }]);
    const first = inbox.send('alice', 'a');
    await advance(150);
    const second = inbox.send('alice', 'b');
    expect([inbox.interrupt('alice'), inbox.interrupt('bob')]).toEqual([true, false]);
    await advance(100);
    expect([await first, await second]).toMatchObject([
      { status: 'delivered' },
      { status: 'failed', outcome: 'cancelled' },
    ]);
    expect(turns).toEqual(['cancelled']);
  });

  it('waits for a turn that the inbox did not start, and never steers it', async () => {
    const { inbox, advance, agent, sessions, turns } = setUp(['Theirs.', 'Ours.']);
    const theirs = reply(agent.turn({ session: 'alice', input: 'x' }));
    await settled();
    const ours = inbox.send('alice', 'a');
    await advance(800);
    expect(await theirs).toMatchObject({ outcome: 'completed', text: 'Theirs.' });
    expect(await ours).toMatchObject({ how: 'turn' });
    expect([said(sessions), turns]).toEqual([['x', 'a'], ['completed']]);
  });

  it('delivers a message with the same id once, and again after a failure', async () => {
    const { inbox, advance, sessions, lanes } = setUp(['One.', 'Two.']);
    const [first, second] = [inbox.send('alice', 'a', { id: 'm1' }), inbox.send('alice', 'a', { id: 'm1' })];
    await advance(400);
    expect(await second).toEqual(await first);
    expect(await inbox.send('alice', 'a', { id: 'm1' })).toEqual(await first);
    expect(said(sessions)).toEqual(['a']);
    const place = lanes.enter({ session: 'bob' }, { admitted: () => undefined, refused: () => undefined });
    const failing = inbox.send('bob', 'b', { id: 'm1' });
    await settled();
    lanes.clear('bob');
    await advance(100);
    expect(await failing).toMatchObject({ status: 'failed', outcome: 'cancelled', error: { code: 'lane-cleared' } });
    place.release();
    const again = inbox.send('bob', 'b', { id: 'm1' });
    await advance(400);
    expect(await again).toMatchObject({ status: 'delivered' });
  });

  it.each([
    ['reject', ['a', 'b', 'c'], ['delivered', 'delivered', 'delivered', 'dropped']],
    ['drop-oldest', ['a', 'c', 'd'], ['delivered', 'dropped', 'delivered', 'delivered']],
    ['drop-newest', ['a', 'b', 'd'], ['delivered', 'delivered', 'dropped', 'delivered']],
  ] as const)(
    'limits pending messages by the policy %s, and reports dropped ones',
    async (whenFull, kept, statuses) => {
      const { inbox, advance, sessions } = setUp(['1', '2', '3'], { mode: 'followup', maxPending: 2, whenFull });
      const all = ['a', 'b', 'c', 'd'].map((text) => inbox.send('alice', text));
      await advance(1500);
      expect((await Promise.all(all)).map(({ status }) => status)).toEqual(statuses);
      expect(said(sessions)).toEqual(kept);
    },
  );

  it('summarizes dropped messages in the next turn', async () => {
    const { inbox, advance, sessions } = setUp(['1', '2'], { mode: 'followup', maxPending: 1, whenFull: 'summarize' });
    for (const text of ['a', 'b', 'c']) void inbox.send('alice', text);
    await advance(1000);
    expect(said(sessions)).toEqual([
      'a',
      '[1 earlier message was dropped because too many were waiting. They began:\n- b]',
      'c',
    ]);
  });

  it('rejects an invalid message', async () => {
    const { inbox, advance } = setUp([]);
    const empty = inbox.send('alice', '');
    await advance(50);
    expect(await empty).toMatchObject({ status: 'failed', outcome: 'error', error: { code: 'invalid-input' } });
    expect(inbox.snapshot()).toEqual([]);
  });

  it('drops pending messages and cancels the running turn when it is closed', async () => {
    const { inbox, advance, turns, time } = setUp([{ never: ['Hm'] }], { mode: 'followup' });
    const all = ['a', 'b'].map((text) => inbox.send('alice', text));
    await advance(150);
    const closed = inbox.close();
    await advance(50);
    await closed;
    expect(await Promise.all([...all, inbox.send('alice', 'c')])).toMatchObject([
      { status: 'delivered' },
      { status: 'dropped', reason: 'closed' },
      { status: 'dropped' },
    ]);
    expect([turns, time.timers]).toEqual([['cancelled'], 0]);
    await inbox.idle();
  });

  it.each([
    [{ mode: 'queue' }, /createInbox\(\): "mode" must be "steer" or "followup"/],
    [{ maxPendng: 3 }, /createInbox\(\): unknown option "maxPendng"/],
  ])('refuses the options %j', (options, message) => {
    const { agent, lanes } = setUp([]);
    expect(() => createInbox(agent, lanes, options as never)).toThrow(message);
  });

  it('rejects invalid options of a message', () => {
    expect(() => setUp([]).inbox.send('alice', 'a', { mode: 'shout' } as never)).toThrow(
      /send\(\): "mode" must be "steer"/,
    );
  });

  it('delivers every message exactly once in any order of events', { timeout: 60_000 }, async () => {
    const step = fc.record({
      mode: fc.constantFrom<InboxMode>('steer', 'followup', 'collect', 'interrupt'),
      waitMs: fc.constantFrom(0, 50, 150, 400),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), fc.boolean(), async (steps, hasTools) => {
        const script = Array.from({ length: 40 }, (_, index) =>
          hasTools && index % 2 === 0 ? response(call(`${index}`, 'ls')) : 'Words of an answer.',
        );
        const { inbox, advance, sessions, time, lanes } = setUp(script, { debounceMs: 200 });
        const all: Promise<unknown>[] = [];
        for (const [index, { mode, waitMs }] of steps.entries()) {
          all.push(inbox.send('alice', `m${index}`, { mode }));
          await advance(waitMs);
        }
        for (let round = 0; round < 40 && inbox.snapshot().length > 0; round += 1) await advance(500);
        expect(said(sessions)).toHaveLength(steps.length);
        expect(new Set(said(sessions))).toEqual(new Set(steps.map((_, index) => `m${index}`)));
        for (const delivery of await Promise.all(all)) expect(delivery).toMatchObject({ status: 'delivered' });
        expect([lanes.snapshot().sessions, time.timers]).toEqual([[], 0]);
        await lanes.shutdown();
      }),
      { numRuns: 40 },
    );
  });
});
