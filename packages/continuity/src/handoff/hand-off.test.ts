import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  decodeRecord,
  deny,
  encodeRecord,
  harness,
  intercept,
  keep,
  memorySessions,
  notice,
  reply,
  stop,
  type JournalRecord,
  type Message,
  type NewEvent,
  type SessionStore,
  type TurnEvent,
  type TurnOperator,
} from '@h/turn';
import { call, failure, response, scriptedModel, scriptedTools, user, type ScriptStep } from '@h/turn/testing';
import { describeOperator } from '@h/turn/vitest';
import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { git, repository, temporaryFolder } from '../../test/folders.js';
import { numbers, recordedSummarizer } from '../../test/summarizers.js';
import { openProject } from '../project.js';
import { handOff } from './hand-off.js';
import type { HandOffOptions } from './options.js';

const briefing = '# Goal\nMake it work. 12345\n# Next\nRun the tests.';
const long: readonly Message[] = [
  { role: 'user', content: 'Please fix ticket 12345.' },
  { role: 'assistant', content: `I looked around. ${'x'.repeat(3_000)}` },
  { role: 'user', content: 'Go on with 67890.' },
  { role: 'assistant', content: `Done so far. ${'y'.repeat(3_000)}` },
];

const optionsOf = async (options: Partial<HandOffOptions> = {}): Promise<HandOffOptions> => ({
  project: openProject({ folder: await temporaryFolder() }),
  summarize: recordedSummarizer(() => briefing),
  identifiers: numbers,
  ...options,
});

/** Says these notices before the requests of these steps, as an operator before this one would. */
const saying = (byStep: Readonly<Record<number, readonly unknown[]>>): TurnOperator =>
  intercept('saying', () => ({
    decide: { 'model.request': (request) => [...((byStep[request.step] ?? []) as readonly NewEvent[]), request] },
  }));

const failed = (reason = 'ineffective') => ({
  type: 'compaction.failed',
  trigger: 'threshold',
  reason,
  message: 'No.',
});
const done = (tokensBefore: number, tokensAfter: number) => ({ type: 'compaction.done', tokensBefore, tokensAfter });

/** Refuses the calls of these steps, as `@h/loop-detect` does. */
const refusing = (refused: readonly number[], by = 'loop-detect'): TurnOperator =>
  intercept('refusing', () => ({
    decide: { 'tool.call': (event) => (refused.includes(event.step) ? deny(event, 'In circles.', by) : undefined) },
  }));

interface Run {
  readonly options: HandOffOptions;
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
    ...more,
    saying(notices),
    handOff(options),
  );
  const events = await lastValueFrom(
    agent.turn({ session: 's', input: 'And now 55555?', ...(metadata && { metadata }) }).pipe(toArray()),
  );
  return { events, requests: model.requests, sessions };
};

const typesOf = (events: readonly TurnEvent[]): readonly string[] =>
  events.map(({ type }) => type).filter((type) => type.startsWith('handoff.'));
const steps = (count: number): readonly ScriptStep[] =>
  Array.from({ length: count }, (_, index) => (index === count - 1 ? 'Done.' : response(call(`c${index}`, 'ls'))));

const still = openProject({ folder: '/nowhere' });
describeOperator(() => handOff({ project: still, summarize: () => briefing, identifiers: numbers }));

