import { priceTable } from '@h/prices';
import {
  harness,
  intercept,
  memorySessions,
  notice,
  reply,
  stop,
  type TurnError,
  type AssistantPart,
  type JournalRecord,
  type NewEvent,
  type PipelineOperator,
  type SessionStore,
  type TurnEvent,
} from '@h/turn';
import {
  call,
  event,
  failure,
  ok,
  request,
  response,
  sampleTurn,
  scriptedModel,
  scriptedTools,
  user,
} from '@h/turn/testing';
import { describeOperator, marbles } from '@h/turn/vitest';
import fc from 'fast-check';
import { concat, from, lastValueFrom, map, Observable, of, tap, toArray } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import type { ModelCalled, Noticed, Observation, RunEnded, StepDone, ToolCalled } from './observation.js';
import { observe } from './observe.js';
import type { ObserveOptions } from './options.js';
import { createOutlet } from './outlet.js';
import { hashSessionKey } from './session-key.js';
import { memorySink } from './sinks/memory.js';
import type { Sink } from './sinks/sink.js';
import { createUsageMeter } from './usage/usage-meter.js';

/** Replaces a secret in all strings of an event. */
const redacting =
  (secret: string, shown: string) =>
  <Event extends object>(event: Event): Event =>
    JSON.parse(JSON.stringify(event).replaceAll(secret, shown)) as Event;

declare module '@h/turn' {
  interface TurnEvents {
    'weather.failed': {
      readonly sky: string;
      readonly text?: string;
      readonly usage?: unknown;
      readonly session?: string;
      readonly child?: string;
    };
  }
}

/** Observations by their type. */
interface Told {
  readonly 'model.call': ModelCalled;
  readonly 'tool.call': ToolCalled;
  readonly 'step.done': StepDone;
  readonly 'weather.failed': Noticed;
  readonly 'loop.warning': Noticed;
  readonly 'compaction.done': Noticed;
}

const aNumber = expect.any(Number) as number;

const used = (input: number, output: number, cacheRead = 0) => ({
  input,
  output,
  cacheRead,
  cacheWrite: 0,
  reasoning: 0,
});
const answer = (usage: ReturnType<typeof used>, ...parts: readonly (string | AssistantPart)[]) => ({
  ...response(...parts),
  usage,
  model: 'sonnet-2',
  id: 'msg-1',
});

/** A clock that advances by one millisecond with each read. */
const ticking = () => {
  let time = 1000;
  return () => (time += 1);
};

const run = async (
  operators: readonly PipelineOperator[],
  options: ObserveOptions,
  more: Partial<Parameters<typeof harness>[0]> = {},
  input = {},
) => {
  const memory = memorySink();
  const model =
    more.model ??
    scriptedModel([
      answer(used(100, 10, 80), 'Let me look.', call('1', 'ls', { path: '.' }), call('2', 'break')),
      answer(used(200, 20), 'Done.'),
    ]);
  const tools =
    more.tools ??
    scriptedTools({
      ls: 'a.txt',
      break: () => {
        throw new Error('It broke.');
      },
    });
  const agent = harness({ model, tools, defaultModel: 'anthropic/sonnet', ...more }).pipe(
    ...operators,
    observe({ sinks: [memory], ...options }),
  );
  const result = await reply(agent.turn({ session: 'alice@whatsapp', input: 'What is here?', id: 'turn-1', ...input }));
  const all = memory.observations();
  const of = <Type extends keyof Told>(type: Type) =>
    all.filter((each) => each.type === type) as unknown as readonly Told[Type][];
  const end = all.find((each): each is RunEnded => each.type === 'run.completed' || each.type === 'run.error');
  return { result, all, of, end };
};

