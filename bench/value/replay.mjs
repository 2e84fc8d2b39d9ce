/** Replays a recorded run through a real loop with some operators: the recorded model answers, the recorded tools. */
import { of } from 'rxjs';
import { compaction } from '../../packages/compaction/dist/index.js';
import { guardrails } from '../../packages/guardrails/dist/index.js';
import { loopDetect } from '../../packages/loop-detect/dist/index.js';
import { prompt } from '../../packages/prompt/dist/index.js';
import { security } from '../../packages/security/dist/index.js';
import { tools } from '../../packages/tools/dist/index.js';
import { harness, memorySessions } from '../../packages/turn/dist/index.js';
import { answerOf } from './run.mjs';

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
export const replay = async (run, { names, overhead, sessions = memorySessions() }) => {
  const text = sentence.repeat(Math.ceil((overhead * charsPerToken) / 2 / sentence.length));
  const description = text.slice(0, Math.floor(text.length / toolNames.length));
  const used = new Set(run.steps.flatMap(({ calls }) => calls.map(({ name }) => name)));
  const definitions = [...new Set([...toolNames, ...used])].map((name) => ({
    name,
    description: `${name}. ${description}`,
    inputSchema: { type: 'object' },
    effect: 'destructive',
  }));
  const sent = [];
  const outcomes = [];
  let toolCalls = 0;
  let turn = 0;
  const stepOf = (number) => run.steps.filter((step) => step.turn === turn)[number - 1];
  let now = run.steps[0]?.at;
  const model = (request, { step: number }) => {
    const step = stepOf(number);
    const index = step === undefined ? run.steps.length : run.steps.indexOf(step);
    sent.push({ step: index, at: step?.at, request });
    now = run.steps[index + 1]?.at ?? now;
    const [answer] = step === undefined ? [{ content: [{ type: 'text', text: 'Done.' }] }] : answerOf(step);
    const content = answer.content.length === 0 ? [{ type: 'text', text: '…' }] : answer.content;
    const hasCalls = content.some(({ type }) => type === 'tool-call');
    return of({
      type: 'response',
      response: {
        content,
        finishReason: hasCalls ? 'tool-calls' : 'stop',
        usage: step?.usage ?? { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 },
      },
    });
  };
  const results = new Map(run.steps.flatMap(({ calls }) => calls.map((call) => [call.id, call])));
  const driver = {
    definitions: () => definitions,
    run: (calls) =>
      of(
        ...calls.map(({ id }) => {
          toolCalls += 1;
          const { result = '', isError = false } = results.get(id) ?? {};
          const output = { type: isError ? 'error-text' : 'text', value: result };
          const error = { name: 'Error', message: 'The recorded call failed.' };
          return {
            type: 'result',
            id,
            outcome: isError ? { status: 'failed', output, error } : { status: 'ok', output },
          };
        }),
      ),
  };
  const operators = operatorsOf(text, () => clockAt(now));
  const hasPrompt = names.includes('prompt');
  const base = { model, tools: driver, sessions, maxModelCalls: 10_000, ...(!hasPrompt && { system: text }) };
  const agent = harness(base).pipe(...names.map((name) => operators[name]()));
  for (turn = 0; turn < run.inputs.length; turn += 1) {
    if (!run.steps.some((step) => step.turn === turn)) continue;
    await agent.turn({ session: 'replay', input: run.inputs[turn] || '…' }).forEach((event) => {
      if (event.type === 'turn.end') outcomes.push(event.outcome);
    });
  }
  return { sent, toolCalls, outcomes };
};
