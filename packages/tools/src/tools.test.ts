import type { ToolOutcome, ToolResultOutput, TurnEvent, TurnEventOf } from '@h/turn';
import { call, event, ok, request, response } from '@h/turn/testing';
import { describeOperator } from '@h/turn/vitest';
import fc from 'fast-check';
import { from, lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { memoryArtifacts } from './artifacts/memory-artifacts.js';
import type { ArtifactStore } from './artifacts/store.js';
import { InvalidOptionError } from '@h/options';
import { LateResults } from './late-results.js';
import { tools, type ToolsOptions } from './tools.js';

type Result = TurnEventOf<'tool.result'>;

const start = event('turn.start', { session: 'alice', input: [], trigger: 'user' });
const ask = (changes: Parameters<typeof request>[0] = {}, step = 1): TurnEvent =>
  event('model.request', { step, attempt: 1, ...request(changes) });
const answer = (count: number): TurnEvent =>
  event('model.response', {
    step: 1,
    attempt: 1,
    ...response(...Array.from({ length: count }, (_, index) => call(String(index)))),
  });
const result = (outcome: ToolOutcome, id = '0', name = 'noop'): Result =>
  event('tool.result', { step: 1, call: { id, name, input: {} }, ...outcome });
const okOutput = (output: ToolResultOutput): ToolOutcome => ({ status: 'ok', output });

const play = (events: readonly TurnEvent[], options: ToolsOptions = {}): Promise<TurnEvent[]> =>
  lastValueFrom(from(events).pipe(tools(options), toArray()));

/** Returns the shaped results of one step with these outcomes. */
const shaped = async (
  outcomes: readonly ToolOutcome[],
  options: ToolsOptions = {},
  more: readonly TurnEvent[] = [],
): Promise<Result[]> => {
  const results = outcomes.map((outcome, index) => result(outcome, String(index)));
  const events = await play([start, ask(), ...more, answer(outcomes.length), ...results], options);
  return events.filter((each): each is Result => each.type === 'tool.result');
};
const shapedOne = async (
  outcome: ToolOutcome,
  options: ToolsOptions = {},
  more: readonly TurnEvent[] = [],
): Promise<Result> => (await shaped([outcome], options, more))[0] as Result;

const textOf = ({ output }: ToolOutcome): string => {
  if (output.type === 'text' || output.type === 'error-text') return output.value;
  if (output.type === 'content') return output.value.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return JSON.stringify('value' in output ? output.value : output);
};
const readAll = async (store: ArtifactStore, event: ToolOutcome): Promise<unknown> =>
  event.status === 'stored' ? (await store.read('alice', event.artifact.id)).content : undefined;

const long = (length: number): string => 'abcdefghi\n'.repeat(Math.ceil(length / 10)).slice(0, length);

describe('tools', () => {
  describeOperator(() => tools());
  describeOperator(() => tools({ artifacts: memoryArtifacts(), redact: false, maxChars: 100, contextWindow: 8_000 }));

  it('passes a result that fits unchanged, as the same object', async () => {
    const small = result(ok('small'));
    expect((await play([start, ask(), answer(1), small])).at(-1)).toBe(small);
  });

  it('truncates a long result to its cap, and does not mention an artifact', async () => {
    const cut = await shapedOne(ok(long(50_000)));
    expect(cut.status).toBe('ok');
    expect(textOf(cut).length).toBeLessThanOrEqual(16_000);
    expect(textOf(cut)).toMatch(/\[… 34,\d{3} characters omitted; request a smaller part to see them …\]/);
  });

  it.each([
    [{ maxChars: 100 }, 100],
    [{ contextWindow: 128_000 }, 32_000],
    [{ contextWindow: () => 200_000 }, 64_000],
    [{ contextWindow: 4_000 }, 4_800],
    [{ maxChars: 0 }, 0],
  ])('derives the cap from %j', async (options, cap) => {
    const { length } = textOf(await shapedOne(ok(long(200_000)), options));
    expect(length).toBeLessThanOrEqual(cap);
    expect(length).toBeGreaterThanOrEqual(cap * 0.9);
  });

  it('uses the context window of the requested model', async () => {
    const asked: unknown[] = [];
    const contextWindow = (model: string | undefined) => (asked.push(model), model === 'big' ? 200_000 : undefined);
    expect(
      textOf(await shapedOne(ok(long(200_000)), { contextWindow }, [ask({ model: 'big' })])).length,
    ).toBeGreaterThan(60_000);
    expect(asked).toContain('big');
  });

  it('limits a result in a dense script to its share of the context window', async () => {
    const { length } = textOf(await shapedOne(ok('日本語'.repeat(10_000)), { contextWindow: 8_000 }));
    expect(length).toBeLessThanOrEqual(2_400);
  });

  it('keeps generated results within the caps of a result and of a step', async () => {
    const outputs = fc.oneof(
      fc.nat(3_000).map((length): ToolResultOutput => ({ type: 'text', value: long(length) })),
      fc.nat(3_000).map((length): ToolResultOutput => ({ type: 'error-text', value: '😀'.repeat(length) })),
      fc.nat(300).map((length): ToolResultOutput => ({ type: 'json', value: Array.from({ length }, () => 'x\n') })),
      fc.array(fc.nat(1_000)).map((lengths): ToolResultOutput => ({
        type: 'content',
        value: lengths.map((length) => ({ type: 'text', text: long(length) })),
      })),
      fc.constant<ToolResultOutput>({
        type: 'content',
        value: [{ type: 'file', data: 'AAAA', mediaType: 'application/zip' }],
      }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(outputs, { minLength: 1, maxLength: 6 }),
        fc.nat(2_000),
        fc.nat(4_000),
        fc.boolean(),
        async (list, maxChars, maxStepChars, isStored) => {
          const store = isStored ? { artifacts: memoryArtifacts(), redact: false as const } : {};
          const results = await shaped(list.map(okOutput), { maxChars, maxStepChars, ...store });
          expect(results).toHaveLength(list.length);
          const sizes = results.map((each) => textOf(each).length);
          for (const size of sizes) expect(size).toBeLessThanOrEqual(maxChars);
          expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(maxStepChars);
          expect(results.every((each) => textOf(each).isWellFormed())).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('resets the cap for each step', async () => {
    const events = await play(
      [start, ask(), answer(1), result(ok(long(900))), ask({}, 2), answer(1), result(ok(long(900)))],
      { maxChars: 900, maxStepChars: 1_000 },
    );
    expect(events.filter(({ type }) => type === 'tool.result').map((each) => textOf(each as Result).length)).toEqual([
      900, 900,
    ]);
  });

  it('divides the cap among the parts of a result, and leaves short parts unchanged', async () => {
    const value = [
      { type: 'text', text: 'short' },
      { type: 'text', text: long(5_000) },
    ] as const;
    const { output } = await shapedOne(okOutput({ type: 'content', value }), { maxChars: 1_000 });
    expect(output).toMatchObject({
      type: 'content',
      value: [{ text: 'short' }, { text: expect.stringContaining('omitted') as string }],
    });
  });

  it('joins the texts of a result with more than 100 parts', async () => {
    const texts = Array.from({ length: 10_000 }, (_, index) => ({ type: 'text', text: `match ${index}` }) as const);
    const image = { type: 'file', data: 'AAAA', mediaType: 'image/png' } as const;
    const { output } = await shapedOne(okOutput({ type: 'content', value: [...texts, image, ...texts] }));
    expect(output).toMatchObject({
      type: 'content',
      value: [{ text: expect.stringMatching(/^match 0\nmatch 1\n/) as string }, image, { type: 'text' }],
    });
    expect(JSON.stringify(output).length).toBeLessThan(20_000);
  });

  it('converts JSON to text only if it must be truncated', async () => {
    const output: ToolResultOutput = {
      type: 'json',
      value: { list: Array.from({ length: 1_000 }, (_, index) => index) },
    };
    expect((await shapedOne(okOutput(output))).output).toBe(output);
    expect((await shapedOne(okOutput(output), { maxChars: 500 })).output).toMatchObject({
      type: 'text',
      value: expect.stringMatching(/^\{"list":\[0,1,/) as string,
    });
    const failed = {
      status: 'failed',
      error: { name: 'Error', message: 'x' },
      output: { ...output, type: 'error-json' },
    } as const;
    expect((await shapedOne(failed, { maxChars: 500 })).output.type).toBe('error-text');
  });
});

describe('files in a result', () => {
  const part = (mediaType: string, data: string | Uint8Array | ArrayBuffer, filename?: string) =>
    okOutput({ type: 'content', value: [{ type: 'file', data, mediaType, filename }] });

  it('are passed to the model if they are small images or PDFs', async () => {
    const image = part('image/png', new Uint8Array(100));
    expect((await shapedOne(image)).output).toBe(image.output);
    expect(textOf(await shapedOne(image, { maxFileBytes: 99 }))).toBe('[Not shown: image/png, 100 bytes]');
    const link = okOutput({ type: 'content', value: [{ type: 'image-url', url: 'https://example.org/a.png' }] });
    expect((await shapedOne(link)).output).toBe(link.output);
  });

  it('are described from the 21st on', async () => {
    const files = Array.from({ length: 30 }, () => ({ type: 'file', data: 'AAAA', mediaType: 'image/png' }) as const);
    const value = [...Array.from({ length: 5 }, () => ({ type: 'custom' }) as const), ...files];
    const { output } = await shapedOne(okOutput({ type: 'content', value }));
    const types = (output as { readonly value: readonly { readonly type: string }[] }).value.map(({ type }) => type);
    expect(types.slice(5)).toEqual([...Array<string>(20).fill('file'), ...Array<string>(10).fill('text')]);
  });

  it('are described and stored if the model cannot read them', async () => {
    const artifacts = memoryArtifacts();
    const stored = await shapedOne(part('application/zip', Buffer.from('zipped').toString('base64'), 'a.zip'), {
      artifacts,
      redact: false,
    });
    expect(stored.status).toBe('stored');
    expect(textOf(stored)).toMatch(
      /^\[Not shown: a\.zip, application\/zip, 6 bytes; stored as artifact art_[0-9a-f]{24}\]$/,
    );
    expect(Buffer.from((await readAll(artifacts, stored)) as Uint8Array).toString()).toBe('zipped');
  });

  it('become text parts if their media type is textual', async () => {
    expect((await shapedOne(part('text/csv', Buffer.from('a,b')))).output).toEqual({
      type: 'content',
      value: [{ type: 'text', text: 'a,b' }],
    });
    expect(textOf(await shapedOne(part('application/ld+json', 'data:application/ld+json;base64,e30=')))).toBe('{}');
    expect(textOf(await shapedOne(part('text/plain', new ArrayBuffer(0))))).toBe('');
  });

  it('are recognized in text that a tool decoded from bytes', async () => {
    const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]).toString();
    expect(textOf(await shapedOne(ok(png)))).toBe('[Not shown: a PNG image, 12 characters]');
  });
});

describe('artifacts of results', () => {
  const secret = (length: number): string => `${long(length)}key=sk-12345`;
  const redact = (text: string): string => text.replaceAll(/sk-\d+/g, '[redacted]');

  it('contain the full redacted result, and belong to the session of the turn', async () => {
    const artifacts = memoryArtifacts();
    const stored = await shapedOne(ok(secret(50_000)), { artifacts, redact });
    expect(stored).toMatchObject({ status: 'stored', artifact: { size: 50_014 } });
    expect(await readAll(artifacts, stored)).toBe(`${long(50_000)}key=[redacted]`);
    expect(textOf(stored)).not.toContain('sk-12345');
    expect(textOf(stored)).toContain(
      `all of it is stored as artifact ${stored.status === 'stored' && stored.artifact.id} …]`,
    );
  });

  it('are redacted asynchronously', async () => {
    const artifacts = memoryArtifacts();
    const stored = await shapedOne(ok(secret(50_000)), { artifacts, redact: async (text) => redact(text) });
    expect(await readAll(artifacts, stored)).not.toContain('sk-12345');
  });

  it('are announced with read_artifact if the request offers that tool', async () => {
    const tool = { name: 'read_artifact', description: '', inputSchema: { type: 'object' } };
    const stored = await shapedOne(ok(long(50_000)), { artifacts: memoryArtifacts(), redact }, [
      ask({ tools: [tool] }),
    ]);
    expect(textOf(stored)).toMatch(/; read_artifact with id art_[0-9a-f]{24} shows all of it …\]/);
  });

  it('preserve the status of a failed result', async () => {
    const artifacts = memoryArtifacts();
    const failed = {
      status: 'failed',
      error: { name: 'Error', message: 'x' },
      output: { type: 'error-text', value: long(50_000) },
      details: { exitCode: 1 },
    } as const;
    const stored = await shapedOne(failed, { artifacts, redact });
    expect(stored).toMatchObject({ status: 'failed', details: { exitCode: 1, artifact: { size: 50_000 } } });
    expect(textOf(stored)).toContain('stored as artifact');
  });

  it('are marked as external if the result is external', async () => {
    const artifacts = memoryArtifacts();
    const stored = await shapedOne({ ...ok(long(50_000)), details: { external: true } }, { artifacts, redact });
    expect(await artifacts.read('alice', stored.status === 'stored' ? stored.artifact.id : '')).toMatchObject({
      external: true,
    });
  });

  it('are reused for a repeated result', async () => {
    let puts = 0;
    const memory = memoryArtifacts();
    const artifacts: ArtifactStore = { ...memory, put: (artifact) => ((puts += 1), memory.put(artifact)) };
    const repeated = { ...ok(long(50_000)), details: { replayOf: '0' } };
    const [first, second] = await shaped([ok(long(50_000)), repeated], { artifacts, redact });
    expect(first?.status === 'stored' && first.artifact).toEqual(second?.status === 'stored' && second.artifact);
    expect(puts).toBe(1);
  });

  it('are not created for read_artifact and other exempt tools', async () => {
    const artifacts = memoryArtifacts();
    const events = (name: string, options: ToolsOptions = {}) =>
      play([start, ask(), answer(1), result(ok(long(50_000)), '0', name)], { artifacts, redact, ...options }).then(
        (all) => all.at(-1) as Result,
      );
    expect((await events('read_artifact')).status).toBe('ok');
    expect(textOf(await events('read_artifact')).length).toBeLessThanOrEqual(16_000);
    expect((await events('noop', { exempt: ['noop'] })).status).toBe('ok');
    expect((await events('read_artifact', { exempt: [] })).status).toBe('stored');
  });

  it.each<[string, ToolsOptions]>([
    ['the store rejects the content', { artifacts: memoryArtifacts({ maxBytes: 10 }), redact }],
    ['redaction fails', { artifacts: memoryArtifacts(), redact: () => Promise.reject(new Error('no redactor')) }],
  ])('are not announced if %s, and a notice is emitted', async (_, options) => {
    const events = await play([start, ask(), answer(1), result(ok(long(50_000)))], options);
    const [cut, notice] = events.slice(-2) as [Result, TurnEventOf<'artifact.failed'>];
    expect(cut.status).toBe('ok');
    expect(textOf(cut)).toContain('request a smaller part');
    expect(notice).toMatchObject({
      type: 'artifact.failed',
      call: { id: '0' },
      error: { message: expect.any(String) as string },
    });
  });

  it('are not created for a result that fits after redaction', async () => {
    const artifacts = memoryArtifacts();
    const shrink = (text: string): string => text.slice(0, 10);
    expect(await shapedOne(ok(long(50_000)), { artifacts, redact: shrink })).toMatchObject({
      status: 'ok',
      output: { value: 'abcdefghi\n' },
    });
    const json = await shapedOne(okOutput({ type: 'json', value: long(50_000) }), { artifacts, redact: shrink });
    expect(textOf(json).length).toBeLessThanOrEqual(10);
  });
});

describe('calls that completed late', () => {
  const driver = () => {
    const late = new LateResults();
    late.add('alice', {
      id: 'c1',
      name: 'send_mail',
      effect: 'network',
      turn: 't',
      reportedAs: 'timed-out',
      durationMs: 700,
    });
    return {
      late,
      forgotten: [] as string[],
      forget(turn: string) {
        this.forgotten.push(turn);
      },
    };
  };
  const tails = (events: readonly TurnEvent[]) =>
    events.flatMap((each) => (each.type === 'model.request' ? [each.tail] : []));

  it('are reported once, with the next request, after the history', async () => {
    const events = await play([start, ask(), answer(0), ask({}, 2), answer(0)], { driver: driver() });
    const [first, second] = tails(events);
    expect(first).toEqual([
      {
        role: 'user',
        content: expect.stringContaining(
          'send_mail (call c1), reported as timed out, completed after 700 ms',
        ) as string,
        metadata: { internal: true, kind: 'late-results' },
      },
    ]);
    expect(second).toEqual([]);
  });

  it('are reported again until a model answers', async () => {
    const mine = driver();
    await play([start, ask()], { driver: mine });
    expect(mine.late.of('alice')).toHaveLength(1);
    const [again] = tails(await play([start, ask()], { driver: mine }));
    expect(again).toHaveLength(1);
  });

  it('stay pending when the answered request did not report them', async () => {
    const mine = driver();
    await play([start, answer(0)], { driver: mine });
    expect(mine.late.of('alice')).toHaveLength(1);
  });

  it('are not reported to another session', async () => {
    const other = event('turn.start', { session: 'bob', input: [], trigger: 'user' });
    expect(tails(await play([other, ask()], { driver: driver() }))).toEqual([[]]);
  });

  it('are forgotten by the driver when the turn ends or new input arrives', async () => {
    const mine = driver();
    await play([start, event('input.received', { id: '1', message: { role: 'user', content: 'I fixed it.' } })], {
      driver: mine,
    });
    expect(mine.forgotten).toEqual(['turn-1', 'turn-1']);
  });
});

describe('calls beyond maxCallsPerStep', () => {
  describeOperator(() => tools({ maxCallsPerStep: 1 }), { changes: ['model.response', 'tool.result'] });

  const calls = (count: number): readonly TurnEvent[] =>
    Array.from({ length: count }, (_, index) =>
      event('tool.call', { step: 1, index, call: { id: String(index), name: 'noop', input: {} } }),
    );

  it('are answered as skipped, in order; the other calls pass unchanged', async () => {
    const given = calls(5);
    const events = (await play([start, ask(), answer(5), ...given], { maxCallsPerStep: 3 })).slice(3);
    expect(events.slice(0, 3)).toEqual(given.slice(0, 3));
    expect(events.slice(3)).toMatchObject(
      ['3', '4'].map((id) => ({
        type: 'tool.result',
        call: { id },
        status: 'skipped',
        reason:
          'Not run: an answer may have at most 3 tool calls. Repeat this call in a later answer if it is still needed.',
      })),
    );
  });

  it('are counted separately for each answer', async () => {
    const events = await play([start, ask(), answer(3), ask({}, 2), answer(2), ...calls(2)], { maxCallsPerStep: 2 });
    expect(events.filter(({ type }) => type === 'tool.result')).toEqual([]);
  });

  it('begin with call 129 by default', async () => {
    const events = await play([start, ask(), answer(130), ...calls(130)]);
    expect(events.filter(({ type }) => type === 'tool.result')).toHaveLength(2);
  });

  it('pass unchanged if they are already denied', async () => {
    const [first, second] = calls(2) as [TurnEvent, TurnEventOf<'tool.call'>];
    const denied = { ...second, denied: { reason: 'No.', by: 'test' } };
    const events = await play([start, ask(), answer(2), first, denied], { maxCallsPerStep: 1 });
    expect(events.at(-1)).toBe(denied);
  });
});

describe('options of tools', () => {
  it.each([
    [{ maxChars: -1 }, 'maxChars'],
    [{ maxStepChars: Number.NaN }, 'maxStepChars'],
    [{ contextWindow: 0 }, 'contextWindow'],
    [{ maxFileBytes: '5 MB' }, 'maxFileBytes'],
    [{ exempt: 'read' }, 'exempt'],
    [{ redact: true }, 'redact'],
    [{ artifacts: memoryArtifacts() }, 'redact'],
    [{ maxTokens: 5 }, 'maxTokens'],
    [{ maxCallsPerStep: 0 }, 'maxCallsPerStep'],
    [{ driver: {} }, 'driver'],
  ])('reject %j and name the option', (options, option) => {
    expect(() => tools(options as object)).toThrow(InvalidOptionError);
    expect(() => tools(options as object)).toThrow(expect.objectContaining({ option }));
  });
});
