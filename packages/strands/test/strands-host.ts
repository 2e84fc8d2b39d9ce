import { schemaOf, type HostInput, type HostSetup, type HostUnderTest, type SuiteTool } from '@h/bridge/testing';
import { Agent, SessionManager, tool, type InvokeArgs, type Model } from '@strands-agents/sdk';
import { InMemoryStorage } from '@strands-agents/sdk/storage';
import { AnthropicModel } from '@strands-agents/sdk/models/anthropic';
import { OpenAIModel } from '@strands-agents/sdk/models/openai';
import { pluginEvents } from '../src/as-plugin.js';
import { asPlugin, type AttachStop } from '../src/index.js';

const model = ({ url, wire }: HostSetup, apiKey: string): Model => {
  const modelId = 'suite';
  if (wire === 'messages') {
    return new AnthropicModel({ modelId, apiKey, clientConfig: { baseURL: url, maxRetries: 0 }, maxTokens: 1000 });
  }
  const clientConfig = { baseURL: `${url}/v1`, maxRetries: 0 };
  return new OpenAIModel({ api: wire === 'responses' ? 'responses' : 'chat', modelId, apiKey, clientConfig });
};

const toTool = (given: SuiteTool, isAsking: boolean) =>
  tool({
    name: given.name,
    description: given.description,
    inputSchema: schemaOf(given),
    callback: (input, context) => {
      if (isAsking && context.interrupt({ name: 'write' }) !== true) return 'A person declined the call.';
      return given.run(input, context.cancelSignal);
    },
  });

const start = (setup: HostSetup) => {
  const { operators, options, key, keyOf, tools, pause } = setup;
  const stops = new Map<string, AttachStop>();
  const plugin =
    operators &&
    asPlugin(
      {
        ...options,
        resolve: ({ credential }) => model(setup, keyOf(credential)),
        onStop: (stop) => void stops.set(stop.session, stop),
      },
      ...operators,
    );
  const storage = (setup.storage.get('sessions') as InMemoryStorage | undefined) ?? new InMemoryStorage();
  setup.storage.set('sessions', storage);
  const interrupts = (setup.storage.get('interrupts') as Map<string, string> | undefined) ?? new Map<string, string>();
  setup.storage.set('interrupts', interrupts);
  /** A new agent for each run, which restores the session as after a restart of the process. */
  const agentOf = (sessionId: string, stored = storage): Agent =>
    new Agent({
      model: model(setup, key),
      tools: tools.map((given) => toTool(given, pause === 'host' && given.name === 'write')),
      systemPrompt: 'Be brief.',
      printer: false,
      retryStrategy: null,
      sessionManager: new SessionManager({ sessionId, storage: stored }),
      ...(plugin && { plugins: [plugin] }),
    });
  const run = async (input: InvokeArgs, { session, signal, onText }: HostInput, agent = agentOf(session)) => {
    const stream = agent.stream(input, { ...(signal && { cancelSignal: signal }) });
    let step = await stream.next();
    for (; step.done !== true; step = await stream.next()) {
      const event = step.value;
      if (event.type !== 'modelStreamUpdateEvent' || event.event.type !== 'modelContentBlockDeltaEvent') continue;
      if (event.event.delta.type === 'textDelta') onText(event.event.delta.text);
    }
    const { lastMessage, stopReason, interrupts: [interrupt] = [] } = step.value;
    if (interrupt) interrupts.set(session, interrupt.id);
    const text = lastMessage?.content.map((block) => (block.type === 'textBlock' ? block.text : '')).join('') ?? '';
    const stop = stops.get(session);
    stops.delete(session);
    return { text, stop, isPaused: stopReason === 'interrupt' };
  };
  return {
    run: (input: HostInput) => run(input.text, input),
    nest: (input: HostInput) => run(input.text, input, agentOf(input.session, new InMemoryStorage())),
    answer: (response: boolean, input: HostInput) =>
      run([{ interruptResponse: { interruptId: interrupts.get(input.session) ?? '', response } }], input),
  };
};

/** Agents of Strands, one for each session, for the suite of bridges. */
export const strandsHost: Omit<HostUnderTest, 'wires'> = {
  name: 'Strands',
  events: pluginEvents,
  streams: true,
  pauses: ['operator', 'host'],
  restarts: true,
  nests: true,
  // `AnthropicModel` of Strands 1.19 ignores the signal.
  keepsRequests: ['messages'],
  start,
};
