import {
  deny,
  intercept,
  MessageList,
  proceed,
  repairHistory,
  retry,
  stop,
  type Message,
  type ModelResponse,
  type TurnEvent,
  type TurnOperator,
} from '@h/turn';
import { call, response } from '@h/turn/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toyFormat, type ToyMessage } from '../test/toy-host.js';
import { bridge } from './index.js';

/** One answer of the model, and what the host does with it. */
const stepOf = fc.record({
  tools: fc.array(fc.constantFrom('read', 'write', 'fail', 'rm'), { maxLength: 3 }),
  /** Failed attempts before the answer. */
  failures: fc.nat({ max: 2 }),
  isTruncated: fc.boolean(),
  /** Whether the host leaves the calls of this answer open. */
  isSkipped: fc.boolean(),
  /** What the host does to its history after the step. */
  edit: fc.constantFrom('none', 'none', 'none', 'input', 'cut', 'rewrite'),
});
type Step = ReturnType<typeof stepOf.generate>['value'];
const runOf = fc.record({ steps: fc.array(stepOf, { minLength: 1, maxLength: 4 }), hasToken: fc.boolean() });

type Run = ReturnType<typeof runOf.generate>['value'];

const operatorNames = ['deny', 'redact', 'rewrite', 'retry', 'compact', 'limit', 'continue', 'tail', 'slow'] as const;
type OperatorName = (typeof operatorNames)[number];

const operators: Readonly<Record<OperatorName, () => TurnOperator>> = {
  deny: () =>
    intercept('deny', () => ({
      decide: { 'tool.call': (event) => (event.call.name === 'rm' ? deny(event, 'No.') : undefined) },
    })),
  redact: () =>
    intercept('redact', () => ({
      decide: {
        'tool.result': (event) =>
          event.call.name === 'read' ? { ...event, output: { type: 'text', value: '[redacted]' } } : undefined,
      },
    })),
  rewrite: () =>
    intercept('rewrite', () => ({
      decide: { 'tool.call': (event) => ({ ...event, call: { ...event.call, input: { path: 'safe' } } }) },
    })),
  retry: () =>
    intercept('retry', () => ({
      decide: { 'model.error': (event) => (event.attempt < 3 ? retry(event) : undefined) },
    })),
  compact: () =>
    intercept('compact', () => ({
      decide: {
        'model.request': (event) => {
          if (event.messages.length < 6) return undefined;
          const messages: Message[] = [{ role: 'user', content: 'Summary.' }];
          return [
            { type: 'history.replace', messages, origin: 'compact' },
            { ...event, messages: MessageList.of(messages) },
          ];
        },
      },
    })),
  limit: () =>
    intercept('limit', () => ({
      decide: { 'model.request': ({ step }) => (step > 2 ? stop('max-steps', 'Enough.') : undefined) },
    })),
  continue: () =>
    intercept('continue', () => {
      let isContinued = false;
      return {
        decide: {
          'turn.stop': ({ outcome }) => {
            if (isContinued || outcome !== 'completed') return undefined;
            isContinued = true;
            return proceed([{ role: 'user', content: 'Go on.' }], 'short');
          },
        },
      };
    }),
  tail: () =>
    intercept('tail', () => ({
      decide: { 'model.request': (event) => ({ ...event, tail: [{ role: 'user', content: 'It is noon.' }] }) },
    })),
  slow: () =>
    intercept('slow', () => ({
      decide: { 'tool.call': () => Promise.resolve(undefined), 'tool.result': () => Promise.resolve(undefined) },
    })),
};

