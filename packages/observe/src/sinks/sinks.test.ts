import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import pino from 'pino';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { isNotice, isRunEnd } from '../index.js';
import type { Noticed, Observation, RunEnded } from '../observation.js';
import { callbackSink } from './callback.js';
import { rotatingLines } from '../lines/index.js';
import { jsonLinesSink } from './json-lines.js';
import { parseLevels } from './levels.js';
import { memorySink } from './memory.js';
import { pinoSink, subsystemLoggers } from './pino.js';
import { closeSinks } from './sink.js';

const noticed = (seq: number, more: Partial<Noticed> = {}): Noticed => ({
  type: 'loop.warning',
  runId: 'r',
  seq,
  at: 1,
  subsystem: 'loop',
  level: 'warn',
  data: { seq },
  ...more,
});

const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'h-observe-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
};
const openFiles = (): number => (process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0);
const linesOf = (file: string): readonly { readonly seq: number }[] =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly seq: number });

describe('an observation', () => {
  it('is narrowed by what the package exports', () => {
    expect([isNotice(noticed(1)), isRunEnd(noticed(1))]).toEqual([true, false]);
    expect(isRunEnd({ type: 'run.completed' } as RunEnded)).toBe(true);
  });
});

describe('memorySink', () => {
  it('keeps the latest observations and counts the dropped ones', () => {
    const sink = memorySink({ maxObservations: 3 });
    for (let seq = 0; seq < 8; seq += 1) sink.write?.(noticed(seq));
    expect(sink.observations().map(({ seq }) => seq)).toEqual([5, 6, 7]);
    expect(sink.dropped).toBe(5);
    sink.clear();
    expect([sink.observations(), sink.dropped]).toEqual([[], 0]);
  });
});

describe('callbackSink', () => {
  it('calls the function in order, and reports its errors', async () => {
    const seen: number[] = [];
    const errors: unknown[] = [];
    const sink = callbackSink(
      ({ seq }) => {
        seen.push(seq);
        if (seq === 1) throw new Error('One.');
        return seq === 2 ? Promise.reject(new Error('Two.')) : undefined;
      },
      { onError: (error) => errors.push(error) },
    );
    for (let seq = 0; seq < 4; seq += 1) sink.write?.(noticed(seq));
    await sink.flush?.();
    expect(seen).toEqual([0, 1, 2, 3]);
    expect(errors.map(String)).toEqual(['Error: One.', 'Error: Two.']);
  });

  it('drops observations beyond its limit for a slow callback, and waits for the rest on flush', async () => {
    let done = 0;
    const releases: (() => void)[] = [];
    const sink = callbackSink(
      async () => {
        await new Promise<void>((resolve) => {
          releases.push(resolve);
        });
        done += 1;
      },
      { maxPending: 2 },
    );
    for (let seq = 0; seq < 5; seq += 1) sink.write?.(noticed(seq));
    expect(sink.dropped).toBe(3);
    const flushed = sink.flush?.();
    for (const release of releases) release();
    await flushed;
    expect(done).toBe(2);
  });
});

