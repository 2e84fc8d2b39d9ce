import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A part of a request's body. */
export type Block = Readonly<Record<string, unknown>> & { readonly type?: string };

interface AnthropicBody {
  readonly system?: unknown;
  readonly tools?: unknown;
  readonly messages: readonly { readonly role: string; readonly content: string | readonly Block[] }[];
  readonly output_config?: { readonly effort?: string };
}

interface OpenAIBody {
  readonly input: readonly Block[];
  readonly reasoning?: { readonly effort?: string };
}

/** A request as it came over the wire, and the status of its answer. */
export interface Received {
  readonly to: 'anthropic' | 'openai';
  readonly status: number;
  readonly effort: string | undefined;
  /** Signatures or encrypted contents of the reasoning in the request, in order. */
  readonly signatures: readonly string[];
  readonly body: string;
}

/** What a provider does with a request that is valid. */
export type Plan = 'tool' | 'answer' | 'overloaded';

/**
 * Starts a server with the APIs of Anthropic and OpenAI that checks reasoning as they do.
 *
 * Each thinking block is signed over the system prompt, the tools and all content before it. A block that comes back
 * after anything else is rejected with status 400, as newer Claude models do; so is reasoning that the provider has not
 * written itself, and a tool result without its call.
 *
 * @param plans what to do, for each valid request in order
 */