describe('the run event', () => {
  it('is emitted once, at the end, with every field', async () => {
    const { all, end } = await run(
      [],
      { harnessId: 'coder', costOf: priceTable({ sonnet: { input: 1, output: 10 } }), clock: ticking() },
      {},
      { trigger: 'cron', metadata: { channel: 'whatsapp', parentTurn: 'turn-0', sessionId: 'c-7' } },
    );
    expect(all.at(-1)).toBe(end);
    expect(all.filter(({ type }) => type.startsWith('run.'))).toHaveLength(2);
    expect(end).toEqual({
      type: 'run.completed',
      runId: 'turn-1',
      seq: all.length - 1,
      at: aNumber,
      subsystem: 'run',
      level: 'info',
      sessionId: 'c-7',
      sessionKey: hashSessionKey('alice@whatsapp'),
      parentRunId: 'turn-0',
      harnessId: 'coder',
      trigger: 'cron',
      channel: 'whatsapp',
      provider: 'anthropic',
      model: 'sonnet',
      queueWaitMs: aNumber,
      durationMs: aNumber,
      outcome: 'completed',
      steps: 2,
      modelCalls: 2,
      failedModelCalls: 0,
      usage: used(300, 30, 80),
      cacheHitRate: 80 / 300,
      cost: expect.closeTo(0.0006, 10) as number,
      toolCalls: 2,
      toolErrors: 1,
      compactionTriggered: false,
      fallbackUsed: false,
      deltas: aNumber,
      notices: {},
    });
    expect(end?.deltas).toBeGreaterThan(3);
  });

  it('measures its duration with the monotonic clock', async () => {
    let ms = 0;
    const scheduler = {
      now: () => 1_000_000 - (ms += 50),
      schedule: () => {
        throw new Error('No timers here.');
      },
    };
    const { end } = await run([], { clock: ticking() }, { scheduler });
    expect(end?.durationMs).toBeGreaterThan(3);
    expect(end?.durationMs).toBeLessThan(100);
  });

  it('contains the credential, the error code and the attempted recovery', async () => {
    const model = scriptedModel([
      { error: failure('Overloaded', { status: 529, code: 'overloaded' }) },
      { error: failure('Invalid key sk-123', { code: 'auth' }) },
    ]);
    const retry = intercept('retry', () => {
      let asked: Extract<TurnEvent, { type: 'model.request' }> | undefined;
      return {
        observe: { 'model.request': (each) => void (asked = each) },
        decide: {
          'model.error': (each) =>
            each.attempt === 1 && asked
              ? [
                  { ...each, retrying: true },
                  { ...asked, attempt: 2, credential: 'key-b' },
                ]
              : undefined,
        },
      };
    });
    const { end, of } = await run([retry], { redact: redacting('sk-123', '[key]') }, { model });
    expect(end).toMatchObject({
      type: 'run.error',
      level: 'error',
      outcome: 'error',
      errorCode: 'auth',
      error: { message: 'Invalid key [key]' },
      credentialProfileId: 'key-b',
      recoveryAction: 'rotate',
      fallbackUsed: false,
      modelCalls: 2,
      failedModelCalls: 2,
    });
    expect(of('model.call')).toMatchObject([
      { attempt: 1, level: 'warn', retrying: true, error: { code: 'overloaded', status: 529 } },
      { attempt: 2, level: 'warn', credentialProfileId: 'key-b', error: { code: 'auth' } },
    ]);
  });

  it('detects a fallback from the requested and the answering model', async () => {
    const model = scriptedModel([{ error: failure('Overloaded', { status: 529 }) }, 'Hello.']);
    const fallback = intercept('fallback', () => {
      let asked: Extract<TurnEvent, { type: 'model.request' }> | undefined;
      return {
        observe: { 'model.request': (each) => void (asked = each) },
        decide: {
          'model.error': (each) =>
            asked
              ? [
                  { ...each, retrying: true },
                  { ...asked, attempt: each.attempt + 1, model: 'openai/gpt' },
                ]
              : undefined,
        },
      };
    });
    const { end, of } = await run([fallback], {}, { model });
    expect(end).toMatchObject({
      type: 'run.completed',
      recoveryAction: 'fallback',
      fallbackUsed: true,
      provider: 'openai',
      model: 'gpt',
    });
    expect(of('step.done')).toMatchObject([{ step: 1, attempts: 2 }]);
  });

  it('reports a stream that stops without turn.end as cancelled', () => {
    const memory = memorySink();
    const [start, loaded, input] = sampleTurn();
    of(...[start, loaded, input].filter((each) => each !== undefined))
      .pipe(observe({ sinks: [memory] }))
      .subscribe();
    expect(memory.observations().at(-1)).toMatchObject({
      type: 'run.completed',
      outcome: 'cancelled',
      reason: expect.stringContaining('without turn.end') as string,
    });
  });

  it('contains the waiting time of the turn', () => {
    marbles(({ turn, expectObservable, flush }) => {
      const memory = memorySink();
      const events = {
        s: event('turn.start', { session: 's', input: [user('Hi')], trigger: 'user' }),
        o: event('turn.end', { outcome: 'completed', steps: 0, usage: used(0, 0) }),
      };
      const waiting = turn('70ms s o|', events).pipe(observe({ sinks: [memory] }));
      expectObservable(waiting).toBe('70ms s o|', events);
      flush();
      expect(memory.observations()).toMatchObject([{ type: 'run.started', queueWaitMs: 70 }, { queueWaitMs: 70 }]);
    });
  });
});

