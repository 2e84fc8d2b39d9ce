/** A recorded run, as all measures read it. */
import { findFiles, readRecords } from '../../apps/audit/dist/records.js';

/**
 * @typedef {{ input: number, cacheRead: number, cacheWrite: number, output: number }} Usage
 *
 * @typedef {{ id: string, name: string, input: unknown, result: string | undefined, isError: boolean }} Call
 *
 * @typedef {{ turn: number, at: number | undefined, model: string | undefined, usage: Usage | undefined,
 *   text: string, calls: Call[] }} Step A model call and the tool calls of its answer.
 *
 * @typedef {{ id: string, inputs: string[], steps: Step[], isSuccess: boolean }} Run `inputs` are the messages of the user,
 *   one per turn. A run is a success if its last answer calls no tool.
 */

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

/**
 * Groups records into steps. Formats report usage before or after an answer, so the requests are matched to the steps in
 * order.
 *
 * @type {(id: string, records: readonly object[]) => Run}
 */
export const runOf = (id, records) => {
  const inputs = [];
  const steps = [];
  const requests = [];
  const open = new Map();
  let isOpen = false;
  const step = () => {
    if (!isOpen) {
      if (inputs.length === 0) inputs.push('');
      steps.push({ turn: inputs.length - 1, at: undefined, model: undefined, usage: undefined, text: '', calls: [] });
    }
    isOpen = true;
    return steps.at(-1);
  };
  for (const record of records) {
    if (record.type === 'message' && record.role === 'user') {
      isOpen = false;
      inputs.push(record.text);
    } else if (record.type === 'message') {
      const current = step();
      current.text = current.text === '' ? record.text : `${current.text}\n${record.text}`;
    } else if (record.type === 'call') {
      const current = step();
      current.at ??= record.at;
      const call = { id: record.id, name: record.name, input: record.input, result: undefined, isError: false };
      current.calls.push(call);
      open.set(record.id, call);
    } else if (record.type === 'result') {
      isOpen = false;
      const call = open.get(record.id);
      if (call) Object.assign(call, { result: record.text, isError: record.isError });
    } else if (record.type === 'request') requests.push(record);
  }
  // Only a recording with one request for each step tells which belongs to which.
  if (requests.length === steps.length) {
    for (const [index, { at, model, usage }] of requests.entries()) {
      Object.assign(steps[index], { at: at ?? steps[index].at, model, usage });
    }
  }
  const last = steps.at(-1);
  return { id, inputs, steps, isSuccess: last !== undefined && last.calls.length === 0 && last.text !== '' };
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
      history.messages.push(...answerOf(step));
    }
    history.before.push(history.messages.length);
    histories.set(run, history);
  }
  return history.messages.slice(0, history.before[end]);
};

/** When a step began; recordings without times are read as one step every ten seconds. */
export const timeOf = (run, step) => run.steps[step]?.at ?? (step + 1) * 10_000;

/** @type {(step: Step) => object[]} */
export const answerOf = ({ text, calls }) => [
  {
    role: 'assistant',
    content: [
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...calls.map(({ id, name, input }) => ({ type: 'tool-call', toolCallId: id, toolName: name, input })),
    ],
  },
  ...(calls.length === 0
    ? []
    : [
        {
          role: 'tool',
          content: calls.map(({ id, name, result = '' }) => ({
            type: 'tool-result',
            toolCallId: id,
            toolName: name,
            output: { type: 'text', value: result },
          })),
        },
      ]),
];
