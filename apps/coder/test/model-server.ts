import { LLMock, type ChatCompletionRequest, type FixtureResponse } from '@copilotkit/aimock';
import { onTestFinished } from 'vitest';

/** What the model says next: a text, tool calls, or anything else that aimock can answer. */
export type Answer = string | FixtureResponse;

/** A tool call. */
export const call = (name: string, input: unknown, id = 'call-1') => ({
  toolCalls: [{ id, name, arguments: JSON.stringify(input) }],
});

/** A server that speaks the interfaces of all providers and answers from a list, one entry for each request. */
export interface ModelServer {
  readonly url: string;
  /** What it was asked, in order. */
  readonly requests: readonly ChatCompletionRequest[];
}

/** What the model says: one entry for each request, or by what is asked. */
export type Answers = readonly Answer[] | ((request: ChatCompletionRequest) => Answer | Promise<Answer>);

/** An answer that does not come while the test runs. */
export const noAnswer = (): Promise<Answer> =>
  new Promise((resolve) => {
    onTestFinished(() => resolve('Too late.'));
  });

/** What a request says, as one text. */
export const textOf = ({ messages }: ChatCompletionRequest): string => JSON.stringify(messages);

/** Starts a model server on loopback for the length of a test. */
export const startModelServer = async (answers: Answers, latencyMs = 0): Promise<ModelServer> => {
  const server = new LLMock({ port: 0, host: '127.0.0.1', latency: latencyMs });
  const requests: ChatCompletionRequest[] = [];
  server.on({ predicate: () => true }, async (request) => {
    const given =
      typeof answers === 'function' ? answers(request) : (answers[requests.length] ?? 'My answers are used up.');
    requests.push(request);
    const answer = await given;
    return typeof answer === 'string' ? { content: answer } : answer;
  });
  const url = await server.start();
  onTestFinished(() => server.stop());
  return { url, requests };
};
