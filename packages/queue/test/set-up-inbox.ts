import { harness, memorySessions, type MemorySessions, type ToolDriver, type TurnOperator } from '@h/turn';
import { scriptedModel, scriptedTools, type ScriptedModel, type ScriptStep } from '@h/turn/testing';
import { onTestFinished } from 'vitest';
import { createInbox, type Inbox, type InboxOptions } from '../src/inbox/index.js';
import { createLanes, queue } from '../src/index.js';
import { settled } from './settled.js';
import { virtualTime } from './virtual-time.js';

interface SetUp {
  readonly delayMs?: number;
  readonly sessions?: MemorySessions;
  readonly operators?: readonly TurnOperator[];
  readonly tools?: ToolDriver;
}

/** The user messages of a session, in order. */
export const said = (sessions: MemorySessions, session = 'alice'): readonly unknown[] =>
  sessions.messages(session).flatMap(({ role, content }) => (role === 'user' ? [content] : []));

/** Creates an agent in virtual time with an inbox. */
export const setUpInbox = (
  script: readonly ScriptStep[],
  options: InboxOptions = {},
  { delayMs = 100, sessions = memorySessions(), operators = [], tools = scriptedTools({ ls: 'a.txt' }) }: SetUp = {},
) => {
  const time = virtualTime();
  const { scheduler } = time;
  const lanes = createLanes({ scheduler });
  // Without shutdown(), the async hook of these lanes would slow down all promises.
  onTestFinished(() => void lanes.shutdown());
  const model: ScriptedModel = scriptedModel(script, { delayMs, scheduler });
  const agent = harness({ model, sessions, scheduler, tools }).pipe(queue(lanes), ...operators);
  const inbox: Inbox = createInbox(agent, lanes, { ...options, scheduler });
  const turns: unknown[] = [];
  inbox.events.subscribe((event) => {
    if (event.type === 'turn.end') turns.push(event.outcome);
  });
  const advance = async (ms: number): Promise<void> => {
    for (let done = 0; done < ms; done += 50) {
      await settled();
      time.advance(50);
    }
    await settled();
  };
  return { time, sessions, lanes, model, agent, inbox, turns, advance };
};