/** Runs a host with these operators and returns all that happened. */
const play = async (names: readonly OperatorName[], runs: readonly Run[]) => {
  const events: TurnEvent[] = [];
  const spy = intercept('spy', () => ({ observe: { '*': (event) => void events.push(event) } }));
  const session = bridge([...names.map((name) => operators[name]()), spy], { host: 'Toy', format: toyFormat }).session(
    'a',
  );
  const requests: { readonly messages: readonly ToyMessage[]; readonly replaced: number; readonly edits: number }[] =
    [];
  const ran: string[] = [];
  const history: ToyMessage[] = [];
  let edits = 0;
  let nextId = 0;

  const ask = async (step: Step, run: unknown): Promise<ModelResponse> => {
    let failures = 0;
    const answer = response(
      ...(step.tools.length === 0 ? ['Well.'] : step.tools.map((name) => call(`${name}-${(nextId += 1)}`, name))),
    );
    const { response: given } = await session.model({
      messages: [...history],
      run,
      perform: async ({ messages, historyLength }) => {
        requests.push({
          messages: messages.slice(0, historyLength),
          replaced: events.filter(({ type }) => type === 'history.replace').length,
          edits,
        });
        failures += 1;
        if (failures <= step.failures) throw new RangeError('overloaded');
        const isFirst = failures === step.failures + 1;
        return {
          response: {
            ...(isFirst ? answer : response('More.')),
            ...(step.isTruncated && { finishReason: 'length' as const }),
          },
          value: 1,
        };
      },
    });
    return given;
  };
  const runTools = (answer: ModelResponse): Promise<ToyMessage[]> =>
    Promise.all(
      answer.content
        .filter((part) => part.type === 'tool-call')
        .map(async ({ toolCallId: id, toolName: name, input }): Promise<ToyMessage> => {
          const run = async () => {
            ran.push(id);
            await Promise.resolve();
            if (name === 'fail') throw new TypeError('broken');
            return { outcome: { status: 'ok', output: { type: 'text', value: `${name} ran` } } as const, value: 1 };
          };
          const output = await session.tool({ id, name, input, run }).then(
            ({ outcome }) => outcome.output,
            (error: unknown) => ({ type: 'error-text', value: String(error) }) as const,
          );
          return { from: 'tool', id, name, output };
        }),
    );

  for (const [index, { steps, hasToken }] of runs.entries()) {
    history.push({ from: 'person', text: `Task ${index}.` });
    for (const step of steps) {
      let answer: ModelResponse;
      try {
        answer = await ask(step, hasToken ? index : undefined);
      } catch {
        break;
      }
      history.push({ from: 'model', parts: answer.content });
      const hasCalls = answer.content.some(({ type }) => type === 'tool-call');
      if (hasCalls && step.isSkipped) break;
      history.push(...(await runTools(answer)));
      if (step.edit === 'input') history.push({ from: 'person', text: 'Hurry.' });
      if (step.edit === 'cut' || step.edit === 'rewrite') {
        edits += 1;
        if (step.edit === 'cut') history.splice(0, history.length, { from: 'person', text: `Cut ${edits}.` });
        else history[0] = { from: 'person', text: `Rewritten ${edits}.` };
      }
      if (!hasCalls && step.edit !== 'input') break;
    }
  }
  session.end();
  return { events, requests, ran };
};

const textOf = (messages: readonly ToyMessage[]): readonly string[] =>
  messages.map((message) => JSON.stringify(toyFormat.read(message)));

const plain: Step = { tools: [], failures: 0, isTruncated: false, isSkipped: false, edit: 'none' };
/** An operator stops a turn that another one continues after a complete answer. */
const stoppedContinuation: [OperatorName[], Run[]] = [
  ['limit', 'continue'],
  [
    { steps: [plain], hasToken: false },
    { steps: [{ ...plain, tools: ['read'] }, plain], hasToken: false },
    { steps: [plain], hasToken: false },
  ],
];

describe('bridge with random hosts and operators', () => {
  it('sends valid and stable histories, answers each call once and runs none twice', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.subarray([...operatorNames]),
        fc.array(runOf, { minLength: 1, maxLength: 3 }),
        async (names, runs) => {
          const { events, requests, ran } = await play(names, runs);
          for (const { messages } of requests) {
            expect(repairHistory(messages.map((message) => toyFormat.read(message))).repairs).toEqual([]);
          }
          expect(ran).toHaveLength(new Set(ran).size);
          const answered = events.flatMap((event) => (event.type === 'tool.result' ? [event.call.id] : []));
          expect(answered).toHaveLength(new Set(answered).size);
          const asked = events.flatMap((event) => (event.type === 'tool.call' ? [event.call.id] : []));
          expect(answered).toEqual(expect.arrayContaining(asked));
          for (const [index, { messages, replaced, edits }] of requests.entries()) {
            const before = requests[index - 1];
            if (!before || before.replaced !== replaced || before.edits !== edits) continue;
            expect(textOf(messages).slice(0, before.messages.length)).toEqual(textOf(before.messages));
          }
        },
      ),
      { numRuns: 100, examples: [stoppedContinuation] },
    );
  });
});
