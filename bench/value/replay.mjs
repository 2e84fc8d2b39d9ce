/** Replays a recorded run through a real loop with some operators: the recorded model answers, the recorded tools. */
import { replay as replayRun } from '../../apps/audit/dist/replay.js';
import { compaction } from '../../packages/compaction/dist/index.js';
import { guardrails } from '../../packages/guardrails/dist/index.js';
import { loopDetect } from '../../packages/loop-detect/dist/index.js';
import { prompt } from '../../packages/prompt/dist/index.js';
import { security } from '../../packages/security/dist/index.js';
import { tools } from '../../packages/tools/dist/index.js';

/** The tools of a run, with the descriptions that a coding agent sends. */
const toolNames = [
  'Bash',
  'Edit',
  'Glob',
  'Grep',
  'LSP',
  'Notebook',
  'Read',
  'Task',
  'Todo',
  'WebFetch',
  'WebSearch',
  'Write',
];
const sentence = 'Use it only if its input is complete, and read the file before you change it. ';
/** Characters that have about this many tokens. */
const charsPerToken = 4.4;

/** The operators that change what a model receives or what runs, in the order of a pipeline. */
export const operatorNames = ['guardrails', 'prompt', 'compaction', 'loop-detect', 'tools', 'security'];

const operatorsOf = (identity, clock) => ({
  guardrails: () => guardrails({ maxSteps: 1000 }),
  prompt: () =>
    prompt({ frozen: [{ id: 'identity', text: identity }], volatile: [{ id: 'clock', text: () => clock() }] }),
  compaction: () => compaction({ window: 200_000 }),
  'loop-detect': () => loopDetect(),
  tools: () => tools({ contextWindow: 200_000 }),
  security: () => security({ external: ['WebFetch', 'WebSearch'], createId: () => 'a1b2c3d4e5f60718' }),
});

/** The text of the clock that agents put into their prompts. @type {(at: number | undefined) => string} */
export const clockAt = (at) => `It is ${new Date(at ?? 0).toISOString()}.`;

/**
 * @typedef {{ step: number, at: number | undefined, request: object }} Sent
 *
 * @type {(
 *   run: import('./run.mjs').Run,
 *   options: { names: string[], overhead: number, sessions?: object },
 * ) => Promise<{ sent: Sent[], toolCalls: number, outcomes: string[] }>}
 *   `overhead` is the size of the system prompt and the tools, in estimated tokens.
 */
export const replay = async (run, { names, overhead, sessions }) => {
  const text = sentence.repeat(Math.ceil((overhead * charsPerToken) / 2 / sentence.length));
  const description = text.slice(0, Math.floor(text.length / toolNames.length));
  const sent = [];
  let now = run.steps[0]?.at;
  const operators = operatorsOf(text, () => clockAt(now));
  const { toolCalls, outcomes } = await replayRun(run, {
    operators: names.map((name) => operators[name]()),
    sessions,
    system: names.includes('prompt') ? undefined : text,
    toolNames,
    descriptionOf: (name) => `${name}. ${description}`,
    onRequest: (request, step) => {
      sent.push({ step, at: run.steps[step]?.at, request });
      now = run.steps[step + 1]?.at ?? now;
    },
  });
  return { sent, toolCalls, outcomes: Object.keys(outcomes) };
};
