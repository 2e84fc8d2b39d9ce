import { reply } from '@h/turn';
import { call, response } from '@h/turn/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mortalDisk } from '../../test/mortal-stores.js';
import { aProcess, replacing } from '../../test/mortal-process.js';
import { settled } from '../../test/settled.js';
import type { Delivery, InboxMode } from './delivery.js';

describe('an inbox with a store', () => {
  it('delivers accepted messages exactly once, regardless of when its processes die', async () => {
    const step = fc.record({
      mode: fc.constantFrom<InboxMode>('steer', 'followup', 'collect', 'interrupt'),
      waitMs: fc.constantFrom(0, 50, 150, 300),
      ticks: fc.nat(30),
      forgets: fc.boolean(),
      afterwards: fc.constantFrom('nothing', 'nothing', 'nothing', 'die', 'die', 'close'),
      recovery: fc.constantFrom('resume', 'finish', 'leave'),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        fc.constantFrom<(InboxMode | undefined)[]>('steer', 'followup', undefined),
        async (steps, isReplaced, only) => {
          const disk = mortalDisk();
          const begin = async (recovery: string) => {
            disk.faults.clear();
            const script = Array.from({ length: 40 }, (_, index) =>
              index % 2 === 0 ? response(call(`${index}`, 'ls')) : 'Words.',
            );
            const one = aProcess(disk, {
              script,
              options: { debounceMs: 100 },
              operators: isReplaced ? [replacing()] : [],
            });
            for (const { turn } of await one.agent.unfinished()) {
              if (recovery === 'leave') continue;
              const ended = reply(recovery === 'resume' ? one.agent.resume(turn) : one.agent.finish(turn));
              await one.advance(3000);
              await ended;
            }
            await one.recover();
            return one;
          };
          const accepted = new Set<string>();
          const told = new Map<string, Delivery>();
          let one = await begin('resume');
          for (const [index, { mode: some, waitMs, ticks, forgets, afterwards, recovery }] of steps.entries()) {
            const text = `m${index}`;
            const mode = only ?? some;
            // Messages that a store could not delete are found in the history while it contains them.
            if (!forgets && !isReplaced) disk.faults.add('remove');
            const sent = one.inbox.send('alice', text, { mode, id: text });
            void sent.accepted.then((isSafe) => void (isSafe && accepted.add(text)));
            void sent.then((delivery) => told.set(text, delivery));
            await one.advance(waitMs);
            await settled(ticks);
            if (afterwards === 'nothing') continue;
            if (afterwards === 'close') {
              const closed = one.inbox.close();
              await one.advance(300);
              await closed;
            }
            one.kill();
            one = await begin(recovery);
          }
          // The last process deletes the messages that earlier ones could not delete.
          one.kill();
          one = await begin('resume');
          for (let round = 0; round < 40 && one.inbox.snapshot().length > 0; round += 1) await one.advance(500);
          const texts = disk.said().map(String);
          for (const [index] of steps.entries()) {
            const text = `m${index}`;
            const times = texts.filter((each) => each === text).length;
            expect(times, `${text} ${JSON.stringify(told.get(text))}`).toBeLessThanOrEqual(1);
            if (accepted.has(text) || told.get(text)?.status === 'delivered') {
              expect(times, `${text} ${JSON.stringify(told.get(text))}`).toBe(1);
            }
          }
          if (only) expect(texts).toEqual(texts.toSorted((one, other) => one.localeCompare(other)));
          expect([disk.kept.size, one.inbox.snapshot(), one.time.timers]).toEqual([0, [], 0]);
          one.kill();
        },
      ),
      { numRuns: 100 },
    );
  });
});
