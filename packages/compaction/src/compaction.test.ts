import { harness, memorySessions, repairHistory, reply, textOf, type Message, type ModelRequest } from '@h/turn';
import { call, failure, response, scriptedModel, user } from '@h/turn/testing';
import { describeOperator } from '@h/turn/vitest';
import { describe, expect, it, vi } from 'vitest';
import { conversation } from '../test/conversations.js';
import { paraphrasing, recorded } from '../test/summarizers.js';
import { runTurn } from '../test/turns.js';
import { compaction } from './compaction.js';
import { createTokenCounter } from './counting/token-counter.js';
import type { CompactionOptions } from './options.js';

const { messages: long, identifiers, firstAsk } = conversation({ files: 40, isOpen: false });
const counter = createTokenCounter();
const size = counter.messages(long);
const report = (): string => 'The report.';
/** A window in which the long history is over the threshold, but not over the edge. */
const options: CompactionOptions = { window: size / 0.8, reserve: 0, summarize: report, maxCorrections: 0 };
const fitting = { window: size * 2, reserve: 0, summarize: report };
const tokensOf = ({ messages }: Pick<ModelRequest, 'messages'>): number => counter.messages(messages);
const isSummary = ({ metadata }: Message): boolean => metadata?.kind === 'summary';

const changes = [
  'compaction.started',
  'compaction.done',
  'compaction.failed',
  'history.replace',
  'model.request',
  'model.response',
  'session.state',
];
describeOperator(() => compaction(), { changes });
describeOperator(() => compaction({ window: 60, reserve: 10, summarize: report }), { changes });

describe('a request', () => {
  it('passes unchanged if it fits', async () => {
    const { of, model, history } = await runTurn(fitting, { history: long });
    expect(of('compaction.started')).toEqual([]);
    expect(of('session.state')).toEqual([]);
    expect([...(model.requests[0]?.messages ?? [])]).toEqual([...long, user('Continue, please.')]);
    expect(history).toHaveLength(long.length + 2);
  });

  it('waits for the compaction if it is over the threshold, and has the new history', async () => {
    const { of, model, history } = await runTurn(options, { history: long });
    const [request] = model.requests as [ModelRequest];
    expect(tokensOf(request)).toBeLessThan(size / 2);
    expect(isSummary(request.messages.at(0) as Message)).toBe(true);
    expect(request.messages.at(-1)).toEqual(user('Continue, please.'));
    expect(repairHistory(request.messages).repairs).toEqual([]);
    const [replaced] = of('history.replace');
    expect(replaced).toMatchObject({ origin: 'compaction', annotations: { compaction: { trigger: 'threshold' } } });
    expect([...(replaced?.messages ?? [])]).toEqual([...request.messages]);
    expect(history).toEqual([...request.messages, { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] }]);
  });

  it('reports when a compaction begins and what it saved', async () => {
    const { of, events } = await runTurn(options, { history: long });
    expect(of('compaction.started')).toMatchObject([{ trigger: 'threshold', limit: Math.floor((size / 0.8) * 0.7) }]);
    const [done] = of('compaction.done');
    expect(done).toMatchObject({ trigger: 'threshold', strategies: ['summarize'], messagesBefore: long.length + 1 });
    expect(done?.tokensBefore).toBeGreaterThan(size);
    expect(done?.tokensAfter).toBeLessThan(size / 2);
    expect(done?.identifiers?.found).toBeGreaterThan(50);
    expect(done?.durationMs).toBeGreaterThanOrEqual(0);
    const types = events.map(({ type }) => type);
    expect(types.indexOf('compaction.started')).toBeLessThan(types.indexOf('history.replace'));
    expect(types.indexOf('history.replace')).toBeLessThan(types.indexOf('model.request'));
  });

  it('is compacted above `threshold` of the window without the reserve', async () => {
    const compacts = async (changes: CompactionOptions, settings = {}): Promise<boolean> => {
      const { of } = await runTurn({ ...options, ...changes }, { history: long, settings });
      return of('compaction.done').length > 0;
    };
    expect(await compacts({ window: size * 1.2, threshold: 0.9 })).toBe(false);
    expect(await compacts({ window: size * 1.2, threshold: 0.8 })).toBe(true);
    expect(await compacts({ window: size * 1.2, threshold: 0.9, reserve: size * 0.2 })).toBe(true);
    expect(
      await compacts(
        { window: size * 1.6, threshold: 0.7, reserve: undefined },
        { maxOutputTokens: Math.round(size * 0.5) },
      ),
    ).toBe(true);
    expect(await compacts({ window: size * 1.6, threshold: 0.7 })).toBe(false);
    expect(await compacts({ window: () => size * 1.2 })).toBe(true);
    expect(await compacts({ window: () => undefined })).toBe(size > (128_000 - 16_384) * 0.7);
  });

  it('counts system blocks, tools, images and the tail', async () => {
    const compacts = async (more: object, history = long): Promise<boolean> => {
      const { of } = await runTurn({ ...options, window: size * 1.5 }, { history, ...more });
      return of('compaction.done').length > 0;
    };
    expect(await compacts({})).toBe(false);
    expect(await compacts({ system: 'word '.repeat(size * 0.1) })).toBe(true);
    const images: readonly Message[] = Array.from({ length: 10 }, () => ({
      role: 'user',
      content: [{ type: 'image', image: new Uint8Array(9) }],
    }));
    expect(await compacts({}, [...images, ...long])).toBe(true);
    const definitions = [{ name: 'ls', description: 'word '.repeat(size * 0.1), inputSchema: {} }];
    expect(await compacts({ tools: { definitions: () => definitions, run: () => [] } })).toBe(true);
  });

  it('keeps the newest messages up to protectTokens', async () => {
    const tail = async (protectTokens?: number): Promise<number> => {
      const { model } = await runTurn({ ...options, protectTokens }, { history: long });
      return tokensOf(model.requests[0] as ModelRequest);
    };
    expect(await tail(size * 0.05)).toBeLessThan((await tail(size * 0.2)) - size * 0.1);
    expect(await tail(1e9)).toBeLessThan(size * 0.6);
  });

  it('is compacted even if a small window cannot hold it', async () => {
    const { of, model } = await runTurn({ ...options, window: 8_000, reserve: undefined }, { history: long });
    expect(of('compaction.done')).toHaveLength(1);
    expect(tokensOf(model.requests[0] as ModelRequest)).toBeLessThan(6_000);
  });
});