describe('steps, model calls and tool calls', () => {
  it('are emitted with sequence numbers', async () => {
    const { all, of } = await run([], { clock: ticking() });
    expect(all.map(({ type }) => type)).toEqual([
      'run.started',
      'model.call',
      'tool.call',
      'tool.call',
      'step.done',
      'model.call',
      'step.done',
      'run.completed',
    ]);
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, place) => place));
    expect(of('model.call')[0]).toMatchObject({
      step: 1,
      attempt: 1,
      provider: 'anthropic',
      model: 'sonnet',
      responseModel: 'sonnet-2',
      responseId: 'msg-1',
      finishReason: 'tool-calls',
      usage: used(100, 10, 80),
      deltas: 3,
      subsystem: 'model',
      level: 'debug',
    });
    const { durationMs, firstDeltaMs } = of('model.call')[0] as ModelCalled;
    expect(firstDeltaMs).toBeGreaterThan(0);
    expect(durationMs).toBeGreaterThan(firstDeltaMs as number);
    expect(of('tool.call')).toMatchObject([
      { tool: 'ls', callId: '1', status: 'ok', level: 'debug', outputChars: 5 },
      { tool: 'break', status: 'failed', level: 'warn', error: { message: 'It broke.' } },
    ]);
    expect(of('step.done')).toMatchObject([
      { step: 1, attempts: 1, toolCalls: 2, usage: used(100, 10, 80) },
      { step: 2, toolCalls: 0, usage: used(200, 20) },
    ]);
  });

  it('include the usage of failed attempts', async () => {
    const model = scriptedModel([{ error: failure('No.') }]);
    const withUsage = map((each: TurnEvent) => (each.type === 'model.error' ? { ...each, usage: used(50, 0) } : each));
    const { end } = await run([withUsage], {}, { model });
    expect(end?.usage).toEqual(used(50, 0));
  });

  it('contain content only if configured, redacted and truncated', async () => {
    const quiet = JSON.stringify((await run([], {})).all);
    for (const word of ['What is here', 'a.txt', 'Let me look', 'path']) expect(quiet).not.toContain(word);
    const { of, all } = await run([], {
      content: true,
      maxContentChars: 12,
      redact: redacting('What', '[W]'),
    });
    expect(all[0]).toMatchObject({ input: '[W] is here?' });
    expect(of('model.call')[0]?.output).toBe('Let me look.…');
    expect(of('tool.call')[0]).toMatchObject({ input: '{"path":"."}', output: 'a.txt' });
  });

  it('name the operator that denied a call', async () => {
    const guard = intercept('guard', () => ({
      decide: { 'tool.call': (each) => ({ ...each, denied: { reason: 'No.', by: 'guard' } }) },
    }));
    const { of } = await run([guard], {});
    expect(of('tool.call')).toMatchObject([
      { status: 'denied', deniedBy: 'guard', level: 'info' },
      { status: 'denied' },
    ]);
  });
});

