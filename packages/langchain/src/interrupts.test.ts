import { bridge } from '@h/bridge';
import { asking as askingFor, ModelServer } from '@h/bridge/testing';
import { intercept, type TurnOperator } from '@h/turn';
import { HumanMessage, type BaseMessage } from '@langchain/core/messages';
import { Command, interrupt, MemorySaver } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import * as fc from 'fast-check';
import { createAgent, createMiddleware, tool } from 'langchain';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asMiddleware, type MiddlewareOptions } from './index.js';
import { Interrupts } from './interrupts.js';
import { langchainMessages } from './messages.js';

const server = new ModelServer();
beforeAll(() => server.start());
afterAll(() => server.stop());

const asking = (question: string, tools: readonly string[]): TurnOperator =>
  askingFor(question, tools, (tool) => `${question} ${tool}`);

interface Setup {
  /** The questions for each tool: those of operators, then `tool` if the tool itself interrupts the graph. */
  readonly questions: readonly (readonly string[])[];
  readonly version?: 'v1' | 'v2';
  readonly approve?: MiddlewareOptions['approve'];
  /** How late calls reach the middleware. */
  readonly delayOf?: (() => number) | undefined;
}
interface Paused {
  readonly __interrupt__?: readonly { readonly id: string; readonly value: string }[];
  readonly messages: readonly BaseMessage[];
}

const nameOf = (index: number): string => `tool${index}`;

const interrupting: MiddlewareOptions['approve'] = ({ reason }) => ({ decision: interrupt(reason) });

/** Starts an agent whose model calls all tools at once. */
const setup = ({ questions, delayOf, version = 'v2', approve = interrupting }: Setup) => {
  const ran: string[] = [];
  const outcomes: string[] = [];
  const spy = () =>
    intercept('spy', () => ({
      observe: {
        'turn.end': ({ outcome }) => void outcomes.push(outcome),
      },
    }));
  const tools = questions.map((asked, index) =>
    tool(
      () => {
        const answer: unknown = asked.includes('tool') ? interrupt(`tool ${nameOf(index)}`) : '';
        ran.push(`${nameOf(index)} ${String(answer)}`);
        return `text of ${nameOf(index)}`;
      },
      { name: nameOf(index), description: 'Reads.', schema: { type: 'object', properties: {} } },
    ),
  );
  const operators = () =>
    ['one', 'two'].map((question) =>
      asking(
        question,
        questions.flatMap((asked, index) => (asked.includes(question) ? [nameOf(index)] : [])),
      ),
    );
  const checkpointer = new MemorySaver();
  const start = () =>
    createAgent({
      model: new ChatOpenAI({
        model: 'gpt-4o',
        apiKey: 'test',
        maxRetries: 0,
        configuration: { baseURL: `${server.url}/v1` },
      }),
      tools,
      version,
      middleware: [
        createMiddleware({
          name: 'slow',
          wrapToolCall: async (request, handler) => {
            for (let count = delayOf?.() ?? 0; count > 0; count -= 1) await new Promise(setImmediate);
            return handler(request);
          },
        }),
        asMiddleware({ approve }, spy(), ...operators()),
      ],
      checkpointer,
    });
  let agent = start();
  server.begin([
    { calls: questions.map((_, index) => ({ name: nameOf(index), input: {}, id: nameOf(index) })) },
    { text: 'Done.' },
  ]);
  const invoke = async (input: unknown): Promise<Paused> =>
    (await agent.invoke(input as never, { configurable: { thread_id: 'alice' } })) as unknown as Paused;
  return {
    ran,
    outcomes,
    restart: () => {
      agent = start();
    },
    begin: () => invoke({ messages: [new HumanMessage('Go.')] }),
    resume: (answers: unknown) => invoke(new Command({ resume: answers })),
  };
};

