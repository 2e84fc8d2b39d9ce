import { schemaOf, type HostInput, type HostSetup, type HostUnderTest, type SuiteTool } from '@h/bridge/testing';
import { HumanMessage, type AIMessage, type AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import { Command, CompiledStateGraph, interrupt, MemorySaver } from '@langchain/langgraph';
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

const toTool = (given: SuiteTool, isAsking: boolean) =>
  tool(
    async (input, config: { readonly signal?: AbortSignal }) => {
      if (isAsking && given.name === 'write' && interrupt('Sure?') !== true) return 'A person declined the call.';
      return given.run(input, config.signal);
    },
    { name: given.name, description: given.description, schema: schemaOf(given) },
  );

/** Pauses the graph for an approval. */
const approve: HostSetup['options']['approve'] = ({ reason }) => ({
  decision: interrupt(reason) === true ? 'once' : 'deny',
});

/** Where the copy of LangGraph is that this file has loaded. */
const copyOfGraph = (): string => {
  try {
    return String(interrupt(''));
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
};

const start = (setup: HostSetup) => {
  const { operators, key, keyOf, tools, pause, storage } = setup;
  const options = { ...setup.options, ...(pause === 'operator' && { approve }) };
  const checkpointer = (storage.get('checkpointer') as MemorySaver | undefined) ?? new MemorySaver();
  storage.set('checkpointer', checkpointer);
  const resolve = ({ credential }: { readonly credential: string | undefined }) => model(setup, keyOf(credential));
  const settings = {
    model: model(setup, key),
    tools: tools.map((given) => toTool(given, pause === 'host')),
    systemPrompt: 'Be brief.',
    middleware: operators ? [asMiddleware({ ...options, resolve }, ...operators)] : [],
  };
  const agent = createAgent({ ...settings, checkpointer });
  // LangChain takes a command of another copy for new input, and the approved call does not run.
  if (!(agent.graph instanceof CompiledStateGraph)) {
    throw new Error(`LangChain has loaded another copy of LangGraph than this file: ${copyOfGraph()}`);
  }
  type Input = Parameters<typeof agent.invoke>[0] | null;
  const run = async (input: Input, { session, isStreamed, signal, onText }: HostInput) => {
    const config = { configurable: { thread_id: session }, recursionLimit: 200, ...(signal && { signal }) };
    if (isStreamed) {
      for await (const [chunk] of await agent.stream(input, { ...config, streamMode: 'messages' })) {
        if (chunk.type === 'ai') onText((chunk as AIMessageChunk).text);
      }
    } else await agent.invoke(input, config);
    const { values, tasks } = (await agent.graph.getState(config)) as {
      readonly values: { readonly messages: readonly BaseMessage[] };
      readonly tasks: readonly { readonly interrupts: readonly unknown[] }[];
    };
    const last = values.messages.at(-1) as AIMessage;
    const stop = last.response_metadata['h'] as { outcome: string; reason?: string } | undefined;
    return { text: last.text, stop, isPaused: tasks.some(({ interrupts }) => interrupts.length > 0) };
  };
  return {
    run: (input: HostInput) => run({ messages: [new HumanMessage(input.text)] }, input),
    answer: (isApproved: boolean, input: HostInput) => run(new Command({ resume: isApproved }) as Input, input),
    resume: (input: HostInput) => run(null, input),
    // LangGraph passes the thread of the caller on.
    nest: async ({ text }: HostInput) => {
      const { messages } = await createAgent(settings).invoke({ messages: [new HumanMessage(text)] });
      return { text: messages.at(-1)?.text ?? '' };
    },
  };
};

/** An agent of LangChain with the models of OpenAI and Anthropic, for the conformance suite. */
export const langchainHost: Omit<HostUnderTest, 'wires'> = {
  name: 'LangChain',
  events: middlewareEvents,
  streams: true,
  pauses: ['operator', 'host'],
  restarts: true,
  nests: true,
  resumesFailures: true,
  start,
};