describe('over many turns', () => {
  it('compacts rarely, never in two steps in a row, and keeps the transcript valid', async () => {
    const sessions = memorySessions();
    const summarize = recorded(paraphrasing);
    let compactions = 0;
    for (let turn = 0; turn < 12; turn += 1) {
      const script = [
        ...Array.from({ length: 4 }, (_, index) => response(call(`${turn}-${index}`, 'big'))),
        `Done with ${turn} of 12.`,
      ];
      const { of } = await runTurn(
        { window: 90_000, reserve: 0, summarize, maxCorrections: 0 },
        { sessions, script, turn: { input: `Task ${turn}` } },
      );
      const done = of('compaction.done').length;
      expect(done).toBeLessThanOrEqual(2);
      compactions += done;
      expect(repairHistory(sessions.messages('alice')).repairs).toEqual([]);
    }
    expect(compactions).toBeGreaterThan(3);
    expect(sessions.messages('alice').filter(isSummary)).toHaveLength(1);
    expect(textOf(sessions.messages('alice')[0] as Message)).toContain('Task 0');
  });

  it('requests begin with the same bytes, between compactions', async () => {
    const sessions = memorySessions({ alice: long });
    const bytes: string[] = [];
    for (let turn = 0; turn < 50; turn += 1) {
      const { model } = await runTurn(options, {
        sessions,
        script: [`Answer ${turn}.`],
        turn: { input: `Question ${turn}` },
      });
      bytes.push(JSON.stringify(model.requests[0]?.messages).slice(0, -1));
    }
    for (const [turn, sent] of bytes.entries()) {
      if (turn > 0) expect(sent.startsWith(bytes[turn - 1] as string)).toBe(true);
    }
  });
});

