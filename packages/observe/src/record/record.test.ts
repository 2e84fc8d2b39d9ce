import { buildTrace, formatTrace, readTrace } from '@h/trace';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { harness, intercept, memorySessions, reply, type PipelineOperator } from '@h/turn';
import { call, failure, ok, response, scriptedModel, scriptedTools } from '@h/turn/testing';
import { describeOperator } from '@h/turn/vitest';
import { build } from 'esbuild';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { hashSessionKey } from '../session-key.js';
import { record, type RecordOptions } from './record.js';

/** Replaces a secret in all strings of an event. */
const redacting =
  (secret: string, shown: string) =>
  <Event extends object>(event: Event): Event =>
    JSON.parse(JSON.stringify(event).replaceAll(secret, shown)) as Event;

const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'h-record-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
};

const run = async (
  options: RecordOptions = {},
  file = join(folder(), 'turn.jsonl'),
  operators: readonly PipelineOperator[] = [],
) => {
  const bytes = {
    status: 'ok' as const,
    output: {
      type: 'content' as const,
      value: [{ type: 'file' as const, data: new Uint8Array(5000), mediaType: 'image/png' }],
    },
  };
  const model = scriptedModel([
    response('Let me look, sk-1.', call('1', 'ls', { path: 'x'.repeat(100) }), call('2', 'shot')),
    { error: failure('Busy') },
  ]);
  const agent = harness({
    model,
    tools: scriptedTools({ ls: ok('a.txt'), shot: bytes }),
    system: 'Be brief.',
    defaultModel: 'a/m',
  }).pipe(...operators, record(file, options));
  await reply(agent.turn({ session: 'alice', input: 'My key is sk-1', id: 'turn-1' }));
  const text = readFileSync(file, 'utf8');
  const lines = text
    .trimEnd()
    .split('\n')
    .map(
      (line) =>
        JSON.parse(line) as { readonly seq: number; readonly event: Record<string, unknown>; readonly deltas?: number },
    );
  return { file, text, lines, trace: () => [...readTrace(text).turns].map(([id, each]) => buildTrace(id, each))[0] };
};