describe('a fresh context', () => {
  it('begins with the briefing, and keeps what the user has asked for', async () => {
    const options = await optionsOf({ facts: () => ({ 'running sub-agents': 'explore (child-7)' }) });
    const { events, requests, sessions } = await run({
      options,
      script: ['Done.'],
      notices: { 1: [failed(), failed()] },
      more: [],
      metadata: { handoff: 'now' },
    });
    expect(typesOf(events)).toEqual(['handoff.started', 'handoff.done']);
    const [first, ask, ...rest] = requests[0]?.messages.toArray() ?? [];
    expect(first).toMatchObject({
      role: 'user',
      metadata: { internal: true, kind: 'handoff', ask: 'Please fix ticket 12345.' },
    });
    expect(first?.content).toContain(briefing);
    expect(first?.content).toContain('- 67890');
    expect(first?.content).toContain('word by word\nPlease fix ticket 12345.');
    expect(first?.content).toContain('- running sub-agents: explore (child-7)');
    expect([ask, rest]).toEqual([{ role: 'user', content: 'And now 55555?' }, []]);
    expect(sessions.messages('s').slice(0, 2)).toEqual([first, ask]);
    expect(events.find(({ type }) => type === 'handoff.done')).toMatchObject({
      trigger: 'manual',
      resets: 1,
      messagesBefore: 5,
      messagesAfter: 2,
      chunks: 1,
      identifiers: { found: 3, appended: 2, dropped: 0 },
    });
  });

  it('keeps an open question in its size, in whatever form it was asked', async () => {
    const [text, file] = ['Long. '.repeat(5_000), { type: 'file', data: 'aGk=', mediaType: 'text/plain' } as const];
    for (const content of [text, [{ type: 'text', text } as const, file]]) {
      const sessions = memorySessions({ s: [...long, { role: 'user', content }] });
      const { requests } = await run({
        options: await optionsOf(),
        script: ['Done.'],
        metadata: { handoff: 'now' },
        sessions,
      });
      const [, ask] = requests[0]?.messages.toArray() ?? [];
      expect(JSON.stringify(ask).length).toBeLessThan(9_000);
      expect(JSON.stringify(ask)).toContain('characters left out');
      if (Array.isArray(content)) expect(ask?.content).toContainEqual(file);
    }
  });

  it('does without the ids of calls that are gone, and takes them for no identifiers', async () => {
    const summarize = recordedSummarizer(() => briefing);
    const history: readonly Message[] = [
      { role: 'user', content: 'List it.' },
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'toolu-99999', toolName: 'ls', input: {} }] },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'toolu-99999',
            toolName: 'ls',
            output: { type: 'text', value: 'a.txt 77777' },
          },
        ],
      },
      { role: 'assistant', content: 'There is one file.' },
    ];
    const { requests } = await run({
      options: await optionsOf({ summarize }),
      script: ['Done.'],
      metadata: { handoff: 'now' },
      sessions: memorySessions({ s: history }),
    });
    expect(summarize.asked[0]?.text).toContain('[call of ls] {}');
    expect(summarize.asked[0]?.text).toContain('[result of ls] a.txt 77777');
    expect(JSON.stringify([summarize.asked, requests[0]?.messages.toArray()])).not.toContain('99999');
  });

  it('is kept in the state folder, where git does not see it', async () => {
    const folder = await repository();
    const options = await optionsOf({ project: openProject({ folder }) });
    const { events } = await run({ options, script: ['Done.'], metadata: { handoff: 'now' } });
    const told = events.find(({ type }) => type === 'handoff.done');
    const path = (told?.type === 'handoff.done' && told.path) || '';
    expect(path).toMatch(/^\.agent-output\/handoffs\/.*\.md$/);
    expect(await readFile(join(folder, path), 'utf8')).toContain(briefing);
    expect(git(folder, 'status', '--short')).toBe('');
  });

  it('comes also where the briefing cannot be kept', async () => {
    const options = await optionsOf();
    await writeFile(options.project.state.path, 'In the way.');
    const { events, requests } = await run({ options, script: ['Done.'], metadata: { handoff: 'now' } });
    const told = events.find(({ type }) => type === 'handoff.done');
    expect(told).toMatchObject({ resets: 1, messagesAfter: 2 });
    expect(told).not.toHaveProperty('path', expect.anything());
    expect(requests[0]?.messages.at(0)?.content).toContain(briefing);
    expect(requests[0]?.messages.at(0)?.content).not.toContain('also kept');
  });

  it('keeps the latest briefings only', async () => {
    const options = await optionsOf();
    const folder = options.project.state.at('handoffs');
    await mkdir(folder, { recursive: true });
    for (let index = 0; index < 25; index += 1) await writeFile(join(folder, `2020-${index + 10}.md`), 'old');
    await run({ options, script: ['Done.'], metadata: { handoff: 'now' } });
    const kept = await readdir(folder);
    expect(kept).toHaveLength(20);
    expect(kept.filter((name) => name.startsWith('2020'))).toHaveLength(19);
  });

  it('remembers the first request through several resets', async () => {
    const options = await optionsOf();
    const sessions = memorySessions({ s: long });
    await run({ options, script: ['First.'], metadata: { handoff: 'now' }, sessions });
    const { requests } = await run({ options, script: ['Second.'], metadata: { handoff: 'now' }, sessions });
    expect(requests[0]?.messages.at(0)?.content).toContain('word by word\nPlease fix ticket 12345.');
  });

  it('carries budgets, the state of other operators, and what they keep', async () => {
    const counting = intercept('counting', () => {
      let calls = 0;
      return {
        observe: { 'model.response': () => void (calls += 1) },
        decide: {
          'model.request': (request) =>
            calls >= 3
              ? stop('budget-exceeded', `${calls} calls`)
              : request.step === 1
                ? [keep('counting', 'kept'), request]
                : undefined,
        },
      };
    });
    const sessions = memorySessions({ s: long });
    const { events } = await run({
      options: await optionsOf(),
      script: steps(9),
      notices: { 2: [failed()], 3: [failed()] },
      more: [counting],
      sessions,
    });
    expect(typesOf(events)).toEqual(['handoff.started', 'handoff.done']);
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'budget-exceeded', reason: '3 calls' });
    const loaded = vi.fn();
    const agent = harness({ model: scriptedModel(['Hi.']), sessions }).pipe(
      intercept('look', () => ({ observe: { 'session.loaded': ({ state }) => void loaded(state['counting']) } })),
    );
    await reply(agent.turn({ session: 's', input: 'Hi' }));
    expect(loaded).toHaveBeenCalledWith('kept');
  });
});

