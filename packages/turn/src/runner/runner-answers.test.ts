import { concat, EMPTY, NEVER, Observable, of, throwError, type ObservableInput } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { expectEnded, expectSound, resultTexts, runTurn, watch, type Watched } from '../../test/turns.js';
import { slowSessions } from '../../test/slow-sessions.js';
import { deny, stop } from '../contract/decisions.js';
import type { TurnEvent } from '../contract/events.js';
import { harness } from '../harness.js';
import { intercept } from '../operators/intercept.js';
import type { PipelineOperator } from '../operators/pipeline.js';
import { call, ok, response, scriptedModel, scriptedTools } from '../testing/index.js';
import type { ToolCall, ToolDriver, ToolDriverOutput, ToolRunContext } from '../contract/tool.js';

const driver = (run: (calls: readonly ToolCall[], context: ToolRunContext) => unknown): ToolDriver => ({
  definitions: () => [],
  run: run as (calls: readonly ToolCall[], context: ToolRunContext) => ObservableInput<ToolDriverOutput>,
});
const result = (id: string, value = `result of ${id}`): ToolDriverOutput => ({
  type: 'result',
  id,
  outcome: ok(value),
});
const outcome = (id: string, given: unknown): ToolDriverOutput =>
  ({ type: 'result', id, outcome: given }) as ToolDriverOutput;

/** One step with the calls 1, 2 and 3, and what became of it. */
const run = async (
  tools: ToolDriver | undefined,
  ...operators: readonly PipelineOperator[]
): Promise<
  Watched & { readonly texts: Readonly<Record<string, string>>; readonly statuses: Readonly<Record<string, string>> }
> => {
  const sessions = slowSessions();
  const model = scriptedModel([response(call('1', 'a'), call('2', 'b'), call('3', 'c')), 'Done.']);
  const watched = await runTurn(harness({ model, tools, sessions }).pipe(...operators));
  expectEnded('', watched);
  expectSound('', sessions.journal('alice'), sessions.messages('alice'));
  const statuses = Object.fromEntries(watched.all('tool.result').map(({ call: { id }, status }) => [id, status]));
  return Object.assign(watched, { texts: resultTexts(sessions.messages('alice')), statuses });
};

