import { LLMock, type ChatCompletionRequest, type FixtureResponse } from '@copilotkit/aimock';
import { onTestFinished } from 'vitest';

/** An answer of the model: text, or a response of aimock. */
export type Answer = string | FixtureResponse;

/** The answers: one entry per request, or a function of the request. */
export type Answers = readonly Answer[] | ((request: ChatCompletionRequest) => Answer | Promise<Answer>);

/** A server with the APIs of all providers. */
export interface ModelServer {
  readonly url: string;
  /** The requests, in order. */
  readonly requests: readonly ChatCompletionRequest[];
}

/** A tool call. */
export const call = (name: string, input: unknown, id = 'call-1') => ({
  toolCalls: [{ id, name, arguments: JSON.stringify(input) }],
});

/** Starts a model server on loopback and stops it after the test. */
export const startModelServer = async (answers: Answers): Promise<ModelServer> => {
  const server = new LLMock({ port: 0, host: '127.0.0.1' });
  const requests: ChatCompletionRequest[] = [];
  server.on({ predicate: () => true }, async (request) => {
    const index = requests.push(request) - 1;
    const answer = await (typeof answers === 'function' ? answers(request) : (answers[index] ?? 'Done.'));
    return typeof answer === 'string' ? { content: answer } : answer;
  });
  const url = await server.start();
  onTestFinished(() => server.stop());
  return { url, requests };
};