describe('a reset is due', () => {
  it.each<readonly [string, Readonly<Record<number, readonly unknown[]>>, Partial<HandOffOptions>, readonly string[]]>([
    ['after two compactions that failed', { 2: [failed()], 4: [failed()] }, {}, ['compaction']],
    ['after as many as the option says', { 2: [failed()] }, { maxFailedCompactions: 1 }, ['compaction']],
    ['not after one, however many of its strategies failed', { 2: [failed(), failed(), failed()] }, {}, []],
    ['after compactions that saved next to nothing', { 2: [done(100, 95)], 3: [done(100, 91)] }, {}, ['compaction']],
    ['not after compactions that saved enough', { 2: [done(100, 85)], 3: [done(100, 85)] }, {}, []],
    [
      'by the saving that the option asks for',
      { 2: [done(100, 85)], 3: [done(100, 85)] },
      { leastSaving: 0.2 },
      ['compaction'],
    ],
    [
      'not when a compaction between has helped',
      { 2: [failed()], 3: [failed(), done(100, 40)], 4: [failed()] },
      {},
      [],
    ],
    [
      'not for failures that a fresh context would not mend',
      { 2: [failed('overhead')], 3: [failed('cancelled')], 4: [failed('archive-failed')] },
      {},
      [],
    ],
    [
      'not after warnings of loops',
      {
        2: [{ type: 'loop.warning', level: 'warn' }],
        3: [{ type: 'loop.warning', level: 'warn' }],
        4: [{ type: 'loop.warning', level: 'warn' }],
      },
      { maxLoopBlocks: 1 },
      [],
    ],
    ['when the app says that the model is confused', {}, { isConfused: ({ step }) => step === 3 }, ['confused']],
    [
      'not when the judge fails',
      {},
      {
        isConfused: () => {
          throw new Error('No.');
        },
      },
      [],
    ],
  ])('%s', async (_, notices, more, expected) => {
    const { events } = await run({ options: await optionsOf(more), script: steps(6), notices });
    expect(events.flatMap((event) => (event.type === 'handoff.done' ? [event.trigger] : []))).toEqual(expected);
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'completed' });
  });

  it.each<readonly [string, readonly TurnOperator[], Partial<HandOffOptions>, readonly string[]]>([
    ['after the calls of three steps were refused as a loop', [refusing([1, 2, 4])], {}, ['loop']],
    ['after as many as the option says', [refusing([2])], { maxLoopBlocks: 1 }, ['loop']],
    ['not after two, however many calls they had', [refusing([1, 2])], {}, []],
    ['not for calls that others have refused', [refusing([1, 2, 3, 4], 'hooks')], { maxLoopBlocks: 1 }, []],
  ])('%s', async (_, more, option, expected) => {
    const script = Array.from({ length: 6 }, (__, index): ScriptStep =>
      index === 5 ? 'Done.' : response(call(`a${index}`, 'ls'), call(`b${index}`, 'ls')),
    );
    const { events } = await run({ options: await optionsOf(option), script, more });
    expect(events.flatMap((event) => (event.type === 'handoff.done' ? [event.trigger] : []))).toEqual(expected);
  });

  it('not before the step without tools in which a turn is summed up', async () => {
    const last = intercept('last', () => ({
      decide: {
        'model.request': (request) =>
          request.step === 3 ? { ...request, settings: { toolChoice: 'none' } } : undefined,
      },
    }));
    const { events } = await run({
      options: await optionsOf({ isConfused: ({ step }) => step === 3, maxLoopBlocks: 2 }),
      script: steps(3),
      more: [last, refusing([1, 2])],
    });
    expect(typesOf(events)).toEqual([]);
  });

  it('after failures in several turns', async () => {
    const sessions = memorySessions({ s: long });
    const options = await optionsOf();
    expect(typesOf((await run({ options, script: ['Hm.'], notices: { 1: [failed()] }, sessions })).events)).toEqual([]);
    expect(typesOf((await run({ options, script: ['Hm.'], notices: { 1: [failed()] }, sessions })).events)).toEqual([
      'handoff.started',
      'handoff.done',
    ]);
  });

  it('in the next turn when this one was ended as a loop', async () => {
    const sessions = memorySessions({ s: long });
    const options = await optionsOf();
    const looping = intercept('looping', () => ({
      decide: { 'model.request': () => stop('loop-detected', 'In circles.') },
    }));
    const { events } = await run({ options, script: [], more: [looping], sessions });
    expect(events.at(-1)).toMatchObject({ outcome: 'loop-detected' });
    const next = await run({ options, script: ['Afresh.'], sessions });
    expect(next.events.find(({ type }) => type === 'handoff.done')).toMatchObject({ trigger: 'loop', resets: 1 });
    expect(typesOf((await run({ options, script: ['On.'], sessions })).events)).toEqual([]);
  });

  it('when a request was too long, which is then made again', async () => {
    const tooLong: ScriptStep = ({ messages }) =>
      messages.length > 2 ? { error: failure('The prompt is too long') } : 'Done.';
    const { events, requests } = await run({ options: await optionsOf(), script: [tooLong, tooLong] });
    expect(requests.map(({ messages }) => messages.length)).toEqual([5, 2]);
    expect(events.filter(({ type }) => type === 'model.error')).toMatchObject([{ retrying: true }]);
    expect(events.at(-1)).toMatchObject({ outcome: 'completed' });
    const other = await run({ options: await optionsOf({ isOverflow: () => false }), script: [tooLong] });
    expect(typesOf(other.events)).toEqual([]);
    expect(other.events.at(-1)).toMatchObject({ outcome: 'error' });
  });
});

