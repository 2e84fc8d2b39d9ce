/**
 * What file sessions add to a step of the loop: 20 deltas and one tool call with a result of 400 characters, measured in turns with
 * the same loop on sessions in memory. The model answers synchronously, or after a tick of the event loop as a network does.
 *
 *   node bench/step.mjs        (after a build)
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { harness, memorySessions } from '@h/turn';
import { Observable } from 'rxjs';
import { fileSessions } from '../dist/index.js';

const root = mkdtempSync(join(tmpdir(), 'h-session-step-'));
const usage = { input: 1000, cacheRead: 900, cacheWrite: 0, output: 60, reasoning: 0 };
const words = Array.from({ length: 20 }, (_, index) => `word${index} `);
const result = { status: 'ok', output: { type: 'text', value: 'x'.repeat(400) } };

const modelOf =
  (steps, later) =>
  (request, { step }) =>
    new Observable((subscriber) => {
      const answer = () => {
        for (const text of words) subscriber.next({ type: 'delta', delta: { type: 'text', text } });
        const call = { type: 'tool-call', toolCallId: `call-${step}`, toolName: 'read', input: { path: 'a.txt' } };
        const content = [{ type: 'text', text: 'words' }, ...(step < steps ? [call] : [])];
        const finishReason = step < steps ? 'tool-calls' : 'stop';
        subscriber.next({ type: 'response', response: { content, finishReason, usage } });
        subscriber.complete();
      };
      if (later) setImmediate(answer);
      else answer();
    });

const toolsOf = (effect) => {
  const definitions = [{ name: 'read', description: 'Reads', inputSchema: { type: 'object' }, effect }];
  return {
    definitions: () => definitions,
    run: (calls) =>
      new Observable((subscriber) => {
        for (const { id } of calls) subscriber.next({ type: 'result', id, outcome: result });
        subscriber.complete();
      }),
  };
};

let turns = 0;
const runner = (sessions, later, effect = 'read-only') => {
  const agents = new Map();
  return (steps) =>
    new Promise((resolve, reject) => {
      const make = () =>
        harness({ model: modelOf(steps, later), tools: toolsOf(effect), sessions, maxModelCalls: Infinity }).pipe();
      const agent = agents.get(steps) ?? make();
      agents.set(steps, agent);
      turns += 1;
      const session = `bench-${turns}`;
      agent.turn({ session, input: 'go' }).subscribe({
        error: reject,
        complete: () => {
          sessions.delete(session);
          resolve();
        },
      });
    });
};

const cpuMicros = async (work) => {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return user + system;
};

/** CPU microseconds a step of each, the best of rounds that take turns, so that all meet the same machine. */
const perStep = async (runs, steps) => {
  const repeat = Math.max(1, Math.round(2000 / steps));
  const rounds = runs.map(() => []);
  for (let round = 0; round < 7; round += 1) {
    for (const [index, run] of runs.entries()) {
      const spent = await cpuMicros(async () => {
        for (let turn = 0; turn < repeat; turn += 1) await run(steps);
      });
      rounds[index].push(spent / (repeat * steps));
    }
  }
  return rounds.map((each) => Math.min(...each));
};

const files = (name, fsync) => {
  const store = fileSessions({ directory: join(root, name), fsync });
  // Deleting is not a part of a step.
  return {
    open: (session) => store.open(session),
    locate: store.locate,
    unfinished: store.unfinished,
    delete: () => {},
  };
};
const print = (label, ...columns) =>
  console.log(label.padEnd(34), ...columns.map((column) => String(column).padStart(12)));
const micros = (value) => `${value.toFixed(1)} µs`;

console.log(`Node ${process.version}\n`);
for (const later of [false, true]) {
  const runs = [
    runner(memorySessions(), later),
    runner(files(`never-${later}`, 'never'), later),
    runner(files(`turn-${later}`, 'turn'), later),
  ];
  for (const run of runs) await run(500);
  print(
    later ? 'a model that answers later' : 'a model that answers at once',
    'in memory',
    "'never'",
    "'turn'",
    'adds',
  );
  for (const steps of [10, 100, 1000]) {
    const [memory, never, turn] = await perStep(runs, steps);
    print(`  a step, turns of ${steps}`, micros(memory), micros(never), micros(turn), micros(never - memory));
  }
}
const [folder] = readdirSync(join(root, 'never-false'));
const { size } = statSync(join(root, 'never-false', folder, 'journal.jsonl'));
print('journal, bytes a step', Math.round(size / 500));
rmSync(root, { recursive: true, force: true });
