import type { AttachStop } from '@h/bridge';
import { schemaOf, type HostInput, type HostSetup, type HostUnderTest, type SuiteTool } from '@h/bridge/testing';
import {
  Agent,
  MemorySession,
  OpenAIProvider,
  RunState,
  Runner,
  setTraceProcessors,
  tool,
  type NonStreamRunOptions,
  type StreamRunOptions,
} from '@openai/agents';
import OpenAI from 'openai';
import { attach, attachEvents } from '../src/attach.js';

// Without its exporter, whose timer would run on in the test files that follow.
setTraceProcessors([]);

const providerOf = ({ url, wire }: HostSetup, apiKey: string) =>
  new OpenAIProvider({
    openAIClient: new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 }),
    useResponses: wire === 'responses',
  });

const toTool = (given: SuiteTool, needsApproval: boolean) =>
  tool({
    needsApproval,
    name: given.name,
    description: given.description,
    parameters: schemaOf(given),
    strict: true,
    errorFunction: (_context, error) => String(error),
    execute: (input, _context, details) => given.run(input, details?.signal),
  });

const start = (setup: HostSetup) => {
  const { operators, options, key, keyOf, tools, pause, storage } = setup;
  const agent = new Agent({
    name: 'Suite',
    instructions: 'Be brief.',
    model: 'gpt-4o',
    tools: tools.map((given) => toTool(given, pause === 'host' && given.name === 'write')),
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
  const sessions = stored(storage, 'sessions', () => new Map<string, MemorySession>());
  const states = stored(storage, 'states', () => new Map<string, string>());
  type Input = string | RunState<unknown, typeof agent>;
  const runWith = (text: Input, given: NonStreamRunOptions<unknown, typeof agent>) =>
    attached ? attached.run(text, given) : plain.run(agent, text, given);
  const streamWith = (text: Input, given: StreamRunOptions<unknown, typeof agent>) =>
    attached ? attached.run(text, given) : plain.run(agent, text, given);
  const sessionOf = (name: string): MemorySession => {
    const session = sessions.get(name) ?? new MemorySession({ sessionId: name });
    sessions.set(name, session);
    return session;
  };
  const run = async (
    input: Input,
    { session: name, isStreamed, signal, onText }: HostInput,
    session = sessionOf(name),
  ) => {
    stops.length = 0;
    const given = { session, maxTurns: 60, ...(signal && { signal }) };
    const result = isStreamed ? await streamWith(input, { ...given, stream: true }) : await runWith(input, given);
    if ('toTextStream' in result) {
      for await (const part of result.toTextStream()) onText(part);
      await result.completed;
    }
    const isPaused = result.interruptions.length > 0;
    if (isPaused) states.set(name, result.state.toString());
    return {
      text: isPaused ? '' : String(result.finalOutput),
      stop: stops.find(({ session: stopped }) => stopped === name),
      isPaused,
    };
  };
  return {
    run: (input: HostInput) => run(input.text, input),
    nest: (input: HostInput) => run(input.text, input, new MemorySession({ sessionId: input.session })),
    answer: async (isApproved: boolean, input: HostInput) => {
      const state = await RunState.fromString(agent, states.get(input.session) ?? '');
      for (const item of state.getInterruptions()) state[isApproved ? 'approve' : 'reject'](item);
      return run(state, input);
    },
  };
};

const stored = <Value>(storage: HostSetup['storage'], key: string, create: () => Value): Value => {
  const value = (storage.get(key) as Value | undefined) ?? create();
  storage.set(key, value);
  return value;
};

/** An agent of the SDK with the models of OpenAI, for the conformance suite. */
export const agentsHost: Omit<HostUnderTest, 'wires'> = {
  name: 'OpenAI Agents',
  events: attachEvents,
  streams: true,
  pauses: ['host'],
  restarts: true,
  nests: true,
  start,
};
