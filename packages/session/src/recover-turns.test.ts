import { harness, reply, repairHistory, type Agent, type JournalRecord, type Message, type TurnEvent } from '@h/turn';
import { call, response, scriptedModel, scriptedTools, type ScriptedTools } from '@h/turn/testing';
import { InvalidOptionError } from '@h/options';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { inSession, stateOf } from './testing/records.js';
import { fileSessions, finishTurn, recoverTurns, type FileSessions, type RecoverTurnsOptions } from './index.js';

interface World {
  readonly agent: Agent;
  readonly tools: ScriptedTools;
  readonly sessions: FileSessions;
}

const worldIn = (directory: string, ...answers: Parameters<typeof scriptedModel>[0]): World => {
  const sessions = fileSessions({ directory, fsync: 'never' });
  const tools = scriptedTools(
    { read: 'read', write: 'written' },
    { read: { effect: 'read-only' }, write: { effect: 'local-write' } },
  );
  return { sessions, tools, agent: harness({ model: scriptedModel(answers), tools, sessions }).pipe() };
};

/** The records of a whole turn with a read and a write. */
const recordsOfTurn = async (): Promise<readonly JournalRecord[]> => {
  const { agent, sessions } = worldIn(
    temporaryFolder(),
    response('So.', call('r', 'read'), call('w', 'write')),
    'Done.',
  );
  await reply(agent.turn({ session: 'first', input: 'Go.', id: 'turn-1' }));
  return inSession(sessions, 'first', ({ journal }) => journal);
};

/** Creates sessions whose turn was interrupted at this record, the oldest first. */
const left = async (
  directory: string,
  records: readonly JournalRecord[],
  ...names: readonly string[]
): Promise<void> => {
  const { sessions } = worldIn(directory);
  for (const [index, name] of names.entries()) {
    await inSession(sessions, name, async (open) => {
      for (const record of records) {
        await open.append({ ...record, event: { ...record.event, turn: `turn-${name}`, at: index } });
      }
    });
  }
};

const upTo = (records: readonly JournalRecord[], type: string): readonly JournalRecord[] =>
  records.slice(0, records.findIndex(({ event }) => event.type === type) + 1);
const lastOf = (messages: readonly Message[]): unknown => messages.at(-1);

