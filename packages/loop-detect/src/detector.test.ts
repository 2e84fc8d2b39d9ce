import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { failed, firstOf, ok, oneByOne, play, rounds, type Move } from '../test/play.js';
import { limitsFrom } from './options.js';
import { Detector } from './detector.js';
import { createLoopDetector, type LoopOptions } from './index.js';
import type { LoopLevel } from './verdict.js';

const same = ok('read', { path: 'a' }, 'contents');
const times = (count: number, move: Move = same) => rounds(count, () => [move]);
/** Returns a distinct word for each number. */
const letters = (index: number): string =>
  String.fromCharCode(97 + (index % 26), 97 + (Math.floor(index / 26) % 26), 97 + ((index * 7) % 26));
const levels = (count: number, move?: Move, options?: LoopOptions): readonly (number | undefined)[] => {
  const alarms = play(times(count, move), options);
  return (['warn', 'block', 'break'] as const).map((level) => firstOf(alarms, level));
};

describe('createLoopDetector', () => {
  it('names the detector, the message for the model and a stable key', () => {
    const detector = createLoopDetector();
    const verdicts = Array.from({ length: 4 }, (_, index) =>
      detector.record({ id: `${index}`, name: 'read', input: { path: 'a' } }, { status: 'ok', output: 'contents' }),
    );
    expect(verdicts.map(({ level, detector: by }) => [level, by])).toEqual([
      ['ok', undefined],
      ['ok', undefined],
      ['warn', 'no-progress'],
      ['warn', 'no-progress'],
    ]);
    expect(verdicts[2]).toMatchObject({
      message: expect.stringContaining('read has given the same result 3 times') as string,
      key: verdicts[3]?.key,
    });
    expect(verdicts[0]).toMatchObject({ level: 'ok', message: '' });
  });

  it('compares outputs that together exceed what it holds', () => {
    const large = ok('read', { path: 'a' }, 'one more line. '.repeat(150_000));
    expect(levels(6, large)).toEqual(levels(6));
  });

  it('does not change its state when it judges', () => {
    const detector = createLoopDetector();
    const call = { id: '1', name: 'read', input: { path: 'a' } };
    for (let round = 0; round < 50; round += 1) expect(detector.judge(call).level).toBe('ok');
    detector.record(call, { status: 'ok', output: 'contents' });
    for (let round = 0; round < 50; round += 1) expect(detector.judge(call).level).toBe('ok');
  });

  it('warns, then blocks, then breaks', () => {
    expect(levels(60)).toEqual([3, 5, 6]);
  });

  it('allows a call behind a pause as many repetitions as a poll', () => {
    const looking = [ok('bash', { command: 'sleep 30' }, ''), ok('bash', { command: 'cat state' }, 'contents')];
    expect(firstOf(play(rounds(20, () => looking)), 'warn')).toBe(2 * 16);
  });

  it('breaks if blocked calls run nevertheless', () => {
    const detector = createLoopDetector();
    const found: LoopLevel[] = [];
    for (let round = 0; round < 60; round += 1) {
      const call = { id: `${round}`, name: 'read', input: {} };
      found.push(detector.judge(call).level, detector.record(call, { status: 'ok', output: 'same' }).level);
    }
    expect(found.filter((level) => level === 'block').length).toBeGreaterThan(50);
    expect(found.slice(0, 62)).toContain('break');
  });

  it('clears its state when it is reset', () => {
    const detector = createLoopDetector();
    for (let round = 0; round < 40; round += 1) {
      const call = { id: `${round}`, name: 'read', input: {} };
      const level = [detector.judge(call).level, detector.record(call, { status: 'ok', output: 'same' }).level];
      expect(level).toEqual(['ok', 'ok']);
      if (round % 2 === 1) detector.reset();
    }
  });

  it('forgets a block after enough new outcomes, but not for the same loop', () => {
    const read = (from: number, count: number) =>
      rounds(count, (round) => [ok('read', { path: `${from + round}` }, `${from + round}`)]);
    const loop = (name: string, count: number) => times(count, ok(name, {}, 'same'));
    const alarms = (gap: number, second: string, options?: LoopOptions) =>
      play([...loop('a', 5), ...read(0, gap), ...loop(second, 6)], options).filter(
        ({ level }) => level === 'block' || level === 'break',
      );
    expect(alarms(8, 'b').map(({ level }) => level)).toEqual(['block', 'block', 'break']);
    expect(alarms(2, 'b').map(({ level }) => level)).toEqual(['block', 'break']);
    expect(alarms(8, 'a').map(({ level }) => level)).toEqual(['block', 'break']);
    expect(alarms(2, 'b', { forgiveAfter: 0 }).map(({ level }) => level)).toEqual(['block', 'block', 'break']);
  });

  it('counts the calls of one batch as one attempt', () => {
    const batch = Array.from({ length: 20 }, () => same);
    expect(firstOf(play([batch]), 'block')).toBeUndefined();
    expect(play([batch]).every(({ detector }) => detector === 'repeat')).toBe(true);
    expect(firstOf(play(Array.from({ length: 6 }, () => [same, same])), 'block')).toBe(9);
  });

  it('counts a batch as idle only if no outcome in it is new', () => {
    const detectors: LoopOptions['detectors'] = {
      'no-progress': false,
      repeat: false,
      cycle: false,
      breaker: { warn: 2, break: 4 },
    };
    const batches = (isNewFirst: boolean) =>
      Array.from({ length: 20 }, (_, index) =>
        isNewFirst ? [ok('look', { index }, `${index}`), same] : [same, ok('look', { index }, `${index}`)],
      );
    expect(play(batches(true), { detectors })).toEqual([]);
    expect(play(batches(false), { detectors })).toEqual([]);
    expect(
      firstOf(
        play(
          Array.from({ length: 20 }, () => [same, same]),
          { detectors },
        ),
        'break',
      ),
    ).toBe(9);
  });

  it('counts unknown names in one batch as one mistake', () => {
    const nope = (name: string): Move => ({
      name,
      input: {},
      status: 'unknown-tool',
      output: 'There is no such tool.',
    });
    expect(play([['a', 'b', 'c', 'd'].map(nope), ['e', 'f'].map(nope)])).toEqual([]);
  });

  it('accepts outcomes of calls that were not judged', () => {
    const detector = createLoopDetector();
    const found = Array.from(
      { length: 5 },
      (_, index) =>
        detector.record({ id: `${index}`, name: 'read', input: {} }, { status: 'ok', output: 'same' }).level,
    );
    expect(found).toEqual(['ok', 'ok', 'warn', 'warn', 'warn']);
  });

  it.each(['skipped', 'cancelled', 'interrupted'] as const)('ignores calls that are %s', (status) => {
    expect(play(times(40, { ...same, status }))).toEqual([]);
  });

  it.each(['timed-out', 'invalid-input', 'failed', 'denied'] as const)('counts calls that are %s', (status) => {
    expect(levels(20, { ...same, status })).toEqual([3, 5, 6]);
  });

  it('only warns if only the count is high', () => {
    const alarms = play(rounds(200, (round) => [ok('pick', {}, `${letters(round)} ${letters(round * 7 + 3)}`)]));
    expect(firstOf(alarms, 'warn')).toBe(30);
    expect(alarms.every(({ level, detector }) => level === 'warn' && detector === 'repeat')).toBe(true);
  });

  it('allows a call that had other outcomes without a change as many repetitions as a poll', () => {
    const test = (text: string): Move => ok('bash', { command: 'npm test' }, text);
    const runs = ['1 passed', 'boom', ...Array.from({ length: 30 }, () => '1 passed')];
    const alarms = play(oneByOne(runs.map(test)));
    expect(firstOf(alarms, 'block')).toBe(21);
  });

  it('denies a call whose outcome has changed once as early as any other', () => {
    const notes = ['No path matches.', ...Array.from({ length: 20 }, () => '[Same result as call 0.]')];
    const alarms = play(oneByOne(notes.map((text) => ok('glob', { pattern: '*.none' }, text))));
    expect(firstOf(alarms, 'block')).toBe(6);
  });

  it.each<[string, (id: string) => readonly Move[], number | undefined]>([
    [
      'made, read and removed',
      (id) => [ok('get_ticket', { id }, { id, state: 'open' }), ok('delete_ticket', { id })],
      16,
    ],
    ['made and removed by commands', (id) => [ok('bash', { command: `docker rm -f ${id}` }, id)], 11],
    ['made and not removed', (id) => [ok('get_ticket', { id }, { id, state: 'open' })], undefined],
    [
      'removed after other work',
      (id) => [ok('run', { task: letters(Number(id.slice(1))) }), ok('delete_ticket', { id })],
      undefined,
    ],
    [
      'removed after a measurement',
      (id) => [ok('load', {}, `rate ${Number(id.slice(1)) ** 2 % 97}`), ok('delete_ticket', { id })],
      undefined,
    ],
  ])('denies what is made again and again if it is %s', (_, rest, block) => {
    const alarms = play(
      rounds(20, (round) => [
        ok('create_ticket', { title: 'Disk full' }, { id: `t${round + 10}` }),
        ...rest(`t${round + 10}`),
      ]),
    );
    expect(
      firstOf(
        alarms.filter(({ detector }) => detector === 'cycle'),
        'block',
      ),
    ).toBe(block);
  });

  it('counts a page for different inputs again when one of them is repeated', () => {
    const page = 'one two three four five six seven eight nine ten eleven';
    const alarms = play(
      rounds(40, (round) => [ok('browser_click', { element: `Next ${Math.floor(round / 3) % 3}` }, page)]),
    );
    expect(firstOf(alarms, 'break')).toBeLessThan(36);
  });

  it('resets after a change, and only stops blocking after a new outcome', () => {
    const failing = failed('bash', { command: 'npm test' }, 'AssertionError: 1 is not 2');
    const between = (move: (round: number) => Move) => play(rounds(30, (round) => [move(round), failing]));
    expect(between((round) => ok('edit', { text: `${round}` }))).toEqual([]);
    expect(between((round) => ok('look', { text: `${round}` }, `${round}`)).map(({ level }) => level)).toEqual(
      Array.from({ length: 25 }, () => 'warn'),
    );
    expect(
      firstOf(
        between((round) =>
          failed('edit', { text: `${round}` }, `reason ${'abcdefghijklmnopqrstuvwxyzABCDEFGH'[round]}`),
        ),
        'block',
      ),
    ).toBeDefined();
    expect(
      firstOf(
        between(() => ok('edit', { text: 'the same' })),
        'block',
      ),
    ).toBeDefined();
  });

  it('uses the effect that a tool or its options declare', () => {
    const run = (effect: 'read-only' | 'local-write', options?: LoopOptions) =>
      play(
        rounds(20, (round) => [
          { ...ok('frobnicate', { round }, `${round}`), effect },
          failed('check', {}, 'still broken, as before'),
        ]),
        options,
      );
    expect(run('local-write')).toEqual([]);
    expect(firstOf(run('read-only'), 'warn')).toBe(12);
    expect(run('read-only', { tools: { frobnicate: { effect: 'destructive' } } })).toEqual([]);
  });

  it('judges each detector by its own thresholds', () => {
    const only = (detectors: LoopOptions['detectors'], move: Move = same): readonly (number | undefined)[] =>
      levels(60, move, { detectors });
    expect(only({ 'no-progress': { warn: 7, block: 9 } })).toEqual([7, 9, 10]);
    expect(only({ 'no-progress': { block: Infinity } })).toEqual([3, undefined, 31]);
    expect(only({ 'no-progress': false, breaker: false })).toEqual([10, undefined, undefined]);
    expect(only({ 'no-progress': false, breaker: { warn: 4, break: 6 } })).toEqual([5, undefined, 7]);
    expect(only({ 'no-progress': false, breaker: false, repeat: { warn: 12 } })).toEqual([12, undefined, undefined]);
    expect(only({ poll: { warn: 4, block: 6 } }, ok('get_status', {}, 'same'))).toEqual([4, 6, 7]);
    const unknown: Move = { name: 'nope', input: {}, status: 'unknown-tool', output: 'Unknown tool "nope".' };
    const quiet = { 'no-progress': false, repeat: false, breaker: false } as const;
    expect(only({ ...quiet, 'unknown-tool': { warn: 2, block: 4, break: 50 } }, unknown)).toEqual([2, 4, 5]);
    expect(only({ ...quiet, 'unknown-tool': { warn: Infinity, block: Infinity, break: 4 } }, unknown)).toEqual([
      undefined,
      undefined,
      4,
    ]);
    const circle = (detectors: LoopOptions['detectors']) =>
      play(
        rounds(30, () => [same, ok('look', {}, 'x')]),
        { detectors: { ...quiet, ...detectors } },
      );
    expect(firstOf(circle({ cycle: { warn: 4, block: 6 } }), 'warn')).toBe(8);
    expect(firstOf(circle({ cycle: { warn: 4, block: 6 } }), 'block')).toBe(12);
    expect(circle({ cycle: false })).toEqual([]);
    const churn = (detectors: LoopOptions['detectors']) =>
      play(
        rounds(30, (round) => [failed('edit', { round }, 'String not found.')]),
        { detectors: { ...quiet, ...detectors } },
      );
    expect(firstOf(churn({ churn: { warn: 2, block: 3 } }), 'block')).toBe(3);
    expect(churn({ churn: false })).toEqual([]);
  });

  it('judges each tool by its own thresholds', () => {
    const options: LoopOptions = {
      detectors: { 'no-progress': { warn: 4 } },
      tools: {
        read: { detectors: { 'no-progress': { warn: 6, block: 8 } } },
        wait: false,
        spin: { poll: true },
        get_status: { poll: false },
      },
    };
    expect(levels(30, same, options)).toEqual([6, 8, 9]);
    expect(levels(30, ok('look', {}, 'x'), options)).toEqual([4, 5, 6]);
    expect(levels(60, ok('wait', {}, 'x'), options)).toEqual([undefined, undefined, undefined]);
    expect(levels(60, ok('spin', {}, 'x'), options)).toEqual([16, 20, 21]);
    expect(levels(60, ok('get_status', {}, 'x'), options)).toEqual([4, 5, 6]);
  });

  it('compares the part of an output that outcomeOf selects', () => {
    const options: LoopOptions = { tools: { job: { outcomeOf: (output) => (output as { state: string }).state } } };
    const batches = rounds(9, (round) => [ok('job', {}, { state: 'idle', load: letters(round) })]);
    expect(firstOf(play(batches), 'block')).toBeUndefined();
    expect(firstOf(play(batches, options), 'block')).toBe(5);
  });

  it('compares the part of an input that inputOf selects', () => {
    const options: LoopOptions = {
      tools: { ask: { inputOf: (input) => (input as { question: string }).question.trim() } },
    };
    const batches = rounds(20, (round) => [
      ok('ask', { question: `why?${' '.repeat(round)}`, nonce: round }, 'because'),
    ]);
    expect(play(batches)).toEqual([]);
    expect(firstOf(play(batches, options), 'block')).toBe(5);
    expect(
      firstOf(
        play(
          rounds(20, () => [ok('ask', {}, 'because')]),
          options,
        ),
        'block',
      ),
    ).toBe(5);
  });

  it('blocks the third identical call in a row with doomLoopThreshold 3', () => {
    const growing = rounds(10, (round) => [ok('tail', {}, `${round}`)]);
    expect(firstOf(play(growing, { doomLoopThreshold: 3 }), 'block')).toBe(3);
    expect(play(growing, { doomLoopThreshold: 3 })[0]).toMatchObject({ detector: 'doom-loop' });
    expect(firstOf(play(growing), 'block')).toBeUndefined();
    const mixed = rounds(10, (round) => [ok('tail', {}, `${round}`), ok('look', { round }, `${round}`)]);
    expect(firstOf(play(mixed, { doomLoopThreshold: 3 }), 'block')).toBeUndefined();
    expect(firstOf(play(times(9, failed('x', {}, 'No.')), { doomLoopThreshold: 3 }), 'block')).toBe(3);
  });

  it.each<[unknown, RegExp]>([
    [
      { detectors: { 'no-progres': {} } },
      /unknown option "detectors.no-progres" .*Did you mean "no-progress"\? Known options: repeat, no-progress/,
    ],
    [
      { detectors: { repeat: { block: 3 } } },
      /unknown option "detectors.repeat.block" \(received 3\)\. Known options: warn/,
    ],
    [
      { detectors: { poll: { warn: 1.5 } } },
      /"detectors.poll.warn" must be an integer from 1 or Infinity; received 1.5/,
    ],
    [{ detectors: { poll: true } }, /"detectors.poll" must be false or an object.*; received true/],
    [{ tools: { a: { polls: true } } }, /"tools.a.polls".*Known options: detectors, poll, effect, inputOf, outcomeOf/],
    [{ tools: { a: { effect: 'write' } } }, /"tools.a.effect" must be .*; received "write"/],
    [{ tools: { a: 3 } }, /"tools.a" must be false or an object with .*; received 3/],
    [{ tools: { a: { outcomeOf: 'x' } } }, /"tools.a.outcomeOf" must be a function/],
    [{ doomLoopThreshold: 1 }, /"doomLoopThreshold" must be .*; received 1/],
    [{ forgiveAfter: -1 }, /"forgiveAfter"/],
    [{ maxRepeatedSteps: 3 }, /unknown option "maxRepeatedSteps"/],
    [null, /options must be an object; received null/],
  ])('refuses %o', (options, message) => {
    expect(() => createLoopDetector(options as LoopOptions)).toThrow(message);
    expect(() => createLoopDetector(options as LoopOptions)).toThrow(
      expect.objectContaining({ code: 'invalid-option' }) as Error,
    );
  });

  it('never blocks a run in which every call succeeds with a new outcome', () => {
    const name = fc.constantFrom('read', 'bash', 'get_status', 'edit', 'tool');
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.nat(5)), { maxLength: 80 }), (calls) => {
        const alarms = play(
          calls.map(([tool, input], index) => [
            ok(tool, { input }, `new ${'abcdefghij'[index % 10]}${'klmnopqrst'[Math.floor(index / 10)]}`),
          ]),
        );
        expect(alarms.filter(({ level }) => level !== 'warn')).toEqual([]);
      }),
    );
  });

  it('always ends a run without new outcomes', () => {
    const move = fc.record({
      name: fc.constantFrom('read', 'bash', 'edit', 'nope'),
      input: fc.nat(2),
      status: fc.constantFrom('ok' as const, 'failed' as const, 'denied' as const),
      output: fc.constantFrom('', 'a', 'a longer text'),
    });
    fc.assert(
      fc.property(fc.array(move, { minLength: 1, maxLength: 6 }), (circle) => {
        const outputs = new Map<string, Move>();
        const steady = circle.map(
          (made) => outputs.get(made.name + made.input) ?? (outputs.set(made.name + made.input, made), made),
        );
        const alarms = play(
          Array.from({ length: 200 }, () => steady)
            .flat()
            .map((made) => [made]),
        );
        expect(firstOf(alarms, 'break')).toBeLessThanOrEqual(60);
      }),
    );
  });

  it('never throws for any input', () => {
    const status = fc.constantFrom(
      'ok',
      'stored',
      'failed',
      'timed-out',
      'denied',
      'invalid-input',
      'unknown-tool',
      'skipped',
      'cancelled',
      'interrupted',
    ) as fc.Arbitrary<'ok'>;
    const detector = createLoopDetector();
    fc.assert(
      fc.property(fc.string(), fc.anything(), fc.anything(), status, (name, input, output, given) => {
        const call = { id: '1', name, input };
        expect(['ok', 'warn', 'block', 'break']).toContain(detector.judge(call).level);
        expect(['ok', 'warn', 'block', 'break']).toContain(detector.record(call, { status: given, output }).level);
      }),
    );
  });

  it('stores a bounded number of calls', () => {
    const detector = createLoopDetector();
    const tell = (input: number) =>
      detector.record({ id: '1', name: `tool-${input % 900}`, input }, { status: 'ok', output: 'x' });
    for (let round = 0; round < 3; round += 1) {
      for (let input = 0; input < 2_000; input += 1) expect(tell(input).detector).not.toBe('no-progress');
    }
  });
});