describe('a compaction that does not work', () => {
  const broken = { ...options, summarize: () => Promise.reject(new Error('503: overloaded')), maxAttempts: 1 };

  it('leaves the history as it is, and says why', async () => {
    const { of, model, history } = await runTurn({ ...broken, strategy: 'summarize' }, { history: long });
    expect(of('history.replace')).toEqual([]);
    expect(of('compaction.failed')).toMatchObject([
      { strategy: 'summarize', reason: 'summarizer-failed', error: { message: '503: overloaded' } },
    ]);
    expect([...(model.requests[0]?.messages ?? [])]).toEqual([...long, user('Continue, please.')]);
    expect(history.slice(0, long.length)).toEqual(long);
  });

  it('gives way to the next strategy', async () => {
    const { of } = await runTurn(broken, { history: long });
    expect(of('compaction.failed')).toMatchObject([{ strategy: 'summarize' }]);
    expect(of('compaction.done')).toMatchObject([{ strategies: ['clear-tool-results'] }]);
  });

  it('does not drop messages as long as the request still fits', async () => {
    const { of } = await runTurn({ ...broken, strategy: ['summarize', 'compact'] }, { history: long });
    expect(of('compaction.done')).toEqual([]);
    const full = await runTurn(
      { ...broken, window: size / 1.2, strategy: ['summarize', 'compact'] },
      { history: long },
    );
    expect(full.of('compaction.done')).toMatchObject([{ strategies: ['compact'] }]);
  });

  it('is retried once the request has grown, not in each step or turn', async () => {
    const summarize = recorded(broken.summarize);
    const sessions = memorySessions({ alice: long });
    const stubborn = { ...broken, summarize, strategy: 'summarize' as const };
    const script = [...Array.from({ length: 6 }, (_, index) => response(call(String(index), 'ls'))), 'Done.'];
    const first = await runTurn(stubborn, { sessions, script });
    expect(first.of('compaction.failed')).toHaveLength(1);
    expect(first.of('compaction.failed')[0]?.retryAtTokens).toBeGreaterThan(size);
    const second = await runTurn(stubborn, { sessions });
    expect(second.of('compaction.failed')).toHaveLength(0);
    const third = await runTurn(stubborn, { sessions, turn: { input: 'word '.repeat(size * 0.05) } });
    expect(third.of('compaction.failed')).toHaveLength(1);
    const [before, after] = [first, third].map(({ of }) => (of('compaction.failed')[0]?.retryAtTokens ?? 0) - size);
    expect(after).toBeGreaterThan(2 * (before ?? 0));
  });

  it('is forgotten after a compaction that worked and an answer', async () => {
    const sessions = memorySessions({ alice: long });
    const failed = await runTurn({ ...broken, strategy: 'summarize' }, { sessions });
    const notesOf = ({ of }: typeof failed): unknown =>
      of('session.state').findLast(({ key }) => key === 'compaction')?.value;
    expect(notesOf(failed)).toMatchObject({ ineffective: 1 });
    const worked = await runTurn(options, { sessions, turn: { input: 'word '.repeat(size * 0.05) } });
    expect(worked.of('compaction.done')).toHaveLength(1);
    expect(notesOf(worked)).toMatchObject({ ineffective: 0, retryAt: 0 });
  });

  it('counts as one when it saves next to nothing', async () => {
    const strategy = vi.fn(({ messages }: { readonly messages: readonly Message[] }) => messages.slice(1));
    const { of } = await runTurn(
      { ...options, strategy },
      { history: long, script: [response(call('1', 'ls')), 'Done.'] },
    );
    expect(strategy).toHaveBeenCalledTimes(1);
    expect(of('history.replace')).toEqual([]);
    expect(of('compaction.failed')).toMatchObject([{ reason: 'ineffective' }]);
  });

  it('covers custom strategies that throw, grow the history or separate a call from its result', async () => {
    const fates = [
      [
        () => {
          throw new Error('No.');
        },
        'strategy-failed',
      ],
      [({ messages }: { readonly messages: readonly Message[] }) => [...messages, user('More.')], 'inflated'],
      [
        ({ messages }: { readonly messages: readonly Message[] }) => messages.filter(({ role }) => role !== 'tool'),
        'invalid-result',
      ],
      [() => undefined, 'nothing-to-compact'],
    ] as const;
    for (const [strategy, reason] of fates) {
      const { of, history } = await runTurn({ ...options, strategy }, { history: long });
      expect(of('compaction.failed')).toMatchObject([{ reason }]);
      expect(history.slice(0, long.length)).toEqual(long);
    }
  });

  it('covers a full history that could not be archived', async () => {
    const archive = (): Promise<string> => Promise.reject(new Error('The disk is full.'));
    const { of, history } = await runTurn({ ...options, archive }, { history: long });
    expect(of('compaction.failed').at(-1)).toMatchObject({ reason: 'archive-failed' });
    expect(of('history.replace')).toEqual([]);
    expect(history.slice(0, long.length)).toEqual(long);
  });
});

