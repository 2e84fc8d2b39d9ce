import { ModelServer, type Answer } from '@h/bridge/testing';
import { intercept } from '@h/turn';
import { HumanMessage } from '@langchain/core/messages';
import { MemorySaver } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, createMiddleware, tool, toolCallLimitMiddleware, type AgentMiddleware } from 'langchain';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asMiddleware } from './index.js';

const server = new ModelServer();
beforeAll(() => server.start());
afterAll(() => server.stop());

const call: Answer = { calls: [{ name: 'read', input: {} }] };
const go = () => ({ messages: [new HumanMessage('Go.')] });
const thread = { configurable: { thread_id: 'alice' } };

/** Creates an agent with a middleware that throws before the model calls of the given numbers. */
const setup = (answers: readonly Answer[], { failsAt = [], returnDirect = false, middleware = [] }: Setup = {}) => {
  const ended: string[] = [];
  const spy = intercept('spy', () => ({
    observe: { 'turn.end': ({ outcome, steps }) => void ended.push(`${outcome} ${steps}`) },
  }));
  let count = 0;
  const failing = createMiddleware({
    name: 'failing',
    beforeModel: () => {
      if (failsAt.includes((count += 1))) throw new Error('The policy service is down.');
    },
  });
  server.begin(answers);
  const agent = createAgent({
    model: new ChatOpenAI({
      model: 'gpt-4o',
      apiKey: 'test',
      maxRetries: 0,
      configuration: { baseURL: `${server.url}/v1` },
    }),
    tools: [
      tool(() => 'text', {
        name: 'read',
        description: 'Reads.',
        schema: { type: 'object', properties: {} },
        returnDirect,
      }),
    ],
    middleware: [asMiddleware(spy), failing, ...middleware],
    checkpointer: new MemorySaver(),
  });
  return { agent, ended };
};
interface Setup {
  readonly failsAt?: readonly number[];
  readonly returnDirect?: boolean;
  readonly middleware?: readonly AgentMiddleware[];
}

describe('the end of a run', () => {
  it('completes the turn if the run ends after a tool call', async () => {
    const { agent, ended } = setup([call], { returnDirect: true });
    await agent.invoke(go(), thread);
    expect(ended).toEqual(['completed 1']);
  });

  it('completes the turn if another middleware answers a call and ends the run', async () => {
    const { agent, ended } = setup([call, call], { middleware: [toolCallLimitMiddleware({ runLimit: 1 } as never)] });
    await agent.invoke(go(), thread);
    expect(ended).toEqual(['completed 2']);
  });

  it('cancels the turn of a run that another middleware failed, at the next run', async () => {
    const { agent, ended } = setup([call, { text: 'Done.' }], { failsAt: [2] });
    await expect(agent.invoke(go(), thread)).rejects.toThrow('The policy service is down.');
    await agent.invoke(go(), thread);
    expect(ended).toEqual(['cancelled 1', 'completed 1']);
  });

  it('continues the turn of a failed run that resumes at its checkpoint', async () => {
    const { agent, ended } = setup([call, { text: 'Done.' }], { failsAt: [2] });
    await expect(agent.invoke(go(), thread)).rejects.toThrow('The policy service is down.');
    await agent.invoke(null as never, thread);
    expect(ended).toEqual(['completed 2']);
  });
});
