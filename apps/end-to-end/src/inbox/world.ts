import { appendFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { compaction } from '@h/compaction';
import { createLanes, queue, type LocalLanes } from '@h/queue';
import { fileInboxStore } from '@h/queue/file-store';
import { createInbox, type Inbox, type InboxMode, type InboxStore } from '@h/queue/inbox';
import { fileSessions, recoverTurns, type FileSessions } from '@h/session';
import { createRegistry, defineTool, toolDriver, tools, type Tool } from '@h/tools';
import { harness, type Agent, type ModelDriver } from '@h/turn';
import { call, response } from '@h/turn/testing';
import { watching } from '../crash/watching.js';
import type { OnMoment } from '../crash/watching.js';

/** The messages in the order in which users send them. */
export const mail: readonly { readonly id: string; readonly session: string; readonly mode: InboxMode }[] = [
  { id: 'm1', session: 'alice', mode: 'steer' },
  { id: 'm2', session: 'alice', mode: 'steer' },
  { id: 'm3', session: 'alice', mode: 'steer' },
  { id: 'b1', session: 'bob', mode: 'followup' },
  { id: 'b2', session: 'bob', mode: 'followup' },
  { id: 'm4', session: 'alice', mode: 'followup' },
  { id: 'm5', session: 'alice', mode: 'collect' },
  { id: 'm6', session: 'alice', mode: 'collect' },
  { id: 'm7', session: 'alice', mode: 'interrupt' },
];

/** An agent of real packages with an inbox that stores its messages in files. */
export interface World {
  readonly directory: string;
  readonly agent: Agent;
  readonly lanes: LocalLanes;
  readonly sessions: FileSessions;
  readonly inbox: Inbox;
  /** Messages being sent. The tool of the agent waits for them. */
  readonly sending: Promise<void>[];
}

/** Calls the tool twice before it answers, in every turn. */
const model: ModelDriver = (_, { step }) => [
  {
    type: 'response',
    response:
      step === 1
        ? response('Let me look.', call('look', 'look', {}), call('look-again', 'look', {}))
        : response('Done.'),
  },
];

const lookFor = (sending: readonly Promise<void>[]): Tool =>
  defineTool({
    name: 'look',
    description: 'Looks.',
    input: { type: 'object', properties: {} },
    // Not read-only, so that it starts after its call was emitted and sees the messages sent on that event.
    effect: 'network',
    run: async () => {
      await Promise.all(sending);
      return 'nothing of interest, '.repeat(400);
    },
  });

export const worldIn = (directory: string, onMoment: OnMoment = () => undefined): World => {
  mkdirSync(directory, { recursive: true });
  const sessions = fileSessions({ directory: join(directory, 'sessions'), fsync: 'never' });
  const sending: Promise<void>[] = [];
  const driver = toolDriver(createRegistry().register(lookFor(sending)));
  const lanes = createLanes({ concurrency: 2 });
  const agent = harness({
    model,
    tools: driver,
    sessions: watching(sessions, join(directory, 'sessions'), onMoment),
  }).pipe(
    queue(lanes),
    compaction({
      window: 6000,
      reserve: 1000,
      protectTokens: 300,
      summarize: () => 'The agent has looked around and found nothing.',
    }),
    tools({ driver, maxChars: 16_000 }),
  );
  const inbox = createInbox(agent, lanes, { store: watched(join(directory, 'inbox'), onMoment), debounceMs: 5 });
  return { directory, agent, lanes, sessions, inbox, sending };
};

/** Creates a store that reports the moments around each operation and in the middle of each write. */
const watched = (directory: string, onMoment: OnMoment): InboxStore => {
  const store = fileInboxStore({ directory });
  const around = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    onMoment(`${name} begins`);
    const result = await work();
    onMoment(`${name} is done`);
    return result;
  };
  const tear = (): void => {
    const name = readdirSync(directory).find((each) => /^inbox\.\d+\.jsonl$/.test(each)) ?? '';
    appendFileSync(join(directory, name), '{"v":1,"type":"saved","mess');
  };
  return {
    open: () => around('inbox: opening', () => store.open()),
    save: (message) => {
      onMoment(`inbox: half of ${message.options.id ?? ''} is stored`, tear);
      return around(`inbox: storing ${message.options.id ?? ''}`, () => store.save(message));
    },
    remove: (tag, delivered) => {
      onMoment(`inbox: half of removing ${delivered?.id ?? ''} is stored`, tear);
      return around(`inbox: removing ${delivered?.id ?? ''}`, () => store.remove(tag, delivered));
    },
    check: () => store.check(),
    close: () => around('inbox: closing', () => store.close()),
  };
};

/** Sends messages and logs each one that is accepted. */
const send = ({ inbox, directory, sending }: World, ...ids: readonly string[]): void => {
  for (const { id, session, mode } of ids.flatMap((each) => mail.filter((message) => message.id === each))) {
    const { accepted } = inbox.send(session, id, { id, mode });
    sending.push(
      accepted.then((isSafe) => void (isSafe && appendFileSync(join(directory, 'accepted.txt'), `${id}\n`))),
    );
  }
};

/** Recovers as an app does at its start: resumes, ends or ignores interrupted turns, depending on the policy. */
export const startAgain = async (
  { agent, sessions, inbox }: World,
  policy: 'resume' | 'finish' | 'leave' = 'resume',
): Promise<void> => {
  await recoverTurns(agent, { policy: 'ask', ask: () => policy });
  await inbox.recover({ sessions });
};

/** Sends all messages, some of them during a turn, and finally sends all of them again, as a retrying client does. */
export const live = async (world: World): Promise<void> => {
  const meanwhile = new Map<string, readonly string[]>();
  world.inbox.events.subscribe((event) => {
    const [first] = event.type === 'turn.start' ? event.input : [];
    if (first?.content === 'm1') meanwhile.set(event.turn, ['m2', 'm3', 'm2']);
    if (first?.content === 'm4') meanwhile.set(event.turn, ['m5', 'm6', 'm7']);
    if (event.type !== 'tool.call') return;
    send(world, ...(meanwhile.get(event.turn) ?? []));
    meanwhile.delete(event.turn);
  });
  await startAgain(world);
  send(world, 'm1');
  await idle(world);
  send(world, 'm4', 'b1', 'b2');
  await idle(world);
  await end(world);
};

/** Sends all messages again and shuts down cleanly. */
export const end = async (world: World): Promise<void> => {
  send(world, ...mail.map(({ id }) => id));
  await idle(world);
  await world.inbox.close();
  await world.lanes.shutdown();
};

/** Resolves when no message is being sent or processed, including messages sent meanwhile. */
export const idle = async ({ inbox, sending }: World): Promise<void> => {
  for (let count = -1; count < sending.length;) {
    count = sending.length;
    await Promise.all(sending);
    await inbox.idle();
  }
};
