import { harness, reply } from '@h/turn';
import { call, response, scriptedModel } from '@h/turn/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { mortalDisk } from '../../test/mortal-stores.js';
import { aProcess, replacing, words } from '../../test/mortal-process.js';
import { settled } from '../../test/settled.js';
import { createInbox } from './inbox.js';
import { createLanes } from '../lanes/lanes.js';
import { queue } from '../queue.js';

const tools = response(call('1', 'ls'));
describe('an inbox with a store', () => {
  it('leaves the messages behind one that another process delivers to that process as well', async () => {
    const disk = mortalDisk();
    const { sessions, store } = disk.live();
    const left: string[] = [];
    const shared = {
      ...store,
      keeps: ({ code }: { readonly code?: string | undefined }) => code === 'session-busy',
      leave: async (tag: string) => void left.push(JSON.stringify(disk.kept.get(tag)?.message.content)),
    };
    const lanes = createLanes();
    onTestFinished(() => lanes.shutdown());
    const model = scriptedModel(words);
    const agent = harness({ model, sessions }).pipe(queue(lanes));
    const inbox = createInbox(agent, lanes, { store: shared, mode: 'followup' });
    await inbox.recover({ sessions });
    const open = await sessions.open('alice');
    const deliveries = await Promise.all(['a', 'b', 'c'].map((text) => inbox.send('alice', text)));
    expect(deliveries.map(({ status }) => status)).toEqual(['kept', 'kept', 'kept']);
    expect([left, model.requests.length, disk.kept.size]).toEqual([['"a"', '"b"', '"c"'], 0, 3]);
    await open.close();
    expect(await inbox.send('bob', 'x')).toMatchObject({ status: 'delivered' });
    await inbox.close();
  });

  it('reports when a message is stored, and delivers it after the recovery', async () => {
    const disk = mortalDisk();
    const { inbox, advance, recover, model } = aProcess(disk);
    const sent = inbox.send('alice', 'a');
    expect(await sent.accepted).toBe(true);
    expect([...disk.kept.values()].map(({ message }) => message.content)).toEqual(['a']);
    await advance(300);
    expect([model.requests.length, inbox.snapshot()]).toEqual([
      0,
      [{ session: 'alice', isRunning: false, pending: 1 }],
    ]);
    expect(await recover()).toEqual([]);
    await advance(300);
    expect(await sent).toMatchObject({ status: 'delivered', how: 'turn' });
    await inbox.idle();
    expect([disk.said(), disk.kept.size, inbox.snapshot()]).toEqual([['a'], 0, []]);
  });

  it('delivers the messages of the last process in order, before new ones', async () => {
    const disk = mortalDisk();
    const first = aProcess(disk);
    for (const [text, mode] of [
      ['a', 'followup'],
      ['b', 'steer'],
      ['c', 'collect'],
    ] as const) {
      await first.inbox.send('alice', text, { mode }).accepted;
    }
    await first.inbox.send('bob', 'x', { id: 'm1', trigger: 'cron', metadata: { user: 7 } }).accepted;
    first.kill();
    const { inbox, advance, recover, agent } = aProcess(disk, { options: { debounceMs: 10 } });
    const later = inbox.send('alice', 'd', { mode: 'followup' });
    expect(await later.accepted).toBe(true);
    const starts: unknown[] = [];
    inbox.events.subscribe((event) => {
      if (event.type === 'turn.start') starts.push([event.session, event.trigger, event.metadata]);
    });
    const recovered = await recover();
    expect(recovered).toMatchObject([
      { session: 'alice', message: { content: 'a' }, state: 'waiting' },
      { session: 'alice', message: { content: 'b' }, state: 'waiting' },
      { session: 'alice', message: { content: 'c' }, state: 'waiting' },
      { session: 'bob', id: 'm1', message: { content: 'x' }, state: 'waiting' },
    ]);
    await advance(2000);
    expect([disk.said(), disk.said('bob')]).toEqual([['a', 'b', 'c', 'd'], ['x']]);
    for (const { delivery } of recovered) expect(await delivery).toMatchObject({ status: 'delivered' });
    expect(starts).toContainEqual(['bob', 'cron', { user: 7 }]);
    expect([await later, disk.kept.size, agent.running()]).toMatchObject([{ status: 'delivered' }, 0, []]);
    expect(await recover()).toEqual([]);
  });

  it.each<[string, boolean]>([
    ['it still contains them', false],
    ['it was replaced since', true],
  ])('does not deliver messages of the history again if %s', async (_, isReplaced) => {
    const disk = mortalDisk();
    const operators = isReplaced ? [replacing()] : [];
    const first = aProcess(disk, { script: [tools, 'One.'], operators });
    await first.recover();
    void first.inbox.send('alice', 'a', { id: 'm1' });
    await first.advance(50);
    await first.inbox.send('alice', 'b').accepted;
    // From now on, deletions never complete.
    disk.faults.add('remove');
    await first.advance(1000);
    first.kill();
    disk.faults.clear();
    expect([disk.said(), [...disk.kept.values()].map(({ message }) => message.content)]).toEqual([['a', 'b'], ['b']]);
    const second = aProcess(disk);
    const [found, ...others] = await second.recover();
    expect([found?.state, await found?.delivery, others]).toMatchObject([
      'delivered',
      { status: 'delivered', how: 'steered' },
      [],
    ]);
    await second.advance(1000);
    expect([disk.said(), disk.kept.size, second.model.requests.length]).toEqual([['a', 'b'], 0, 0]);
  });

  it('finds a message of a turn before the latest one', async () => {
    const disk = mortalDisk();
    const first = aProcess(disk);
    await first.recover();
    disk.faults.add('remove');
    void first.inbox.send('alice', 'a');
    await first.advance(500);
    void reply(first.agent.turn({ session: 'alice', input: 'x' }));
    await first.advance(500);
    first.kill();
    const [found] = await aProcess(disk).recover();
    expect(found?.state).toBe('delivered');
    disk.faults.clear();
    expect(await found?.delivery).toEqual({ status: 'delivered', how: 'turn', turn: '' });
  });

  it('recognizes messages that an interrupted turn delivered after its resume', async () => {
    const disk = mortalDisk();
    const first = aProcess(disk, { script: [tools, { never: ['Hm'] }] });
    await first.recover();
    void first.inbox.send('alice', 'a');
    await first.advance(50);
    await first.inbox.send('alice', 'b').accepted;
    first.kill();
    const second = aProcess(disk);
    const [open] = await second.agent.unfinished();
    const resumed = reply(second.agent.resume(open?.turn ?? ''));
    await second.advance(1000);
    expect((await resumed).outcome).toBe('completed');
    expect((await second.recover()).map(({ state }) => state)).toEqual(['delivered']);
    await second.advance(1000);
    expect(disk.said()).toEqual(['a', 'b']);
  });

  it('ends an open turn that received a message, and delivers its undelivered messages', async () => {
    const disk = mortalDisk();
    const first = aProcess(disk, { script: [{ never: ['Hm'] }] });
    await first.recover();
    void first.inbox.send('alice', 'a');
    await first.advance(50);
    await first.inbox.send('alice', 'b').accepted;
    await first.advance(50);
    first.kill();
    const second = aProcess(disk);
    expect((await second.recover()).map(({ message, state }) => [message.content, state])).toEqual([['b', 'waiting']]);
    expect(await second.agent.unfinished()).toEqual([]);
    await second.advance(1000);
    expect(disk.said()).toEqual(['a', 'b']);
  });

  it('leaves the messages of a session that another owner holds to the next recovery, and later ones behind them', async () => {
    const disk = mortalDisk();
    const first = aProcess(disk);
    await first.inbox.send('alice', 'a').accepted;
    first.kill();
    const second = aProcess(disk);
    const other = await second.sessions.open('alice');
    const [left] = await second.recover();
    expect(left).toMatchObject({ state: 'left', error: { code: 'session-busy' } });
    await other.close();
    void second.inbox.send('alice', 'b');
    await second.advance(500);
    expect([disk.said(), second.inbox.snapshot()]).toEqual([[], [{ session: 'alice', isRunning: false, pending: 1 }]]);
    expect((await second.recover()).map(({ state }) => state)).toEqual(['waiting']);
    await second.advance(500);
    expect([disk.said(), await left?.delivery]).toMatchObject([['a', 'b'], { status: 'delivered' }]);
  });

  it('delivers a message after those before it were found in the history by a later recovery', async () => {
    const disk = mortalDisk();
    const first = aProcess(disk);
    await first.recover();
    disk.forgetting = new Promise(() => undefined);
    void first.inbox.send('alice', 'a');
    await first.advance(500);
    first.kill();
    disk.forgetting = undefined;
    const second = aProcess(disk);
    const other = await second.sessions.open('alice');
    await second.recover();
    await other.close();
    void second.inbox.send('alice', 'b');
    await second.advance(500);
    expect(disk.said()).toEqual(['a']);
    expect((await second.recover()).map(({ state }) => state)).toEqual(['delivered']);
    await second.advance(500);
    expect([disk.said(), second.inbox.snapshot()]).toEqual([['a', 'b'], []]);
  });

  it('knows the ids of delivered and pending messages of the last process', async () => {
    const disk = mortalDisk();
    const first = aProcess(disk);
    await first.recover();
    const before = first.inbox.send('alice', 'a', { id: 'm1' });
    await first.advance(500);
    void first.inbox.send('alice', 'b', { id: 'm2' });
    await settled();
    first.kill();
    const second = aProcess(disk);
    const again = ['m1', 'm2', 'm2'].map((id) => second.inbox.send('alice', 'again', { id }));
    expect(await Promise.all(again.map(({ accepted }) => accepted))).toEqual([true, true, true]);
    expect(await again[0]).toEqual(await before);
    await second.recover();
    await second.advance(500);
    expect([disk.said(), await again[1], await again[2]]).toMatchObject([
      ['a', 'b'],
      { status: 'delivered' },
      { status: 'delivered' },
    ]);
  });

  it('reports a message that cannot be stored, and does not deliver it', async () => {
    const disk = mortalDisk();
    const { inbox, advance, recover } = aProcess(disk);
    await recover();
    disk.faults.add('save');
    const sent = inbox.send('alice', 'a', { id: 'm1' });
    expect([await sent.accepted, await sent]).toMatchObject([
      false,
      { status: 'failed', outcome: 'error', error: { message: 'No save.' } },
    ]);
    disk.faults.clear();
    void inbox.send('alice', 'b', { id: 'm1' });
    await advance(500);
    expect(disk.said()).toEqual(['b']);
  });

  it('fails messages and recovery while the store is unavailable, and works afterwards', async () => {
    const disk = mortalDisk();
    disk.faults.add('open');
    const { inbox, advance, recover } = aProcess(disk);
    const sent = inbox.send('alice', 'a');
    expect([await sent.accepted, await sent]).toMatchObject([
      false,
      { status: 'failed', error: { message: 'No open.' } },
    ]);
    await expect(recover()).rejects.toThrow('No open.');
    disk.faults.clear();
    await recover();
    void inbox.send('alice', 'a');
    await advance(500);
    expect(disk.said()).toEqual(['a']);
  });

  it('refuses a message beyond the limit before it is accepted, and deletes it', async () => {
    const disk = mortalDisk();
    const { inbox, recover, advance } = aProcess(disk, { options: { mode: 'followup', maxPending: 1 } });
    await recover();
    const all = ['a', 'b', 'c'].map((text) => inbox.send('alice', text));
    expect(await Promise.all(all.map(({ accepted }) => accepted))).toEqual([true, true, false]);
    expect(await all[2]).toEqual({ status: 'dropped', reason: 'full' });
    expect([...disk.kept.values()].map(({ message }) => message.content)).not.toContain('c');
    await advance(1000);
    expect(disk.said()).toEqual(['a', 'b']);
  });

  it('deletes delivered messages before the next turn begins', async () => {
    const disk = mortalDisk();
    const { inbox, recover, advance, model } = aProcess(disk, { options: { mode: 'followup' } });
    await recover();
    let go = (): void => undefined;
    disk.forgetting = new Promise((resolve) => (go = resolve));
    for (const text of ['a', 'b']) void inbox.send('alice', text);
    await advance(1000);
    expect([disk.said(), model.requests.length]).toEqual([['a'], 1]);
    go();
    await advance(1000);
    expect([disk.said(), disk.kept.size]).toEqual([['a', 'b'], 0]);
  });

  it('retries a failed deletion, and reports failed messages as kept', async () => {
    const disk = mortalDisk();
    const { inbox, recover, advance } = aProcess(disk, { script: [{ never: [] }, ...words] });
    await recover();
    disk.faults.add('remove');
    const all = [inbox.send('alice', 'a')];
    await advance(50);
    all.push(inbox.send('alice', 'b'));
    await settled();
    inbox.interrupt('alice');
    await advance(50);
    expect(await Promise.all(all)).toMatchObject([
      { status: 'delivered' },
      { status: 'kept', outcome: 'cancelled', error: { message: 'No remove.' } },
    ]);
    disk.faults.clear();
    void inbox.send('alice', 'c');
    await advance(500);
    expect([disk.said(), [...disk.kept.values()].map(({ message }) => message.content)]).toEqual([['a', 'c'], ['b']]);
  });

  it('starts no turn after the store was taken over', async () => {
    const disk = mortalDisk();
    const { inbox, recover, advance, model } = aProcess(disk);
    await recover();
    disk.faults.add('check');
    disk.faults.add('remove');
    const sent = inbox.send('alice', 'a', { id: 'm1' });
    await advance(500);
    expect([await sent.accepted, await sent, await inbox.send('alice', 'a', { id: 'm1' })]).toMatchObject([
      true,
      { status: 'kept' },
      { status: 'kept' },
    ]);
    expect([model.requests.length, disk.said(), disk.kept.size]).toEqual([0, [], 1]);
  });

  it.each<[string, (one: ReturnType<typeof aProcess>) => Promise<unknown>]>([
    ['it is closed', ({ inbox }) => inbox.close()],
    ['its lanes are shut down', ({ lanes }) => lanes.shutdown()],
  ])('leaves undelivered messages to the next process when %s', async (_, end) => {
    const disk = mortalDisk();
    const first = aProcess(disk, { script: [{ never: [] }], options: { mode: 'followup' } });
    await first.recover();
    const all = ['a', 'b', 'c'].map((text) => first.inbox.send('alice', text));
    await first.advance(50);
    const ended = end(first);
    await first.advance(20_000);
    await ended;
    expect(await Promise.all(all)).toMatchObject([
      { status: 'delivered' },
      { status: 'kept', outcome: 'cancelled' },
      { status: 'kept' },
    ]);
    expect([disk.said(), disk.kept.size, first.time.timers]).toEqual([['a'], 2, 0]);
    await first.inbox.close();
    expect(await first.inbox.send('alice', 'd')).toEqual({ status: 'dropped', reason: 'closed' });
    expect(await first.recover()).toEqual([]);
    const second = aProcess(disk);
    await second.recover();
    await second.advance(1000);
    expect(disk.said()).toEqual(['a', 'b', 'c']);
  });

  it('reports messages as kept if it is closed before their recovery', async () => {
    const disk = mortalDisk();
    const first = aProcess(disk);
    await first.inbox.send('alice', 'a', { id: 'm1' }).accepted;
    first.kill();
    const { inbox } = aProcess(disk);
    const [again, other] = [inbox.send('alice', 'a', { id: 'm1' }), inbox.send('alice', 'b')];
    await Promise.all([again.accepted, other.accepted]);
    await inbox.close();
    expect([await again, await other, disk.kept.size]).toMatchObject([{ status: 'kept' }, { status: 'kept' }, 2]);
  });

  it('leaves messages in the store if it is closed during their recovery', async () => {
    const disk = mortalDisk();
    const first = aProcess(disk);
    await first.recover();
    disk.faults.add('remove');
    void first.inbox.send('alice', 'a');
    await first.advance(500);
    await first.inbox.send('bob', 'b').accepted;
    first.kill();
    disk.faults.clear();
    const { inbox, sessions, model, advance } = aProcess(disk);
    let go = (): void => undefined;
    const opening = new Promise<void>((resolve) => (go = resolve));
    const recovering = inbox.recover({
      sessions: { ...sessions, open: (session) => opening.then(() => sessions.open(session)) },
    });
    await settled();
    await inbox.close();
    go();
    const recovered = await recovering;
    await advance(500);
    for (const { delivery } of recovered) expect(await delivery).toMatchObject({ status: 'kept' });
    expect([recovered.length > 0, model.requests.length, disk.kept.size]).toEqual([true, 0, 2]);
  });

  it('recovers and accepts nothing without a store', async () => {
    const inbox = createInbox(
      { turn: harness({ model: scriptedModel(['One.']) }).pipe().turn, steer: () => false },
      createLanes(),
    );
    const { sessions } = mortalDisk().live();
    expect(await inbox.recover({ sessions })).toEqual([]);
    const sent = inbox.send('alice', 'a');
    expect([await sent.accepted, (await sent).status]).toEqual([false, 'delivered']);
    expect(() => inbox.recover({} as never)).toThrow('recover(): "sessions" is required');
    expect(() => inbox.recover({ sessions, agent: 1 } as never)).toThrow('recover(): unknown option "agent"');
  });

  it.each([[{ store: {} }, /"store" must be an object with/]])('refuses %j', (options, message) => {
    expect(() =>
      createInbox({ turn: () => null as never, steer: () => false }, createLanes(), options as never),
    ).toThrow(message);
  });
});