describe('recoverTurns', () => {
  it('resumes unfinished turns, the oldest first', async () => {
    const directory = temporaryFolder();
    await left(directory, upTo(await recordsOfTurn(), 'model.response'), 'b', 'a');
    const { agent, sessions, tools } = worldIn(directory, 'Done with b.', 'Done with a.');
    const seen: string[] = [];
    const recovered = await recoverTurns(agent, {
      policy: 'resume',
      concurrency: 1,
      onEvent: ({ type, replayed }, { session }) => void (type === 'model.request' && !replayed && seen.push(session)),
    });
    expect(recovered).toEqual([
      { turn: 'turn-b', session: 'b', startedAt: 0, action: 'resume', outcome: 'completed' },
      { turn: 'turn-a', session: 'a', startedAt: 1, action: 'resume', outcome: 'completed' },
    ]);
    expect(seen).toEqual(['b', 'a']);
    expect(tools.ran.map(({ name }) => name)).toEqual(['read', 'write', 'read', 'write']);
    expect(lastOf((await stateOf(sessions, 'a')).messages)).toMatchObject({ content: [{ text: 'Done with a.' }] });
    expect(await recoverTurns(agent, { policy: 'resume' })).toEqual([]);
  });

  it('finishes unfinished turns without running anything, from every record', async () => {
    const records = await recordsOfTurn();
    for (let length = 1; length < records.length; length += 1) {
      const directory = temporaryFolder();
      await left(directory, records.slice(0, length), 'a');
      const { agent, sessions, tools } = worldIn(directory);
      const [recovered] = await recoverTurns(agent, { policy: 'finish' });
      expect(recovered, `${length} records`).toMatchObject({ action: 'finish', turn: 'turn-a' });
      expect(['error', 'completed']).toContain(recovered?.outcome);
      expect(tools.ran).toEqual([]);
      expect(await agent.unfinished()).toEqual([]);
      const { messages } = await stateOf(sessions, 'a');
      expect(repairHistory(messages).repairs, `${length} records`).toEqual([]);
    }
  });

  it('reports the outcome of a call that may have run as unknown to the model', async () => {
    const directory = temporaryFolder();
    const records = await recordsOfTurn();
    await left(directory, records.slice(0, records.findLastIndex(({ event }) => event.type === 'tool.call') + 1), 'a');
    const { agent, sessions } = worldIn(directory);
    const [recovered] = await recoverTurns(agent, { policy: 'finish' });
    expect(recovered).toMatchObject({ outcome: 'error', reason: 'The process ended before the turn did.' });
    const { messages } = await stateOf(sessions, 'a');
    const results = messages.flatMap((message) => (message.role === 'tool' ? message.content : []));
    expect(results.find((part) => part.type === 'tool-result' && part.toolCallId === 'w')).toMatchObject({
      output: { value: expect.stringContaining('outcome is unknown') as string },
    });
  });

  it('applies the decision of ask to each turn', async () => {
    const directory = temporaryFolder();
    await left(directory, upTo(await recordsOfTurn(), 'model.request'), 'a', 'b', 'c');
    const { agent } = worldIn(directory, 'Done.');
    const answers = { a: 'leave', b: 'finish', c: 'resume' } as const;
    const recovered = await recoverTurns(agent, {
      policy: 'ask',
      ask: ({ session }) => Promise.resolve(answers[session as 'a']),
    });
    expect(recovered.map(({ session, action, outcome }) => [session, action, outcome])).toEqual([
      ['a', 'leave', undefined],
      ['b', 'finish', 'error'],
      ['c', 'resume', 'completed'],
    ]);
    expect(await agent.unfinished()).toMatchObject([{ session: 'a' }]);
  });

  it('cancels running turns when aborted, and leaves the others unfinished', async () => {
    const directory = temporaryFolder();
    await left(directory, upTo(await recordsOfTurn(), 'session.loaded'), 'a', 'b');
    const { agent, sessions } = worldIn(directory, { never: [] });
    const controller = new AbortController();
    const onEvent = ({ type, replayed }: TurnEvent): void => {
      if (type === 'model.request' && !replayed) queueMicrotask(() => controller.abort(new Error('Enough.')));
    };
    const recovered = await recoverTurns(agent, {
      policy: 'resume',
      concurrency: 1,
      onEvent,
      signal: controller.signal,
    });
    expect(recovered).toMatchObject([
      { session: 'a', action: 'resume', outcome: 'cancelled', reason: 'Enough.' },
      { session: 'b', action: 'leave', reason: 'Recovery was aborted before the turn was resumed: Enough.' },
    ]);
    expect(recovered[1]).not.toHaveProperty('outcome');
    expect(await sessions.unfinished()).toMatchObject([{ session: 'b' }]);
    expect(await recoverTurns(agent, { policy: 'resume', signal: controller.signal })).toEqual([]);
  });

  it('reports session-busy for a turn that another process resumed', async () => {
    const directory = temporaryFolder();
    await left(directory, upTo(await recordsOfTurn(), 'model.request'), 'a');
    const { agent } = worldIn(directory, 'Done.');
    const ask = async (): Promise<'resume'> => {
      await fileSessions({ directory }).open('a');
      return 'resume';
    };
    expect(await recoverTurns(agent, { policy: 'ask', ask })).toMatchObject([
      {
        outcome: 'error',
        reason: expect.stringMatching(/^The session could not be opened\. .*"a"/) as string,
        error: { code: 'session-busy' },
      },
    ]);
  });

  it.each<[string, object, RegExp]>([
    ['an unknown policy', { policy: 'retry' }, /"policy" must be .*; received "retry"/],
    [
      'an unknown option',
      { policy: 'resume', all: true },
      /unknown option "all" .* Known options: policy, ask, concurrency, onEvent, signal/,
    ],
    ['no function to ask', { policy: 'ask' }, /"ask" is required by the policy 'ask'/],
    ['no slots', { policy: 'resume', concurrency: 0 }, /"concurrency"/],
    ['half a slot', { policy: 'resume', concurrency: 1.5 }, /"concurrency"/],
    ['a signal that is not an AbortSignal', { policy: 'resume', signal: {} }, /"signal"/],
  ])('rejects %s', async (_, options, message) => {
    const { agent } = worldIn(temporaryFolder());
    await expect(recoverTurns(agent, options as RecoverTurnsOptions)).rejects.toThrow(InvalidOptionError);
    await expect(recoverTurns(agent, options as RecoverTurnsOptions)).rejects.toThrow(message);
  });

  it('ignores errors of onEvent', async () => {
    const directory = temporaryFolder();
    await left(directory, upTo(await recordsOfTurn(), 'model.response'), 'a');
    const { agent } = worldIn(directory, 'Done.');
    const onEvent = ({ type }: TurnEvent): unknown => {
      if (type === 'model.request') return Promise.reject(new Error('The view is gone.'));
      throw new Error('The view is gone.');
    };
    expect(await recoverTurns(agent, { policy: 'resume', onEvent })).toMatchObject([
      { session: 'a', outcome: 'completed' },
    ]);
  });
});

describe('finishTurn', () => {
  it('keeps a turn that has ended, and reports an unknown one', async () => {
    const { agent, sessions } = worldIn(temporaryFolder(), 'Done.');
    await reply(agent.turn({ session: 'a', input: 'Go.', id: 'turn-1' }));
    const before = await inSession(sessions, 'a', ({ journal }) => journal);
    expect(await finishTurn(sessions, 'turn-1')).toMatchObject({ outcome: 'completed' });
    expect(await inSession(sessions, 'a', ({ journal }) => journal)).toEqual(before);
    expect(await finishTurn(sessions, 'turn-9')).toMatchObject({ outcome: 'error', error: { code: 'unknown-turn' } });
  });
});
