/** What journals in files cost, next to what one would write by hand. Needs a build. */
import {
  appendFileSync,
  closeSync,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileSessions } from '../dist/index.js';

const root = mkdtempSync(join(tmpdir(), 'h-session-bench-'));
const result = {
  type: 'tool.result',
  turn: 'turn-1',
  at: 1,
  step: 1,
  call: { id: 'call-1', name: 'read', input: { path: 'src/index.ts' } },
  status: 'ok',
  output: { type: 'text', value: 'x'.repeat(200) },
};
const record = (seq, event = result) => ({ v: 1, seq, event, derived: false });
const start = (turn, session = 'bench') => ({
  type: 'turn.start',
  turn,
  at: 1,
  session,
  input: [{ role: 'user', content: 'Go.' }],
  trigger: 'user',
});

const timed = async (name, count, work) => {
  const begin = performance.now();
  await work();
  const ms = performance.now() - begin;
  console.log(
    `${name.padEnd(66)} ${String(Math.round((count / ms) * 1000)).padStart(9)}/s ${ms.toFixed(0).padStart(7)} ms`,
  );
};

/** Appends `count` records, `inFlight` at a time. */
const append = async (open, count, inFlight, first = 0) => {
  let seq = first;
  const lane = async () => {
    while (seq < first + count) {
      const own = seq;
      seq += 1;
      await open.append(record(own, own === 0 ? start('turn-1') : result));
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
};

console.log('records appended');
for (const fsync of ['record', 'turn', 'never']) {
  for (const [inFlight, count] of [
    [1000, 40_000],
    [64, 20_000],
    [1, fsync === 'record' ? 300 : 5000],
  ]) {
    const open = await fileSessions({ directory: join(root, `a-${fsync}-${inFlight}`), fsync }).open('bench');
    await timed(`fsync ${fsync}, ${inFlight} under way`, count, () => append(open, count, inFlight));
    await open.close();
  }
}
await timed('64 sessions, fsync record, 16 under way in each', 32_000, async () => {
  const store = fileSessions({ directory: join(root, 'many') });
  await Promise.all(
    Array.from({ length: 64 }, async (_, index) => {
      const open = await store.open(`session ${index}`);
      await append(open, 500, 16);
      await open.close();
    }),
  );
});
await timed('by hand: appendFileSync of JSON.stringify', 20_000, () => {
  for (let seq = 0; seq < 20_000; seq += 1) {
    appendFileSync(join(root, 'naive.jsonl'), `${JSON.stringify(record(seq))}\n`);
  }
});
await timed('by hand: the same and fdatasync after each', 300, () => {
  const file = openSync(join(root, 'synced.jsonl'), 'a');
  for (let seq = 0; seq < 300; seq += 1) {
    writeSync(file, `${JSON.stringify(record(seq))}\n`);
    fdatasyncSync(file);
  }
  closeSync(file);
});

console.log('\na session of 100 MB: 1000 turns of 100 kB, its history replaced every 10 turns');
const directory = join(root, 'large');
const store = fileSessions({ directory, fsync: 'never' });
const turnOf = (turn, index) => {
  const of = (event) => ({ turn, at: index, ...event });
  return [
    start(turn),
    of({ type: 'session.loaded', session: 'bench', messages: [], state: {}, repairs: [] }),
    of({ type: 'history.append', origin: 'input', messages: [{ role: 'user', content: 'Go.' }] }),
    ...(index % 10 === 0
      ? [of({ type: 'history.replace', origin: 'compaction', messages: [{ role: 'user', content: 'In short.' }] })]
      : []),
    ...Array.from({ length: 20 }, () =>
      of({ type: 'history.append', origin: 'work', messages: [{ role: 'assistant', content: 'y'.repeat(5000) }] }),
    ),
    of({
      type: 'turn.end',
      outcome: 'completed',
      steps: 1,
      usage: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 },
    }),
  ];
};
await timed('written, opened and closed for each turn (turns)', 1000, async () => {
  for (let index = 0; index < 1000; index += 1) {
    const open = await store.open('bench');
    await Promise.all(turnOf(`turn-${index}`, index).map(async (event, seq) => open.append(record(seq, event))));
    await open.close();
  }
});
const [folder] = await readdir(directory);
const journal = join(directory, folder, 'journal.jsonl');
console.log(
  `journal ${(statSync(journal).size / 1e6).toFixed(1)} MB, snapshot ${(statSync(join(directory, folder, 'snapshot.jsonl')).size / 1e6).toFixed(1)} MB`,
);
const heap = () => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1e6;
};
const before = heap();
let opened;
await timed('opened (its tail is read)', 1, async () => {
  opened = await store.open('bench');
});
console.log(`heap that it holds: ${(heap() - before).toFixed(1)} MB`);
await opened.close();
await timed('listed', 1, () => store.list());
let turns = 0;
await timed('archive read from the first turn on (turns)', 1000, async () => {
  let peak = 0;
  for await (const turn of store.archive('bench')) {
    turns += turn.messages.length > 0 ? 1 : 0;
    if (turns % 100 === 0) peak = Math.max(peak, heap());
  }
  console.log(`${turns} turns, heap at most ${peak.toFixed(1)} MB`);
});
await timed('by hand: the whole file read and parsed', 1, () => {
  opened = readFileSync(journal, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
});
console.log(`heap that it holds: ${(heap() - before).toFixed(1)} MB`);
rmSync(root, { recursive: true, force: true });
