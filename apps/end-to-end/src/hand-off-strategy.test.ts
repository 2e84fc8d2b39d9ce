import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compaction, type CompactionOptions, type Summarize, type SummarizeRequest } from '@h/compaction';
import { openProject } from '@h/continuity';
import { handOff, type HandOffOptions } from '@h/continuity/hand-off';
import {
  deny,
  harness,
  intercept,
  keep,
  memorySessions,
  reply,
  stop,
  type JournalRecord,
  type Message,
  type NewEvent,
  type SessionStore,
  type TurnEvent,
  type TurnOperator,
} from '@h/turn';
import { decodeRecord, encodeRecord } from '@h/turn/records';
import { call, failure, response, scriptedModel, scriptedTools, type ScriptStep } from '@h/turn/testing';
import { describeOperator } from '@h/turn/vitest';
import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { gitIn, ownFolder, ownRepository } from './continuity-folder.js';

const briefing = '# Goal\nMake it work: ticket-12345.\n# Next\nRun the tests.';
const orderId = '6f1c2a94-3b0e-4d57-9a41-8c2f0d7be913';
const long: readonly Message[] = [
  { role: 'user', content: 'Please fix ticket-12345.' },
  { role: 'assistant', content: `I looked around. ${'x'.repeat(3_000)}` },
  { role: 'user', content: `Continue with order ${orderId}.` },
  { role: 'assistant', content: `Done so far. ${'y'.repeat(3_000)}` },
];

type Options = Partial<HandOffOptions> & Pick<CompactionOptions, 'summarize' | 'redact' | 'isOverflow' | 'archive'>;

const project = async (): Promise<HandOffOptions['project']> => openProject({ folder: await ownFolder() });

/** Creates a compaction that only hands off, and never compacts on its own. */
const withHandOff = async ({
  summarize,
  redact,
  isOverflow,
  archive,
  ...options
}: Options = {}): Promise<TurnOperator> =>
  compaction({
    window: 1_000_000,
    strategy: () => undefined,
    summarize: summarize ?? (() => briefing),
    ...(redact && { redact }),
    ...(isOverflow && { isOverflow }),
    ...(archive && { archive }),
    maxAttempts: 1,
    lastResort: handOff({ ...options, project: options.project ?? (await project()) }),
  });

/** Creates a summarizer that records its requests. */
const recorded = (answer: () => string) => {
  const asked: SummarizeRequest[] = [];
  const summarize: Summarize = (question) => {
    asked.push(question);
    return { text: answer(), usage: { input: 10, cacheRead: 0, cacheWrite: 0, output: 5, reasoning: 0 } };
  };
  return Object.assign(summarize, { asked });
};

/** Emits the notices before the requests of the given steps. */
const announcing = (byStep: Readonly<Record<number, readonly unknown[]>>): TurnOperator =>
  intercept('announcing', () => ({
    decide: { 'model.request': (request) => [...((byStep[request.step] ?? []) as readonly NewEvent[]), request] },
  }));

const failed = (reason = 'ineffective') => ({
  type: 'compaction.failed',
  trigger: 'threshold',
  reason,
  message: 'No.',
});
const done = (tokensBefore: number, tokensAfter: number) => ({ type: 'compaction.done', tokensBefore, tokensAfter });

/** Denies the calls of the given steps, as `loopDetect` does. */
const refusing = (refused: readonly number[], by = 'loop-detect'): TurnOperator =>
  intercept('refusing', () => ({
    decide: { 'tool.call': (event) => (refused.includes(event.step) ? deny(event, 'In circles.', by) : undefined) },
  }));

interface Run {
  readonly options?: Options;
  readonly script: readonly ScriptStep[];
  readonly notices?: Readonly<Record<number, readonly unknown[]>>;
  readonly more?: readonly TurnOperator[];
  readonly metadata?: { readonly handoff: 'now' };
  readonly sessions?: ReturnType<typeof memorySessions>;
}

