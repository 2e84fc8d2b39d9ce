/**
 * Measures `observe()`, compared with logging each event with pino.
 *
 *   node bench/observe.mjs [rows that match this]        (after a build; `chrt -f 50` before it on a busy machine)
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { Subject, tap } from 'rxjs';
import { intercept, MessageList } from '@h/turn';
import { createUsageMeter, jsonLinesSink, observe, pinoSink } from '@h/observe';
import { priceTable } from '@h/prices';

const stepsPerTurn = 50;
const turnsPerRound = 20;
const deltasPerStep = 20;
const warmUpRounds = 20;
const rounds = 60;
const folder = mkdtempSync(join(tmpdir(), 'h-observe-bench-'));

const turn = 'turn-1';
let at = 1_700_000_000_000;
/** Ids parsed from JSON, as they arrive from a provider. */
const ids = JSON.parse(JSON.stringify(Array.from({ length: 1000 }, (_, index) => `toolu_01A09q90qw90lq91781${index}`)));
const messages = MessageList.of([{ role: 'user', content: 'Hello.' }]);
const input = { path: 'src/index.ts' };
const answer = [
  { type: 'text', text: 'Let me look.' },
  { type: 'tool-call', toolCallId: 'call-1', toolName: 'read', input },
];
const usage = { input: 12_000, cacheRead: 10_000, cacheWrite: 0, output: 240, reasoning: 0 };
const delta = { turn, at, type: 'model.delta', step: 1, attempt: 1, delta: { type: 'text', text: 'word ' } };

/** Emits the events of a step. The events are written out, because a spread takes longer than everything else. */
const feedStep = (source, step, deltas) => {
  at += 7;
  const id = ids[step % ids.length];
  const call = { id, name: 'read', input };
  source.next({
    turn,
    at,
    type: 'model.request',
    step,
    attempt: 1,
    model: 'anthropic/claude-sonnet-4-5',
    system: [],
    messages,
    tail: [],
    tools: [],
    settings: {},
  });
  for (let index = 0; index < deltas; index += 1) source.next(delta);
  source.next({
    turn,
    at,
    type: 'model.response',
    step,
    attempt: 1,
    content: answer,
    finishReason: 'tool-calls',
    usage,
    model: 'claude-sonnet-4-5-20250929',
    id,
  });
  source.next({
    turn,
    at,
    type: 'history.append',
    origin: 'response',
    messages: [{ role: 'assistant', content: answer }],
  });
  at += 5;
  source.next({ turn, at, type: 'tool.call', step, index: 0, call });
  source.next({
    turn,
    at,
    type: 'tool.result',
    step,
    call,
    status: 'ok',
    output: { type: 'text', value: 'export {};' },
    durationMs: 3,
  });
  source.next({ turn, at, type: 'history.append', origin: 'results', messages: [] });
};

const feedTurn = (operator, deltas) => {
  const source = new Subject();
  const subscription = source.pipe(operator).subscribe();
  source.next({
    turn,
    at,
    type: 'turn.start',
    session: 'alice',
    input: [{ role: 'user', content: 'Hi' }],
    trigger: 'user',
  });
  for (let step = 1; step <= stepsPerTurn; step += 1) feedStep(source, step, deltas);
  source.next({ turn, at, type: 'turn.end', outcome: 'completed', steps: stepsPerTurn, usage });
  subscription.unsubscribe();
};

/** Returns the CPU time per step in microseconds, including its share of the start and the end of the turn. */
const stepTime = (operator, deltas) => {
  const before = process.cpuUsage();
  for (let count = 0; count < turnsPerRound; count += 1) feedTurn(operator, deltas);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / turnsPerRound / stepsPerTurn;
};

/** Returns the overhead compared with an empty operator: the fastest of many alternating rounds after warm-up. */
const costs = (operator) => {
  const nothing = intercept('nothing', () => ({}));
  const best = { quiet: Infinity, full: Infinity, noQuiet: Infinity, noFull: Infinity };
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    const times = {
      quiet: stepTime(operator, 0),
      noQuiet: stepTime(nothing, 0),
      full: stepTime(operator, deltasPerStep),
      noFull: stepTime(nothing, deltasPerStep),
    };
    if (round >= 0) for (const [name, time] of Object.entries(times)) best[name] = Math.min(best[name], time);
  }
  const [step, quiet] = [best.full - best.noFull, best.quiet - best.noQuiet];
  return { step, quiet, piece: (step - quiet) / deltasPerStep };
};

const row = (what, make, target = '') => {
  if (!what.includes(process.argv[2] ?? '')) return;
  const { step, quiet, piece } = costs(make());
  console.log(
    `${what.padEnd(40)}${step.toFixed(2).padStart(8)} µs per step${quiet.toFixed(2).padStart(8)} without deltas${piece.toFixed(3).padStart(8)} per delta   ${target}`,
  );
};
const file = (name) => join(folder, name);
const costOf = priceTable({ 'claude-*': { input: 3, cacheRead: 0.3, output: 15 } });
/** Creates an asynchronous logger, as pino recommends for speed, on the same disk. */
const logger = (name, level = 'debug') =>
  pino({ level }, pino.destination({ dest: file(name), sync: false, minLength: 4096 }));

console.log(
  `Node ${process.version}; a step: a model call with ${deltasPerStep} deltas and one tool call; microseconds of CPU in addition to an empty operator`,
);
row('observe, no sink', () => observe());
row(
  'observe, JSON lines',
  () => observe({ sinks: [jsonLinesSink(file('runs.jsonl'))] }),
  '≤ 5 µs per step, a counter per delta',
);
row('observe, JSON lines, meter with prices', () =>
  observe({ sinks: [jsonLinesSink(file('metered.jsonl'))], meter: createUsageMeter({ costOf }) }),
);
row('observe, pino at info', () => observe({ sinks: [pinoSink(logger('info.log', 'info'))] }));
row('observe, pino at debug', () => observe({ sinks: [pinoSink(logger('debug.log'))] }));
row('tap: pino logs each event', () => {
  const log = logger('each.log');
  return tap((event) => log.debug(event, event.type));
});
row('tap: pino logs each event but deltas', () => {
  const log = logger('most.log');
  return tap((event) => event.type !== 'model.delta' && log.debug(event, event.type));
});
rmSync(folder, { recursive: true, force: true });
