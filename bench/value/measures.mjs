/** All measures of `npm run bench:value`, as numbers. */
import { calibrate, fitTokens, habits, spendingOf } from './cache.mjs';
import { capResults, journalOf, stopLoops } from './effects.mjs';
import { compareCompactions, methods } from './identifiers.mjs';
import { operatorNames, replay } from './replay.mjs';

/** The default caps of `tools()` for small, middle and large windows. */
const caps = [16_000, 32_000, 64_000];

/**
 * Measures runs.
 *
 * @param costOf the prices, as of `loadPrices`
 * @param peerMethods the compactions of other libraries, as in `peers.mjs`
 */
export const measureRuns = async (runs, { costOf, peerMethods = {} }) => ({
  runs: runs.length,
  successes: runs.filter(({ isSuccess }) => isSuccess).length,
  steps: runs.reduce((sum, { steps }) => sum + steps.length, 0),
  calibration: calibrate(runs),
  cache: await measureHabits(runs, costOf),
  compaction: await compareCompactions(runs, { ...methods, ...peerMethods }),
  caps: caps.map((maxChars) => ({ maxChars, ...capResults(runs, maxChars) })),
  loops: stopLoops(runs),
  journal: await journalOf(runs),
  ablation: await ablate(runs, costOf),
});

/** The spending of all runs with each habit; habits with the same operators share a replay. */
const measureHabits = async (runs, costOf) => {
  const all = { 'static prompt, nothing changed': { names: [] }, ...habits };
  const rows = Object.fromEntries(Object.keys(all).map((name) => [name, emptySpending()]));
  for (const run of runs) {
    const recordings = new Map();
    for (const [name, habit] of Object.entries(all)) {
      const key = habit.names.join();
      if (!recordings.has(key)) recordings.set(key, await recordingOf(run, habit.names));
      add(rows[name], await spendingOf(run, habit, costOf, recordings.get(key)));
    }
  }
  return rows;
};

/** The spending of all runs with all operators, without each of them, and with none. */
const ablate = async (runs, costOf) => {
  const stacks = {
    'all six': operatorNames,
    ...Object.fromEntries(
      operatorNames.map((name) => [`without ${name}`, operatorNames.filter((other) => other !== name)]),
    ),
    none: [],
  };
  const rows = {};
  for (const [title, names] of Object.entries(stacks)) {
    const row = { ...emptySpending(), toolCalls: 0, completed: 0 };
    for (const run of runs) {
      const recording = await recordingOf(run, names);
      add(row, await spendingOf(run, { names }, costOf, recording));
      row.toolCalls += recording.toolCalls;
      if (recording.outcomes.every((outcome) => outcome === 'completed')) row.completed += 1;
    }
    rows[title] = row;
  }
  return rows;
};

const recordingOf = (run, names) => {
  const { scale, overhead } = fitTokens(run);
  return replay(run, { names, overhead: overhead / scale });
};

const emptySpending = () => ({ input: 0, cacheRead: 0, output: 0, cost: 0, largest: 0, requests: 0 });

const add = (total, one) => {
  for (const key of ['input', 'cacheRead', 'output', 'cost', 'requests']) total[key] += one[key];
  total.largest = Math.max(total.largest, one.largest);
};