const run = async ({
  options,
  script,
  notices = {},
  more = [],
  metadata,
  sessions = memorySessions({ s: long }),
}: Run) => {
  const model = scriptedModel(script);
  const agent = harness({ model, tools: scriptedTools({ ls: 'a.txt' }), sessions }).pipe(
    announcing(notices),
    ...more,
    await withHandOff(options),
  );
  const events = await lastValueFrom(
    agent.turn({ session: 's', input: 'And ticket-55555?', ...(metadata && { metadata }) }).pipe(toArray()),
  );
  return { events, requests: model.requests, sessions };
};

const typesOf = (events: readonly TurnEvent[]): readonly string[] =>
  events.map(({ type }) => type).filter((type) => type.startsWith('handoff.'));
const steps = (count: number): readonly ScriptStep[] =>
  Array.from({ length: count }, (_, index) => (index === count - 1 ? 'Done.' : response(call(`c${index}`, 'ls'))));

const unwritten = openProject({ folder: '/nowhere' });
/** A project whose state folder cannot be written. */
const nowhere: HandOffOptions['project'] = {
  ...unwritten,
  state: { ...unwritten.state, exclusive: () => Promise.reject(new Error('The folder does not exist.')) },
};
describeOperator(() => compaction({ summarize: () => briefing, lastResort: handOff({ project: nowhere }) }));
describeOperator(
  () =>
    compaction({
      summarize: () => briefing,
      lastResort: handOff({ project: nowhere, isConfused: ({ step }) => step === 3, minSteps: 0 }),
    }),
  { changes: ['model.request'] },
);

describe('the fresh context', () => {
  const now = { script: ['Done.'], metadata: { handoff: 'now' } } as const;

  it('begins with the briefing and keeps the open request of the user', async () => {
    const { events, requests, sessions } = await run({
      ...now,
      options: { facts: () => ({ 'running sub-agents': 'explore (child-7)' }), archive: () => 'artifact 7f3a' },
    });
    expect(typesOf(events)).toEqual(['handoff.started', 'handoff.done']);
    const [first, ask, ...rest] = requests[0]?.messages.toArray() ?? [];
    expect(first).toMatchObject({
      role: 'user',
      metadata: { internal: true, kind: 'handoff', ask: 'Please fix ticket-12345.' },
    });
    for (const part of [
      briefing,
      `- ${orderId}`,
      'verbatim\nPlease fix ticket-12345.',
      '- running sub-agents: explore (child-7)',
      'stored as artifact 7f3a',
    ]) {
      expect(first?.content).toContain(part);
    }
    expect([ask, rest]).toEqual([{ role: 'user', content: 'And ticket-55555?' }, []]);
    expect(sessions.messages('s').slice(0, 2)).toEqual([first, ask]);
    expect(events.find(({ type }) => type === 'handoff.done')).toMatchObject({
      trigger: 'manual',
      resets: 1,
      messagesBefore: 5,
      messagesAfter: 2,
      identifiers: { dropped: 0 },
    });
  });

  it('truncates an open request of any form', async () => {
    const [text, file] = ['Long. '.repeat(5_000), { type: 'file', data: 'aGk=', mediaType: 'text/plain' } as const];
    for (const content of [text, [{ type: 'text', text } as const, file]]) {
      const sessions = memorySessions({ s: [...long, { role: 'user', content }] });
      const { requests } = await run({ ...now, sessions });
      const [, ask] = requests[0]?.messages.toArray() ?? [];
      expect(JSON.stringify(ask).length).toBeLessThan(9_000);
      expect(JSON.stringify(ask)).toContain('characters left out');
      if (Array.isArray(content)) expect(ask?.content).toContainEqual(file);
    }
  });

  it('stores the briefing in the state folder, which git ignores', async () => {
    const folder = await ownRepository();
    const { events } = await run({ ...now, options: { project: openProject({ folder }) } });
    const done = events.find((event) => event.type === 'handoff.done');
    expect(done?.path).toMatch(/^\.agent-output\/handoffs\/.*\.md$/);
    expect(await readFile(join(folder, done?.path ?? ''), 'utf8')).toContain(briefing);
    expect(gitIn(folder, 'status', '--short')).toBe('');
  });

  it('omits the briefing file if it cannot be written', async () => {
    const own = await project();
    await writeFile(own.state.path, 'A file instead of the folder.');
    const { events, requests } = await run({ ...now, options: { project: own } });
    const done = events.find((event) => event.type === 'handoff.done');
    expect([done?.resets, done?.path]).toEqual([1, undefined]);
    expect(requests[0]?.messages.at(0)?.content).toContain(briefing);
    expect(requests[0]?.messages.at(0)?.content).not.toContain('also stored');
  });

  it('removes the oldest briefings', async () => {
    const own = await project();
    const folder = own.state.at('handoffs');
    await mkdir(folder, { recursive: true });
    for (let index = 0; index < 25; index += 1) await writeFile(join(folder, `2020-${index + 10}.md`), 'old');
    await run({ ...now, options: { project: own } });
    const names = await readdir(folder);
    expect(names).toHaveLength(20);
    expect(names.filter((name) => name.startsWith('2020'))).toHaveLength(19);
  });

  it('contains the first request after several hand-offs', async () => {
    const sessions = memorySessions({ s: long });
    await run({ ...now, sessions });
    const { requests } = await run({ ...now, sessions });
    expect(requests[0]?.messages.at(0)?.content).toContain('verbatim\nPlease fix ticket-12345.');
  });

  it('preserves budgets, the state of other operators and stored values', async () => {
    const counting = intercept('counting', () => {
      let calls = 0;
      return {
        observe: { 'model.response': () => void (calls += 1) },
        decide: {
          'model.request': (request) =>
            calls >= 4
              ? stop('budget-exceeded', `${calls} calls`)
              : request.step === 1
                ? [keep('counting', 'stored'), request]
                : undefined,
        },
      };
    });
    const sessions = memorySessions({ s: long });
    const { events } = await run({
      script: steps(9),
      notices: { 2: [failed()], 3: [failed()] },
      more: [counting],
      sessions,
    });
    expect(typesOf(events)).toEqual(['handoff.started', 'handoff.done']);
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'budget-exceeded', reason: '4 calls' });
    const loaded = vi.fn();
    const agent = harness({ model: scriptedModel(['Hi.']), sessions }).pipe(
      intercept('look', () => ({ observe: { 'session.loaded': ({ state }) => void loaded(state['counting']) } })),
    );
    await reply(agent.turn({ session: 's', input: 'Hi' }));
    expect(loaded).toHaveBeenCalledWith('stored');
  });
});

