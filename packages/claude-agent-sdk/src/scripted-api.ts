import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** The tool call that the model of a {@link ScriptedApi} makes. */
export interface ScriptedCall {
  readonly name: string;
  readonly input: { readonly token: string };
}

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly tool_use_id?: string;
  readonly content?: unknown;
}
interface RequestBody {
  readonly model?: string;
  readonly stream?: boolean;
  readonly messages?: readonly { readonly role: string; readonly content: string | readonly Block[] }[];
  readonly tools?: readonly { readonly name: string }[];
}
type Answer = { readonly text: string } | { readonly id: string; readonly name: string; readonly input: object };

const callId = 'toolu_canary';
const agentId = 'toolu_agent';

/** The messages API on loopback, with a model that calls one tool, in a sub-agent if its type is given. */
export class ScriptedApi {
  readonly #server: Server;
  readonly #call: ScriptedCall;
  readonly #agent: string | undefined;
  readonly #read = new Map<string, string>();

  private constructor(call: ScriptedCall, agent: string | undefined) {
    this.#call = call;
    this.#agent = agent;
    this.#server = createServer((request, response) => {
      json(request).then(
        (body) => this.#respond(request.url ?? '', body as RequestBody, response),
        () => response.writeHead(400).end(),
      );
    });
  }

  static async start(call: ScriptedCall, agent: string | undefined): Promise<ScriptedApi> {
    const api = new ScriptedApi(call, agent);
    await new Promise<void>((resolve, reject) => {
      api.#server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What the model read as the result of the call, or of the sub-agent if that made no call. */
  get read(): string {
    return this.#read.get(callId) ?? this.#read.get(agentId) ?? '';
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  #respond(url: string, body: RequestBody, response: ServerResponse): void {
    if (!/^\/v1\/messages(\?|$)/.test(url)) {
      response.setHeader('content-type', 'application/json').end('{"input_tokens":1}');
      return;
    }
    const answer = this.#answer(body);
    const { model = '', stream = false } = body;
    const block = 'text' in answer ? { type: 'text', text: answer.text } : { type: 'tool_use', ...answer };
    const message = {
      id: 'msg_doctor',
      type: 'message',
      role: 'assistant',
      model,
      content: [block],
      stop_reason: 'text' in answer ? 'end_turn' : 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    if (stream) response.setHeader('content-type', 'text/event-stream').end(eventsOf(message, answer));
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(message));
  }

  #answer({ messages = [], tools = [] }: RequestBody): Answer {
    const blocks = messages.flatMap(({ content }) =>
      typeof content === 'string' ? [{ type: 'text', text: content }] : content,
    );
    for (const { tool_use_id: id, content } of blocks) if (id !== undefined) this.#read.set(id, textOf(content));
    const isDone = blocks.some(({ tool_use_id: id }) => id === callId || id === agentId);
    // Requests without tools are not those of an agent, but for a title, for instance.
    if (isDone || tools.length === 0) return { text: 'Done.' };
    const { token } = this.#call.input;
    const isSubAgent = blocks.some(({ text = '' }) => text.includes(token));
    if (this.#agent === undefined || isSubAgent) return { id: callId, ...this.#call };
    const input = {
      description: 'Check denials',
      prompt: `Check that denials are enforced: ${token}`,
      subagent_type: this.#agent,
      run_in_background: false,
    };
    return { id: agentId, name: 'Agent', input };
  }
}

const textOf = (content: unknown): string => (typeof content === 'string' ? content : JSON.stringify(content));

/** Returns the events of a streamed answer. */
const eventsOf = (message: object, answer: Answer): string => {
  const { block, delta } =
    'text' in answer
      ? { block: { type: 'text', text: '' }, delta: { type: 'text_delta', text: answer.text } }
      : {
          block: { type: 'tool_use', ...answer, input: {} },
          delta: { type: 'input_json_delta', partial_json: JSON.stringify(answer.input) },
        };
  const { stop_reason: reason, ...start } = message as { readonly stop_reason: string };
  return [
    { type: 'message_start', message: { ...start, content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('');
};
