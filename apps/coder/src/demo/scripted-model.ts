import type { ChatCompletionRequest, ChatMessage } from '@copilotkit/aimock';
import { classifyError, createCredentialPool } from '@h/failover';
import { driverOf, providers, type ChosenModel } from '@h/models';
import { answerTo } from './conversation.js';

/** A scripted model behind an HTTP server. */
export interface ScriptedModel extends ChosenModel {
  /** Stops the server. */
  close(): Promise<void>;
}

/** Latency (ms) and tokens per second of the scripted model. */
const pace = { ttft: 40, tps: 400 };

/** Starts to load the modules of the scripted model in the background. */
export const preloadScriptedModel = (): void => {
  // A module that fails to load is reported when it is imported again.
  for (const loading of [import('@copilotkit/aimock'), import('@ai-sdk/anthropic')]) loading.catch(() => undefined);
};

/**
 * Starts a server on loopback that implements the API of Anthropic with the scripted answers, and connects the real SDK
 * to it.
 */
export const startScriptedModel = async (): Promise<ScriptedModel> => {
  const { LLMock } = await import('@copilotkit/aimock');
  const server = new LLMock({ port: 0, host: '127.0.0.1' });
  server.on({ predicate: () => true }, scriptedResponse, { streamingProfile: pace, chunkSize: 16 });
  const address = await server.start();
  const anthropic = providers['anthropic'];
  if (anthropic === undefined) throw new Error('The provider of the demo is missing.');
  return {
    driver: driverOf(anthropic, 'scripted', { apiKey: 'scripted', baseURL: `${address}/v1` }),
    name: undefined,
    fallbacks: [],
    pool: createCredentialPool({ profiles: [] }),
    classify: classifyError,
    contextWindow: () => undefined,
    close: () => server.stop(),
  };
};

const scriptedResponse = (request: ChatCompletionRequest) => {
  const place = request.messages.filter(({ role }) => role === 'assistant').length;
  const step = answerTo(place, latestResults(request.messages));
  if (step === undefined) return { status: 400, error: { type: 'invalid_request_error', message: unfit } };
  const { text, calls } = step;
  return {
    content: text,
    toolCalls: calls.map(({ name, input }, index) => ({
      id: `toolu_${place}_${index}`,
      name,
      arguments: JSON.stringify(input),
    })),
    usage: {
      input_tokens: tokensOf(JSON.stringify(request.messages)),
      output_tokens: tokensOf(text + JSON.stringify(calls)),
    },
  };
};

const unfit = 'The scripted model has no answer: the tool results differ from what its script expects.';

/** A rough estimate: a scripted model has no tokenizer. */
const tokensOf = (text: string): number => Math.ceil(text.length / 4);

/** The tool results since the latest answer of the model. */
const latestResults = (messages: readonly ChatMessage[]): string =>
  messages
    .slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
    .map(({ content }) =>
      typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('\n'),
    )
    .join('\n');
