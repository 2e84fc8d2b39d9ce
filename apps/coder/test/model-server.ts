import { LLMock, type ChatCompletionRequest, type FixtureResponse } from '@copilotkit/aimock';
import { onTestFinished } from 'vitest';

/** An answer of the model: text, tool calls or any other response of aimock. */
export type Answer = string | FixtureResponse;

/** A tool call. */
export const call = (name: string, input: unknown, id = 'call-1') => ({
  toolCalls: [{ id, name, arguments: JSON.stringify(input) }],
});

/** A server with the APIs of all providers that answers from a list. */
export interface ModelServer {
  readonly url: string;
  /** The requests, in order. */
  readonly requests: readonly ChatCompletionRequest[];
}

/** The answers: one entry per request, or a function of the request. */
export type Answers = readonly Answer[] | ((request: ChatCompletionRequest) => Answer | Promise<Answer>);

/** An answer that never arrives. */
export const noAnswer = (): Promise<Answer> =>
  new Promise((resolve) => {
    onTestFinished(() => resolve('Too late.'));
  });

/** The text of a request. */
export const textOf = ({ messages }: ChatCompletionRequest): string => JSON.stringify(messages);

/** Starts a model server on loopback and stops it after the test. */
export const startModelServer = async (answers: Answers, latencyMs = 0): Promise<ModelServer> => {
  const server = new LLMock({ port: 0, host: '127.0.0.1', latency: latencyMs });
  const requests: ChatCompletionRequest[] = [];
  server.on({ predicate: () => true }, async (request) => {
    const given =
      typeof answers === 'function'
        ? answers(request)
        : (answers[requests.length] ?? 'The script has no further answers.');
    requests.push(request);
    const answer = await given;
    return typeof answer === 'string' ? { content: answer } : answer;
  });
  const url = await server.start();
  onTestFinished(() => server.stop());
  return { url, requests };
};
