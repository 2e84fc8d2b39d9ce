import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/**
 * The measures of `bench/value` on runs whose figures are known. They are plain JavaScript, so they are loaded without
 * types.
 *
 * @param {string} name
 */
const load = async (name) => import(/* @vite-ignore */ new URL(`../../bench/value/${name}.mjs`, import.meta.url).href);

const { PrefixCache, calibrate, habits, spendingOf } = await load('cache');
const { capResults, journalOf, stopLoops } = await load('effects');
const { compareCompactions, methods, needlesOf } = await load('identifiers');
const { generateRuns } = await load('fixtures');
const { readRuns } = await load('run');
const { valueMarkdown } = await load('markdown');
const { measureRuns } = await load('measures');

/**
 * A run of one turn with these calls, each a step.
 *
 * @param {readonly { name?: string, input: unknown, result: string, isError?: boolean }[]} calls
 */
const runWith = (calls, { isSuccess = true, id = 'run' } = {}) => ({
  id,
  inputs: ['Fix the build.'],
  isSuccess,
  steps: calls.map(({ name = 'Bash', input, result, isError = false }, index) => ({
    turn: 0,
    at: index * 10_000,
    model: 'claude-sonnet-4-5',
    usage: undefined,
    text: '',
    calls: [{ id: `call-${index}`, name, input, result, isError }],
  })),
});
const costOf = (/** @type {{ input: number }} */ { input }) => input / 1e6;
const block = (/** @type {string} */ key, tokens = 1000) => ({ key, tokens });

describe('PrefixCache', () => {
  it('reads the longest prefix of an earlier request, from 1,024 tokens on', () => {
    const cache = new PrefixCache();
    expect(cache.request([block('a'), block('b')], 0)).toEqual({ input: 2000, cacheRead: 0 });
    expect(cache.request([block('a'), block('b'), block('c')], 1000)).toEqual({ input: 3000, cacheRead: 2000 });
    expect(cache.request([block('a'), block('x'), block('c')], 2000)).toEqual({ input: 3000, cacheRead: 0 });
  });

  it('forgets a prefix that was not used for five minutes, and reads whole units', () => {
    const cache = new PrefixCache(128);
    cache.request([block('a', 2000)], 0);
    expect(cache.request([block('a', 2000)], 299_000).cacheRead).toBe(1920);
    expect(cache.request([block('a', 2000)], 600_000).cacheRead).toBe(0);
  });
});

describe('calibrate', () => {
  const text = 'The parser splits the words of a line and returns them. ';
  const calls = Array.from({ length: 12 }, (_, index) => ({
    input: { index },
    result: text.repeat(20 + ((index * 7) % 11)),
  }));
  /** @param {(input: number, before: number) => number} cacheReadOf */
  const recorded = (cacheReadOf) => {
    const run = runWith(calls);
    let [input, before] = [5000, 0];
    const steps = run.steps.map((step) => {
      const usage = { input, cacheRead: cacheReadOf(input, before), cacheWrite: 1, output: 1 };
      before = input;
      input += Math.round((step.calls[0]?.result.length ?? 0) / 5);
      return { ...step, usage };
    });
    return { ...run, steps };
  };

  it('has a small error for a provider that caches prefixes', () => {
    const { requests, shareError, inputError } = calibrate([recorded((_, before) => before)]);
    expect(requests).toBe(6);
    expect(shareError).toBeLessThan(0.03);
    expect(inputError).toBeLessThan(0.03);
  });

  it('reports a large error for a provider that caches nothing', () => {
    expect(calibrate([recorded(() => 0)]).shareError).toBeGreaterThan(0.5);
  });
});

describe('habits', () => {
  it('cost more than prompt tiers if they change the prefix', async () => {
    const run = runWith(
      Array.from({ length: 40 }, (_, index) => ({ input: { index }, result: 'word '.repeat(900 + index) })),
    );
    /** @type {Record<string, number>} */
    const shares = {};
    for (const [name, habit] of Object.entries(habits)) {
      const { input, cacheRead } = await spendingOf(run, habit, costOf);
      shares[name] = cacheRead / input;
    }
    const [tiers, ...mistakes] = Object.values(shares);
    expect(tiers).toBeGreaterThan(0.8);
    expect(mistakes).toHaveLength(3);
    for (const share of mistakes) expect(share).toBeLessThan((tiers ?? 0) - 0.05);
  });
});

