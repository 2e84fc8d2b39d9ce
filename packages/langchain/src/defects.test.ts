import { LLMock, type FixtureFileResponse, type FixtureResponse } from '@copilotkit/aimock';
// oxlint-disable-next-line h/package-imports -- a defect of LangChain is tested with the operator that avoids it
import { compaction, compactionMemory } from '@h/compaction';
// oxlint-disable-next-line h/package-imports -- a defect of LangChain is tested with the operator that avoids it
import { failover } from '@h/failover';
// oxlint-disable-next-line h/package-imports -- a defect of LangChain is tested with the operator that avoids it
import { tools } from '@h/tools';
import { SimpleChatModel } from '@langchain/core/language_models/chat_models';
import { HumanMessage, type BaseMessage } from '@langchain/core/messages';
import { interrupt, MemorySaver } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import {
  createAgent,
  modelFallbackMiddleware,
  summarizationMiddleware,
  tool,
  toolRetryMiddleware,
  type AgentMiddleware,
} from 'langchain';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { asMiddleware } from './index.js';

type Script = readonly FixtureFileResponse[];

let mock: LLMock;
let script: FixtureFileResponse[];
/** The messages of the last request, as JSON. */
let lastRequest: string;

beforeEach(async () => {
  mock = new LLMock({ port: 0 });
  mock.on({ predicate: () => true }, ({ messages }) => {
    lastRequest = JSON.stringify(messages);
    return (script.shift() ?? { content: 'Done.' }) as FixtureResponse;
  });
  await mock.start();
});
afterEach(() => mock.stop());

const model = () =>
  new ChatOpenAI({ model: 'gpt-4o', apiKey: 'test', maxRetries: 0, configuration: { baseURL: `${mock.url}/v1` } });
const calling = (...ids: readonly string[]): FixtureFileResponse => ({
  toolCalls: ids.map((id) => ({ name: 'use', arguments: `{"path":"${id}"}`, id })),
});
const toolOf = (run: (path: string) => unknown) =>
  tool(({ path }: { readonly path: string }) => run(path) as string, {
    name: 'use',
    description: 'Uses a file.',
    schema: z.object({ path: z.string() }),
  });
const agentOf = (
  middleware: AgentMiddleware,
  run: (path: string) => unknown = () => 'text',
  checkpointer?: MemorySaver,
) =>
  createAgent({
    model: model(),
    tools: [toolOf(run)],
    middleware: [middleware],
    ...(checkpointer && { checkpointer }),
  });
const ask = async (agent: ReturnType<typeof agentOf>, given: Script, config = {}): Promise<readonly BaseMessage[]> => {
  script = [...given];
  const { messages } = (await agent.invoke({ messages: [new HumanMessage('Fix ticket 4711.')] }, config)) as {
    readonly messages: readonly BaseMessage[];
  };
  return messages;
};
describe('a summary that fails', () => {
  const large = () => 'word '.repeat(2000);
  const steps = [calling('a'), calling('b'), calling('c'), { content: 'Done.' }];

  it('replaces the history with its error in LangChain', async () => {
    const failing = new ChatOpenAI({
      model: 'small',
      apiKey: 'test',
      maxRetries: 0,
      configuration: { baseURL: 'http://127.0.0.1:9/v1' },
    });
    await ask(
      agentOf(
        summarizationMiddleware({ model: failing, trigger: { messages: 5 }, keep: { messages: 2 } } as never),
        large,
      ),
      steps,
    );
    expect(lastRequest).toMatch(/Error generating summary/);
    expect(lastRequest).not.toContain('4711');
  });

  it('leaves the first request and no error with compaction()', async () => {
    let asked = 0;
    const summarize = () => {
      asked += 1;
      return Promise.reject(new Error('503 Service Unavailable'));
    };
    const operator = compaction({ window: 8000, reserve: 1000, summarize, maxAttempts: 1, memory: compactionMemory() });
    await ask(agentOf(asMiddleware(operator), large), steps);
    expect(asked).toBeGreaterThan(0);
    expect(lastRequest).toContain('4711');
    expect(lastRequest).not.toContain('503');
  });
});

