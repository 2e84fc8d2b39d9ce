import type { AttachStop } from '@h/bridge';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { schemaOf, type HostInput, type HostSetup, type HostUnderTest, type SuiteTool } from '@h/bridge/testing';
import {
  generateText,
  isStepCount,
  jsonSchema,
  streamText,
  tool,
  type ContentPart,
  type ModelMessage,
  type ToolSet,
} from 'ai';
import { attach, attachEvents } from '../src/attach.js';

const modelAt = ({ url, wire }: HostSetup, apiKey: string) => {
  const baseURL = `${url}/v1`;
  if (wire === 'messages') return createAnthropic({ baseURL, apiKey })('claude-sonnet-4-5');
  const openai = createOpenAI({ baseURL, apiKey });
  return wire === 'responses' ? openai.responses('gpt-4o') : openai.chat('gpt-4o');
};

const toTool = (given: SuiteTool) =>
  tool({
    description: given.description,
    inputSchema: jsonSchema<object>(schemaOf(given)),
    execute: (input, { abortSignal }) => given.run(input, abortSignal),
  });

const start = (setup: HostSetup) => {
  const { operators, options, key, keyOf, pause, storage } = setup;
  const tools: ToolSet = Object.fromEntries(setup.tools.map((given) => [given.name, toTool(given)]));
  const model = modelAt(setup, key);
  const stops = new Map<string, AttachStop>();
  const attached =
    operators &&
    attach(
      {
        ...options,
        model,
        tools,
        resolve: (_model, credential) => modelAt(setup, keyOf(credential)),
        onStop: (stop) => stops.set(stop.session, stop),
      },
      ...operators,
    );
  const settings = attached ?? { model, tools, stopWhen: isStepCount(60) };
  const histories =
    (storage.get('histories') as Map<string, ModelMessage[]> | undefined) ?? new Map<string, ModelMessage[]>();
  storage.set('histories', histories);
  const approvals = pause === 'host' && { toolApproval: { write: 'user-approval' as const } };
  const run = async (
    added: ModelMessage,
    { session, isStreamed, signal, onText }: HostInput,
    before: readonly ModelMessage[] = histories.get(session) ?? [],
  ) => {
    const history: ModelMessage[] = [...before, added];
    stops.delete(session);
    const call = {
      ...settings,
      ...approvals,
      system: 'Be brief.',
      messages: history,
      maxRetries: 0,
      ...(attached && { providerOptions: { h: { session } } }),
      ...(signal && { abortSignal: signal }),
    };
    const finish = (text: string, content: readonly ContentPart<ToolSet>[], messages: readonly ModelMessage[]) => {
      histories.set(session, [...history, ...messages]);
      return { text, stop: stops.get(session), isPaused: content.some(({ type }) => type === 'tool-approval-request') };
    };
    if (!isStreamed) {
      const { text, content, responseMessages } = await generateText(call);
      return finish(text, content, responseMessages);
    }
    let failure: { readonly error: unknown } | undefined;
    const result = streamText({ ...call, onError: ({ error }) => void (failure = { error }) });
    for await (const part of result.textStream) onText(part);
    if (failure) throw failure.error;
    return finish(await result.text, await result.content, await result.responseMessages);
  };
  return {
    run: (input: HostInput) => run({ role: 'user', content: input.text }, input),
    nest: (input: HostInput) => run({ role: 'user', content: input.text }, input, []),
    answer: (approved: boolean, input: HostInput) => {
      const { content } = histories.get(input.session)?.findLast(({ role }) => role === 'assistant') ?? {};
      const parts = typeof content === 'object' ? content : [];
      const answers = parts.flatMap((part) =>
        part.type === 'tool-approval-request'
          ? [{ type: 'tool-approval-response' as const, approvalId: part.approvalId, approved }]
          : [],
      );
      return run({ role: 'tool', content: answers }, input);
    },
  };
};

/** The loops of the AI SDK with the models of OpenAI and Anthropic, for the conformance suite. */
export const aiSdkHost: Omit<HostUnderTest, 'wires'> = {
  name: 'AI SDK',
  events: attachEvents,
  streams: true,
  pauses: ['host'],
  restarts: true,
  nests: true,
  start,
};