describe('the full history', () => {
  it('is archived before it is shortened; the summary and the notice name the place', async () => {
    const archived: (readonly Message[])[] = [];
    const archive: CompactionOptions['archive'] = ({ messages, session, turn }) => {
      expect({ session, hasTurn: turn !== '' }).toEqual({ session: 'alice', hasTurn: true });
      archived.push(messages);
      return 'artifact 7f3a';
    };
    const { of, history } = await runTurn({ ...options, archive }, { history: long });
    expect(archived).toEqual([[...long, user('Continue, please.')]]);
    expect(textOf(history[0] as Message)).toContain('artifact 7f3a');
    expect(of('compaction.done')[0]?.archive).toBe('artifact 7f3a');
  });
});

describe('after an overflow error', () => {
  const overflow = failure('prompt is too long: 210000 tokens > 200000 maximum', { status: 400 });

  it('shortens the history and retries the call', async () => {
    const { of, model, history } = await runTurn(
      { ...fitting, maxCorrections: 0 },
      { history: long, script: [{ error: overflow }, 'Done.'] },
    );
    expect(of('turn.end')[0]?.outcome).toBe('completed');
    expect(of('model.error')).toMatchObject([{ retrying: true }]);
    expect(of('compaction.done')).toMatchObject([{ trigger: 'overflow' }]);
    expect(of('model.request').map(({ step, attempt }) => [step, attempt])).toEqual([
      [1, 1],
      [1, 2],
    ]);
    expect(tokensOf(model.requests[1] as ModelRequest)).toBeLessThan(size * 0.7);
    expect([...(model.requests[1]?.messages ?? [])]).toEqual(history.slice(0, -1));
  });

  it('recovers once in a turn; the second overflow ends the turn', async () => {
    const { of, model } = await runTurn(fitting, {
      history: long,
      script: [{ error: overflow }, { error: overflow }, 'Never said.'],
    });
    expect(model.requests).toHaveLength(2);
    expect(of('turn.end')).toMatchObject([{ outcome: 'error', error: { message: overflow.message } }]);
    expect(of('compaction.started')).toHaveLength(1);
  });

  it('remembers the window that the error names', async () => {
    const sessions = memorySessions({ alice: long });
    const named = failure(
      `This model's maximum context length is ${Math.floor(size * 0.5)} tokens. However, your messages resulted in 99999999 tokens.`,
    );
    await runTurn(fitting, { sessions, script: [{ error: named }, 'Done.'] });
    const { of } = await runTurn(fitting, { sessions, turn: { input: 'word '.repeat(size * 0.4) } });
    expect(of('compaction.done')).toMatchObject([{ trigger: 'threshold' }]);
  });

  it('ignores a number that cannot be a window', async () => {
    const sessions = memorySessions({ alice: long });
    await runTurn(fitting, {
      sessions,
      script: [{ error: failure('prompt is too long: the maximum of 600 images is exceeded') }, 'Done.'],
    });
    const { of } = await runTurn(fitting, { sessions });
    expect(of('compaction.started')).toEqual([]);
  });

  it('an error that nothing can be done about stays as it is', async () => {
    const { of } = await runTurn({ ...fitting, strategy: 'summarize' }, { script: [{ error: overflow }] });
    expect(of('turn.end')).toMatchObject([{ outcome: 'error', error: { message: overflow.message } }]);
    expect(of('compaction.failed')).toMatchObject([{ trigger: 'overflow', reason: 'nothing-to-compact' }]);
  });

  it('truncates a single result that is too long', async () => {
    const script = [response(call('1', 'big')), { error: overflow }, 'Done.'];
    const { of, model } = await runTurn(fitting, { script });
    expect(of('turn.end')[0]?.outcome).toBe('completed');
    expect(of('compaction.done')).toMatchObject([{ strategies: ['shorten-results'] }]);
    expect(tokensOf(model.requests[2] as ModelRequest)).toBeLessThan(tokensOf(model.requests[1] as ModelRequest) * 0.9);
  });

  it('other errors are ignored, and the option isOverflow decides', async () => {
    const other = failure('Internal error', { status: 500 });
    expect((await runTurn(fitting, { history: long, script: [{ error: other }] })).of('compaction.started')).toEqual(
      [],
    );
    const isOverflow = ({ status }: { readonly status?: number | undefined }): boolean => status === 500;
    const { of } = await runTurn({ ...fitting, isOverflow }, { history: long, script: [{ error: other }, 'Done.'] });
    expect(of('turn.end')[0]?.outcome).toBe('completed');
  });
});