describe('an abort during a model call', () => {
  /** Aborts during the first call, and returns the names of the models that were called. */
  const abortDuring = async (middlewareOf: (model: (name: string) => SimpleChatModel) => AgentMiddleware) => {
    const abort = new AbortController();
    const called: string[] = [];
    class Aborting extends SimpleChatModel {
      readonly label: string;

      constructor(name: string) {
        super({});
        this.label = name;
      }

      override bindTools(): this {
        return this;
      }

      _llmType(): string {
        return 'aborting';
      }

      _call(): never {
        called.push(this.label);
        abort.abort();
        throw new DOMException('This operation was aborted', 'AbortError');
      }
    }
    const agent = createAgent({
      model: new Aborting('first'),
      tools: [],
      middleware: [middlewareOf((name) => new Aborting(name))],
    });
    await expect(agent.invoke({ messages: [new HumanMessage('Hi')] }, { signal: abort.signal })).rejects.toThrow();
    return called;
  };

  it('calls the fallback model in LangChain', async () => {
    expect(await abortDuring((model) => modelFallbackMiddleware(model('second')))).toEqual(['first', 'second']);
  });

  it('calls no other model with failover()', async () => {
    const called = await abortDuring((model) =>
      asMiddleware({ resolve: ({ model: name }) => model(name ?? 'first') }, failover({ models: ['first', 'second'] })),
    );
    expect(called).toEqual(['first']);
  });
});

describe('an interrupt in a tool', () => {
  const config = { configurable: { thread_id: 'alice' } };
  const pause = async (middleware: AgentMiddleware) => {
    script = [calling('a')];
    const agent = agentOf(middleware, () => interrupt('Sure?'), new MemorySaver());
    return (await agent.invoke({ messages: [new HumanMessage('Hi')] }, config)) as { readonly __interrupt__?: unknown };
  };

  it('is passed by asMiddleware() with all of its operators', async () => {
    expect(await pause(asMiddleware(tools(), failover()))).toMatchObject({ __interrupt__: [{ value: 'Sure?' }] });
  });

  it('is a failure that the tool retry of LangChain repeats', async () => {
    const retry = toolRetryMiddleware({ maxRetries: 1, initialDelayMs: 0, jitter: false, backoffFactor: 0 });
    expect((await pause(retry)).__interrupt__).toBeUndefined();
  });
});

describe('the calls of an answer', () => {
  const cut: FixtureFileResponse = { ...calling('a'), finishReason: 'length' };
  const noMiddleware = { name: 'none' } as AgentMiddleware;

  it('run although the answer was cut in LangChain, and do not run with asMiddleware()', async () => {
    const ran: string[] = [];
    const run = (path: string): string => {
      ran.push(path);
      return 'text';
    };
    await ask(agentOf(noMiddleware, run), [cut]);
    expect(ran).toEqual(['a']);
    await ask(agentOf(asMiddleware(tools()), run), [cut]);
    expect(ran).toEqual(['a']);
  });

  it('all run at once in LangChain, and one by one with an effect that writes', async () => {
    let [running, most] = [0, 0];
    const run = async (): Promise<string> => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return 'text';
    };
    await ask(agentOf(noMiddleware, run), [calling('a', 'b', 'c')]);
    expect(most).toBe(3);
    most = 0;
    await ask(agentOf(asMiddleware({ effects: { use: 'destructive' } }, tools()), run), [calling('a', 'b', 'c')]);
    expect(most).toBe(1);
  });

  it('send a result of 2 MB whole in LangChain, and capped with tools()', async () => {
    const large = () => 'x'.repeat(2_000_000);
    await ask(agentOf(noMiddleware, large), [calling('a')]);
    expect(lastRequest.length).toBeGreaterThan(2_000_000);
    await ask(agentOf(asMiddleware(tools()), large), [calling('a')]);
    expect(lastRequest.length).toBeLessThan(100_000);
  });
});