export const startReasoningProviders = async (plans: readonly Plan[]) => {
  const received: Received[] = [];
  const left = [...plans];
  let count = 0;
  const server = createServer((incoming, response) => {
    void text(incoming).then((body) => {
      const isAnthropic = incoming.url?.endsWith('/messages') === true;
      const parsed = JSON.parse(body) as AnthropicBody & OpenAIBody;
      const problem = isAnthropic ? problemOfAnthropic(parsed) : problemOfOpenAI(parsed);
      const plan = problem === undefined ? (left.shift() ?? 'answer') : 'invalid';
      const status = plan === 'invalid' ? 400 : plan === 'overloaded' ? 529 : 200;
      received.push({
        to: isAnthropic ? 'anthropic' : 'openai',
        status,
        effort: isAnthropic ? parsed.output_config?.effort : parsed.reasoning?.effort,
        signatures: isAnthropic ? thinkingOf(parsed).map(({ signature }) => String(signature)) : encryptedOf(parsed),
        body,
      });
      if (status !== 200) {
        response.writeHead(status, { 'content-type': 'application/json' });
        const type = status === 400 ? 'invalid_request_error' : 'overloaded_error';
        response.end(JSON.stringify({ type: 'error', error: { type, message: problem ?? 'Overloaded' } }));
        return;
      }
      count += 1;
      if (isAnthropic) sendAnthropic(response, parsed, plan === 'tool', count);
      else sendOpenAI(response, plan === 'tool', count);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    received,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
};

const blocksIn = (content: string | readonly Block[]): readonly Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

const thinkingOf = ({ messages }: AnthropicBody): readonly Block[] =>
  messages.flatMap(({ content }) => blocksIn(content).filter(({ type }) => type === 'thinking'));

/** Signs what precedes a block; cache marks are not part of it. */
const signatureOf = ({ system, tools }: AnthropicBody, before: readonly unknown[]): string => {
  const json = JSON.stringify([system, tools, before], (name, value: unknown) =>
    name === 'cache_control' ? undefined : value,
  );
  return createHash('sha256').update(json).digest('base64');
};

const problemOfAnthropic = (body: AnthropicBody): string | undefined => {
  const before: unknown[] = [];
  const calls = new Set<unknown>();
  for (const { role, content } of body.messages) {
    for (const block of blocksIn(content)) {
      if (block.type === 'thinking' && block['signature'] !== signatureOf(body, before)) {
        return 'Invalid `signature` in `thinking` block. The block is bound to a different conversation.';
      }
      if (block.type === 'tool_use') calls.add(block['id']);
      if (block.type === 'tool_result' && !calls.delete(block['tool_use_id'])) return 'A tool_result has no tool_use.';
      before.push([role, block]);
    }
  }
  return calls.size === 0 ? undefined : 'A tool_use has no tool_result.';
};

const encryptedOf = ({ input }: OpenAIBody): readonly string[] =>
  input.flatMap((item) => (item.type === 'reasoning' ? [String(item['encrypted_content'])] : []));

const problemOfOpenAI = (body: OpenAIBody): string | undefined => {
  const calls = new Set<unknown>();
  for (const item of body.input) {
    if (item.type === 'function_call') calls.add(item['call_id']);
    if (item.type === 'function_call_output' && !calls.delete(item['call_id'])) return 'No tool call found.';
  }
  if (calls.size > 0) return 'No tool output found.';
  return encryptedOf(body).every((one) => one.startsWith('encrypted-')) ? undefined : 'Invalid encrypted content.';
};

const begin = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
};

const sendAnthropic = (response: ServerResponse, body: AnthropicBody, hasCall: boolean, count: number): void => {
  const before = body.messages.flatMap(({ role, content }) => blocksIn(content).map((block) => [role, block]));
  const block = (index: number, start: Block, ...deltas: readonly Block[]) => [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
  const message = {
    id: `msg_${count}`,
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-5-5',
    content: [],
    stop_reason: null,
    usage: { input_tokens: 100, output_tokens: 1 },
  };
  const usage = { output_tokens: 60, output_tokens_details: { thinking_tokens: 45 } };
  const events = [
    { type: 'message_start', message },
    ...block(
      0,
      { type: 'thinking', thinking: '' },
      { type: 'thinking_delta', thinking: `Claude thinks (${count}).` },
      { type: 'signature_delta', signature: signatureOf(body, before) },
    ),
    ...(hasCall
      ? block(
          1,
          { type: 'tool_use', id: `toolu_${count}`, name: 'look', input: {} },
          {
            type: 'input_json_delta',
            partial_json: `{"at":${count}}`,
          },
        )
      : block(1, { type: 'text', text: '' }, { type: 'text_delta', text: `Claude answers (${count}).` })),
    { type: 'message_delta', delta: { stop_reason: hasCall ? 'tool_use' : 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
  begin(response);
  for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
};

const sendOpenAI = (response: ServerResponse, hasCall: boolean, count: number): void => {
  const thought = {
    type: 'reasoning',
    id: `rs_${count}`,
    encrypted_content: `encrypted-${count}`,
    summary: [{ type: 'summary_text', text: `GPT thinks (${count}).` }],
  };
  const call = {
    type: 'function_call',
    id: `fc_${count}`,
    call_id: `call_${count}`,
    name: 'look',
    arguments: `{"at":${count}}`,
    status: 'completed',
  };
  const said = { type: 'message', id: `msg_${count}`, phase: null };
  const usage = {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 40,
    output_tokens_details: { reasoning_tokens: 15 },
  };
  const output = hasCall
    ? [
        {
          type: 'response.output_item.added',
          output_index: 1,
          item: { ...call, arguments: '', status: 'in_progress' },
        },
        { type: 'response.function_call_arguments.delta', item_id: call.id, output_index: 1, delta: call.arguments },
        { type: 'response.output_item.done', output_index: 1, item: call },
      ]
    : [
        { type: 'response.output_item.added', output_index: 1, item: said },
        { type: 'response.output_text.delta', item_id: said.id, delta: `GPT answers (${count}).` },
        { type: 'response.output_item.done', output_index: 1, item: said },
      ];
  const events = [
    { type: 'response.created', response: { id: `resp_${count}`, created_at: 1, model: 'gpt-5' } },
    { type: 'response.output_item.added', output_index: 0, item: { ...thought, encrypted_content: null } },
    { type: 'response.reasoning_summary_part.added', item_id: thought.id, summary_index: 0 },
    {
      type: 'response.reasoning_summary_text.delta',
      item_id: thought.id,
      summary_index: 0,
      delta: `GPT thinks (${count}).`,
    },
    { type: 'response.output_item.done', output_index: 0, item: thought },
    ...output,
    { type: 'response.completed', response: { usage } },
  ];
  begin(response);
  for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
  response.end('data: [DONE]\n\n');
};