describe('resets', () => {
  const stubborn: ScriptStep = { error: failure('The prompt is too long') };

  it('do not follow each other: one that did not help is the last for a while', async () => {
    const { events, requests } = await run({ options: await optionsOf(), script: [stubborn, stubborn] });
    expect(requests).toHaveLength(2);
    expect(typesOf(events)).toEqual(['handoff.started', 'handoff.done', 'handoff.refused']);
    expect(events.at(-1)).toMatchObject({ outcome: 'error' });
  });

  it('need as many steps between them as the option says', async () => {
    const confused = { isConfused: () => true };
    const { events } = await run({
      options: await optionsOf({ ...confused, minSteps: 2, maxResets: 9 }),
      script: steps(6),
    });
    expect(events.flatMap((event) => (event.type === 'handoff.done' ? [event.resets] : []))).toEqual([1, 2, 3]);
    expect(typesOf(events).filter((type) => type === 'handoff.refused')).toHaveLength(1);
  });

  it('are capped over all turns of a session', async () => {
    const sessions = memorySessions({ s: long });
    const options = await optionsOf({ maxResets: 2 });
    const made: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      const { events } = await run({ options, script: ['Done.'], metadata: { handoff: 'now' }, sessions });
      made.push(events.filter(({ type }) => type === 'handoff.done').length);
      expect(events.at(-1)).toMatchObject({ outcome: 'completed' });
    }
    expect(made).toEqual([1, 1, 0, 0]);
  });

  it('leave the history as it is when no briefing can be written', async () => {
    const summarize = recordedSummarizer(() => '');
    const { events, requests, sessions } = await run({
      options: await optionsOf({ summarize }),
      script: steps(4),
      metadata: { handoff: 'now' },
    });
    expect(typesOf(events)).toEqual(['handoff.started', 'handoff.failed', 'handoff.refused']);
    expect(requests[0]?.messages.length).toBe(5);
    expect(sessions.messages('s').slice(0, 4)).toEqual(long);
    expect(summarize.asked).toHaveLength(1);
  });

  it('are not tried for ever where no briefing can be written', async () => {
    const summarize = recordedSummarizer(() => '');
    const { events } = await run({
      options: await optionsOf({ summarize, isConfused: () => true, minSteps: 1, maxResets: 2 }),
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

  it('leave it as it is when the briefing would be no shorter', async () => {
    const { events } = await run({
      options: await optionsOf({ summarize: () => 'z'.repeat(9_000), maxFailedCompactions: 1 }),
      script: ['Done.'],
      notices: { 1: [failed()] },
    });
    expect(events.find(({ type }) => type === 'handoff.failed')).toMatchObject({
      error: { message: 'The briefing is no shorter than the history.' },
    });
  });

  it('do not hold a turn for longer than they may', async () => {
    vi.useFakeTimers();
    try {
      const signals: AbortSignal[] = [];
      const summarize: HandOffOptions['summarize'] = (_, { signal }) => {
        signals.push(signal);
        return new Promise(() => undefined);
      };
      const agent = harness({ model: scriptedModel(['Done.']), sessions: memorySessions({ s: long }) }).pipe(
        handOff({ project: still, summarize, identifiers: numbers, timeoutMs: 1_000 }),
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

  it('are given up when the turn is left', async () => {
    let left: AbortSignal | undefined;
    const summarize: HandOffOptions['summarize'] = (_, { signal }) => {
      left = signal;
      return new Promise(() => undefined);
    };
    const agent = harness({ model: scriptedModel(['Done.']) }).pipe(handOff(await optionsOf({ summarize })));
    const running = agent.turn({ session: 's', input: 'Go.', metadata: { handoff: 'now' } }).subscribe();
    await vi.waitUntil(() => left !== undefined, { timeout: 5_000 });
    running.unsubscribe();
    expect(left?.aborted).toBe(true);
  });

  it('use facts where they come, and live without', async () => {
    const facts = () => Promise.reject(new Error('No.'));
    const { events } = await run({
      options: await optionsOf({ facts }),
      script: ['Done.'],
      metadata: { handoff: 'now' },
    });
    expect(typesOf(events)).toEqual(['handoff.started', 'handoff.done']);
  });

  it('are cut to the size that the options allow', async () => {
    const summarize = recordedSummarizer(() => briefing);
    const { events } = await run({
      options: await optionsOf({
        summarize,
        chunkChars: 2_000,
        maxBriefingTokens: 321,
        redact: (text) => text.replaceAll('ticket', '[x]'),
      }),
      script: ['Done.'],
      metadata: { handoff: 'now' },
    });
    expect(events.find(({ type }) => type === 'handoff.done')).toMatchObject({ chunks: expect.any(Number) as unknown });
    expect(summarize.asked.filter(({ purpose }) => purpose === 'summarize').length).toBeGreaterThan(1);
    expect(summarize.asked.every(({ maxOutputTokens }) => maxOutputTokens === 321)).toBe(true);
    expect(summarize.asked[0]?.text).toContain('fix [x] 12345');
  });
});

describe('a turn that is resumed', () => {
  it.each<readonly [string, Readonly<Record<number, readonly unknown[]>>, Partial<HandOffOptions>]>([
    ['compactions that failed', { 2: [failed()], 3: [failed()] }, {}],
    ['what a judge says, again and again', {}, { isConfused: () => true, minSteps: 50 }],
  ])('makes each reset once, from every record, after %s', async (_, notices, more) => {
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
    const options = await optionsOf(more);
    const agentWith = (records: JournalRecord[]) =>
      harness({
        model: scriptedModel([...steps(4), 'Done.']),
        tools: scriptedTools({ ls: 'a.txt' }, { ls: { effect: 'read-only' } }),
        sessions: storeOf(records),
      }).pipe(saying(notices), handOff(options));
    await reply(agentWith(journal).turn({ session: 's', input: 'Go.', id: 't' }));
    expect(journal.filter(({ event }) => event.type === 'history.replace')).toHaveLength(1);
    for (let length = 1; length < journal.length; length += 1) {
      const records = journal.slice(0, length);
      const { outcome } = await reply(agentWith(records).resume('t'));
      expect(outcome, `after ${length} records`).toBe('completed');
      expect(
        records.filter(({ event }) => event.type === 'history.replace').length,
        `after ${length} records`,
      ).toBeLessThanOrEqual(1);
    }
  });
});

describe('options', () => {
  it('are named when they are wrong', async () => {
    const options = await optionsOf();
    expect(() => handOff({ ...options, summarize: undefined } as never)).toThrow('handOff(): "summarize" is required');
    expect(() => handOff({ ...options, maxReset: 1 } as never)).toThrow('unknown option "maxReset"');
    expect(() => handOff({ ...options, leastSaving: 2 })).toThrow('"leastSaving"');
    expect(() => handOff({ ...options, chunkChars: 5 })).toThrow('"chunkChars"');
    expect(notice('handoff.refused', { trigger: 'loop', reason: user('x').role }).type).toBe('handoff.refused');
  });
});