describe('every call is answered exactly once when the driver', () => {
  it.each<[string, (calls: readonly ToolCall[]) => unknown, Readonly<Record<string, string>>]>([
    ['answers all', () => of(result('1'), result('2'), result('3')), { 1: 'ok', 2: 'ok', 3: 'ok' }],
    ['answers in another order', () => of(result('3'), result('1'), result('2')), { 1: 'ok', 2: 'ok', 3: 'ok' }],
    ['answers with a promise', () => Promise.resolve(result('2')), { 1: 'failed', 2: 'ok', 3: 'failed' }],
    ['answers with a list', () => [result('1'), result('2'), result('3')], { 1: 'ok', 2: 'ok', 3: 'ok' }],
    [
      'answers one of them twice',
      () => of(result('1'), result('1', 'again'), result('2'), result('3')),
      { 1: 'ok', 2: 'ok', 3: 'ok' },
    ],
    [
      'answers unknown calls',
      () => of(result('9'), result('1'), result('2'), result('3')),
      { 1: 'ok', 2: 'ok', 3: 'ok' },
    ],
    ['completes early', () => of(result('2')), { 1: 'failed', 2: 'ok', 3: 'failed' }],
    ['says nothing', () => EMPTY, { 1: 'failed', 2: 'failed', 3: 'failed' }],
    ['fails before it answers', () => throwError(() => new Error('Down.')), { 1: 'failed', 2: 'failed', 3: 'failed' }],
    [
      'fails in the middle',
      () =>
        concat(
          of(result('2')),
          throwError(() => new Error('Down.')),
        ),
      { 1: 'failed', 2: 'ok', 3: 'failed' },
    ],
    ['rejects', () => Promise.reject(new Error('Down.')), { 1: 'failed', 2: 'failed', 3: 'failed' }],
    [
      'throws',
      () => {
        throw new Error('Down.');
      },
      { 1: 'failed', 2: 'failed', 3: 'failed' },
    ],
    ['returns nothing that can be subscribed to', () => undefined, { 1: 'failed', 2: 'failed', 3: 'failed' }],
    ['says null', () => of(result('1'), null), { 1: 'ok', 2: 'failed', 3: 'failed' }],
    ['says something else', () => of(result('1'), { type: 'shout', id: '2' }), { 1: 'ok', 2: 'failed', 3: 'failed' }],
    [
      'gives no outcome',
      () => of(outcome('1', undefined), result('2'), result('3')),
      { 1: 'failed', 2: 'ok', 3: 'ok' },
    ],
    [
      'gives an unknown status',
      () => of(outcome('1', { status: 'fine', output: { type: 'text', value: 'x' } }), result('2'), result('3')),
      { 1: 'failed', 2: 'ok', 3: 'ok' },
    ],
    [
      'gives no output',
      () => of(outcome('1', { status: 'ok' }), result('2'), result('3')),
      { 1: 'failed', 2: 'ok', 3: 'ok' },
    ],
    [
      'reports an invalid duration',
      () => of(outcome('1', { ...ok('x'), durationMs: Number.NaN }), result('2'), result('3')),
      { 1: 'failed', 2: 'ok', 3: 'ok' },
    ],
    [
      'emits every outcome',
      () => [
        outcome('1', { status: 'stored', output: { type: 'text', value: 'part' }, artifact: { id: 'x', size: 10 } }),
        outcome('2', { status: 'timed-out', timeoutMs: 5, output: { type: 'error-text', value: 'late' } }),
        outcome('3', {
          status: 'invalid-input',
          issues: ['path'],
          output: { type: 'error-json', value: { path: 'missing' } },
        }),
      ],
      { 1: 'stored', 2: 'timed-out', 3: 'invalid-input' },
    ],
  ])('%s', async (_, drive, statuses) => {
    const seen = await run(driver(drive));
    expect(seen.statuses).toEqual(statuses);
    expect(seen.end.outcome).toBe('completed');
    expect(Object.keys(seen.texts)).toEqual(['1', '2', '3']);
    if (seen.texts['1']?.startsWith('result')) expect(seen.texts['1']).toBe('result of 1');
  });

  it('is missing: every call is unknown', async () => {
    const { statuses, texts } = await run(undefined);
    expect(statuses).toEqual({ 1: 'unknown-tool', 2: 'unknown-tool', 3: 'unknown-tool' });
    expect(texts['1']).toBe('No tool is named "a"; this agent has no tools.');
  });

  it('never answers, and the turn is stopped', async () => {
    let left = 0;
    const tools = driver(() => concat(of(result('2')), new Observable(() => () => (left += 1))));
    const stopper = intercept('stopper', ({ after, emit }) => ({
      observe: {
        'tool.result': ({ call: { id } }) => void (id === '2' && after(1, () => emit(stop('timed-out', 'Too slow.')))),
      },
    }));
    const seen = await run(tools, stopper);
    expect(seen.statuses).toEqual({ 1: 'cancelled', 2: 'ok', 3: 'cancelled' });
    expect(seen.texts['1']).toBe(
      'Cancelled while it may have been running; what it had done by then remains done: Too slow.',
    );
    expect(left).toBe(1);
  });

  it('fails with an error: the model reads its text, and observers its fields', async () => {
    const failure = Object.assign(new Error('No space left.'), { code: 'ENOSPC', cause: new Error('disk full') });
    const { all, texts } = await run(driver(() => throwError(() => failure)));
    expect(texts).toEqual({ 1: 'No space left.', 2: 'No space left.', 3: 'No space left.' });
    expect(all('tool.result')[0]).toMatchObject({
      status: 'failed',
      error: { code: 'ENOSPC', cause: { message: 'disk full' } },
    });
  });

  it('emits an invalid result, which is named', async () => {
    const { texts } = await run(
      driver(() => [outcome('1', { status: 'ok', output: { type: 'text', value: 7 } }), result('2'), result('3')]),
    );
    expect(texts['1']).toMatch(/^The tool "a": "outcome\.output\.value" must be a string; received 7/);
  });
});

