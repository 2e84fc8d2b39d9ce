/** A recorded run, as all measures read it. */
import { findFiles, readRecords } from '../../apps/audit/dist/records.js';
import { messagesOfStep, runOf } from '../../apps/audit/dist/replay.js';

/** @typedef {import('../../apps/audit/dist/replay.js').RecordedRun} Run */

/** Reads the runs of files and folders. @type {(paths: string[]) => Promise<{ runs: Run[], skipped: string[] }>} */
export const readRuns = async (paths) => {
  const runs = [];
  const skipped = [];
  for (const { path } of await findFiles(paths)) {
    try {
      const run = runOf(path, await readRecords(path));
      if (run.steps.length > 0) runs.push(run);
    } catch (error) {
      skipped.push(`${path}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { runs, skipped };
};

/** The messages of runs, and how many of them precede each step. */
const histories = new WeakMap();

/** Returns the messages of a run before a step, in the form of `@h/turn`. @type {(run: Run, end?: number) => object[]} */
export const messagesOf = (run, end = run.steps.length) => {
  let history = histories.get(run);
  if (history === undefined) {
    history = { messages: [], before: [] };
    let turn = -1;
    for (const step of run.steps) {
      while (turn < step.turn) history.messages.push({ role: 'user', content: run.inputs[(turn += 1)] || '…' });
      history.before.push(history.messages.length);
      history.messages.push(...messagesOfStep(step));
    }
    history.before.push(history.messages.length);
    histories.set(run, history);
  }
  return history.messages.slice(0, history.before[end]);
};

/** When a step began; recordings without times are read as one step every ten seconds. */
export const timeOf = (run, step) => run.steps[step]?.at ?? (step + 1) * 10_000;
