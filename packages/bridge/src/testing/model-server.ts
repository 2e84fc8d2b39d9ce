import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { LLMock, type FixtureResponse } from '@copilotkit/aimock';

/** An answer of the model. */
export type Answer =
  | { readonly text: string }
  | { readonly calls: readonly { readonly name: string; readonly input: unknown; readonly id?: string }[] }
  /** Fails with this HTTP status. */
  | { readonly status: number; readonly message: string }
  /** Sends the beginning of the text if the request streams, and then nothing until the host disconnects. */
  | { readonly hang: string };

/** A request as the host sent it. */
export interface ModelRequestRecord {
  readonly path: string;
  readonly key: string;
  readonly body: string;
}

/** The next answer, or a function of the request to it. */
export type ScriptStep = Answer | ((request: ModelRequestRecord) => Answer);

/**
 * A scripted model on loopback, in the wire formats of OpenAI and Anthropic.
 *
 * aimock writes the answers; a server in front of it records the bytes of each request and can hold an answer.
 */
export class ModelServer {
  readonly requests: ModelRequestRecord[] = [];
  /** Number of held answers whose host has disconnected. */
  disconnected = 0;
  readonly #mock = new LLMock({ port: 0 });
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  readonly #waiting = new Set<() => void>();
  #script: ScriptStep[] = [];
  #next: FixtureResponse = { content: '' };
  /** aimock answers one request at a time, because its fixtures do not learn which request they answer. */
  #turn: Promise<unknown> = Promise.resolve();
  #calls = 0;
  #ids = 0;

  async start(): Promise<void> {
    this.#mock.on({ predicate: () => true }, () => this.#next);
    await this.#mock.start();
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await Promise.all([new Promise((resolve) => this.#server.close(resolve)), this.#mock.stop()]);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /**
   * Forgets all requests and begins this script. The model answers requests after its end with "The script has ended."
   */
  begin(script: readonly ScriptStep[]): void {
    this.requests.length = 0;
    this.disconnected = 0;
    this.#script = [...script];
    this.#calls = 0;
    this.#ids = 0;
  }

  /** Resolves as soon as the condition holds, which is checked after each request and each disconnection. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
      });
    }
  }

  #notify(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { authorization, 'x-api-key': apiKey } = incoming.headers;
    const body = await text(incoming);
    const key = String(apiKey ?? authorization?.replace(/^Bearer /, ''));
    const record = { path: incoming.url ?? '', key, body };
    this.requests.push(record);
    const step = this.#script.shift() ?? { text: 'The script has ended.' };
    const answer = typeof step === 'function' ? step(record) : step;
    const { status, type, content } = await this.#render(record, answer);
    this.#notify();
    response.writeHead(status, { 'content-type': type });
    if (!('hang' in answer)) return void response.end(content);
    response.once('close', () => {
      this.disconnected += 1;
      this.#notify();
    });
    if (type.startsWith('text/event-stream')) response.write(beginning(content, answer.hang));
    else response.flushHeaders();
  }

  /** Returns the answer in the wire format of the request. */
  async #render(
    { path, body }: ModelRequestRecord,
    answer: Answer,
  ): Promise<{ readonly status: number; readonly type: string; readonly content: string }> {
    const fixture = this.#fixtureOf(answer);
    const rendered = this.#turn.then(async () => {
      this.#next = fixture;
      const headers = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' };
      const response = await fetch(`${this.#mock.url}${path}`, { method: 'POST', headers, body });
      return {
        status: response.status,
        type: response.headers.get('content-type') ?? '',
        content: this.#withFixedIds(await response.text()),
      };
    });
    this.#turn = rendered.catch(() => undefined);
    return rendered;
  }

  /** Replaces the random ids of aimock, so that the same script has the same bytes. */
  #withFixedIds(content: string): string {
    const fixed = new Map<string, string>();
    return content.replaceAll(randomId, (id, prefix: string) => {
      const known = fixed.get(id) ?? `${prefix}${(this.#ids += 1)}`;
      fixed.set(id, known);
      return known;
    });
  }

  #fixtureOf(answer: Answer): FixtureResponse {
    if ('text' in answer) return { content: answer.text };
    if ('hang' in answer) return { content: answer.hang };
    if ('status' in answer) return { error: { message: answer.message }, status: answer.status };
    return {
      toolCalls: answer.calls.map(({ name, input, id = `call_${(this.#calls += 1)}` }) => ({
        name,
        arguments: JSON.stringify(input),
        id,
      })),
    };
  }
}

/** Ids of answers and their items. Those of calls are not random. */
const randomId = /(?<=")((?:chatcmpl|msg|resp|fc|rs)[-_])[\w-]+(?=")/g;

/** Returns the server-sent events up to the first one with text of the answer. */
const beginning = (content: string, answer: string): string => {
  const events = content.split('\n\n');
  const first = events.findIndex((event) => event.includes(answer.slice(0, 4)));
  return events
    .slice(0, first + 1)
    .map((event) => `${event}\n\n`)
    .join('');
};