describe('record', () => {
  it('writes all events except deltas in order, with the number of deltas', async () => {
    const { lines, text } = await run();
    expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, place) => place));
    expect(lines.map(({ event }) => event['type'])).toEqual(
      [
        'turn.start',
        'session.loaded',
        'history.append',
        'model.request',
        'model.response',
        'history.append',
        'tool.call',
        'tool.call',
        'tool.result',
        'tool.result',
        'history.append',
        'model.request',
        'model.error',
        'turn.stop',
        'turn.end',
      ].filter((type) => lines.some(({ event }) => event['type'] === type)),
    );
    expect(lines.find(({ event }) => event['type'] === 'model.response')).toMatchObject({
      deltas: 3,
      firstDeltaMs: expect.any(Number) as number,
    });
    expect(text.length).toBeLessThan(8000);
    expect(text).toContain('[5000 bytes]');
  });

  it('redacts and truncates text, and hashes sessions', async () => {
    const { text, lines } = await run({ redact: redacting('sk-1', '[key]'), maxContentChars: 20 });
    expect(text).not.toContain('sk-1');
    expect(text).not.toContain('x'.repeat(21));
    expect(lines[0]?.event['session']).toBe(hashSessionKey('alice'));
    expect((await run({ sessionKey: 'plain' })).lines[0]?.event['session']).toBe('alice');
  });

  it('omits content if `content` is false, and stays readable', async () => {
    const { text, trace } = await run({ content: false });
    for (const word of ['sk-1', 'a.txt', 'xxx', 'Be brief']) expect(text).not.toContain(word);
    expect(trace()).toMatchObject({ steps: 2, toolCalls: 2, outcome: 'error', models: ['a/m'], usage: { input: 10 } });
  });

  it('stops at the size limit of a turn, and records its end', async () => {
    const { lines } = await run({ maxChars: 400 });
    expect(lines.length).toBeLessThan(4);
    expect(lines.at(-1)?.event['type']).toBe('turn.end');
  });

  it('uses the file that a function returns for each turn', async () => {
    const place = folder();
    const agent = harness({ model: scriptedModel(['One.', 'Two.']) }).pipe(
      record(({ turn }) => join(place, `${turn}.jsonl`)),
    );
    for (const id of ['a', 'b']) await reply(agent.turn({ session: 's', input: 'Hi', id }));
    expect(
      ['a', 'b'].map((id) => [...readTrace(readFileSync(join(place, `${id}.jsonl`), 'utf8')).turns.keys()]),
    ).toEqual([['a'], ['b']]);
  });

  it('rotates by size, without losing an event', async () => {
    const file = join(folder(), 'turns.jsonl');
    const { lines } = await run();
    for (let turn = 0; turn < 3; turn += 1) await run({ maxBytes: 4_000, maxFiles: 30 }, file);
    const files = readdirSync(dirname(file));
    expect(files.length).toBeGreaterThan(2);
    const texts = files.map((name) => readFileSync(join(dirname(file), name), 'utf8'));
    expect(texts.join('').trimEnd().split('\n')).toHaveLength(3 * lines.length);
  });

  it('separates turns in one file, and skips torn lines', async () => {
    const file = join(folder(), 'turns.jsonl');
    await run({}, file);
    appendFileSync(file, '{"v":1,"seq":3,"ms":12,"event":{"type":"model.requ');
    const agent = harness({ model: scriptedModel(['Hello.']) }).pipe(record(file));
    await reply(agent.turn({ session: 's', input: 'Hi', id: 'turn-2' }));
    const { turns, skipped } = readTrace(readFileSync(file, 'utf8'));
    expect([...turns.keys(), skipped]).toEqual(['turn-1', 'turn-2', 1]);
    expect(buildTrace('turn-2', turns.get('turn-2') ?? []).outcome).toBe('completed');
  });

  it('does not repeat replayed events', async () => {
    const file = join(folder(), 'turn.jsonl');
    const sessions = memorySessions();
    const agent = harness({
      model: scriptedModel([response(call('1', 'ls')), 'Done.']),
      tools: scriptedTools({ ls: 'a' }),
      sessions,
    }).pipe(record(file));
    await reply(agent.turn({ session: 's', input: 'Hi', id: 't' }));
    const before = readFileSync(file, 'utf8');
    await reply(agent.resume('t'));
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it('writes commands to disk before their execution', async () => {
    const file = join(folder(), 'turn.jsonl');
    const seen: string[] = [];
    const tools = scriptedTools({
      ls: () => {
        seen.push(...readFileSync(file, 'utf8').trimEnd().split('\n').slice(-1));
        return 'a';
      },
    });
    await reply(
      harness({ model: scriptedModel([response(call('1', 'ls')), 'Done.']), tools })
        .pipe(record(file, { flushMs: 1e6 }))
        .turn({ session: 's', input: 'Hi' }),
    );
    expect(seen[0]).toContain('"type":"tool.call"');
  });

  it('does not affect the turn if a write or a redactor fails', async () => {
    const place = folder();
    writeFileSync(join(place, 'file'), '');
    const errors: unknown[] = [];
    const agent = (options: RecordOptions) =>
      harness({ model: scriptedModel(['Hello.']) }).pipe(
        record(join(place, 'file', 'x'), { onError: (error) => errors.push(error), ...options }),
      );
    expect((await reply(agent({}).turn({ session: 's', input: 'Hi' }))).outcome).toBe('completed');
    expect(errors).toHaveLength(1);
    const failing = agent({
      redact: () => {
        throw new Error('No.');
      },
      onError: () => {
        throw new Error('Even this.');
      },
    });
    expect((await reply(failing.turn({ session: 's', input: 'Hi' }))).outcome).toBe('completed');
  });

  it('leaves a readable recording after a kill', async () => {
    const place = folder();
    const file = join(place, 'turn.jsonl');
    const script = join(place, 'run.mjs');
    const contents = `import { harness } from '@h/turn'; import { record } from './record.ts'; import { timer, of, map } from 'rxjs';
      let count = 0;
      const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
      const model = () => timer(1).pipe(map(() => ({ type: 'response', response: { content: [{ type: 'tool-call', toolCallId: String(count += 1), toolName: 'ls', input: { path: 'x'.repeat(300) } }], finishReason: 'tool-calls', usage } })));
      const tools = { definitions: () => [], run: (calls) => of(...calls.map(({ id }) => ({ type: 'result', id, outcome: { status: 'ok', output: { type: 'text', value: 'a' } } }))) };
      harness({ model, tools, maxModelCalls: 100000 }).pipe(record(process.argv[2])).turn({ session: 's', input: 'Go', id: 't' }).subscribe();`;
    await build({
      stdin: { contents, resolveDir: fileURLToPath(new URL('.', import.meta.url)), loader: 'ts' },
      outfile: script,
      bundle: true,
      format: 'esm',
      platform: 'node',
      conditions: ['@h/source'],
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    });
    const child = spawn(process.execPath, [script, file], { stdio: 'ignore' });
    await vi.waitFor(() => expect(readFileSync(file).length).toBeGreaterThan(20_000), { timeout: 20_000 });
    child.kill('SIGKILL');
    await once(child, 'exit');
    const { turns, skipped } = readTrace(readFileSync(file, 'utf8'));
    const trace = buildTrace('t', turns.get('t') ?? []);
    expect(skipped).toBeLessThanOrEqual(1);
    expect(trace.outcome).toBeUndefined();
    expect(trace.steps).toBeGreaterThan(5);
    expect(formatTrace(trace)).toContain('no end recorded');
  });

  it.each([
    [{ maxBytes: 0 }, '"maxBytes"'],
    [{ content: 'no' }, '"content" must be a boolean'],
    [{ sessionKey: 'md5' }, '"hash" or "plain"'],
    [{ flushMs: -1 }, '"flushMs"'],
    [{ redact: 1 }, '"redact"'],
    [{ clock: 1 }, '"clock"'],
  ])('rejects %j', (options, message) => {
    expect(() => record('x', options as never)).toThrow(message);
  });

  it('rejects an empty file name', () => {
    expect(() => record('')).toThrow('record(): "file" must be a non-empty string or a function; received ""');
  });
});

describeOperator(() => record(join(tmpdir(), 'h-record-conformance.jsonl')));

it('shows the events before an operator failed', async () => {
  const failing = intercept('bad', () => ({
    observe: {
      'model.response': () => {
        throw new Error('A bug.');
      },
    },
  }));
  const { trace } = await run({}, undefined, [failing]);
  expect(trace()).toMatchObject({ outcome: 'error', reason: expect.stringContaining('bad') as string });
});
