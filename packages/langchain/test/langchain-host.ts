import { schemaOf, type HostInput, type HostSetup, type HostUnderTest, type SuiteTool } from '@h/bridge/testing';
import { HumanMessage, type AIMessage, type AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import { MemorySaver } from '@langchain/langgraph';
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool } from 'langchain';
import { middlewareEvents } from '../src/as-middleware.js';
import { asMiddleware } from '../src/index.js';

const model = ({ url, wire }: HostSetup, apiKey: string) =>
  wire === 'messages'
    ? new ChatAnthropic({ model: 'claude-sonnet-4-5', apiKey, maxRetries: 0, anthropicApiUrl: url })
    : new ChatOpenAI({
        model: 'gpt-4o',
        apiKey,
        maxRetries: 0,
        useResponsesApi: wire === 'responses',
        configuration: { baseURL: `${url}/v1` },
      });

const toTool = (given: SuiteTool) =>
  tool((input, config: { readonly signal?: AbortSignal }) => given.run(input, config.signal), {
    name: given.name,
    description: given.description,
    schema: schemaOf(given),
  });

const start = (setup: HostSetup) => {
  const { operators, options, key, keyOf, tools } = setup;
  const resolve = ({ credential }: { readonly credential: string | undefined }) => model(setup, keyOf(credential));
  const agent = createAgent({
    model: model(setup, key),
    tools: tools.map(toTool),
    systemPrompt: 'Be brief.',
    middleware: operators ? [asMiddleware({ ...options, resolve }, ...operators)] : [],
    checkpointer: new MemorySaver(),
  });
  return {
    run: async ({ text, session, isStreamed, signal, onText }: HostInput) => {
      const input = { messages: [new HumanMessage(text)] };
      const config = { configurable: { thread_id: session }, recursionLimit: 200, ...(signal && { signal }) };
      if (isStreamed) {
        for await (const [chunk] of await agent.stream(input, { ...config, streamMode: 'messages' })) {
          if (chunk.type === 'ai') onText((chunk as AIMessageChunk).text);
        }
      } else await agent.invoke(input, config);
      const { values } = (await agent.graph.getState(config)) as { values: { messages: readonly BaseMessage[] } };
      const last = values.messages.at(-1) as AIMessage;
      const stop = last.response_metadata['h'] as { outcome: string; reason?: string } | undefined;
      return { text: last.text, stop };
    },
  };
};

/** An agent of LangChain with the models of OpenAI and Anthropic, for the conformance suite. */
export const langchainHost: Omit<HostUnderTest, 'wires'> = {
  name: 'LangChain',
  events: middlewareEvents,
  streams: true,
  start,
};
