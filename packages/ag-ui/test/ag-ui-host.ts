import {
  AbstractAgent,
  EventType,
  type BaseEvent,
  type Message,
  type RunAgentInput,
  type RunFinishedEvent,
} from '@ag-ui/client';
import { schemaOf, type HostInput, type HostSetup, type HostUnderTest } from '@h/bridge/testing';
import { Observable } from 'rxjs';
import { middlewareEvents } from '../src/as-middleware.js';
import { asMiddleware } from '../src/index.js';

interface Chunk {
  readonly delta?: {
    readonly content?: string | null;
    readonly tool_calls?: readonly {
      readonly index?: number;
      readonly id?: string;
      readonly function: { readonly name?: string; readonly arguments?: string };
    }[];
  };
  readonly message?: Chunk['delta'];
}

class HttpError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const toMessage = (message: Message): object => {
  if (message.role !== 'assistant') {
    const { role, content } = message;
    return role === 'tool' ? { role, content, tool_call_id: message.toolCallId } : { role, content };
  }
  const { content = '', toolCalls } = message;
  return {
    role: 'assistant',
    content,
    ...(toolCalls && {
      tool_calls: toolCalls.map(({ id, type, function: called }) => ({ id, type, function: called })),
    }),
  };
};

/** An agent that calls a model of OpenAI's Chat Completions once per run, and leaves the tools to the client. */
export class ChatAgent extends AbstractAgent {
  readonly #url: string;
  readonly #key: string;
  readonly #isStreamed: boolean;

  constructor(url: string, key: string, isStreamed: boolean) {
    super();
    this.#url = url;
    this.#key = key;
    this.#isStreamed = isStreamed;
  }

  override run({ threadId, runId, messages, tools }: RunAgentInput): ReturnType<AbstractAgent['run']> {
    const events = new Observable<BaseEvent>((subscriber) => {
      const abort = new AbortController();
      const emit = (event: Readonly<Record<string, unknown>> & { readonly type: EventType }): void =>
        subscriber.next(event);
      emit({ type: EventType.RUN_STARTED, threadId, runId });
      this.#chunks(messages, tools, abort.signal, (chunk) => this.#emit(chunk, runId, emit)).then(
        () => {
          this.#end(emit);
          emit({ type: EventType.RUN_FINISHED, threadId, runId, outcome: { type: 'success' } });
          subscriber.complete();
        },
        (error: unknown) => subscriber.error(error),
      );
      return () => abort.abort();
    });
    // The client depends on another version of RxJS.
    return events as unknown as ReturnType<AbstractAgent['run']>;
  }

  readonly #open = new Map<string, () => void>();
  #calls: string[] = [];

  #emit(
    { delta, message }: Chunk,
    runId: string,
    emit: (event: Readonly<Record<string, unknown>> & { readonly type: EventType }) => void,
  ): void {
    const { content, tool_calls: calls = [] } = delta ?? message ?? {};
    const messageId = `m-${runId}`;
    if (typeof content === 'string' && content !== '') {
      if (!this.#open.has(messageId)) {
        emit({ type: EventType.TEXT_MESSAGE_START, messageId, role: 'assistant' });
        this.#open.set(messageId, () => emit({ type: EventType.TEXT_MESSAGE_END, messageId }));
      }
      emit({ type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta: content });
    }
    for (const [position, { index = position, id, function: called }] of calls.entries()) {
      if (id !== undefined && this.#calls[index] === undefined) {
        this.#calls[index] = id;
        emit({
          type: EventType.TOOL_CALL_START,
          toolCallId: id,
          toolCallName: called.name,
          parentMessageId: messageId,
        });
        this.#open.set(id, () => emit({ type: EventType.TOOL_CALL_END, toolCallId: id }));
      }
      const toolCallId = this.#calls[index] ?? '';
      if (called.arguments) emit({ type: EventType.TOOL_CALL_ARGS, toolCallId, delta: called.arguments });
    }
  }

  #end(_emit: unknown): void {
    for (const end of this.#open.values()) end();
    this.#open.clear();
    this.#calls = [];
  }

  async #chunks(
    messages: readonly Message[],
    tools: NonNullable<RunAgentInput['tools']>,
    signal: AbortSignal,
    receive: (chunk: Chunk) => void,
  ): Promise<void> {
    const response = await fetch(`${this.#url}/v1/chat/completions`, {
      method: 'POST',
      signal,
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'suite',
        messages: messages.map(toMessage),
        tools: tools.map(({ name, description, parameters }) => ({
          type: 'function',
          function: { name, description, parameters: parameters as object },
        })),
        ...(this.#isStreamed && { stream: true }),
      }),
    });
    if (!response.ok) throw new HttpError(response.status, await response.text());
    if (!this.#isStreamed) {
      const { choices } = (await response.json()) as { choices: Chunk[] };
      if (choices[0]) receive(choices[0]);
      return;
    }
    const decoder = new TextDecoder();
    let text = '';
    for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(bytes, { stream: true });
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        if (!line.startsWith('data: ') || line === 'data: [DONE]') continue;
        const { choices } = JSON.parse(line.slice(6)) as { choices: Chunk[] };
        if (choices[0]) receive(choices[0]);
      }
    }
  }
}