describe('jsonLinesSink', () => {
  it('writes one line per observation, in a new owner-only folder', () => {
    const file = join(folder(), 'logs', 'runs.jsonl');
    const sink = jsonLinesSink(file);
    for (let seq = 0; seq < 3; seq += 1) sink.write?.(noticed(seq));
    expect(existsSync(file)).toBe(false);
    sink.flush();
    expect(linesOf(file)).toEqual([noticed(0), noticed(1), noticed(2)]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    sink.close();
    sink.write?.(noticed(3));
    expect([linesOf(file).length, sink.dropped]).toEqual([3, 1]);
  });

  it('writes after a delay, and immediately when a turn ends', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const file = join(folder(), 'runs.jsonl');
    const sink = jsonLinesSink(file, { flushMs: 50 });
    sink.write?.(noticed(0));
    vi.advanceTimersByTime(49);
    expect(existsSync(file)).toBe(false);
    vi.advanceTimersByTime(1);
    expect(linesOf(file)).toHaveLength(1);
    sink.write?.({ ...noticed(1), type: 'run.completed' } as unknown as RunEnded);
    expect(linesOf(file)).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('rotates by size and keeps `maxFiles` complete files', () => {
    const file = join(folder(), 'runs.jsonl');
    const sink = jsonLinesSink(file, { maxBytes: 1000, maxFiles: 2 });
    for (let seq = 0; seq < 60; seq += 1) {
      sink.write?.(noticed(seq));
      sink.flush();
    }
    const kept = [`${file}.2`, `${file}.1`, file].flatMap((path) => linesOf(path).map(({ seq }) => seq));
    expect(kept).toEqual(Array.from({ length: kept.length }, (_, index) => 60 - kept.length + index));
    expect(existsSync(`${file}.3`)).toBe(false);
    for (const path of [file, `${file}.1`, `${file}.2`]) expect(statSync(path).size).toBeLessThanOrEqual(1000);
  });

  it.each([[[]], [[1]], [[2]], [[1, 2]], [[1, 3]], [[2, 3]]])(
    'fills the place that an interrupted rotation left: %j',
    (places) => {
      const file = join(folder(), 'runs.jsonl');
      for (const place of places) writeFileSync(`${file}.${place}`, `${place}\n`);
      const lines = rotatingLines(file, { maxBytes: 4, maxFiles: 3 });
      lines.write('old');
      lines.write('new');
      lines.close();
      const all = ['', '.1', '.2', '.3'].map((end) => (existsSync(file + end) ? readFileSync(file + end, 'utf8') : ''));
      expect(all.slice(0, 2)).toEqual(['new\n', 'old\n']);
      expect(all.slice(2).join('')).toBe(places.map((place) => `${place}\n`).join(''));
    },
  );

  it('writes a line before `write` returns', () => {
    const file = join(folder(), 'calls.jsonl');
    const lines = rotatingLines(file);
    lines.write('one');
    expect(readFileSync(file, 'utf8')).toBe('one\n');
    lines.close();
    lines.write('two');
    expect(lines.dropped).toBe(1);
    expect(() => rotatingLines(file, { maxBytes: 0 })).toThrow('maxBytes');
  });

  it('keeps no rotated file if `maxFiles` is 0', () => {
    const file = join(folder(), 'runs.jsonl');
    const sink = jsonLinesSink(file, { maxBytes: 300, maxFiles: 0 });
    for (let seq = 0; seq < 20; seq += 1) {
      sink.write?.(noticed(seq));
      sink.flush();
    }
    expect(existsSync(`${file}.1`)).toBe(false);
    expect(linesOf(file).at(-1)?.seq).toBe(19);
  });

  it('starts a new line after a torn one', () => {
    const file = join(folder(), 'runs.jsonl');
    writeFileSync(file, '{"type":"loop.war');
    const sink = jsonLinesSink(file);
    sink.write?.(noticed(0));
    sink.flush();
    expect(readFileSync(file, 'utf8').split('\n')[1]).toBe(JSON.stringify(noticed(0)));
  });

  it('starts a new line after one that a full disk has torn, and closes the file meanwhile', () => {
    const file = join(folder(), 'runs.jsonl');
    const write = fs.writeSync.bind(fs) as (...given: unknown[]) => number;
    let free = Infinity;
    fs.writeSync = ((descriptor: number, content: Buffer | string, at: number | null) => {
      const part = Buffer.from(content).subarray(at ?? 0, (at ?? 0) + free);
      if (part.length === 0) throw new Error('ENOSPC: no space left on device');
      free -= part.length;
      return write(descriptor, part);
    }) as typeof fs.writeSync;
    syncBuiltinESMExports();
    onTestFinished(() => {
      fs.writeSync = write;
      syncBuiltinESMExports();
    });
    const lines = rotatingLines(file, {
      onError: () => {
        throw new Error('A handler that fails.');
      },
    });
    lines.write('one');
    free = 2;
    const opened = openFiles();
    for (let count = 0; count < 5; count += 1) lines.write('torn');
    expect(openFiles()).toBeLessThanOrEqual(opened);
    free = Infinity;
    lines.write('two');
    expect(readFileSync(file, 'utf8')).toBe('one\nto\ntwo\n');
    expect(lines.dropped).toBe(5);
    lines.close();
  });

  it.each<[string, (file: string) => void]>([
    ['moved', (file) => renameSync(file, `${file}.old`)],
    ['deleted', (file) => rmSync(file)],
    ['deleted with its folder', (file) => rmSync(join(file, '..'), { recursive: true })],
  ])('creates a file again that another program has %s', (_what, take) => {
    const file = join(folder(), 'logs', 'runs.jsonl');
    const sink = jsonLinesSink(file);
    sink.write?.(noticed(1));
    sink.flush();
    const before = openFiles();
    take(file);
    sink.write?.(noticed(2));
    sink.flush();
    expect([linesOf(file).map(({ seq }) => seq), sink.dropped, openFiles()]).toEqual([[2], 0, before]);
    sink.close();
  });

  it('limits its buffer regardless of the timer', () => {
    const file = join(folder(), 'runs.jsonl');
    const sink = jsonLinesSink(file, { flushMs: 1e6 });
    const long = noticed(0, { data: { text: 'x'.repeat(30_000) } });
    for (let count = 0; count < 3; count += 1) sink.write?.(long);
    expect(statSync(file).size).toBeGreaterThan(60_000);
    sink.close();
  });

  it('reports a failed write once, counts it, and resumes when writing works', () => {
    const place = folder();
    const file = join(place, 'logs', 'runs.jsonl');
    appendFileSync(join(place, 'logs'), 'a file where the folder should be');
    const errors: unknown[] = [];
    const sink = jsonLinesSink(file, { onError: (error) => errors.push(error) });
    for (let seq = 0; seq < 3; seq += 1) {
      sink.write?.(noticed(seq));
      sink.flush();
    }
    expect([errors.length, sink.dropped]).toEqual([1, 3]);
    rmSync(join(place, 'logs'));
    mkdirSync(join(place, 'logs'));
    sink.write?.(noticed(3));
    sink.flush();
    expect(linesOf(file)).toEqual([noticed(3)]);
  });

  it.runIf(process.platform === 'linux')('reports a folder that no system call can create', () => {
    const errors: unknown[] = [];
    const sink = jsonLinesSink('/proc/x/y/runs.jsonl', { onError: (error) => errors.push(error) });
    sink.write?.(noticed(0));
    sink.flush();
    expect(errors).toMatchObject([{ code: 'ENOENT' }]);
    expect(sink.dropped).toBe(1);
  });

  it.each([
    [{ maxByte: 1 }, 'unknown option "maxByte"'],
    [{ maxFiles: 0.5 }, '"maxFiles" must be an integer from 0 or Infinity; received 0.5'],
    [{ flushMs: Number.NaN }, '"flushMs" must be a number'],
  ])('rejects %j', (options, message) => {
    expect(() => jsonLinesSink('x', options as never)).toThrow(message);
  });
});

describe('jsonLinesSink in a process', () => {
  let script = '';
  beforeAll(async () => {
    const place = mkdtempSync(join(tmpdir(), 'h-observe-process-'));
    script = join(place, 'sink.mjs');
    await build({
      stdin: {
        contents: `import { jsonLinesSink } from './json-lines.ts'; const [file, way] = process.argv.slice(2); const sink = jsonLinesSink(file, { flushMs: 20 });
        for (let seq = 0; seq < 5; seq += 1) sink.write({ type: 'loop.warning', seq });
        if (way === 'exit') process.exit(0);
        if (way === 'throw') throw new Error('Out.');
        if (way === 'stay') { setInterval(() => sink.write({ type: 'loop.warning', seq: 99 }), 1); }`,
        resolveDir: fileURLToPath(new URL('.', import.meta.url)),
        loader: 'ts',
      },
      outfile: script,
      bundle: true,
      format: 'esm',
      platform: 'node',
      conditions: ['@h/source'],
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    });
    return () => rmSync(place, { recursive: true, force: true });
  });

  it.each(['end', 'exit', 'throw'])('writes all lines when the process ends by %s', async (way) => {
    const file = join(folder(), 'runs.jsonl');
    await promisify(execFile)(process.execPath, [script, file, way]).catch(() => undefined);
    expect(linesOf(file).map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4]);
  });

  it('leaves only complete lines, except for the last one, after a kill', async () => {
    const file = join(folder(), 'runs.jsonl');
    const child = spawn(process.execPath, [script, file, 'stay'], { stdio: 'ignore' });
    await vi.waitFor(() => expect(linesOf(file).length).toBeGreaterThan(20), { timeout: 20_000 });
    child.kill('SIGKILL');
    await once(child, 'exit');
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).not.toContain(undefined);
  });
});