describe('a switch of models', () => {
  const window = (model: string | undefined): number => (model === 'small' ? size / 0.8 : size * 3);

  it('to one with a smaller window addresses the new model', async () => {
    const sessions = memorySessions({ alice: long });
    const summarize = recorded(report);
    const changing = { ...options, window, summarize };
    const before = await runTurn(changing, { sessions, defaultModel: 'large' });
    expect(before.of('compaction.started')).toEqual([]);
    const after = await runTurn(changing, { sessions, defaultModel: 'small' });
    expect(after.of('compaction.done')).toMatchObject([{ trigger: 'model-switch' }]);
    expect(summarize.requests[0]?.instructions).toContain('Another model continues');
    expect(textOf(after.history[0] as Message)).toContain('You are the orchestrator of this session now.');
  });

  it('to one with room enough changes nothing', async () => {
    const sessions = memorySessions({ alice: long });
    await runTurn({ ...options, window }, { sessions, defaultModel: 'large' });
    const { of } = await runTurn({ ...options, window }, { sessions, defaultModel: 'larger' });
    expect(of('compaction.started')).toEqual([]);
  });
});

describe('what is learnt of a model', () => {
  it('relates usage to the request that was sent, so that it causes no second compaction', async () => {
    const measured = (input: number) => ({ input, cacheRead: 0, cacheWrite: 0, output: 5, reasoning: 0 });
    // A provider that counts a tenth more than the estimate.
    const answer = (given: ModelRequest, step: number) => ({
      ...(step < 5 ? response(call(String(step), 'ls')) : response('Done.')),
      usage: measured(Math.round(tokensOf(given) * 1.1)),
    });
    const script = Array.from({ length: 5 }, (_, index) => (given: ModelRequest) => answer(given, index + 1));
    const { of } = await runTurn(
      { ...options, window: size * 1.5, reserve: 0 },
      {
        history: long,
        script: [(given) => answer(given, 1), ...script.slice(1)],
        turn: { input: 'word '.repeat(size * 0.03) },
      },
    );
    expect(of('turn.end')[0]?.outcome).toBe('completed');
    expect(of('compaction.done')).toHaveLength(1);
  });

  it('calibrates both methods of counting by the request after a compaction', async () => {
    const own = createTokenCounter();
    await own.load('gpt-5');
    const script = [
      (given: ModelRequest) => ({
        ...response('Hi.'),
        usage: { input: own.messages(given.messages, 'gpt-5'), cacheRead: 0, cacheWrite: 0, output: 5, reasoning: 0 },
      }),
    ];
    const { of } = await runTurn(
      { ...options, window: size, counter: own },
      { history: long, script, defaultModel: 'gpt-5' },
    );
    expect(of('compaction.done')).toHaveLength(1);
    expect(own.calibration.factor('gpt-5', 'o200k_base')).toBeCloseTo(1, 2);
    const ratio = own.messages(long, 'gpt-5') / size;
    expect(Math.abs(own.calibration.factor('gpt-5', 'estimate') - ratio)).toBeLessThan(0.15);
  });

  it('corrects the counts of the same session in later turns', async () => {
    const sessions = memorySessions({ alice: long });
    // The provider counts six tenths of what is estimated: the request is far from the threshold.
    const usage = { input: Math.floor(size * 0.6), cacheRead: 0, cacheWrite: 0, output: 5, reasoning: 0 };
    await runTurn({ ...fitting }, { sessions, script: [{ ...response('Hi.'), usage }] });
    const { of } = await runTurn({ ...options }, { sessions });
    expect(of('compaction.started')).toEqual([]);
  });
});

describe('a turn with the metadata compaction: now', () => {
  it('compacts, stores no input, and asks no model', async () => {
    const { of, model, history } = await runTurn(
      { ...fitting, protectTokens: size * 0.1 },
      { history: long, turn: { input: '/compact', metadata: { compaction: 'now' } } },
    );
    expect(model.requests).toHaveLength(0);
    expect(of('compaction.done')).toMatchObject([{ trigger: 'manual' }]);
    expect(of('turn.end')).toMatchObject([{ outcome: 'replied', steps: 0 }]);
    expect(of('turn.end')[0]?.reason).toMatch(/^The history was compacted from \d+ to \d+ tokens\.$/);
    expect(isSummary(history[0] as Message)).toBe(true);
    expect(JSON.stringify(history)).not.toContain('/compact');
    expect(counter.messages(history)).toBeLessThan(size / 2);
  });

  it('says so when there is nothing to do', async () => {
    const { of, history } = await runTurn(fitting, {
      history: [user('Hi')],
      turn: { input: '/compact', metadata: { compaction: 'now' } },
    });
    expect(of('turn.end')).toMatchObject([
      { outcome: 'replied', reason: 'The history could not be compacted and is unchanged.' },
    ]);
    expect(history).toEqual([user('Hi')]);
  });
});