describe('a fork of a detector', () => {
  const call = fc.record({
    name: fc.constantFrom('read', 'test', 'edit', 'get_status', 'missing'),
    input: fc.nat(2),
    status: fc.constantFrom('ok' as const, 'failed' as const, 'denied' as const, 'unknown-tool' as const),
    output: fc.constantFrom('', 'Error: no', 'Error: no such file', '12 of 40', 'contents'),
    isNewBatch: fc.boolean(),
  });
  const low: LoopOptions = {
    detectors: {
      'no-progress': { warn: 2, block: 3 },
      cycle: { warn: 2, block: 2 },
      churn: { warn: 2, block: 3 },
      'unknown-tool': { warn: 1, block: 2, break: 3 },
      breaker: { warn: 2, break: 4 },
    },
  };

  const recordIn = (
    detector: Detector,
    { name, input, status, output, isNewBatch }: typeof call extends fc.Arbitrary<infer Call> ? Call : never,
  ) => {
    if (isNewBatch) detector.beginBatch();
    const described = detector.describe({ id: '1', name, input });
    const print = detector.pendingFingerprint(described.call, { status, output });
    return [detector.judge(described), detector.record(described, status, print)];
  };

  it('returns the same verdicts as the original detector returns later', () => {
    fc.assert(
      fc.property(
        fc.array(call, { maxLength: 30 }),
        fc.array(call, { minLength: 1, maxLength: 8 }),
        (before, after) => {
          const detector = new Detector(low, limitsFrom(low));
          const alone = new Detector(low, limitsFrom(low));
          for (const one of before) {
            expect(recordIn(detector.fork(), one)).toEqual(recordIn(alone, one));
            recordIn(detector, one);
          }
          const fork = detector.fork();
          const expected = after.map((one) => recordIn(fork, one));
          expect(after.map((one) => recordIn(detector, one))).toEqual(expected);
        },
      ),
    );
  });
});
