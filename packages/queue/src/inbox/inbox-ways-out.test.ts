import { harness, intercept, memorySessions, stop, type Agent, type TurnEvent, type TurnOperator } from '@h/turn';
import { call, event, response, scriptedModel, scriptedTools } from '@h/turn/testing';
import fc from 'fast-check';
import { firstValueFrom, lastValueFrom, Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { settled } from '../../test/settled.js';
import { said, setUpInbox } from '../../test/set-up-inbox.js';
import { virtualTime } from '../../test/virtual-time.js';
import type { InboxMode } from './delivery.js';
import { createInbox } from './inbox.js';
import { createLanes } from '../lanes/lanes.js';
import { queue } from '../queue.js';

const tools = response(call('1', 'ls'));

/** Holds the first event of a type until the turn has ended. */
const holds = (isHeld: (event: TurnEvent) => boolean): TurnOperator => {
  let hasHeld = false;
  const hold = (event: TurnEvent): Promise<undefined> | undefined => {
    if (hasHeld || !isHeld(event)) return undefined;
    hasHeld = true;
    return new Promise(() => undefined);
  };
  return intercept('holds', () => ({ decide: { 'history.append': hold, 'turn.stop': hold, 'input.received': hold } }));
};

/** Delays each addition to the history by 300 ms. */
const slow = (): TurnOperator =>
  intercept('slow', ({ after }) => ({
    decide: { 'history.append': () => new Promise<undefined>((resolve) => void after(300, () => resolve(undefined))) },
  }));

describe('a message', () => {
  it('is delivered by the next turn if its own turn fails before the delivery', async () => {
    const breaks = intercept('breaks', () => ({
      decide: {
        'model.response': ({ step }) => {
          if (step === 1) throw new Error('Broken.');
        },
      },
    }));
    const { inbox, advance, sessions, turns } = setUpInbox([tools, 'Two.', 'Three.'], {}, { operators: [breaks] });
    const all = [inbox.send('alice', 'a')];
    await advance(50);
    all.push(inbox.send('alice', 'b'));
    await advance(1000);
    expect(turns[0]).toBe('error');
    expect(await Promise.all(all)).toMatchObject([
      { status: 'delivered', how: 'turn' },
      { status: 'delivered', how: 'turn' },
    ]);
    expect(said(sessions)).toEqual(['a', 'b']);
    expect(inbox.snapshot()).toEqual([]);
  });

  it('is delivered once if its turn is interrupted right after storing it', async () => {
    const operators = [holds((event) => event.type === 'history.append' && event.origin === 'input')];
    const { inbox, advance, sessions, turns, time } = setUpInbox(['One.'], {}, { operators });
    const first = inbox.send('alice', 'a');
    await advance(100);
    const second = inbox.send('alice', 'b', { mode: 'interrupt' });
    await advance(6000);
    expect(await Promise.all([first, second])).toMatchObject([{ status: 'delivered' }, { status: 'delivered' }]);
    expect(said(sessions)).toEqual(['a', 'b']);
    expect([turns, time.timers]).toEqual([['cancelled', 'completed'], 0]);
  });

  it('interrupts a turn whose tool ignores its signal and whose operator holds its end', async () => {
    const hangs = scriptedTools({ ls: () => new Promise<string>(() => undefined) });
    const operators = [holds(({ type }) => type === 'turn.stop')];
    const { inbox, advance, sessions, lanes, time } = setUpInbox([tools, 'Two.'], {}, { operators, tools: hangs });
    const all = [inbox.send('alice', 'a')];
    await advance(300);
    all.push(inbox.send('alice', 'b'), inbox.send('alice', 'c', { mode: 'interrupt' }));
    await advance(6000);
    expect(await Promise.all(all)).toMatchObject([{ how: 'turn' }, { how: 'turn' }, { how: 'turn' }]);
    expect(said(sessions)).toEqual(['a', 'b', 'c']);
    expect([lanes.snapshot().sessions, time.timers]).toEqual([[], 0]);
  });

  it('fails alone if it is invalid, without those that it would be collected with', async () => {
    const { inbox, advance, sessions } = setUpInbox(['One.'], { mode: 'collect', debounceMs: 100 });
    const all = ['a', '', 'b'].map((text) => inbox.send('alice', text));
    all.push(inbox.send('alice', null as never));
    await advance(600);
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual([
      'delivered',
      'failed',
      'delivered',
      'failed',
    ]);
    expect(said(sessions)).toEqual(['a', 'b']);
  });

  it('fails if mergeKeyOf() throws, and is not pending afterwards', async () => {
    const { inbox } = setUpInbox([], {
      mergeKeyOf: () => {
        throw new Error('No key.');
      },
    });
    expect(await inbox.send('alice', 'a', { id: 'm' })).toMatchObject({
      status: 'failed',
      error: { message: 'No key.' },
    });
    expect(inbox.snapshot()).toEqual([]);
    await inbox.idle();
  });

  it('is accepted if a subscriber sends it during an event', async () => {
    const { inbox, advance, sessions } = setUpInbox([tools, 'Two.', 'Three.', 'Four.']);
    const all: Promise<unknown>[] = [];
    let count = 0;
    inbox.events.subscribe(({ type }) => {
      if (count < 4 && ['session.loaded', 'input.received', 'history.append', 'turn.end'].includes(type)) {
        all.push(inbox.send('alice', `again ${(count += 1)}`));
      }
    });
    all.push(inbox.send('alice', 'a'));
    await advance(2000);
    for (const delivery of await Promise.all(all)) expect(delivery).toMatchObject({ status: 'delivered' });
    expect(said(sessions)).toHaveLength(5);
    expect(new Set(said(sessions))).toEqual(new Set(['a', 'again 1', 'again 2', 'again 3', 'again 4']));
  });

  it('is delivered once if it arrives while an operator delays another one', async () => {
    const { inbox, advance, sessions } = setUpInbox([tools, 'Two.', 'Three.'], {}, { operators: [slow()] });
    const all = [inbox.send('alice', 'a')];
    await advance(150);
    all.push(inbox.send('alice', 'b'));
    await advance(200);
    for (const text of ['c', 'd']) {
      all.push(inbox.send('alice', text));
      await advance(100);
    }
    await advance(4000);
    for (const delivery of await Promise.all(all)) expect(delivery).toMatchObject({ status: 'delivered' });
    expect(said(sessions)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('keeps its position if a turn does not accept it', async () => {
    const { inbox, advance, sessions, lanes } = setUpInbox(['One.', 'Two.', 'Three.']);
    const place = lanes.enter({ session: 'alice' }, { admitted: () => undefined, refused: () => undefined });
    const all = [
      inbox.send('alice', 'x'),
      inbox.send('alice', 'a', { mode: 'followup' }),
      inbox.send('alice', 'b', { mode: 'steer' }),
    ];
    await advance(100);
    lanes.clear('alice');
    place.release();
    await advance(1000);
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual(['failed', 'delivered', 'delivered']);
    expect(said(sessions)).toEqual(['a', 'b']);
  });

  it('waits while the number of steered messages in a turn is at its limit', async () => {
    const { inbox, advance, sessions } = setUpInbox([tools, 'Two.'], { maxPending: 2 });
    const all = [inbox.send('alice', 'a')];
    await advance(50);
    all.push(...['b', 'c', 'd', 'e', 'f'].map((text) => inbox.send('alice', text)));
    await advance(1500);
    expect((await Promise.all(all)).map((delivery) => ('how' in delivery ? delivery.how : delivery.status))).toEqual([
      'turn',
      'steered',
      'steered',
      'steered',
      'steered',
      'dropped',
    ]);
    expect(said(sessions)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('is summarized in the next turn if it was dropped and the current turn fails', async () => {
    let toBlock = 2;
    const blocks = intercept('blocks', () => ({
      decide: { 'turn.start': () => ((toBlock -= 1) >= 0 ? stop('blocked', 'Sunday.') : undefined) },
    }));
    const { inbox, advance, sessions, lanes } = setUpInbox(
      ['One.'],
      { mode: 'followup', maxPending: 2, whenFull: 'summarize' },
      { operators: [blocks] },
    );
    const place = lanes.enter({ session: 'alice' }, { admitted: () => undefined, refused: () => undefined });
    const all = ['a', 'b', 'c', 'd'].map((text) => inbox.send('alice', text));
    place.release();
    await advance(800);
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual(['failed', 'dropped', 'failed', 'delivered']);
    expect(said(sessions)).toEqual([
      '[1 earlier message was dropped because too many were waiting. They began:\n- b]',
      'd',
    ]);
  });
});

describe('an inbox that is closed', () => {
  it('completes its events, and drops undelivered messages of the cancelled turn', async () => {
    const { inbox, advance, lanes, time } = setUpInbox([{ never: ['Hm'] }]);
    const last = lastValueFrom(inbox.events);
    const first = inbox.send('alice', 'a');
    await advance(150);
    const second = inbox.send('alice', 'b');
    const closed = inbox.close();
    await advance(100);
    await closed;
    expect([(await last).type, (await first).status, (await second).status]).toEqual([
      'turn.end',
      'delivered',
      'failed',
    ]);
    expect([inbox.snapshot(), lanes.snapshot().sessions, time.timers]).toEqual([[], [], 0]);
  });

  it('continues when its subscribers leave', async () => {
    const { inbox, advance } = setUpInbox(['One.']);
    const seen = firstValueFrom(inbox.events);
    const delivery = inbox.send('alice', 'a');
    await advance(400);
    expect([(await seen).type, (await delivery).status]).toEqual(['turn.start', 'delivered']);
  });
});

describe('an agent of another kind', () => {
  it.each<[string, Agent['turn']]>([
    ['fails', () => new Observable((subscriber) => subscriber.error(new Error('No.')))],
    ['ends without a word', () => new Observable((subscriber) => subscriber.complete())],
  ])('fails the message if it %s, and accepts the next one', async (_, turn) => {
    const inbox = createInbox({ turn, steer: () => false }, createLanes());
    for (const text of ['a', 'b']) {
      expect(await inbox.send('alice', text)).toMatchObject({ status: 'failed', outcome: 'error' });
    }
    expect(inbox.snapshot()).toEqual([]);
  });
});

describe('the ids of messages', () => {
  it('are remembered for the latest 1000 messages', async () => {
    let turns = 0;
    const turn: Agent['turn'] = ({ session }) =>
      new Observable((subscriber) => {
        turns += 1;
        subscriber.next(event('turn.start', { session, input: [], trigger: 'user' }));
        subscriber.next(event('history.append', { origin: 'input', messages: [] }));
        subscriber.complete();
      });
    const inbox = createInbox({ turn, steer: () => false }, createLanes());
    for (let id = 0; id <= 1000; id += 1) {
      expect(await inbox.send('alice', 'a', { id: `${id}` })).toMatchObject({ status: 'delivered' });
    }
    expect(turns).toBe(1001);
    await inbox.send('alice', 'a', { id: '1' });
    expect(turns).toBe(1001);
    await inbox.send('alice', 'a', { id: '0' });
    expect(turns).toBe(1002);
  });
});

describe('random turn failures', () => {
  it('deliver each message once or report that it was not delivered', { timeout: 60_000 }, async () => {
    const step = fc.record({
      mode: fc.constantFrom<InboxMode>('steer', 'followup', 'collect', 'interrupt'),
      waitMs: fc.constantFrom(0, 50, 100, 250),
      afterwards: fc.constantFrom(
        'nothing',
        'nothing',
        'nothing',
        'nothing',
        'interrupt',
        'clear',
        'close',
        'shutdown',
      ),
    });
    const faults = fc.array(fc.constantFrom('none', 'none', 'throws', 'blocks', 'holds'), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 7 }), faults, async (steps, given) => {
        const left = [...given];
        const goWrong = (event: TurnEvent): ReturnType<typeof stop> | Promise<undefined> | undefined => {
          const fault = left.shift();
          if (fault === 'throws') throw new Error(`At ${event.type}.`);
          if (fault === 'blocks' && event.type !== 'input.received') return stop('blocked', 'No.');
          return fault === 'holds' ? new Promise(() => undefined) : undefined;
        };
        const faulty = intercept('faulty', () => ({
          decide: {
            'turn.start': goWrong,
            'history.append': goWrong,
            'model.response': goWrong,
            'input.received': goWrong,
          },
        }));
        const time = virtualTime();
        const { scheduler } = time;
        const sessions = memorySessions();
        const lanes = createLanes({ scheduler, idleTimeoutMs: 20_000 });
        const script = Array.from({ length: 40 }, (_, index) =>
          index % 2 === 0 ? response(call(`${index}`, 'ls')) : 'Words.',
        );
        const agent = harness({
          model: scriptedModel(script, { delayMs: 100, scheduler }),
          sessions,
          scheduler,
          tools: scriptedTools({ ls: 'a.txt' }),
        }).pipe(queue(lanes), faulty);
        const inbox = createInbox(agent, lanes, { scheduler, debounceMs: 200, maxPending: 3, whenFull: 'drop-oldest' });
        const all: ReturnType<typeof inbox.send>[] = [];
        for (const [index, { mode, waitMs, afterwards }] of steps.entries()) {
          all.push(inbox.send('alice', `m${index}`, { mode }));
          for (let ms = 0; ms < waitMs; ms += 50) {
            await settled(20);
            time.advance(50);
          }
          if (afterwards === 'interrupt') inbox.interrupt('alice');
          if (afterwards === 'clear') lanes.clear('alice');
          if (afterwards === 'close') void inbox.close();
          if (afterwards === 'shutdown') void lanes.shutdown();
        }
        for (let round = 0; round < 400 && inbox.snapshot().length > 0; round += 1) {
          await settled(20);
          time.advance(500);
        }
        expect([inbox.snapshot(), lanes.snapshot().sessions, time.timers]).toEqual([[], [], 0]);
        await lanes.shutdown();
        const inHistory = said(sessions);
        for (const [index, delivery] of (await Promise.all(all)).entries()) {
          const times = inHistory.filter((text) => text === `m${index}`).length;
          expect(times, `m${index} ${JSON.stringify(delivery)}`).toBeLessThanOrEqual(1);
          if (delivery.status === 'delivered') expect(times, `m${index} ${JSON.stringify(delivery)}`).toBe(1);
          if (delivery.status === 'dropped') expect(times, `m${index} ${JSON.stringify(delivery)}`).toBe(0);
        }
      }),
      { numRuns: 100 },
    );
  });
});
