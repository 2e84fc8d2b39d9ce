import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { schemaOf, type HostInput, type HostSetup, type HostUnderTest, type SuiteTool } from '@h/bridge/testing';
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

const toTool = (given: SuiteTool) =>
  createTool({
    id: given.name,
    description: given.description,
    inputSchema: schemaOf(given),
    execute: (input, { abortSignal }) => given.run(input, abortSignal),
  });

const start = (setup: HostSetup) => {
  const { operators, options, key, keyOf, tools } = setup;
  const stops = new Map<string, AttachStop>();
  const settings = {
    id: 'suite',
    name: 'Suite',
    instructions: 'Be brief.',
    model: model(setup, key),
    tools: Object.fromEntries(tools.map((tool) => [tool.name, toTool(tool)])),
    memory: new MockMemory({ storage: new InMemoryStore() }),
  };
  const agent = new Agent(
    operators
      ? attach(
          settings,
          {
            ...options,
            resolve: ({ credential }) => model(setup, keyOf(credential)),
            onStop: (stop) => void stops.set(stop.session, stop),
          },
          ...operators,
        )
      : settings,
  );
  return {
    run: async ({ text: input, session, isStreamed, signal, onText }: HostInput) => {
      stops.delete(session);
      const given = {
        memory: { thread: session, resource: 'suite' },
        maxSteps: 100,
        modelSettings: { maxRetries: 0 },
        ...(signal && { abortSignal: signal }),
      };
      let text: string;
      if (isStreamed) {
        const output = await agent.stream(input, given);
        for await (const part of output.textStream) onText(part);
        if (output.error) throw output.error;
        text = (await output.steps).at(-1)?.text ?? '';
      } else {
        const output = await agent.generate(input, given);
        if (output.error) throw output.error;
        text = output.steps.at(-1)?.text ?? '';
      }
      return { text, stop: stops.get(session) };
    },
  };
};

/** An agent of Mastra with a memory, for the suite of bridges. */
export const mastraHost: Omit<HostUnderTest, 'wires'> = { name: 'Mastra', events: attachEvents, streams: true, start };
