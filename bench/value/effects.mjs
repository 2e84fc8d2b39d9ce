/** What caps, loop detection and the journal do to recorded runs. */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLoopDetector } from '../../packages/loop-detect/dist/index.js';
import { fileSessions } from '../../packages/session/dist/index.js';
import { estimateTokens } from '../../packages/tokens/dist/index.js';
import { truncate } from '../../packages/tools/dist/index.js';
import { replay } from './replay.mjs';

/** A quotation is a line of an input of at least this length. */
const minQuote = 24;

/** Counts what a cap removes, how many requests would have carried it, and what of it was quoted later. */
export const capResults = (runs, maxChars) => {
  const total = { capped: 0, tokens: 0, carried: 0, quoted: 0, visible: 0 };
  for (const { steps } of runs) {
    for (const [index, { calls }] of steps.entries()) {
      for (const { result = '' } of calls) {
        if (result.length <= maxChars) continue;
        const cut = truncate(result, { maxChars });
        const removed = estimateTokens(result) - estimateTokens(cut);
        total.capped += 1;
        total.tokens += removed;
        total.carried += removed * (steps.length - index - 1);
        for (const quote of quotesIn(steps.slice(index + 1))) {
          if (!result.includes(quote)) continue;
          total.quoted += 1;
          if (cut.includes(quote)) total.visible += 1;
        }
      }
    }
  }
  return total;
};

const quotesIn = (steps) =>
  new Set(
    steps.flatMap(({ calls }) =>
      calls.flatMap(({ input }) =>
        stringsIn(input)
          .flatMap((text) => text.split('\n'))
          .filter((line) => line.length >= minQuote),
      ),
    ),
  );

const stringsIn = (value) =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(stringsIn)
      : [];

/** Counts the calls after the one for which loop detection would have intervened, until the next message of the user. */
export const stopLoops = (runs) => {
  const total = {
    runs: runs.length,
    stopped: 0,
    calls: 0,
    requests: 0,
    tokens: 0,
    successes: 0,
    falseStops: 0,
    warned: 0,
  };
  for (const run of runs) {
    let detector = createLoopDetector();
    let isStopped = false;
    let isWarned = false;
    let turn = -1;
    let wasStopped = false;
    for (const step of run.steps) {
      if (step.turn !== turn) {
        turn = step.turn;
        detector = createLoopDetector();
        isStopped = false;
      }
      if (isStopped) {
        total.requests += 1;
        total.tokens += step.usage?.input ?? 0;
        total.calls += step.calls.length;
        continue;
      }
      for (const { id, name, input, result, isError } of step.calls) {
        const call = { id, name, input };
        const { level } = detector.judge(call);
        if (level === 'block' || level === 'break') isStopped = true;
        if (result === undefined) continue;
        const verdict = detector.record(call, { status: isError ? 'failed' : 'ok', output: result });
        if (verdict.level === 'break') isStopped = true;
        if (verdict.level === 'warn') isWarned = true;
      }
      wasStopped ||= isStopped;
    }
    if (wasStopped) total.stopped += 1;
    if (isWarned) total.warned += 1;
    if (run.isSuccess) total.successes += 1;
    if (run.isSuccess && wasStopped) total.falseStops += 1;
  }
  return total;
};

/** Measures the journal that a run leaves on disk, and a log of every request in full. */
export const journalOf = async (runs) => {
  const total = { steps: 0, journal: 0, content: 0, fullLog: 0 };
  for (const run of runs) {
    const directory = mkdtempSync(join(tmpdir(), 'h-value-'));
    try {
      const sessions = fileSessions({ directory, fsync: 'never' });
      const { sent } = await replay(run, {
        names: ['prompt', 'loop-detect', 'tools', 'security'],
        overhead: 2000,
        sessions,
      });
      total.steps += sent.length;
      total.journal += bytesBelow(directory);
      const texts = new Map();
      const sizeOf = (message) => {
        if (!texts.has(message)) texts.set(message, Buffer.byteLength(JSON.stringify(message)));
        return texts.get(message);
      };
      for (const { request } of sent) for (const message of request.messages) total.fullLog += sizeOf(message);
      for (const message of sent.at(-1)?.request.messages ?? []) total.content += sizeOf(message);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
  return total;
};

const bytesBelow = (directory) =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((bytes, entry) => bytes + statSync(join(entry.parentPath, entry.name)).size, 0);
