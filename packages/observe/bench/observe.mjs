/**
 * What observing costs, side by side with logging each event with pino, which is what one would do without it.
 *
 *   node --expose-gc bench/observe.mjs        (after a build)
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { Subject, tap } from 'rxjs';
import { intercept, MessageList } from '@h/turn';
import { createUsageMeter, jsonLinesSink, observe, pinoSink, priceTable } from '@h/observe';

const steps = 20_000;
const deltas = 20;
const folder = mkdtempSync(join(tmpdir(), 'h-observe-bench-'));

const envelope = { turn: 'turn-1', at: 1_700_000_000_000 };
const messages = MessageList.of([{ role: 'user', content: 'Hello.' }]);
const call = { id: 'call-1', name: 'read', input: { path: 'src/index.ts' } };
const answer = [{ type: 'text', text: 'Let me look.' }, { type: 'tool-call', toolCallId: 'call-1', toolName: 'read', input: call.input }];
const usage = { input: 12_000, cacheRead: 10_000, cacheWrite: 0, output: 240, reasoning: 0 };
const start = { ...envelope, type: 'turn.start', session: 'alice', input: [{ role: 'user', content: 'Hi' }], trigger: 'user' };
const end = { ...envelope, type: 'turn.end', outcome: 'completed', steps, usage };
const stepOf = (step) => [
  { ...envelope, type: 'model.request', step, attempt: 1, model: 'anthropic/claude-sonnet-4-5', system: [], messages, tail: [], tools: [], settings: {} },
  { ...envelope, type: 'model.response', step, attempt: 1, content: answer, finishReason: 'tool-calls', usage, model: 'claude-sonnet-4-5-20250929', id: 'msg_1' },
  { ...envelope, type: 'history.append', origin: 'response', messages: [{ role: 'assistant', content: answer }] },
  { ...envelope, type: 'tool.call', step, index: 0, call },
  { ...envelope, type: 'tool.result', step, call, status: 'ok', output: { type: 'text', value: 'export {};' }, durationMs: 3 },
  { ...envelope, type: 'history.append', origin: 'results', messages: [] },
];
const delta = { ...envelope, type: 'model.delta', step: 1, attempt: 1, delta: { type: 'text', text: 'word ' } };

const warmUp = 5_000;
const eventsPerStep = stepOf(1).length;
const events = Array.from({ length: steps + warmUp }, (_, index) => stepOf(index + 1)).flat();

/** Microseconds of CPU that an operator takes for a step and for a delta. */
const costs = (operator) => {
  const source = new Subject();
  const subscription = source.pipe(operator).subscribe();
  source.next(start);
  const feed = (from, to) => {
    for (let index = from; index < to; index += 1) source.next(events[index]);
  };
  feed(0, warmUp * eventsPerStep);
  const step = time(() => feed(warmUp * eventsPerStep, events.length)) / steps;
  const piece = time(() => {
    for (let index = 0; index < steps * deltas; index += 1) source.next(delta);
  }) / steps / deltas;
  source.next(end);
  subscription.unsubscribe();
  return { step, piece };
};
const time = (work) => {
  globalThis.gc?.();
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
};
const best = (make) => {
  const runs = [1, 2, 3, 4, 5].map(() => costs(make()));
  return { step: Math.min(...runs.map(({ step }) => step)), piece: Math.min(...runs.map(({ piece }) => piece)) };
};

const nothing = best(() => intercept('nothing', () => ({})));
const row = (what, { step, piece }, target = '') => {
  const [own, ownPiece] = [step - nothing.step, piece - nothing.piece];
  console.log(`${what.padEnd(58)}${own.toFixed(2).padStart(8)} µs a step${ownPiece.toFixed(3).padStart(9)} µs a delta   ${target}`);
};
const file = (name) => join(folder, name);
const costOf = priceTable({ 'claude-*': { input: 3, cacheRead: 0.3, output: 15 } });
/** Asynchronous, as pino advises it for speed, and to the same disk. */
const logger = (name) => pino({ level: 'debug' }, pino.destination({ dest: file(name), sync: false, minLength: 4096 }));

console.log(`Node ${process.version}; a step is a model call with one tool call; microseconds of CPU beyond an operator that does nothing`);
row('observe, no sink', best(() => observe()));
row('observe, JSON lines', best(() => observe({ sinks: [jsonLinesSink(file('runs.jsonl'))] })), '≤ 5 µs a step, a counter a delta');
row('observe, JSON lines, meter with prices', best(() => observe({ sinks: [jsonLinesSink(file('metered.jsonl'))], meter: createUsageMeter({ costOf }) })));
row('observe, pino at info', best(() => observe({ sinks: [pinoSink(pino({ level: 'info' }, pino.destination({ dest: file('info.log'), sync: false, minLength: 4096 })))] })));
row('observe, pino at debug', best(() => observe({ sinks: [pinoSink(logger('debug.log'))] })));
row('tap: pino logs each event', best(() => { const log = logger('each.log'); return tap((event) => log.debug(event, event.type)); }));
row('tap: pino logs each event but deltas', best(() => { const log = logger('most.log'); return tap((event) => event.type !== 'model.delta' && log.debug(event, event.type)); }));
rmSync(folder, { recursive: true, force: true });