describe('a hand-off is due', () => {
  it.each<readonly [string, Readonly<Record<number, readonly unknown[]>>, Partial<HandOffOptions>, readonly string[]]>([
    ['after two compactions that failed', { 2: [failed()], 4: [failed()] }, {}, ['compaction']],
    [
      'after the number of compactions that the option sets',
      { 2: [failed()] },
      { maxFailedCompactions: 1 },
      ['compaction'],
    ],
    ['not after one, however many of its strategies failed', { 2: [failed(), failed(), failed()] }, {}, []],
    ['after compactions that saved less than a tenth', { 2: [done(100, 95)], 3: [done(100, 91)] }, {}, ['compaction']],
    ['not after compactions that saved enough', { 2: [done(100, 85)], 3: [done(100, 85)] }, {}, []],
    [
      'after compactions that saved less than the option requires',
      { 2: [done(100, 85)], 3: [done(100, 85)] },
      { leastSaving: 0.2 },
      ['compaction'],
    ],
    [
      'not if a compaction in between was effective',
      { 2: [failed()], 3: [failed(), done(100, 40)], 4: [failed()] },
      {},
      [],
    ],
    [
      'not after failures that a fresh context cannot resolve',
      { 2: [failed('overhead')], 3: [failed('cancelled')], 4: [failed('archive-failed')] },
      {},
      [],
    ],
    [
      'not after warnings about loops',
      {
        2: [{ type: 'loop.warning', level: 'warn' }],
        3: [{ type: 'loop.warning', level: 'warn' }],
        4: [{ type: 'loop.warning', level: 'warn' }],
      },
      { maxLoopBlocks: 1 },
      [],
    ],
    ['if the option reports that the model is confused', {}, { isConfused: ({ step }) => step === 3 }, ['confused']],
    [
      'not if the option throws',
      {},
      {
        isConfused: () => {
          throw new Error('No.');
        },
      },
      [],
    ],
  ])('%s', async (_, notices, more, expected) => {
    const { events } = await run({ options: more, script: steps(6), notices });
    expect(events.flatMap((event) => (event.type === 'handoff.done' ? [event.trigger] : []))).toEqual(expected);
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'completed' });
  });

  it.each<readonly [string, readonly TurnOperator[], Partial<HandOffOptions>, readonly string[]]>([
    ['after loopDetect denied the calls of three steps', [refusing([1, 2, 4])], {}, ['loop']],
    ['after the number of steps that the option sets', [refusing([2])], { maxLoopBlocks: 1 }, ['loop']],
    ['not after two steps with several calls', [refusing([1, 2])], {}, []],
    ['not after denials of other operators', [refusing([1, 2, 3, 4], 'hooks')], { maxLoopBlocks: 1 }, []],
  ])('%s', async (_, more, option, expected) => {
    const script = Array.from({ length: 6 }, (__, index): ScriptStep =>
      index === 5 ? 'Done.' : response(call(`a${index}`, 'ls'), call(`b${index}`, 'ls')),
    );
    const { events } = await run({ options: option, script, more });
    expect(events.flatMap((event) => (event.type === 'handoff.done' ? [event.trigger] : []))).toEqual(expected);
  });

  it('not before the last step, which sums up the turn without tools', async () => {
    const last = intercept('last', () => ({
      decide: {
        'model.request': (request) =>
          request.step === 3 ? { ...request, settings: { toolChoice: 'none' } } : undefined,
      },
    }));
    const { events } = await run({
      options: { isConfused: ({ step }) => step === 3, maxLoopBlocks: 2 },
      script: steps(3),
      more: [last, refusing([1, 2])],
    });
    expect(typesOf(events)).toEqual([]);
  });

  it('after failures in several turns', async () => {
    const sessions = memorySessions({ s: long });
    const next = { script: steps(2), notices: { 1: [failed()] }, sessions };
    expect(typesOf((await run(next)).events)).toEqual([]);
    expect(typesOf((await run(next)).events)).toEqual(['handoff.started', 'handoff.done']);
  });

  it('in the next turn if this one was ended as a loop', async () => {
    const sessions = memorySessions({ s: long });
    const options: Options = { project: await project() };
    const looping = intercept('looping', () => ({
      decide: { 'model.request': () => stop('loop-detected', 'In circles.') },
    }));
    const { events } = await run({ options, script: [], more: [looping], sessions });
    expect(events.at(-1)).toMatchObject({ outcome: 'loop-detected' });
    const next = await run({ options, script: ['Afresh.'], sessions });
    expect(next.events.find(({ type }) => type === 'handoff.done')).toMatchObject({ trigger: 'loop', resets: 1 });
    expect(typesOf((await run({ options, script: ['On.'], sessions })).events)).toEqual([]);
  });

  it('after a request was too long, which is then retried', async () => {
    const tooLong: ScriptStep = ({ messages }) =>
      messages.length > 2 ? { error: failure('The prompt is too long') } : 'Done.';
    const { events, requests } = await run({ options: {}, script: [tooLong, tooLong] });
    expect(requests.map(({ messages }) => messages.length)).toEqual([5, 2]);
    expect(events.filter(({ type }) => type === 'model.error')).toMatchObject([{ retrying: true }]);
    expect(events.at(-1)).toMatchObject({ outcome: 'completed' });
    const other = await run({ options: { isOverflow: () => false }, script: [tooLong] });
    expect(typesOf(other.events)).toEqual([]);
    expect(other.events.at(-1)).toMatchObject({ outcome: 'error' });
  });
});

