import {
  schemaOf,
  type HostInput,
  type HostSetup,
  type HostUnderTest,
  type SuiteTool,
  type Wire,
} from '@h/bridge/testing';
import { Agent, type AgentTool, type StreamFn } from '@earendil-works/pi-agent-core';
import { contentText, type Api, type AssistantMessage, type Model } from '@earendil-works/pi-ai';
import { streamSimple as streamAnthropic } from '@earendil-works/pi-ai/api/anthropic-messages';
import { streamSimple as streamCompletions } from '@earendil-works/pi-ai/api/openai-completions';
import { streamSimple as streamResponses } from '@earendil-works/pi-ai/api/openai-responses';
import { attach, attachEvents } from '../src/attach.js';

const withoutMarks =
  (streamFn: StreamFn): StreamFn =>
  (model, context, options) =>
    streamFn(model, context, { ...options, cacheRetention: 'none' });

const providers: Readonly<Record<Wire, { readonly api: Api; readonly path: string; readonly streamFn: StreamFn }>> = {
  'chat-completions': { api: 'openai-completions', path: '/v1', streamFn: streamCompletions as StreamFn },
  responses: { api: 'openai-responses', path: '/v1', streamFn: streamResponses as StreamFn },
  // The adapter marks the last message for the prompt cache, so that requests would differ in the place of the mark.
  messages: { api: 'anthropic-messages', path: '', streamFn: withoutMarks(streamAnthropic as StreamFn) },
};

const modelOf = ({ url, wire }: HostSetup): Model<Api> => ({
  id: 'gpt-4o',
  name: 'The model of the suite',
  api: providers[wire].api,
  provider: 'suite',
  baseUrl: `${url}${providers[wire].path}`,
  reasoning: false,
  input: ['text'],
  cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 128_000,
  maxTokens: 1000,
});

const toTool = (given: SuiteTool): AgentTool => ({
  name: given.name,
  label: given.name,
  description: given.description,
  parameters: schemaOf(given),
  execute: async (_id, params, signal) => ({
    content: [{ type: 'text', text: await given.run(params, signal) }],
    details: undefined,
  }),
});

const start = (setup: HostSetup) => {
  const { operators, options, key, keyOf } = setup;
  const model = modelOf(setup);
  const tools = setup.tools.map(toTool);
  const { streamFn } = providers[setup.wire];
  const stops = new Map<string, { readonly outcome: string; readonly reason?: string | undefined }>();
  const attached =
    operators &&
    attach(
      {
        ...options,
        streamFn,
        tools,
        resolve: ({ credential }) => ({ apiKey: keyOf(credential) }),
        onStop: (stop) => void stops.set(stop.session, stop),
      },
      ...operators,
    );
  const agents = new Map<string, Agent>();
  const create = (sessionId: string): Agent =>
    new Agent({
      streamFn,
      ...attached,
      sessionId,
      getApiKey: () => key,
      initialState: { model, systemPrompt: 'Be brief.', tools: attached?.tools ?? tools },
    });
  const agentOf = (session: string): Agent => {
    const agent = agents.get(session) ?? create(session);
    agents.set(session, agent);
    return agent;
  };
  const run = async ({ text, session, signal, onText }: HostInput, agent = agentOf(session)) => {
    const onAbort = (): void => agent.abort();
    signal?.addEventListener('abort', onAbort, { once: true });
    const unsubscribe = agent.subscribe((event) => {
      if (event.type !== 'message_update' || event.assistantMessageEvent.type !== 'text_delta') return;
      onText(event.assistantMessageEvent.delta);
    });
    stops.delete(session);
    try {
      await agent.prompt(text);
    } finally {
      unsubscribe();
      signal?.removeEventListener('abort', onAbort);
    }
    const last = agent.state.messages.findLast(({ role }) => role === 'assistant') as AssistantMessage;
    if (last.stopReason === 'error' || last.stopReason === 'aborted') throw new Error(last.errorMessage);
    return { text: contentText(last.content), stop: stops.get(session) };
  };
  return { run: (input: HostInput) => run(input), nest: (input: HostInput) => run(input, create(input.session)) };
};

/** pi with its `Agent`, for the suite of bridges. Models of pi always stream. */
export const piHost: Omit<HostUnderTest, 'wires'> = {
  name: 'pi',
  events: attachEvents,
  streams: true,
  nests: true,
  start,
};