describe('compareCompactions', () => {
  const filler = Array.from({ length: 30 }, (_, index) => ({
    input: { command: `step ${index}` },
    result: `nothing of note in this long line of words number ${index}. `.repeat(100),
  }));
  const run = runWith([
    { input: { command: 'find' }, result: 'src/core/lost-parser.ts and src/core/unused.ts' },
    ...filler,
    { input: { command: 'cat src/core/lost-parser.ts' }, result: 'x' },
    { input: { command: 'cat src/new/never-seen.ts' }, result: 'x' },
  ]);

  it('counts the identifiers that were known before the cut and used after it', () => {
    expect(needlesOf(run, 20)).toEqual(['src/core/lost-parser.ts']);
  });

  it('keeps every method within the limit, and counts what each one left', async () => {
    const rows = await compareCompactions([run], {
      ...methods,
      everything: (/** @type {unknown} */ messages) => messages,
    });
    expect(rows.everything).toMatchObject({ needed: 1, kept: 1 });
    expect(rows.everything.tokens).toBeGreaterThan(rows.everything.budget);
    expect(rows['sliding window']).toMatchObject({ needed: 1, kept: 0 });
    expect(rows['`@h/compaction`, with a summary']).toMatchObject({ needed: 1, kept: 1 });
    for (const name of Object.keys(methods)) {
      expect(rows[name].tokens).toBeLessThanOrEqual(rows[name].budget);
    }
  });
});

describe('capResults', () => {
  const head = 'const first = readTheFirstLineOfTheFile();';
  const middle = 'const middle = readTheMiddleOfTheWholeFile();';
  const filler = 'a line without meaning\n'.repeat(400);
  const run = runWith([
    { input: { path: 'a' }, result: `${head}\n${filler}${middle}\n${filler}` },
    { input: { old_string: head }, result: 'ok' },
    { input: { old_string: middle }, result: 'ok' },
  ]);

  it('counts removed tokens once for each request that would have carried them', () => {
    const { capped, tokens, carried, quoted, visible } = capResults([run], 2000);
    expect({ capped, quoted, visible }).toEqual({ capped: 1, quoted: 2, visible: 1 });
    expect(tokens).toBeGreaterThan(2000);
    expect(carried).toBe(2 * tokens);
  });

  it('counts nothing if no result exceeds the cap', () => {
    expect(capResults([run], 1_000_000)).toMatchObject({ capped: 0, carried: 0, quoted: 0 });
  });
});

describe('stopLoops', () => {
  const failing = { input: { command: 'npm test' }, result: '1 failing', isError: true };
  const looping = runWith(
    Array.from({ length: 12 }, () => failing),
    { isSuccess: false },
  );
  const working = runWith(
    Array.from({ length: 30 }, (_, index) => ({
      input: { command: `sed -n ${index}p a.ts` },
      result: `line ${index} says ${index * 7}`,
    })),
  );

  it('counts the calls after a loop, and no stop of a run that makes progress', () => {
    expect(stopLoops([looping, working])).toMatchObject({ runs: 2, stopped: 1, calls: 7, successes: 1, falseStops: 0 });
  });

  it('counts a stopped run that succeeded as a false stop', () => {
    expect(stopLoops([{ ...looping, isSuccess: true }])).toMatchObject({ stopped: 1, falseStops: 1 });
  });
});

describe('journalOf', () => {
  it('stores each message about once, and less than every request in full', async () => {
    const calls = Array.from({ length: 20 }, (_, index) => ({ input: { index }, result: `${index} `.repeat(1500) }));
    const { steps, journal, content, fullLog } = await journalOf([runWith(calls)]);
    expect(steps).toBe(21);
    expect(journal).toBeGreaterThan(content);
    expect(journal).toBeLessThan(3 * content);
    expect(fullLog).toBeGreaterThan(5 * content);
  });
});

describe('generated runs', () => {
  /** @type {string} */
  let folder;
  /** @type {any[]} */
  let read;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'h-value-'));
    for (const { name, text } of generateRuns(1, 4)) await writeFile(join(folder, name), text);
    const found = await readRuns([folder]);
    expect(found.skipped).toEqual([]);
    read = found.runs;
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('are the same for a seed, and others for another seed', () => {
    expect(generateRuns(1, 4)).toEqual(generateRuns(1, 4));
    expect(generateRuns(2, 1)).not.toEqual(generateRuns(1, 1));
  });

  it('are read with the usage of every step, and end as they were generated', () => {
    expect(read.map(({ isSuccess }) => isSuccess)).toEqual([true, true, true, false]);
    for (const { steps } of read) expect(steps.every((/** @type {any} */ { usage }) => usage.input > 0)).toBe(true);
  });

  it('are measured, also without each operator', async () => {
    const short = read.map((run) => ({ ...run, steps: [...run.steps.slice(0, 2), ...run.steps.slice(-12)] }));
    const measured = await measureRuns(short.slice(3), { costOf });
    const { ablation } = measured;
    expect(Object.keys(ablation)).toHaveLength(8);
    expect(ablation['without loop-detect'].toolCalls).toBeGreaterThan(ablation['all six'].toolCalls);
    expect(ablation['without tools'].input).toBeGreaterThanOrEqual(ablation['all six'].input);
    expect(valueMarkdown(measured, 'A test.')).toMatch(/### Ablation[^]*\| all six \| /);
  });
});