describe('hand-offs', () => {
  const stubborn: ScriptStep = { error: failure('The prompt is too long') };

  it('refuses a second one right after the first', async () => {
    const { events, requests } = await run({ options: {}, script: [stubborn, stubborn] });
    expect(requests).toHaveLength(2);
    expect(typesOf(events)).toEqual(['handoff.started', 'handoff.done', 'handoff.refused']);
    expect(events.at(-1)).toMatchObject({ outcome: 'error' });
  });

  it('requires N model calls between two of them', async () => {
    const confused = { isConfused: () => true };
    const { events } = await run({
      options: { ...confused, minSteps: 2, maxResets: 9 },
      script: steps(6),
    });
    expect(events.flatMap((event) => (event.type === 'handoff.done' ? [event.resets] : []))).toEqual([1, 2, 3]);
    expect(typesOf(events).filter((type) => type === 'handoff.refused')).toHaveLength(1);
  });

  it('limits their number over all turns of a session', async () => {
    const sessions = memorySessions({ s: long });
    const options = { maxResets: 2 };
    const made: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      const { events } = await run({ options, script: ['Done.'], metadata: { handoff: 'now' }, sessions });
      made.push(events.filter(({ type }) => type === 'handoff.done').length);
      expect(events.at(-1)).toMatchObject({ outcome: 'completed' });
    }
    expect(made).toEqual([1, 1, 0, 0]);
  });

  it('leaves the history unchanged if no briefing can be written', async () => {
    const summarize = recorded(() => '');
    const { events, requests, sessions } = await run({
      options: { summarize },
      script: steps(4),
      metadata: { handoff: 'now' },
    });
    expect(typesOf(events)).toEqual(['handoff.started', 'handoff.failed', 'handoff.refused']);
    expect(requests[0]?.messages.length).toBe(5);
    expect(sessions.messages('s').slice(0, 4)).toEqual(long);
    expect(summarize.asked).toHaveLength(1);
  });

  it('limits the number of failed briefings in a turn', async () => {
    const summarize = recorded(() => '');
    const { events } = await run({
      options: { summarize, isConfused: () => true, minSteps: 1, maxResets: 2 },
      script: steps(12),
    });
    expect(summarize.asked).toHaveLength(2);
    expect(typesOf(events).filter((type) => type !== 'handoff.started')).toEqual([
      'handoff.failed',
      'handoff.failed',
      'handoff.refused',
    ]);
    expect(events.find(({ type }) => type === 'handoff.refused')).toMatchObject({
      reason: 'No briefing could be written 2 times in this turn.',
    });
  });

  it('leaves the history unchanged if the briefing is not shorter', async () => {
    const { events } = await run({
      options: { summarize: () => 'z'.repeat(9_000), maxFailedCompactions: 1 },
      script: steps(2),
      notices: { 1: [failed()] },
    });
    expect(events.find(({ type }) => type === 'handoff.failed')).toMatchObject({
      error: { message: 'The briefing is not shorter than the history.' },
    });
  });

  it('aborts the briefing after the time limit', async () => {
    vi.useFakeTimers();
    try {
      const signals: AbortSignal[] = [];
      const summarize: Summarize = (_, { signal }) => {
        signals.push(signal);
        return new Promise(() => undefined);
      };
      const agent = harness({ model: scriptedModel(['Done.']), sessions: memorySessions({ s: long }) }).pipe(
        await withHandOff({ project: nowhere, summarize, timeoutMs: 1_000 }),
      );
      const events = lastValueFrom(
        agent.turn({ session: 's', input: 'Go.', metadata: { handoff: 'now' } }).pipe(toArray()),
      );
      await vi.advanceTimersByTimeAsync(1_000);
      expect(typesOf(await events)).toEqual(['handoff.started', 'handoff.failed']);
      expect(signals[0]?.aborted).toBe(true);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('aborts the briefing when the subscriber leaves', async () => {
    let left: AbortSignal | undefined;
    const summarize: Summarize = (_, { signal }) => {
      left = signal;
      return new Promise(() => undefined);
    };
    const agent = harness({ model: scriptedModel(['Done.']) }).pipe(await withHandOff({ summarize }));
    const running = agent.turn({ session: 's', input: 'Go.', metadata: { handoff: 'now' } }).subscribe();
    await vi.waitUntil(() => left !== undefined, { timeout: 5_000 });
    running.unsubscribe();
    expect(left?.aborted).toBe(true);
  });

  it.each<readonly [string, () => unknown]>([
    ['cannot be read', () => Promise.reject(new Error('No.'))],
    ['never arrive', () => new Promise(() => undefined)],
    ['are no strings', () => ({ budget: 5, agents: null, tasks: { length: 9_000 }, left: undefined })],
    ['are not an object', () => 'no facts'],
    [
      'throw when they are read',
      () => ({
        get budget(): string {
          throw new Error('A getter.');
        },
      }),
    ],
    [
      'are a revoked proxy',
      () => {
        const { proxy, revoke } = Proxy.revocable({}, {});
        revoke();
        return proxy;
      },
    ],
  ])('omits the project facts if they %s', async (_, facts) => {
    const { events, requests } = await run({
      options: { facts: facts as NonNullable<HandOffOptions['facts']>, timeoutMs: 400 },
      script: ['Done.'],
      metadata: { handoff: 'now' },
    });
    expect(typesOf(events)).toEqual(['handoff.started', 'handoff.done']);
    expect(JSON.stringify(requests)).not.toContain('Facts from the harness');
  });

  it('passes the options about length and redaction to the summarizers', async () => {
    const summarize = recorded(() => briefing);
    await run({
      options: { summarize, maxBriefingTokens: 321, redact: (text) => text.replaceAll('Please', '[x]') },
      script: ['Done.'],
      metadata: { handoff: 'now' },
    });
    expect(summarize.asked.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual(summarize.asked.map(() => 321));
    expect(summarize.asked[0]?.text).toContain('[x] fix ticket-12345');
    expect(summarize.asked[0]?.instructions).toContain('If the agent was going in circles');
  });
});

describe('a turn that is resumed', () => {
  it.each<readonly [string, Readonly<Record<number, readonly unknown[]>>, Partial<HandOffOptions>]>([
    ['compactions that failed', { 2: [failed()], 3: [failed()] }, {}],
    ['a model that stays confused', {}, { isConfused: () => true, minSteps: 50 }],
  ])('hands off once from every record, after %s', async (_, notices, more) => {
    const journal: JournalRecord[] = [];
    const storeOf = (records: JournalRecord[]): SessionStore => ({
      open: () => ({
        snapshot: { messages: long, state: {} },
        journal: [...records],
        append: (record) => void records.push(decodeRecord(encodeRecord(record))),
        close: () => undefined,
      }),
      locate: () => 's',
      unfinished: () => [],
    });
    const agentWith = async (records: JournalRecord[]) =>
      harness({
        model: scriptedModel([...steps(4), 'Done.']),
        tools: scriptedTools({ ls: 'a.txt' }, { ls: { effect: 'read-only' } }),
        sessions: storeOf(records),
      }).pipe(announcing(notices), await withHandOff({ ...more, project: nowhere }));
    await reply((await agentWith(journal)).turn({ session: 's', input: 'Go.', id: 't' }));
    expect(journal.filter(({ event }) => event.type === 'history.replace')).toHaveLength(1);
    for (let length = 1; length < journal.length; length += 1) {
      const records = journal.slice(0, length);
      const { outcome } = await reply((await agentWith(records)).resume('t'));
      expect(outcome, `after ${length} records`).toBe('completed');
      expect(
        records.filter(({ event }) => event.type === 'history.replace').length,
        `after ${length} records`,
      ).toBeLessThanOrEqual(1);
    }
  });
});

describe('options', () => {
  it('are named in errors', async () => {
    const options = { project: await project() };
    expect(() => handOff({} as never)).toThrow('handOff(): "project" is required');
    expect(() => handOff({ ...options, maxReset: 1 } as never)).toThrow('unknown option "maxReset"');
    expect(() => handOff({ ...options, leastSaving: 2 })).toThrow('"leastSaving"');
    expect(() => compaction({ lastResort: handOff(options) })).toThrow('needs the option "summarize"');
    const memory = { get: () => undefined, set: () => undefined };
    expect(() => compaction({ lastResort: handOff(options), summarize: () => briefing, memory })).toThrow('"memory"');
  });
});