describe('every call is answered exactly once when', () => {
  it('some are denied and the others run', async () => {
    const guard = intercept('guard', () => ({
      decide: { 'tool.call': (event) => (event.call.id === '2' ? deny(event, 'No.', 'guard') : undefined) },
    }));
    const { statuses, texts } = await run(
      driver(() => [result('1'), result('2'), result('3')]),
      guard,
    );
    expect(statuses).toEqual({ 1: 'ok', 2: 'denied', 3: 'ok' });
    expect(texts['2']).toBe('execution-denied');
  });

  it('an operator answers in place of the tool', async () => {
    const tools = scriptedTools({ a: 'x', c: 'z' });
    const cache = intercept('cache', () => ({
      decide: {
        'tool.call': ({ step, call: given }) =>
          given.id === '2' ? { type: 'tool.result', step, call: given, ...ok('from the cache') } : undefined,
      },
    }));
    const { texts } = await run(tools, cache);
    expect(texts).toEqual({ 1: 'x', 2: 'from the cache', 3: 'z' });
    expect(tools.ran.map(({ id }) => id)).toEqual(['1', '3']);
  });

  it('an operator replaces a result; a second one for the same call is ignored', async () => {
    const twice = intercept('twice', () => ({
      decide: {
        'tool.result': (event) =>
          event.call.id === '1'
            ? [
                { ...event, ...ok('first') },
                { ...event, ...ok('second') },
              ]
            : undefined,
      },
    }));
    const { texts, all } = await run(
      driver(() => [result('1'), result('2'), result('3')]),
      twice,
    );
    expect(texts['1']).toBe('first');
    expect(all('event.ignored')).toMatchObject([
      { event: 'tool.result', reason: 'The turn does not expect this event in its current state.' },
    ]);
  });

  it.each([
    'turn.start',
    'session.loaded',
    'model.request',
    'model.response',
    'tool.call',
    'tool.result',
    'history.append',
  ] as const)('an operator emits each %s twice: the second one is ignored', async (type) => {
    const tools = scriptedTools({ a: 'x', b: 'y', c: 'z' });
    const twice = intercept('twice', () => ({ decide: { [type]: (event: TurnEvent) => [event, { ...event }] } }));
    const { texts, end, all } = await run(tools, twice);
    expect([texts, end]).toMatchObject([
      { 1: 'x', 2: 'y', 3: 'z' },
      { outcome: 'completed', steps: 2 },
    ]);
    expect(tools.ran.map(({ id }) => id)).toEqual(['1', '2', '3']);
    expect(new Set(all('event.ignored').map(({ event }) => event))).toEqual(new Set([type]));
  });

  it('the message was truncated: none of them runs', async () => {
    const tools = scriptedTools({ a: 'x', b: 'y', c: 'z' });
    const cut = { ...response('Let me', call('1', 'a'), call('2', 'b')), finishReason: 'length' as const };
    const sessions = slowSessions();
    const watched = await runTurn(harness({ model: scriptedModel([cut, 'Sorry.']), tools, sessions }).pipe());
    expect(tools.ran).toEqual([]);
    expect(watched.types).not.toContain('tool.call');
    expect(watched.all('tool.result').map(({ status }) => status)).toEqual(['skipped', 'skipped']);
    expect(resultTexts(sessions.messages('alice'))['1']).toMatch(/truncated at the output limit/);
    expectSound('', sessions.journal('alice'), sessions.messages('alice'));
  });

  it('the provider ran a tool: its call is not answered here', async () => {
    const tools = scriptedTools({ a: 'x' });
    const content = response(
      { ...call('search-1', 'web_search'), providerExecuted: true },
      { type: 'tool-result', toolCallId: 'search-1', toolName: 'web_search', output: { type: 'text', value: 'found' } },
      call('1', 'a'),
    );
    const sessions = slowSessions();
    const { all } = await runTurn(harness({ model: scriptedModel([content, 'Done.']), tools, sessions }).pipe());
    expect(all('tool.call').map(({ call: { id } }) => id)).toEqual(['1']);
    expectSound('', sessions.journal('alice'), sessions.messages('alice'));
  });

  it('a provider repeats ids: the runner renames them, in the message and its result', async () => {
    const sessions = slowSessions();
    const tools = scriptedTools({ a: (input) => JSON.stringify(input) });
    const model = scriptedModel([
      response(call('x', 'a', 1), call('x', 'a', 2)),
      response(call('x', 'a', 3), call('', 'a', 4)),
      'Done.',
    ]);
    await runTurn(harness({ model, tools, sessions }).pipe());
    expect(resultTexts(sessions.messages('alice'))).toEqual({ x: '1', 'x-2': '2', 'x-3': '3', 'call-2': '4' });
    expectSound('', sessions.journal('alice'), sessions.messages('alice'));
    const again = scriptedModel([response(call('x', 'a', 5)), 'Done.']);
    await runTurn(harness({ model: again, tools, sessions }).pipe());
    expect(resultTexts(sessions.messages('alice'))['x-4']).toBe('5');
  });

  it('an operator adds calls with ids in use', async () => {
    const sessions = slowSessions();
    const tools = scriptedTools({ a: (input) => JSON.stringify(input) });
    const parse = intercept('parse', () => ({
      decide: {
        'model.response': (event) =>
          event.step < 3
            ? { ...event, content: [call('1', 'a', event.step), call('1', 'a', 'b')], finishReason: 'tool-calls' }
            : undefined,
      },
    }));
    const { end } = await runTurn(
      harness({ model: scriptedModel(['One.', 'Two.', 'Three.']), tools, sessions }).pipe(parse),
    );
    expect(end).toMatchObject({ outcome: 'completed', steps: 3 });
    expect(resultTexts(sessions.messages('alice'))).toEqual({ 1: '1', '1-2': '"b"', '1-3': '2', '1-4': '"b"' });
    expectSound('', sessions.journal('alice'), sessions.messages('alice'));
  });
});

