import type { ChatCompletionRequest, FixtureResponse } from '@copilotkit/aimock';
import { compact, summarizeWith } from '@h/compaction';
import { failover } from '@h/failover';
import { guardrails } from '@h/guardrails';
import { hooks } from '@h/hooks';
import { loopDetect } from '@h/loop-detect';
import { observe } from '@h/observe';
import { prompt } from '@h/prompt';
import { security } from '@h/security';
import { defineTool, toolDriver, tools } from '@h/tools';
import { harness, iterate, memorySessions, reply, repairHistory, type Message, type ModelDriver } from '@h/turn';
import { expect } from 'vitest';
import * as z from 'zod';

/** The drivers of one provider. */
export interface LiveModels {
  readonly driver: ModelDriver;
  /** A model that the provider does not have. */
  readonly unknown: ModelDriver;
}

/** A test that any provider passes, and the answers of the mock that stands for one. */
export interface Scenario {
  readonly title: string;
  readonly run: (models: LiveModels) => Promise<void>;
  readonly mock: (request: ChatCompletionRequest) => FixtureResponse;
}

const code = 'ZX-4471';
/** Looks like a key of a provider. */
const secret = `sk-ant-api03-${'Ab3xY9'.repeat(15)}-AA`;

/** A tool `lookup` with these results. */
const lookup = (result: (key: string) => string) =>
  toolDriver([
    defineTool({
      name: 'lookup',
      description: 'Returns the code of a key.',
      input: z.object({ key: z.string() }),
      effect: 'read-only',
      resources: () => [],
      run: ({ key }) => result(key),
    }),
  ]);
const driver = lookup((key) => `The code of ${key} is ${code}.`);
const askForCode = "Call the tool `lookup` with the key 'alpha', then answer with the code that it returned.";

/** Usage with the member names of every provider; the mock sends those that its provider has. */
const usage = {
  prompt_tokens: 20,
  completion_tokens: 5,
  total_tokens: 25,
  input_tokens: 20,
  output_tokens: 5,
  promptTokenCount: 20,
  candidatesTokenCount: 5,
  totalTokenCount: 25,
};
const answer = (content: string): FixtureResponse => ({ content, usage });
const callLookup = (key: string, id = 'call-1'): FixtureResponse => ({
  toolCalls: [{ id, name: 'lookup', arguments: JSON.stringify({ key }) }],
});
const resultsIn = ({ messages }: ChatCompletionRequest): readonly string[] =>
  messages.flatMap(({ role, content }) => (role === 'tool' ? [JSON.stringify(content)] : []));
const afterLookup = (request: ChatCompletionRequest, content: string): FixtureResponse =>
  resultsIn(request).length === 0 ? callLookup('alpha') : answer(content);
/** Whether a provider accepts the history: it needs no repair. */
const isWellFormed = (messages: Iterable<Message>): boolean => repairHistory(messages).repairs.length === 0;

