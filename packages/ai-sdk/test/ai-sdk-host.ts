import type { AttachStop } from '@h/bridge';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { schemaOf, type HostInput, type HostSetup, type HostUnderTest, type SuiteTool } from '@h/bridge/testing';
import { generateText, isStepCount, jsonSchema, streamText, tool, type ModelMessage, type ToolSet } from 'ai';
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
  const { operators, options, key, keyOf } = setup;
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
  const histories = new Map<string, ModelMessage[]>();
  return {
    run: async ({ text, session, isStreamed, signal, onText }: HostInput) => {
      const history: ModelMessage[] = [...(histories.get(session) ?? []), { role: 'user', content: text }];
      stops.delete(session);
      const call = {
        ...settings,
        system: 'Be brief.',
        messages: history,
        maxRetries: 0,
        ...(attached && { providerOptions: { h: { session } } }),
        ...(signal && { abortSignal: signal }),
      };
      if (!isStreamed) {
        const result = await generateText(call);
        histories.set(session, [...history, ...result.responseMessages]);
        return { text: result.text, stop: stops.get(session) };
      }
      let failure: { readonly error: unknown } | undefined;
      const result = streamText({ ...call, onError: ({ error }) => void (failure = { error }) });
      for await (const part of result.textStream) onText(part);
      if (failure) throw failure.error;
      histories.set(session, [...history, ...(await result.responseMessages)]);
      return { text: await result.text, stop: stops.get(session) };
    },
  };
};

/** The loops of the AI SDK with the models of OpenAI and Anthropic, for the conformance suite. */
export const aiSdkHost: Omit<HostUnderTest, 'wires'> = {
  name: 'AI SDK',
  events: attachEvents,
  streams: true,
  start,
};
