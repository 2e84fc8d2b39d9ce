import { asking as askingFor, ModelServer } from '@h/bridge/testing';
import type { TurnOperator } from '@h/turn';
import { Agent, SessionManager, tool } from '@strands-agents/sdk';
import { OpenAIModel } from '@strands-agents/sdk/models/openai';
import { InMemoryStorage } from '@strands-agents/sdk/storage';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asPlugin } from './index.js';

const server = new ModelServer();
beforeAll(() => server.start());
afterAll(() => server.stop());

const asking = (question: string, tools: readonly string[]): TurnOperator =>
  askingFor(question, tools, (tool) => `${question} ${tool}`);

const nameOf = (index: number): string => `tool${index}`;
const questionIn = (reason: unknown): string => (reason as { readonly reason: string }).reason;

/** Starts an agent whose model calls all tools at once: with questions of operators, and `tool` if the tool interrupts. */
const setup = (questions: readonly (readonly string[])[], toolExecutor: 'concurrent' | 'sequential' = 'concurrent') => {
  const ran: string[] = [];
  const storage = new InMemoryStorage();
  const names = questions.map((_, index) => nameOf(index));
  const start = () =>
    new Agent({
      model: new OpenAIModel({
        api: 'responses',
        modelId: 'gpt-4o',
        apiKey: 'test',
        clientConfig: { baseURL: `${server.url}/v1`, maxRetries: 0 },
      }),
      tools: names.map((name, index) =>
        tool({
          name,
          description: 'Reads.',
          inputSchema: { type: 'object', properties: {} },
          callback: (_input, context) => {
            const asked = questions[index] ?? [];
            const answer = asked.includes('tool')
              ? context.interrupt<string>({ name: `ask`, reason: { reason: `tool ${name}` } })
              : '';
            ran.push(`${name} ${answer}`);
            return `text of ${name}`;
          },
        }),
      ),
      printer: false,
      retryStrategy: null,
      toolExecutor,
      plugins: [
        asPlugin(
          ...['one', 'two'].map((q) =>
            asking(
              q,
              names.filter((_, index) => questions[index]?.includes(q)),
            ),
          ),
        ),
      ],
      sessionManager: new SessionManager({ sessionId: 'alice', storage }),
    });
  let agent = start();
  server.begin([{ calls: names.map((name) => ({ name, input: {}, id: name })) }, { text: 'Done.' }]);
  return {
    ran,
    restart: () => {
      agent = start();
    },
    begin: () => agent.invoke('Go.'),
    resume: (answers: readonly (readonly [string, string])[]) =>
      agent.invoke(answers.map(([interruptId, response]) => ({ interruptResponse: { interruptId, response } }))),
  };
};

describe('interrupts', () => {
  const choice = fc.record({
    decision: fc.constantFrom('once', 'once', 'deny'),
    isAnswered: fc.boolean(),
    restarts: fc.nat(4).map((value) => value === 0),
  });

  it.each(['concurrent', 'sequential'] as const)(
    'answers each question with the answer to it, with %s tool calls, whichever are answered first',
    (executor) =>
      fc.assert(
        fc.asyncProperty(
          fc.array(fc.subarray(['one', 'two', 'tool']), { minLength: 1, maxLength: 3 }),
          fc.infiniteStream(choice),
          async (questions, choices) => {
            const next = () => choices.next().value as typeof choice extends fc.Arbitrary<infer Value> ? Value : never;
            const run = setup(questions, executor);
            const answers = new Map<string, string>();
            let state = await run.begin();
            while (state.stopReason === 'interrupt') {
              const open = (state.interrupts ?? []).map(({ id, reason }) => [id, questionIn(reason)] as const);
              for (const [, question] of open) expect(answers.has(question), `asks ${question} again`).toBe(false);
              const answered = open.filter(() => next().isAnswered);
              const given = (answered.length > 0 ? answered : open).map(([id, question]) => {
                const { decision } = next();
                answers.set(question, decision);
                return [id, decision] as const;
              });
              if (next().restarts) run.restart();
              state = await run.resume(given);
            }
            const expected = questions.flatMap((asked, index) => {
              const answerTo = (by: string): string => answers.get(`${by} ${nameOf(index)}`) ?? '';
              const isDenied = answerTo('one') === 'deny' || answerTo('two') === 'deny';
              return isDenied ? [] : [`${nameOf(index)} ${answerTo('tool')}`];
            });
            expect(run.ran.toSorted()).toEqual(expected);
            expect(state.toString()).toBe('Done.');
            expect(server.requests).toHaveLength(2);
          },
        ),
        { numRuns: 25 },
      ),
    60_000,
  );
});
