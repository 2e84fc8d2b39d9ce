import type { AttachStop } from '@h/bridge';
import { schemaOf, type HostInput, type HostSetup, type HostUnderTest, type SuiteTool } from '@h/bridge/testing';
import {
  Agent,
  MemorySession,
  OpenAIProvider,
  Runner,
  setTracingDisabled,
  tool,
  type NonStreamRunOptions,
  type StreamRunOptions,
} from '@openai/agents';
import OpenAI from 'openai';
import { attach, attachEvents } from '../src/attach.js';

setTracingDisabled(true);

const providerOf = ({ url, wire }: HostSetup, apiKey: string) =>
  new OpenAIProvider({
    openAIClient: new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 }),
    useResponses: wire === 'responses',
  });

const toTool = (given: SuiteTool) =>
  tool({
    name: given.name,
    description: given.description,
    parameters: schemaOf(given),
    strict: true,
    errorFunction: (_context, error) => String(error),
    execute: (input, _context, details) => given.run(input, details?.signal),
  });

const start = (setup: HostSetup) => {
  const { operators, options, key, keyOf, tools } = setup;
  const agent = new Agent({
    name: 'Suite',
    instructions: 'Be brief.',
    model: 'gpt-4o',
    tools: tools.map(toTool),
  });
  const runner = { modelProvider: providerOf(setup, key), workflowName: 'suite' };
  const stops: AttachStop[] = [];
  const attached =
    operators &&
    attach(
      {
        ...options,
        agent,
        runner,
        resolve: ({ credential }) => providerOf(setup, keyOf(credential)).getModel('gpt-4o'),
        onStop: (stop) => stops.push(stop),
      },
      ...operators,
    );
  const plain = new Runner(runner);
  const sessions = new Map<string, MemorySession>();
  const runWith = (text: string, given: NonStreamRunOptions) =>
    attached ? attached.run(text, given) : plain.run(agent, text, given);
  const streamWith = (text: string, given: StreamRunOptions) =>
    attached ? attached.run(text, given) : plain.run(agent, text, given);
  return {
    run: async ({ text, session: name, isStreamed, signal, onText }: HostInput) => {
      const session = sessions.get(name) ?? new MemorySession({ sessionId: name });
      sessions.set(name, session);
      stops.length = 0;
      const given = { session, maxTurns: 60, ...(signal && { signal }) };
      if (!isStreamed) return { text: String((await runWith(text, given)).finalOutput), stop: stops[0] };
      const result = await streamWith(text, { ...given, stream: true });
      for await (const part of result.toTextStream()) onText(part);
      await result.completed;
      return { text: String(result.finalOutput), stop: stops[0] };
    },
  };
};

/** An agent of the SDK with the models of OpenAI, for the conformance suite. */
export const agentsHost: Omit<HostUnderTest, 'wires'> = {
  name: 'OpenAI Agents',
  events: attachEvents,
  streams: true,
  start,
};
