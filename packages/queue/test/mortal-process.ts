import { harness, intercept, type TurnOperator } from '@h/turn';
import { scriptedModel, scriptedTools, type ScriptStep } from '@h/turn/testing';
import { onTestFinished } from 'vitest';
import type { InboxOptions } from '../src/inbox/inbox-options.js';
import { createInbox } from '../src/inbox/inbox.js';
import { createLanes } from '../src/lanes/lanes.js';
import { queue } from '../src/queue.js';
import type { Disk } from './mortal-stores.js';
import { settled } from './settled.js';
import { virtualTime } from './virtual-time.js';

export const words = Array.from({ length: 40 }, () => 'Words.');

/** Creates a process: an agent in virtual time with an inbox that stores its messages on this disk. */
export const aProcess = (
  disk: Disk,
  {
    script = words,
    options = {},
    operators = [],
  }: { script?: readonly ScriptStep[]; options?: InboxOptions; operators?: readonly TurnOperator[] } = {},
) => {
  const time = virtualTime();
  const { scheduler } = time;
  const life = disk.live();
  const { sessions, store } = life;
  const lanes = createLanes({ scheduler });
  const kill = (): void => {
    life.kill();
    // Without shutdown(), the async hook of these lanes would slow down the rest of the test process.
    void lanes.shutdown();
    time.advance(60_000);
  };
  onTestFinished(kill);
  const model = scriptedModel(script, { delayMs: 100, scheduler });
  const agent = harness({ model, sessions, scheduler, tools: scriptedTools({ ls: 'a.txt' }) }).pipe(
    queue(lanes),
    ...operators,
  );
  const inbox = createInbox(agent, lanes, { ...options, scheduler, store });
  const advance = async (ms: number): Promise<void> => {
    for (let done = 0; done < ms; done += 50) {
      await settled();
      time.advance(50);
    }
    await settled();
  };
  const recover = () => inbox.recover({ sessions });
  return { time, sessions, lanes, model, agent, inbox, advance, recover, kill };
};

/** Replaces the history as soon as it contains an answer. */
export const replacing = (): TurnOperator =>
  intercept('replacing', ({ emit }) => ({
    observe: {
      'history.append': ({ origin }) => {
        if (origin === 'response') {
          emit({ type: 'history.replace', messages: [{ role: 'user', content: 'A summary.' }], origin: 'replacing' });
        }
      },
    },
  }));
