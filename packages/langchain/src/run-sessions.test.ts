import { ModelServer, type Answer, type ModelRequestRecord } from '@h/bridge/testing';
import { intercept } from '@h/turn';
import { HumanMessage, type BaseMessage } from '@langchain/core/messages';
import { MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool } from 'langchain';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asMiddleware } from './index.js';

const server = new ModelServer();
beforeAll(() => server.start());
afterAll(() => server.stop());

/** Each agent reads once and then answers with its name. */
const answer = ({ body }: ModelRequestRecord): Answer => {
  const { messages } = JSON.parse(body) as { readonly messages: readonly { readonly role: string }[] };
  const [, name = ''] = /You are (\w+)/.exec(body) ?? [];
  return messages.at(-1)?.role === 'tool' ? { text: `${name} is done.` } : { calls: [{ name: 'read', input: {} }] };
};

/** Creates agents that share a middleware. */
const createAgents = () => {
  const ended: string[] = [];
  const spy = intercept('spy', () => {
    let name = '';
    return {
      observe: {
        'turn.start': ({ session }) => void (name = session),
        'turn.end': ({ outcome, steps }) => void ended.push(`${name} ${outcome} ${steps}`),
      },
    };
  });
  const middleware = [asMiddleware(spy)];
  const model = new ChatOpenAI({
    model: 'gpt-4o',
    apiKey: 'test',
    maxRetries: 0,
    configuration: { baseURL: `${server.url}/v1` },
  });
  const read = tool(() => 'text', { name: 'read', description: 'Reads.', schema: { type: 'object', properties: {} } });
  server.begin(Array.from({ length: 20 }, () => answer));
  return {
    ended,
    create: (name: string) => createAgent({ model, tools: [read], middleware, systemPrompt: `You are ${name}.` }),
  };
};

const thread = { configurable: { thread_id: 'alice' } };
const input = { messages: [new HumanMessage('Go.')] };
const textsOf = (messages: readonly BaseMessage[]): readonly string[] => messages.map(({ text }) => text);

describe('agents of a graph with one thread', () => {
  it('have separate sessions if they run at once', async () => {
    const { create, ended } = createAgents();
    const helper = create('Helper');
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('ann', create('Ann').graph)
      .addNode('ben', create('Ben').graph)
      .addNode('helpers', async () => {
        const states = await Promise.all([helper.invoke(input), helper.invoke(input)]);
        return { messages: states.flatMap(({ messages }) => messages.slice(-1)) };
      })
      .addEdge(START, 'ann')
      .addEdge(START, 'ben')
      .addEdge('ben', 'helpers')
      .compile({ checkpointer: new MemorySaver() });
    const { messages } = await graph.invoke(input, thread);
    expect(textsOf(messages)).toEqual(
      expect.arrayContaining(['Ann is done.', 'Ben is done.', 'Helper is done.', 'Helper is done.']),
    );
    expect(ended.map((line) => line.replace(/\/[-0-9a-f]+/, '/…')).toSorted()).toEqual([
      'alice completed 2',
      'alice completed 2',
      'alice/… completed 2',
      'alice/… completed 2',
    ]);
    expect(server.requests).toHaveLength(8);
  });

  it('share the session of the thread if they run one after the other', async () => {
    const { create, ended } = createAgents();
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('ann', create('Ann').graph)
      .addNode('ben', create('Ben').graph)
      .addEdge(START, 'ann')
      .addEdge('ann', 'ben')
      .compile({ checkpointer: new MemorySaver() });
    await graph.invoke(input, thread);
    expect(ended).toEqual(['alice completed 2', 'alice completed 2']);
  });
});