/** A client of AG-UI that runs its tools, as front ends do: the calls that have no result when a run has ended. */
const start = (setup: HostSetup) => {
  const { operators, options, tools, url, key, keyOf } = setup;
  const conversations =
    (setup.storage.get('messages') as Map<string, Message[]> | undefined) ?? new Map<string, Message[]>();
  setup.storage.set('messages', conversations);
  const stops = new Map<string, { readonly outcome: string; readonly reason?: string }>();
  let isStreamed = false;
  const middleware =
    operators &&
    asMiddleware(
      {
        ...(options.approve && { approve: options.approve }),
        ...(options.partial !== undefined && { partial: options.partial }),
        resolve: ({ credential }) => new ChatAgent(url, keyOf(credential), isStreamed),
      },
      ...operators,
    );
  const definitions = tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    parameters: schemaOf(tool),
  }));

  const run = async (
    { session, signal, onText, ...input }: HostInput,
    first: { readonly messages?: Message[]; readonly resume?: NonNullable<RunAgentInput['resume']> },
  ) => {
    isStreamed = input.isStreamed;
    const agent = new ChatAgent(url, key, isStreamed);
    agent.threadId = session;
    const prompt: Message = { id: 'system', role: 'system', content: 'Be brief.' };
    const known = conversations.get(session) ?? [prompt];
    agent.setMessages([...known, ...(first.messages ?? [])]);
    agent.pendingInterrupts = (setup.storage.get(`interrupts ${session}`) as typeof agent.pendingInterrupts) ?? [];
    if (middleware) agent.use(middleware);
    const onAbort = (): void => void agent.detachActiveRun();
    signal?.addEventListener('abort', onAbort);
    let resume = first.resume;
    try {
      for (;;) {
        let finished: RunFinishedEvent | undefined;
        let failure: Error | undefined;
        await agent.runAgent(
          { tools: definitions, ...(resume && { resume }) },
          {
            onTextMessageContentEvent: ({ event }) => onText(event.delta),
            onRunFinishedEvent: ({ event }) => {
              finished = event;
            },
            onRunErrorEvent: ({ event }) => {
              failure = new Error(event.message);
            },
          },
        );
        signal?.throwIfAborted();
        if (failure !== undefined) throw failure;
        resume = undefined;
        conversations.set(session, agent.messages);
        setup.storage.set(`interrupts ${session}`, agent.pendingInterrupts);
        const stop = (finished?.result as { readonly stop?: { outcome: string; reason?: string } } | undefined)?.stop;
        if (stop) stops.set(session, stop);
        const last = agent.messages.findLast(({ role }) => role === 'assistant');
        const text = typeof last?.content === 'string' ? last.content : '';
        if (agent.pendingInterrupts.length > 0) return { text, isPaused: true };
        if (stop) return { text, stop };
        const answered = new Set(agent.messages.flatMap((each) => (each.role === 'tool' ? [each.toolCallId] : [])));
        const open = agent.messages
          .flatMap((each) => (each.role === 'assistant' ? (each.toolCalls ?? []) : []))
          .filter(({ id }) => !answered.has(id));
        if (open.length === 0) return { text };
        const results = await Promise.all(
          open.map(async ({ id, function: { name, arguments: given } }): Promise<Message> => {
            const tool = tools.find((each) => each.name === name);
            try {
              const content = (await tool?.run(JSON.parse(given), signal)) ?? 'unknown tool';
              return { id: `r-${id}`, role: 'tool', toolCallId: id, content };
            } catch (error) {
              const { message } = error as Error;
              return { id: `r-${id}`, role: 'tool', toolCallId: id, content: message, error: message };
            }
          }),
        );
        signal?.throwIfAborted();
        agent.addMessages(results);
      }
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  };
  return {
    run: (input: HostInput) =>
      run(input, { messages: [{ id: crypto.randomUUID(), role: 'user', content: input.text }] }),
    answer: (isApproved: boolean, input: HostInput) => {
      const pending = setup.storage.get(`interrupts ${input.session}`) as { readonly id: string }[];
      return run(input, {
        resume: pending.map(({ id }) => ({
          interruptId: id,
          status: 'resolved' as const,
          payload: { decision: isApproved ? 'once' : 'deny' },
        })),
      });
    },
  };
};

/** A client of AG-UI for the suite of bridges. */
export const agUiHost: HostUnderTest = {
  name: 'AG-UI',
  events: middlewareEvents,
  wires: ['chat-completions'],
  streams: true,
  pauses: ['operator'],
  runsTools: false,
  start,
};