describe('after the end', () => {
  it('ignores late output of a driver', async () => {
    let say: ((output: ToolDriverOutput) => void) | undefined;
    const sessions = slowSessions();
    const tools = driver(
      () => new Observable<ToolDriverOutput>((subscriber) => void (say = (output) => subscriber.next(output))),
    );
    const controller = new AbortController();
    const watched = watch(
      harness({ model: scriptedModel([response(call('1', 'a'))]), tools, sessions })
        .pipe()
        .turn({ session: 'alice', input: 'Go.', signal: controller.signal }),
    );
    await new Promise((resolve) => setTimeout(resolve, 1));
    controller.abort();
    await watched.done;
    const [events, before] = [watched.events.length, JSON.stringify(sessions.messages('alice'))];
    say?.(result('1'));
    say?.({ type: 'progress', id: '1', progress: 1 });
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(watched.events).toHaveLength(events);
    expect(JSON.stringify(sessions.messages('alice'))).toBe(before);
    expect(watched.all('tool.result')).toMatchObject([{ status: 'cancelled' }]);
  });

  it('ignores output about an earlier step', async () => {
    let say: ((output: ToolDriverOutput) => void) | undefined;
    const tools = driver(
      ([first]) =>
        new Observable<ToolDriverOutput>((subscriber) => {
          subscriber.next(result(first?.id ?? ''));
          say ??= (output) => subscriber.next(output);
          subscriber.add(NEVER.subscribe());
        }),
    );
    const model = scriptedModel([response(call('1', 'a')), response(call('2', 'a')), 'Done.'], { delayMs: 1 });
    const agent = harness({ model, tools }).pipe();
    const { done, all } = watch(agent.turn({ session: 'alice', input: 'Go.' }), (event) => {
      if (event.type === 'model.request' && event.step === 2) for (const id of ['1', '2']) say?.(result(id, 'late'));
      if (event.type === 'model.request') expect(agent.running()).toMatchObject([{ state: 'running' }]);
    });
    await done;
    expect(all('tool.result').map(({ output }) => ('value' in output ? output.value : ''))).toEqual([
      'result of 1',
      'result of 2',
    ]);
  });
});