describe('what hangs', () => {
  const endless = (): Promise<never> => new Promise(() => undefined);

  it.each<readonly [string, CompactionOptions, string]>([
    ['a strategy of your own', { strategy: endless }, 'timed-out'],
    ['the archive', { archive: endless, strategy: 'compact' }, 'archive-failed'],
  ])('%s is aborted in time', async (_, hanging, reason) => {
    vi.useFakeTimers();
    try {
      const running = runTurn({ ...options, window: size, timeoutMs: 5_000, ...hanging }, { history: long });
      await vi.advanceTimersByTimeAsync(5_000);
      const { of } = await running;
      expect(of('compaction.failed').at(-1)).toMatchObject({ reason });
      expect(of('history.replace')).toEqual([]);
      expect(of('turn.end')[0]?.outcome).toBe('completed');
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a turn that ends while its history is being summarized', () => {
  it('stops a summary on request at once, and stores no input', async () => {
    vi.useFakeTimers();
    try {
      const sessions = memorySessions({ alice: long });
      const signals: AbortSignal[] = [];
      const summarize: CompactionOptions['summarize'] = (_, { signal }) => {
        signals.push(signal);
        return new Promise(() => undefined);
      };
      const agent = harness({ model: scriptedModel(['Never.']), sessions }).pipe(compaction({ ...fitting, summarize }));
      const controller = new AbortController();
      const metadata = { compaction: 'now' };
      const running = reply(agent.turn({ session: 'alice', input: '/compact', metadata, signal: controller.signal }));
      await vi.advanceTimersByTimeAsync(1000);
      controller.abort();
      await vi.advanceTimersByTimeAsync(1);
      expect(await running).toMatchObject({ outcome: 'cancelled' });
      expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
      expect(sessions.messages('alice')).toEqual(long);
    } finally {
      vi.useRealTimers();
    }
  });

  it('awaits no work, leaves no timer, and keeps its history', async () => {
    vi.useFakeTimers();
    try {
      const sessions = memorySessions({ alice: long });
      const agent = harness({ model: scriptedModel(['Never.']), sessions }).pipe(
        compaction({ ...options, summarize: () => new Promise(() => undefined) }),
      );
      const controller = new AbortController();
      const running = reply(agent.turn({ session: 'alice', input: 'Hi', signal: controller.signal }));
      await vi.advanceTimersByTimeAsync(1000);
      controller.abort();
      await vi.advanceTimersByTimeAsync(10_000);
      expect((await running).outcome).toBe('cancelled');
      expect(vi.getTimerCount()).toBe(0);
      expect(sessions.messages('alice').slice(0, long.length)).toEqual(long);
    } finally {
      vi.useRealTimers();
    }
  });

  it('continues in time if the summarizer hangs', async () => {
    vi.useFakeTimers();
    try {
      const agent = harness({ model: scriptedModel(['Done.']), sessions: memorySessions({ alice: long }) }).pipe(
        compaction({ ...options, summarize: () => new Promise(() => undefined) }),
      );
      const running = reply(agent.turn({ session: 'alice', input: 'Hi' }));
      await vi.advanceTimersByTimeAsync(120_000);
      await vi.advanceTimersByTimeAsync(200_000);
      expect((await running).outcome).toBe('completed');
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('system prompt and tools that leave no room', () => {
  it('end the turn with their figures', async () => {
    const { of, model } = await runTurn({ window: 10_000, summarize: report }, { system: 'word '.repeat(20_000) });
    expect(model.requests).toHaveLength(0);
    expect(of('turn.end')).toMatchObject([{ outcome: 'error', error: { code: 'overhead' } }]);
    expect(of('turn.end')[0]?.reason).toMatch(/about \d+ tokens, and the window has 10000/);
  });

  it('do not end it if the window is not configured', async () => {
    const { of } = await runTurn({ summarize: report }, { system: 'word '.repeat(150_000) });
    expect(of('turn.end')[0]?.outcome).toBe('completed');
  });
});

describe('names', () => {
  it('survive in the session when the summarizer rewords everything', async () => {
    const { history } = await runTurn({ ...options, summarize: paraphrasing, maxCorrections: 1 }, { history: long });
    for (const name of identifiers) expect(JSON.stringify(history)).toContain(name);
    expect(textOf(history[0] as Message)).toContain(firstAsk);
  });
});