/** What every provider must be able to do. Each scenario has its own sessions. */
export const scenarios: readonly Scenario[] = [
  {
    title: 'answers, with the usage of the call',
    mock: () => answer('4'),
    run: async (models) => {
      const agent = harness({ model: models.driver }).pipe(observe());
      const {
        outcome,
        text,
        usage: used,
      } = await reply(agent.turn({ session: 'a', input: 'What is 2 + 2? Only the number.' }));
      expect({ outcome, isRight: text.includes('4') }).toEqual({ outcome: 'completed', isRight: true });
      expect(used.input).toBeGreaterThan(0);
      expect(used.output).toBeGreaterThan(0);
    },
  },
  {
    title: 'streams deltas that add up to the answer',
    mock: () => answer('one two three four five six seven'),
    run: async (models) => {
      let streamed = '';
      const agent = harness({ model: models.driver }).pipe();
      for await (const event of iterate(agent.turn({ session: 'a', input: 'Count from one to seven in words.' }))) {
        if (event.type === 'model.delta' && event.delta.type === 'text') streamed += event.delta.text;
        if (event.type === 'model.response') {
          const said = event.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
          expect(streamed).toBe(said);
        }
      }
      expect(streamed.toLowerCase()).toContain('seven');
    },
  },
  {
    title: 'calls a tool and uses its result',
    mock: (request) => afterLookup(request, `The code is ${code}.`),
    run: async (models) => {
      const agent = harness({ model: models.driver, tools: driver }).pipe(tools({ driver, contextWindow: 100_000 }));
      const { outcome, text } = await reply(agent.turn({ session: 'a', input: askForCode }));
      expect(outcome).toBe('completed');
      expect(text).toContain(code);
    },
  },
  {
    title: 'remembers the turn before',
    mock: ({ messages }) => answer(JSON.stringify(messages).includes('heron') ? 'heron' : 'I do not know.'),
    run: async (models) => {
      const agent = harness({ model: models.driver }).pipe();
      await reply(agent.turn({ session: 'a', input: 'The word of the day is heron. Answer with OK.' }));
      const { text } = await reply(agent.turn({ session: 'a', input: 'What is the word of the day? Only the word.' }));
      expect(text.toLowerCase()).toContain('heron');
    },
  },
  {
    title: 'follows a prompt in tiers',
    mock: ({ messages }) =>
      answer(JSON.stringify(messages).includes('PELICAN') ? 'Good morning. PELICAN' : 'Good morning.'),
    run: async (models) => {
      const agent = harness({ model: models.driver }).pipe(
        prompt({
          frozen: [{ id: 'rule', text: 'End every answer with the word PELICAN in capitals.' }],
          volatile: [{ id: 'clock', text: 'It is 9 o’clock.' }],
        }),
      );
      expect((await reply(agent.turn({ session: 'a', input: 'Good morning.' }))).text).toContain('PELICAN');
    },
  },
  {
    title: 'answers after a hook has denied its call',
    mock: (request) => afterLookup(request, 'The tool was denied.'),
    run: async (models) => {
      const deny = { name: 'deny', beforeTool: () => ({ decision: 'deny' as const, reason: 'Not today.' }) };
      const sessions = memorySessions();
      const agent = harness({ model: models.driver, tools: driver, sessions }).pipe(hooks([deny]));
      const { outcome, text } = await reply(agent.turn({ session: 'a', input: askForCode }));
      expect(outcome).toBe('completed');
      expect(text).not.toContain(code);
      expect(isWellFormed(sessions.messages('a'))).toBe(true);
    },
  },
  {
    title: 'does not see the secrets in a result',
    mock: (request) => afterLookup(request, `The result was ${resultsIn(request).join(' ')}`),
    run: async (models) => {
      const leaking = lookup(() => `ANTHROPIC_API_KEY=${secret}`);
      const sessions = memorySessions();
      const agent = harness({ model: models.driver, tools: leaking, sessions }).pipe(security());
      const input = "Call the tool `lookup` with the key 'alpha', then repeat its result word by word.";
      const { outcome, text } = await reply(agent.turn({ session: 'a', input }));
      expect(outcome).toBe('completed');
      expect(text + JSON.stringify(sessions.messages('a'))).not.toContain(secret);
    },
  },
  {
    title: 'continues the session after a turn that ended at its limit of steps',
    mock: ({ messages }) => (JSON.stringify(messages).includes('Say DONE') ? answer('DONE') : callLookup('alpha')),
    run: async (models) => {
      const sessions = memorySessions();
      const agent = harness({ model: models.driver, tools: driver, sessions }).pipe(
        guardrails({ maxSteps: 1, wrapUp: false }),
      );
      const first = await reply(agent.turn({ session: 'a', input: askForCode }));
      expect(first.outcome).toBe('max-steps');
      expect(isWellFormed(sessions.messages('a'))).toBe(true);
      const second = await reply(agent.turn({ session: 'a', input: 'Say DONE and nothing else. Call no tool.' }));
      expect(second.text).toContain('DONE');
    },
  },
  {
    title: 'continues the session after a turn that was aborted while it streamed',
    mock: ({ messages }) => answer(JSON.stringify(messages).includes('Say DONE') ? 'DONE' : 'word '.repeat(400)),
    run: async (models) => {
      const sessions = memorySessions();
      const agent = harness({ model: models.driver, sessions }).pipe();
      const abort = new AbortController();
      let outcome: string | undefined;
      const input = 'Write 300 words about herons.';
      for await (const event of iterate(agent.turn({ session: 'a', input, signal: abort.signal }))) {
        if (event.type === 'model.delta') abort.abort();
        if (event.type === 'turn.end') outcome = event.outcome;
      }
      expect(outcome).toBe('cancelled');
      const { text } = await reply(agent.turn({ session: 'a', input: 'Say DONE and nothing else.' }));
      expect(text).toContain('DONE');
      expect(isWellFormed(sessions.messages('a'))).toBe(true);
    },
  },
  {
    title: 'ends a turn with an error that names an unknown model',
    mock: () => ({ error: { message: 'model: no-such-model', type: 'not_found_error' }, status: 404 }),
    run: async (models) => {
      const agent = harness({ model: models.unknown }).pipe(failover());
      const { outcome, reason } = await reply(agent.turn({ session: 'a', input: 'Hello.' }));
      expect(outcome).toBe('error');
      expect(reason).toMatch(/no-such-model/);
    },
  },
  {
    title: 'summarizes a history without losing its identifiers',
    mock: () => answer('The user asked to repair the build.'),
    run: async (models) => {
      const identifiers = ['src/core/parser.ts', '3f9d2c71a8e4', 'https://docs.example.com/v2/limits'];
      const long = (index: number): Message[] => [
        {
          role: 'user',
          content: `Step ${index}. ${identifiers[index % 3] ?? ''} ${'Nothing else is important. '.repeat(60)}`,
        },
        { role: 'assistant', content: [{ type: 'text', text: `Noted. ${'I continue. '.repeat(60)}` }] },
      ];
      const history = Array.from({ length: 12 }, (_, index) => long(index)).flat();
      const { messages, failures } = await compact(history, {
        window: 5000,
        reserve: 500,
        strategy: 'summarize',
        summarize: summarizeWith(models.driver),
      });
      expect(failures).toEqual([]);
      expect(messages.length).toBeLessThan(history.length);
      const text = JSON.stringify(messages);
      for (const identifier of identifiers) expect(text).toContain(identifier);
    },
  },
  {
    title: 'stops a tool that never gives another answer',
    mock: (request) => callLookup('alpha', `call-${request.messages.length}`),
    run: async (models) => {
      const stuck = lookup(() => 'Pending. Call lookup with the key alpha again.');
      const agent = harness({ model: models.driver, tools: stuck }).pipe(guardrails({ maxSteps: 15 }), loopDetect());
      const input =
        "Call the tool `lookup` with the key 'alpha' until it returns a code, without any comment. Do not stop before.";
      const { outcome } = await reply(agent.turn({ session: 'a', input }));
      expect(['loop-detected', 'completed']).toContain(outcome);
    },
  },
];
