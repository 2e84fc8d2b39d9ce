import { json, type RecordedError } from './recorded-errors.js';

type Surround = (answer: RecordedError) => unknown;

/** Words of every reason, as a request may have them. */
const request = {
  messages: [
    { role: 'user', content: 'Explain overloaded, rate limit, quota exceeded, invalid api key, prompt is too long.' },
  ],
};
const errorOf = (name: string, message: string, members: object = {}, cause?: unknown): Error =>
  Object.assign(new Error(message, { cause }), { name }, members);
const line = ({ status, body }: RecordedError): string => `${status ?? ''} ${json(body)}`;

const openai: Surround = (answer) =>
  errorOf('Error', line(answer), { status: answer.status, headers: new Headers(answer.headers), error: answer.body });
const apiCall = ({ status, headers, body }: RecordedError, message = 'The call failed.'): Error =>
  errorOf('AI_APICallError', message, {
    statusCode: status,
    responseHeaders: headers,
    responseBody: json(body),
    requestBodyValues: request,
  });
const caused = (error: unknown, depth: number): unknown =>
  depth === 0 ? error : new Error('The step failed.', { cause: caused(error, depth - 1) });

/** How SDKs and clients show an answer with everything that it has. */
export const withHeaders: Readonly<Record<string, Surround>> = {
  'an error of the OpenAI or Anthropic SDK': openai,
  'an error of the AI SDK': (answer) => apiCall(answer),
  'the last of several attempts': (answer) => {
    const lastError = apiCall(answer);
    const overloaded = apiCall({
      provider: '',
      status: 529,
      body: { error: { type: 'overloaded_error' } },
      expected: {},
    });
    return errorOf('AI_RetryError', 'Failed after 2 attempts.', { errors: [overloaded, lastError], lastError });
  },
  'the cause of a stream without output': (answer) =>
    errorOf('AI_NoOutputGeneratedError', 'No output generated. Check the stream for errors.', {}, apiCall(answer)),
  'a cause of a cause': (answer) => caused(openai(answer), 5),
  'one of several errors': (answer) => new AggregateError([openai(answer)], 'All providers failed.'),
  'an error of axios': ({ status, headers, body }) =>
    errorOf('AxiosError', `Request failed with status code ${status ?? ''}`, {
      code: 'ERR_BAD_REQUEST',
      config: { data: request },
      response: { status, headers, data: body },
    }),
  'an error with bytes': ({ status, headers, body }) => ({
    status,
    headers,
    body: new TextEncoder().encode(json(body)),
  }),
  'an error of a worker': (answer) =>
    JSON.parse(JSON.stringify({ ...answer, body: Buffer.from(json(answer.body)) })) as unknown,
  'accessors that are not enumerable': ({ status, headers, body }) =>
    Object.defineProperties(new Error('The call failed.'), {
      statusCode: { get: () => status },
      response: { get: () => ({ headers, _data: body }) },
    }),
};

/** How gateways, hosts and logs show an answer: as a text, or inside an answer of their own. */
export const withoutHeaders: Readonly<Record<string, Surround>> = {
  'a text': line,
  'a text with a stack': (answer) => `Error: ${line(answer)}\n    at generate (/app/cli.js:11:62513)`,
  'an error of the Google SDK': ({ status, body }) =>
    errorOf('ApiError', JSON.stringify({ error: { message: JSON.stringify(body, undefined, 2), code: status } }), {
      status,
    }),
  'a text of the Google SDK': ({ status, body }) => `[API Error: got status: ${status ?? ''} . ${json(body)}]`,
  'a text of LiteLLM': ({ status, body }) =>
    errorOf('Error', `litellm.APIError: AnthropicException - ${json(body)}. Received Model Group=x`, { status }),
  'an answer of OpenRouter': ({ status, body }) => ({
    error: {
      message: 'Provider returned error',
      code: status,
      metadata: { raw: json(body), provider_name: 'Anthropic' },
    },
  }),
  'an answer of Cloudflare': ({ status, body }) => ({
    status,
    body: { success: false, error: [{ code: 2016, message: json(body) }] },
  }),
  'an answer of GraphQL': ({ status, body }) => ({
    errors: [{ message: 'It failed.', extensions: { response: { status, body } } }],
  }),
  'an answer of JSON-RPC': (answer) => ({
    error: { code: -32603, message: 'Internal error', data: { details: line(answer) } },
  }),
  'a failure of a gateway': ({ status, body }) => ({
    status: 500,
    error: { message: `Upstream returned ${status ?? ''}: ${json(body)}` },
  }),
  'a success of a gateway': ({ status, body }) => ({
    status: 200,
    body: { success: false, code: status, error: body },
  }),
  'an event of a stream': ({ status, body }) => ({
    status,
    body: `: comment\n\nevent: error\ndata: ${json(body)}\n\n`,
  }),
  'a code that is a text': ({ status, body }) => ({ code: String(status), message: json(body) }),
  'JSON in JSON': ({ status, body }) => JSON.stringify(JSON.stringify({ status, body })),
  'JSON with escapes': (answer) => `API call failed: ${JSON.stringify(line(answer))}`,
  'JSON on several lines': ({ status, body }) =>
    `Request failed (${status ?? ''}):\n${JSON.stringify(body, undefined, 2)}`,
  'the text of an ended process': (answer) => `Claude Code process exited with code 1: API Error: ${line(answer)}`,
  'the text of a retry': (answer) => `Failed after 3 attempts. Last error: ${line(answer)}`,
  'the text of an ended stream': ({ status, body }) =>
    `stream disconnected before completion: unexpected status ${status ?? ''}: ${json(body)}`,
  'a line of a log': (answer) => `[2026-06-19 18:08:59.503] [error] (main:ipc) [generate] step=send: ${line(answer)}`,
  'a colored text': ({ status, body }) =>
    `\u001B[31m✖\u001B[39m failed: \u001B[33m${status ?? ''}\u001B[39m \u001B[31m${json(body)}`,
  'a translated text': ({ status, body }) => `请求失败，状态码：${status ?? ''}，错误：${json(body)}`,
  'a text that quotes the request': (answer) => `${line(answer)}\n\nRequest: ${JSON.stringify(request)}`,
  'an object with the request': ({ status, body }) => ({ status, body, request, prompt: request.messages[0]?.content }),
};