describe('pinoSink', () => {
  const logger = (level = 'info') => {
    const lines: Record<string, unknown>[] = [];
    const stream = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        lines.push(JSON.parse(chunk.toString()) as Record<string, unknown>);
        done();
      },
    });
    return { lines, log: pino({ level }, stream) };
  };

  it('logs with a child logger per subsystem, at the level of the observation', () => {
    const { lines, log } = logger();
    const sink = pinoSink(log, { environment: '' });
    sink.write?.(noticed(0));
    sink.write?.({ ...noticed(1), level: 'debug' });
    expect(lines).toMatchObject([
      { subsystem: 'loop', level: 40, ['msg']: 'loop.warning', runId: 'r', data: { seq: 0 } },
    ]);
  });

  it('sets levels by name; an environment variable takes precedence', () => {
    const { lines, log } = logger();
    vi.stubEnv('H_LOG', 'loop=debug');
    onTestFinished(() => void vi.unstubAllEnvs());
    const sink = pinoSink(log, { levels: { '*': 'error', loop: 'silent', cache: 'debug' } });
    const say = (subsystem: string): void => sink.write?.({ ...noticed(0), subsystem, level: 'debug' });
    for (const subsystem of ['loop', 'cache', 'model', 'toString']) say(subsystem);
    expect(lines.map(({ subsystem }) => subsystem)).toEqual(['loop', 'cache']);
  });

  it('creates one child logger per subsystem, up to a limit', () => {
    const { log } = logger();
    const loggerOf = subsystemLoggers(log, { environment: '' });
    expect(loggerOf('loop')).toBe(loggerOf('loop'));
    const made = new Set(Array.from({ length: 500 }, (_, index) => loggerOf(`s${index}`)));
    expect(made.size).toBeLessThanOrEqual(101);
  });

  it('rejects an unknown level', () => {
    expect(() => pinoSink(logger().log, { environment: 'loop=loud' })).toThrow(
      'The level of "loop" is trace, debug, info, warn, error, fatal or silent; it was given "loud".',
    );
    expect(() => pinoSink({} as never)).toThrow('"logger" must be an object with');
  });

  it.each([
    ['info', { '*': 'info' }],
    ['warn, loop=debug ,=x,y=,cache=Trace', { '*': 'warn', loop: 'debug', cache: 'trace' }],
    ['', {}],
  ])('parses %j', (text, levels) => {
    expect(parseLevels(text)).toEqual(levels);
  });
});

describe('closeSinks', () => {
  it('closes all sinks and reports their errors', async () => {
    const closed: string[] = [];
    const failures = await closeSinks(
      [
        { name: 'a', write: () => undefined, close: () => void closed.push('a') },
        {
          name: 'b',
          flush: () => {
            throw new Error('Full.');
          },
        },
        { name: 'c', flush: () => new Promise<void>(() => undefined) },
        { name: 'd', flush: () => void closed.push('flush d'), close: () => void closed.push('d') },
      ],
      20,
    );
    expect(closed.toSorted()).toEqual(['a', 'd', 'flush d']);
    expect(failures.map(({ sink, error }) => `${sink}: ${String(error)}`)).toEqual([
      'b: Error: Full.',
      'c: TimeoutError: The sink c was not closed within 20 ms.',
    ]);
  });
});

it('matches the type of an observation', () => {
  const observation: Observation = noticed(0);
  expect(observation.type).toBe('loop.warning');
});
