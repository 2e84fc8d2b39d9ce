import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { schemaOf, type HostInput, type HostSetup, type HostUnderTest, type SuiteTool } from '@h/bridge/testing';
import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import type { MastraModelConfig } from '@mastra/core/llm';
import { MockMemory } from '@mastra/core/memory';
import { InMemoryStore } from '@mastra/core/storage';
import { createTool } from '@mastra/core/tools';
import { attachEvents } from '../src/attach.js';
import { attach, type AttachStop } from '../src/index.js';

/** Models of providers for two wires; for the other one, a model of Mastra's router, whose interface is older. */
const model = ({ url, wire }: HostSetup, apiKey: string): MastraModelConfig => {
  const baseURL = `${url}/v1`;
  if (wire === 'responses') return { id: 'openai/suite', url: baseURL, apiKey, api: 'responses' };
  const settings = { baseURL, apiKey };
  return (wire === 'messages' ? createAnthropic(settings)('suite') : createOpenAI(settings).chat('suite')) as never;
};

const toTool = (given: SuiteTool, requireApproval: boolean) =>
  createTool({
    requireApproval,
    id: given.name,
    description: given.description,
    inputSchema: schemaOf(given),
    execute: (input, { abortSignal }) => given.run(input, abortSignal),
  });

const start = (setup: HostSetup) => {
  const { operators, options, key, keyOf, tools, pause } = setup;
  const storage = (setup.storage.get('storage') as InMemoryStore | undefined) ?? new InMemoryStore();
  setup.storage.set('storage', storage);
  const paused = (setup.storage.get('paused') as Map<string, Paused> | undefined) ?? new Map<string, Paused>();
  setup.storage.set('paused', paused);
  const stops = new Map<string, AttachStop>();
  const settings = {
    id: 'suite',
    name: 'Suite',
    instructions: 'Be brief.',
    model: model(setup, key),
    tools: Object.fromEntries(
      tools.map((tool) => [tool.name, toTool(tool, pause === 'host' && tool.name === 'write')]),
    ),
    memory: new MockMemory({ storage }),
  };
  const attached = operators
    ? attach(
        settings,
        {
          ...options,
          resolve: ({ credential }) => model(setup, keyOf(credential)),
          onStop: (stop) => void stops.set(stop.session, stop),
        },
        ...operators,
      )
    : settings;
  const created = new Agent(attached);
  // An agent stores paused runs in the storage of this object.
  const agent = pause ? new Mastra({ agents: { suite: created }, storage, logger: false }).getAgent('suite') : created;
  type Given = ReturnType<typeof settingsOf>;
  const settingsOf = ({ session, signal }: HostInput) => {
    stops.delete(session);
    return {
      memory: { thread: session, resource: 'suite' },
      maxSteps: 100,
      modelSettings: { maxRetries: 0 },
      ...(signal && { abortSignal: signal }),
    };
  };
  const finish = async (
    { session, onText }: HostInput,
    output: Awaited<ReturnType<Agent['stream']>> | Awaited<ReturnType<Agent['generate']>>,
  ) => {
    if ('textStream' in output) for await (const part of output.textStream) onText(part);
    if (output.error) throw output.error;
    const [steps, reason] = await Promise.all([output.steps, output.finishReason]);
    const payload = (await output.suspendPayload) as { readonly toolCallId?: string } | undefined;
    const { toolCallId = '' } = payload ?? {};
    if (reason === 'suspended') paused.set(session, { runId: output.runId ?? '', toolCallId });
    return { text: steps.at(-1)?.text ?? '', stop: stops.get(session), isPaused: reason === 'suspended' };
  };
  return {
    run: async (input: HostInput) => {
      const given: Given = settingsOf(input);
      return finish(
        input,
        input.isStreamed ? await agent.stream(input.text, given) : await agent.generate(input.text, given),
      );
    },
    nest: async (input: HostInput) => {
      const nested = new Agent({ ...attached, memory: new MockMemory({ storage: new InMemoryStore() }) });
      return finish(input, await nested.generate(input.text, settingsOf(input)));
    },
    answer: async (isApproved: boolean, input: HostInput) => {
      const given = { ...settingsOf(input), ...(paused.get(input.session) ?? { runId: '', toolCallId: '' }) };
      if (input.isStreamed) {
        return finish(input, isApproved ? await agent.approveToolCall(given) : await agent.declineToolCall(given));
      }
      return finish(
        input,
        isApproved ? await agent.approveToolCallGenerate(given) : await agent.declineToolCallGenerate(given),
      );
    },
  };
};

/** A paused run, and the call that it waits for. */
interface Paused {
  readonly runId: string;
  readonly toolCallId: string;
}

/** An agent of Mastra with a memory, for the suite of bridges. */
export const mastraHost: Omit<HostUnderTest, 'wires'> = {
  name: 'Mastra',
  events: attachEvents,
  streams: true,
  pauses: ['operator', 'host'],
  restarts: true,
  nests: true,
  start,
};