describe('notices', () => {
  const saying = (...events: readonly NewEvent[]) =>
    intercept('sayer', () => ({
      decide: { 'model.request': (each) => (each.step === 1 ? [...events, each] : undefined) },
    }));

  it('reach sinks under their own type without content, including unknown ones', async () => {
    const odd = { type: 'loop.warning', tool: 'ls', output: 'secret words', repeats: 3 } as unknown as NewEvent;
    const { of, end } = await run(
      [saying(notice('weather.failed', { sky: 'grey', text: 'hidden', session: 'bob' }), odd)],
      {},
    );
    expect(of('weather.failed')).toMatchObject([
      { subsystem: 'weather', level: 'warn', data: { sky: 'grey', session: hashSessionKey('bob') } },
    ]);
    expect(of('loop.warning')[0]).toMatchObject({ subsystem: 'loop', level: 'warn', data: { tool: 'ls', repeats: 3 } });
    expect(of('loop.warning')[0]?.data).not.toHaveProperty('output');
    expect(end?.notices).toEqual({ weather: 1, loop: 1 });
  });

  it('report a compaction with its sizes and usage', async () => {
    const sizes = { tokensBefore: 9000, tokensAfter: 2000 };
    const done = { type: 'compaction.done', ...sizes, usage: used(1000, 100) } as unknown as NewEvent;
    const prices = priceTable({ sonnet: { input: 1, output: 1 }, haiku: { input: 2, output: 2 } });
    const { end, of } = await run([saying(done)], { costOf: prices });
    expect(of('compaction.done')).toMatchObject([{ level: 'info', data: sizes }]);
    expect(end).toMatchObject({ compactionTriggered: true, usage: used(1300, 130, 80), cost: undefined });
    const priced = await run([saying(done)], { costOf: prices, sideModel: 'haiku' });
    expect(priced.end?.cost).toBeCloseTo((330 + 2200) / 1e6, 10);
  });

  it('count no usage for a sub-agent, whose own turn is metered', async () => {
    const ended = { type: 'subagent.ended', child: 'c', usage: used(1000, 100) } as unknown as NewEvent;
    const meter = createUsageMeter();
    const { end } = await run([saying(ended)], { meter });
    expect(end?.usage).toEqual(used(300, 30, 80));
    expect(meter.total.usage).toEqual(used(300, 30, 80));
  });

  it('are bounded in size', () => {
    fc.assert(
      fc.property(
        fc.object({ maxDepth: 8, withBigInt: true, withDate: true, withNullPrototype: true, withTypedArray: true }),
        fc.string({ minLength: 5000, maxLength: 6000 }),
        (payload, long) => {
          const memory = memorySink();
          const odd = {
            ...payload,
            long,
            list: Array.from({ length: 500 }, () => long),
            type: 'odd.thing',
            turn: 't',
            at: 1,
          } as unknown as TurnEvent;
          of(odd)
            .pipe(observe({ sinks: [memory] }))
            .subscribe();
          expect(memory.observations()).toHaveLength(1);
          expect(JSON.stringify(memory.observations()).length).toBeLessThan(120_000);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('with arbitrary subsystems use bounded memory', () => {
    const memory = memorySink();
    const odd = Array.from(
      { length: 200 },
      (_, index) => ({ type: `s${index}.x`, turn: 't', at: 1 }) as unknown as TurnEvent,
    );
    const start = event('turn.start', { session: 's', input: [], trigger: 'user' });
    of(start, ...odd, event('turn.end', { outcome: 'completed', steps: 0, usage: used(0, 0) }))
      .pipe(observe({ sinks: [memory] }))
      .subscribe();
    const end = memory.observations().at(-1) as RunEnded;
    expect(Object.keys(end.notices)).toHaveLength(51);
    expect(end.notices['other']).toBe(150);
  });
});

describe('sinks', () => {
  const broken = (write: () => void): Sink => ({ name: 'broken', write });

  it('that fail do not affect the turn, and are reported once and when disabled', async () => {
    const errors: string[] = [];
    const throwing = broken(() => {
      throw new Error('Full.');
    });
    const rejecting = { name: 'late', write: () => Promise.reject(new Error('Gone.')) as unknown as void };
    const unfollowing: Sink = {
      name: 'blind',
      follow: () => {
        throw new Error('Blind.');
      },
    };
    const memory = memorySink();
    const model = scriptedModel([
      response(...Array.from({ length: 12 }, (_, index) => call(String(index), 'ls'))),
      'Done.',
    ]);
    const { result } = await run(
      [],
      {
        sinks: [throwing, rejecting, unfollowing, memory],
        onSinkError: (error, sink) => {
          errors.push(`${sink}: ${String(error)}`);
          throw new Error('Even this.');
        },
      },
      { model },
    );
    expect(result.outcome).toBe('completed');
    expect(memory.observations().at(-1)?.type).toBe('run.completed');
    expect(errors.filter((error) => error.startsWith('broken'))).toHaveLength(2);
    expect(errors).toContain('blind: Error: Blind.');
    expect(errors.filter((error) => error === 'late: Error: Gone.')).toHaveLength(2);
  });

  it('that reject ten writes in a row are disabled, however far apart the writes are', async () => {
    const write = vi.fn(() => Promise.reject(new Error('Gone.')) as unknown as void);
    const onError = vi.fn<() => void>();
    const outlet = createOutlet([{ name: 'late', write }], onError);
    for (let count = 0; count < 20; count += 1) {
      outlet.write({ type: 'run.completed' } as Observation);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect([write.mock.calls.length, onError.mock.calls.length]).toEqual([10, 2]);
  });

  it.each<[string, ObserveOptions]>([
    [
      'redact',
      {
        redact: () => {
          throw new Error('Bad.');
        },
        content: true,
      },
    ],
    [
      'channel',
      {
        channel: () => {
          throw new Error('Bad.');
        },
      },
    ],
    [
      'clock',
      {
        clock: () => {
          throw new Error('Bad.');
        },
      },
    ],
    [
      'provider',
      {
        provider: () => {
          throw new Error('Bad.');
        },
      },
    ],
  ])('do not affect the turn if %s fails', async (name, options) => {
    const errors: string[] = [];
    const { result } = await run(
      [],
      {
        ...options,
        onSinkError: (error, sink) => {
          errors.push(`${sink}: ${String(error)}`);
          throw new Error('Even this.');
        },
      },
      name === 'provider' ? { defaultModel: 'llama' } : {},
    );
    expect([result.outcome, errors]).toEqual(['completed', ['observe: Error: Bad.']]);
  });

  it('that fail are named as what they are in the warning', async () => {
    const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    try {
      const failing = (): never => {
        throw new Error('Bad.');
      };
      await run([], { sinks: [{ name: 'broken', write: failing }], redact: failing });
      expect(emitWarning.mock.calls.map(([warning]) => warning)).toEqual([
        'A function in the options of observe() has failed: Bad.',
        'The sink broken has failed: Bad.',
      ]);
    } finally {
      emitWarning.mockRestore();
    }
  });

  it('receive no cost without a known price', async () => {
    const throwing = await run([], {
      costOf: () => {
        throw new Error('Bad.');
      },
    });
    expect([throwing.end?.type, throwing.end?.cost]).toEqual(['run.completed', undefined]);
    expect((await run([], { costOf: () => -1 })).end?.cost).toBeUndefined();
  });

  it('receive the cost that the meter counts, also without the name of a model', async () => {
    const meter = createUsageMeter({ costOf: () => 0.25 });
    const { end } = await run([], { meter });
    expect([end?.cost, meter.total.cost]).toEqual([0.5, 0.5]);
  });

  it('are disabled after ten consecutive failures', async () => {
    let writes = 0;
    const model = scriptedModel([
      response(...Array.from({ length: 30 }, (_, index) => call(String(index), 'ls'))),
      'Done.',
    ]);
    await run(
      [],
      {
        sinks: [
          broken(() => {
            writes += 1;
            throw new Error('Full.');
          }),
        ],
        onSinkError: () => undefined,
      },
      { model },
    );
    expect(writes).toBe(10);
  });
});

describe('a resumed turn', () => {
  /** Creates a store as a crash leaves it, with the first records of a journal. */
  const cutAt = (count: number, journal: readonly JournalRecord[]): SessionStore => ({
    open: () => ({
      snapshot: { messages: [], state: {} },
      journal: journal.slice(0, count),
      append: () => undefined,
      close: () => undefined,
    }),
    locate: () => 's',
    unfinished: () => [],
  });

  const recordedIn = (journal: JournalRecord[]): SessionStore => {
    const sessions = memorySessions();
    return {
      open: async (session) => {
        const opened = await sessions.open(session);
        return {
          ...opened,
          append: (record) => {
            journal.push(record);
            return opened.append(record);
          },
          close: () => opened.close(),
        };
      },
      locate: (turn) => sessions.locate(turn),
      unfinished: () => sessions.unfinished(),
    };
  };

  it('counts what side questions and sub-agents had used when the process died', async () => {
    const prices = priceTable({ sonnet: { input: 1, output: 1 }, haiku: { input: 3, output: 3 } });
    const answers = [
      answer(used(100, 10), call('1', 'ls')),
      answer(used(200, 20), call('2', 'ls')),
      answer(used(400, 40), 'Done.'),
    ];
    const process = (script: typeof answers, sessions: SessionStore) => {
      const meter = createUsageMeter({ costOf: prices });
      const memory = memorySink();
      const child = harness({ model: scriptedModel([answer(used(7_000, 70), 'Found.')]), defaultModel: 'haiku' }).pipe(
        observe({ meter }),
      );
      const delegates = intercept('delegates', () => ({
        decide: {
          'tool.result': async (result) => {
            if (result.call.id !== '1') return undefined;
            await reply(child.turn({ session: 'child', input: 'Look.', metadata: { parentTurn: result.turn } }));
            return [
              result,
              notice('weather.failed', { sky: 'grey', usage: used(10_000, 100) }),
              notice('weather.failed', { sky: 'blue', usage: used(7_000, 70), child: 'c1' }),
            ];
          },
        },
      }));
      const agent = harness({
        model: scriptedModel(script),
        tools: scriptedTools({ ls: () => 'a.txt' }),
        sessions,
        defaultModel: 'sonnet',
      }).pipe(delegates, observe({ sinks: [memory], meter, costOf: prices, sideModel: 'sonnet' }));
      const totals = () => ({
        turn: meter.turn('turn-1'),
        session: meter.session('alice'),
        total: meter.total,
        run: (memory.observations().at(-1) as RunEnded).usage,
      });
      return { agent, totals };
    };
    const journal: JournalRecord[] = [];
    const whole = process(answers, recordedIn(journal));
    await reply(whole.agent.turn({ session: 'alice', input: 'Go.', id: 'turn-1' }));
    expect(whole.totals()).toMatchObject({
      turn: { usage: used(17_700, 240), calls: 5 },
      session: { usage: used(17_700, 240) },
      run: used(10_700, 170),
    });
    const begun = journal.findIndex(({ event: each }) => each.type === 'model.request' && each.step === 2);
    expect(journal.slice(begun + 1, begun + 3).map(({ event: each }) => each.type)).toEqual(
      Array.from({ length: 2 }, () => 'session.state'),
    );
    for (let count = begun + 3; count < journal.length - 1; count += 1) {
      const asked = journal.slice(0, count).filter(({ event: each }) => each.type === 'model.response').length;
      const resumed = process(answers.slice(asked), cutAt(count, journal));
      await reply(resumed.agent.resume('turn-1'));
      expect([count, resumed.totals()]).toEqual([count, whole.totals()]);
    }
  });

  it('emits only new events and counts the replayed ones', async () => {
    const journal: JournalRecord[] = [];
    const recording = recordedIn(journal);
    const { end } = await run([], {}, { sessions: recording });
    const results = journal.findLastIndex(({ event: each }) => each.type === 'tool.result');
    const memory = memorySink();
    const meter = createUsageMeter();
    const begun: string[] = [];
    const spans: Sink = {
      name: 'spans',
      follow: () => ({ begin: ({ kind }) => void begun.push(kind), write: () => undefined }),
    };
    const agent = harness({
      model: scriptedModel([answer(used(200, 20), 'Done.')]),
      sessions: cutAt(results + 1, journal),
      defaultModel: 'anthropic/sonnet',
    }).pipe(observe({ sinks: [memory, spans], meter }));
    await lastValueFrom(agent.resume('turn-1').pipe(toArray()));
    expect(begun).toEqual(['run', 'step', 'step', 'model']);
    expect(memory.observations().map(({ type }) => type)).toEqual([
      'step.done',
      'model.call',
      'step.done',
      'run.completed',
    ]);
    expect(memory.observations().at(-1)).toMatchObject({
      seq: end?.seq,
      steps: 2,
      modelCalls: 2,
      toolCalls: 2,
      toolErrors: 1,
      usage: used(300, 30, 80),
      sessionKey: hashSessionKey('alice@whatsapp'),
    });
    expect(meter.turn('turn-1').usage).toEqual(used(300, 30, 80));
  });
});

describe('the meter', () => {
  it('counts usage, and stores the totals in the session', async () => {
    const sessions = memorySessions();
    const meter = createUsageMeter({ costOf: priceTable({ sonnet: { input: 1, output: 1 } }) });
    await run([], { meter }, { sessions });
    expect(meter.session('alice@whatsapp')).toMatchObject({ usage: used(300, 30, 80), cost: 330 / 1e6, calls: 2 });
    const next = createUsageMeter();
    await run([], { meter: next }, { sessions }, { id: 'turn-2' });
    expect(next.session('alice@whatsapp').usage).toEqual(used(600, 60, 160));
    expect(next.turn('turn-2').usage).toEqual(used(300, 30, 80));
  });

  it.each(['error', 'cancelled'])('keeps the totals of a turn that ends with %s', async (outcome) => {
    const sessions = memorySessions();
    const stopper = intercept('stopper', () => ({
      decide: { 'tool.result': () => (outcome === 'cancelled' ? stop('cancelled') : undefined) },
    }));
    const model = scriptedModel([answer(used(100, 10), call('1', 'ls')), { error: failure('No.') }]);
    await run(outcome === 'cancelled' ? [stopper] : [], { meter: createUsageMeter() }, { sessions, model });
    const next = createUsageMeter();
    await run([], { meter: next }, { sessions }, { id: 'turn-2' });
    expect(next.session('alice@whatsapp').usage.input).toBe(400);
  });
});

describe('the options', () => {
  it.each<[object, string]>([
    [{ sink: [] }, 'observe(): unknown option "sink" (received []). Did you mean "sinks"? Known options: sinks'],
    [{ sinks: [{}] }, '"sinks[0]" must be a sink: an object with a name, and write() or follow(); received {}'],
    [{ sessionKey: 'clear' }, '"sessionKey" must be "hash" or "plain" or a function; received "clear"'],
    [{ content: 1 }, '"content" must be a boolean; received 1'],
    [{ maxContentChars: -1 }, '"maxContentChars" must be a number from 0 or Infinity; received -1'],
    [[], 'options must be an object; received []'],
  ])('reject %j', (options, message) => {
    expect(() => observe(options as ObserveOptions)).toThrow(
      expect.objectContaining({
        code: 'invalid-option',
        message: expect.stringContaining(message) as string,
      }) as TurnError,
    );
  });

  it('use the configured session, channel, parent and provider', async () => {
    const { end } = await run(
      [],
      { sessionKey: 'plain', channel: 'terminal', parentOf: () => 'p', provider: 'local', approximateTokens: true },
      { defaultModel: 'llama' },
    );
    expect(end).toMatchObject({
      sessionKey: 'alice@whatsapp',
      sessionId: 'alice@whatsapp',
      channel: 'terminal',
      parentRunId: 'p',
      provider: 'local',
      model: 'llama',
    });
    expect(end?.approximateTokens).toBeGreaterThan(20);
    const other = await run(
      [],
      {
        sessionKey: (session) => session.slice(0, 5),
        channel: () => undefined,
        provider: () => 'else',
        sessionSalt: 's',
      },
      { defaultModel: 'llama' },
    );
    expect(other.end).toMatchObject({ sessionKey: 'alice', channel: undefined, provider: 'else' });
    expect((await run([], { sessionSalt: 's' })).end?.sessionKey).toBe(hashSessionKey('alice@whatsapp', 's'));
  });

  it('do not change the turn', async () => {
    const events = sampleTurn();
    const out = await lastValueFrom(of(...events).pipe(observe({ content: true, sinks: [memorySink()] }), toArray()));
    expect(out).toEqual(events);
  });
});

it('emits nothing after the end, and no deltas', () => {
  const memory = memorySink();
  const deltas = new Observable<TurnEvent>((subscriber) => {
    for (let index = 0; index < 1000; index += 1) {
      subscriber.next(event('model.delta', { step: 1, attempt: 1, delta: { type: 'text', text: 'x' } }));
    }
    subscriber.complete();
  });
  const before = from<TurnEvent[]>([
    event('turn.start', { session: 's', input: [], trigger: 'user' }),
    event('model.request', { step: 1, attempt: 1, ...request() }),
  ]);
  const after = from<TurnEvent[]>([
    event('model.response', { step: 1, attempt: 1, ...response('x') }),
    event('turn.end', { outcome: 'completed', steps: 1, usage: used(0, 0) }),
    event('event.ignored', { event: 'x', reason: 'late' }),
  ]);
  let count = 0;
  concat(before, deltas, after)
    .pipe(
      observe({ sinks: [memory] }),
      tap(() => (count += 1)),
      map(() => ok('x')),
    )
    .subscribe();
  expect(count).toBe(1005);
  expect(memory.observations().map(({ type }) => type)).toEqual([
    'run.started',
    'model.call',
    'step.done',
    'run.completed',
  ]);
  expect(memory.observations()[1]).toMatchObject({ deltas: 1000 });
});

describeOperator(() => observe({ sinks: [memorySink()] }));

describe('with a meter', () => {
  describeOperator(() => observe({ sinks: [memorySink()], meter: createUsageMeter() }), {
    changes: ['turn.stop', 'session.state'],
  });
});