describe('interrupts', () => {
  const choice = fc.record({
    decision: fc.constantFrom('once', 'once', 'deny'),
    isAnswered: fc.boolean(),
    restarts: fc.nat(4).map((value) => value === 0),
    delay: fc.nat(3),
  });

  it(
    'answers each question with the answer to it, whichever are answered first and wherever the graph resumes',
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.array(fc.subarray(['one', 'two', 'tool']), { minLength: 1, maxLength: 3 }),
          fc.infiniteStream(choice),
          async (questions, choices) => {
            const next = () => choices.next().value as typeof choice extends fc.Arbitrary<infer Value> ? Value : never;
            const run = setup({ questions, delayOf: () => next().delay });
            const answers = new Map<string, string>();
            let state = await run.begin();
            while (state.__interrupt__) {
              const open = state.__interrupt__;
              for (const { value } of open) expect(answers.has(value), `asks ${value} again`).toBe(false);
              const answered = open.filter(() => next().isAnswered);
              const given = (answered.length > 0 ? answered : open).map(({ id, value }) => {
                answers.set(value, next().decision);
                return [id, answers.get(value)] as const;
              });
              if (next().restarts) run.restart();
              state = await run.resume(Object.fromEntries(given));
            }
            const expected = questions.flatMap((asked, index) => {
              const answerTo = (by: string): string => answers.get(`${by} ${nameOf(index)}`) ?? '';
              const isDenied = answerTo('one') === 'deny' || answerTo('two') === 'deny';
              return isDenied ? [] : [`${nameOf(index)} ${answerTo('tool')}`];
            });
            expect(run.ran.toSorted()).toEqual(expected);
            expect(state.messages.at(-1)?.text).toBe('Done.');
            expect(server.requests).toHaveLength(2);
            expect(run.outcomes.at(-1)).toBe('completed');
          },
        ),
        { numRuns: 25 },
      ),
    60_000,
  );

  it('denies the approval of a second call if all calls share one task', async () => {
    const run = setup({ questions: [['one'], ['one']], version: 'v1' });
    expect((await run.begin()).__interrupt__).toMatchObject([{ value: 'one tool0' }]);
    const { messages } = await run.resume('once');
    expect(run.ran).toEqual(['tool0 ']);
    expect(messages[3]?.text).toMatch(/`version: 'v1'` of createAgent\(\)/);
  });

  it('does not ask a person again who approved a call without an interrupt', async () => {
    const asked: string[] = [];
    const approve = ({ reason }: { readonly reason: string }) => (asked.push(reason), 'once' as const);
    const run = setup({ questions: [['one', 'tool']], approve });
    await run.begin();
    await run.resume('yes');
    expect([asked, run.ran]).toEqual([['one tool0'], ['tool0 yes']]);
  });

  describe('without the number of interrupts of LangGraph', () => {
    const start = (answers: ('once' | 'deny')[]) => {
      const pause = new Error('paused');
      const isControlFlow = (thrown: unknown): boolean => thrown === pause;
      const host = bridge<BaseMessage>([asking('one', ['go']), asking('two', ['go'])], {
        host: 'Test',
        format: langchainMessages,
        isControlFlow,
      });
      const session = host.session('alice');
      let runs = 0;
      const interrupts = new Interrupts(() => answers.shift() ?? Promise.reject(pause));
      const attempt = (id = 'a', configurable: object = {}) => {
        const { approve, replay } = interrupts.of(session, { toolCall: { id }, runtime: { configurable } });
        const run = async () => {
          await replay();
          runs += 1;
          return { outcome: { status: 'ok' as const, output: { type: 'text' as const, value: 'x' } }, value: 1 };
        };
        return session.tool({ id, name: 'go', input: {}, approve, run }).catch((error: unknown) => error);
      };
      return { attempt, answers, runs: () => runs, pause };
    };

    it.each([
      [['once', 'once'], 1],
      [['deny', 'once'], 0],
      [['once', 'deny'], 0],
    ] as const)('asks again, and runs the call if the answers are the same (%s)', async (later, expected) => {
      const { attempt, answers, runs, pause } = start(['once']);
      expect(await attempt()).toBe(pause);
      answers.push(...later);
      await attempt();
      expect(runs()).toBe(expected);
    });

    it('denies the second call of a shared task', async () => {
      const { attempt, runs } = start(['once', 'once', 'once', 'once']);
      const configurable = {};
      await Promise.all([attempt('a', configurable), attempt('b', configurable)]);
      expect(runs()).toBe(1);
    });
  });
});
