import { TurnStoppedError, type HostModelRequest, type HostSession } from '@h/bridge';
import { TurnError, type AssistantPart, type TurnEnding } from '@h/turn';
import { Usage, type Model, type ModelRequest, type ModelResponse, type StreamEvent } from '@openai/agents';
import { hostCall, toHostRequest } from './host-request.js';
import { streamedReasonOf, toHostResponse, toTurnResponse } from './host-response.js';
import { answerItems, answerParts, type ItemGroup } from './items.js';

/** What a model call needs to know about the run in which it is made. */
export interface ModelCallContext {
  readonly session: HostSession<ItemGroup>;
  /** The run of the host. */
  readonly run: object;
  /** Names of the function tools that pass through the operators. */
  readonly tools: ReadonlySet<string>;
  /** Returns the model that an operator chose. */
  readonly choose: (choice: Pick<HostModelRequest<ItemGroup>, 'model' | 'credential'>) => Promise<Model | undefined>;
  readonly exitBehavior: 'end' | 'error';
  /** Whether raw events of a stream pass, because no operator changes its text. */
  readonly passesRawEvents: boolean;
  /** Called with the calls of an answer. */
  readonly onAnswer: (content: readonly AssistantPart[]) => void;
  readonly onStop: (stop: TurnStoppedError) => void;
}

/** Key of `providerData` under which an answer names the stop. */
const stopKey = 'h';

/** Calls the model through the operators. */
export const respond = async (own: Model, request: ModelRequest, context: ModelCallContext): Promise<ModelResponse> => {
  checkTools(request, context);
  const call = hostCall(request);
  try {
    const { response, returned, ending } = await context.session.model<ModelResponse>({
      ...call,
      run: context.run,
      perform: async (changed, { signal }) => {
        const model = (await context.choose(changed)) ?? own;
        const value = await untilAborted(signal, model.getResponse(toHostRequest(request, call, changed, signal)));
        return { response: toTurnResponse(value), value };
      },
    });
    context.onAnswer(response.content);
    return withEnding(returned?.value ?? toHostResponse(response), ending, context);
  } catch (thrown) {
    return lastAnswer(thrown, request, context);
  }
};

/** Calls the model through the operators, with streaming. */
export async function* stream(
  own: Model,
  request: ModelRequest,
  context: ModelCallContext,
): AsyncGenerator<StreamEvent> {
  checkTools(request, context);
  const call = hostCall(request);
  const events = new EventQueue<StreamEvent>();
  let hasText = false;
  const abandoned = new AbortController();
  const signal = request.signal ? AbortSignal.any([request.signal, abandoned.signal]) : abandoned.signal;
  const answered = context.session
    .model<StreamEvent>({
      ...call,
      signal,
      run: context.run,
      canRestart: () => !hasText,
      onDelta: (delta) => {
        if (delta.type !== 'text' || delta.text === '') return;
        hasText = true;
        events.add({ type: 'output_text_delta', delta: delta.text });
      },
      perform: async (changed, turn) => {
        const model = (await context.choose(changed)) ?? own;
        const parts = model.getStreamedResponse(toHostRequest(request, call, changed, turn.signal));
        let done: (StreamEvent & { readonly type: 'response_done' }) | undefined;
        let reason: string | undefined;
        for await (const event of untilAbortedEach(turn.signal, parts)) {
          if (event.type === 'model') reason = streamedReasonOf(event.event) ?? reason;
          if (event.type === 'response_done') done = event;
          else if (event.type === 'output_text_delta') turn.onDelta({ type: 'text', text: event.delta });
          else if (context.passesRawEvents || event.type === 'response_started') events.add(event);
        }
        if (!done) throw new TurnError('incomplete-stream', 'The stream of the model ended without an answer.');
        return { response: toTurnResponse(fromDone(done), reason), value: done };
      },
    })
    .then(({ response, returned, ending }) => {
      context.onAnswer(response.content);
      if (returned && !ending) return events.add(returned.value);
      return addAnswer(events, withEnding(toHostResponse(response), ending, context), hasText);
    })
    .catch((thrown: unknown) => addAnswer(events, lastAnswer(thrown, request, context), false))
    .then(
      () => events.end(),
      (error: unknown) => events.fail(error),
    );
  try {
    yield* events;
    await answered;
  } finally {
    abandoned.abort(new TurnError('run-ended', 'The host stopped reading the stream.'));
  }
}

/** Refuses a request with a function tool that the SDK would run without the operators. */
const checkTools = ({ tools }: ModelRequest, context: ModelCallContext): void => {
  const found = tools.find(({ type, name }) => type === 'function' && !context.tools.has(name));
  if (!found) return;
  throw new TurnError(
    'unguarded-tool',
    `The tool ${JSON.stringify(found.name)} does not pass through the operators. Call \`super.getAllTools()\` in a subclass of \`Agent\`, and install one copy of @openai/agents.`,
  );
};

const addAnswer = (events: EventQueue<StreamEvent>, answer: ModelResponse, isStreamed: boolean): void => {
  const text = textOf(answer.output);
  if (!isStreamed && text !== '') events.add({ type: 'output_text_delta', delta: text });
  const { inputTokens, outputTokens, totalTokens, inputTokensDetails, outputTokensDetails } = answer.usage;
  events.add({
    type: 'response_done',
    response: {
      id: answer.responseId ?? '',
      usage: { requests: 1, inputTokens, outputTokens, totalTokens, inputTokensDetails, outputTokensDetails },
      output: answer.output,
      ...(answer.providerData && { providerData: answer.providerData }),
    },
  } as StreamEvent);
};

const textOf = (output: ModelResponse['output']): string =>
  answerParts(output)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('');

const fromDone = ({ response }: StreamEvent & { readonly type: 'response_done' }): ModelResponse =>
  ({
    usage: new Usage(response.usage as ConstructorParameters<typeof Usage>[0]),
    output: response.output,
    responseId: response.id,
    providerData: response.providerData,
  }) as ModelResponse;

/** Adds the outcome of the turn to its last answer, if an operator ended the turn with an answer. */
const withEnding = (
  answer: ModelResponse,
  ending: TurnEnding | undefined,
  context: ModelCallContext,
): ModelResponse => {
  if (!ending) return answer;
  const stopped = new TurnStoppedError(ending);
  if (context.exitBehavior === 'error') throw stopped;
  context.onStop(stopped);
  return { ...answer, providerData: { ...answer.providerData, ...stopData(stopped) } };
};

const stopData = ({ outcome, reason }: TurnStoppedError): NonNullable<ModelResponse['providerData']> => ({
  [stopKey]: { outcome, ...(reason !== undefined && { reason }) },
});

/** Returns the answer that ends the host's loop after a stop, or throws. */
const lastAnswer = (thrown: unknown, { outputType }: ModelRequest, context: ModelCallContext): ModelResponse => {
  if (!(thrown instanceof TurnStoppedError) || thrown.outcome === 'error') throw thrown;
  context.onStop(thrown);
  // Text would not match the schema of a structured answer.
  if (context.exitBehavior === 'error' || outputType !== 'text') throw thrown;
  const { outcome, reason } = thrown;
  return {
    usage: new Usage(),
    output: answerItems([{ type: 'text', text: reason ?? `The agent was stopped: ${outcome}.` }]),
    providerData: stopData(thrown),
  };
};

const untilAborted = <Value>(signal: AbortSignal, value: Promise<Value>): Promise<Value> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });

/** Iterates over a stream until the signal is aborted, even if the stream ignores it. */
async function* untilAbortedEach<Value>(signal: AbortSignal, values: AsyncIterable<Value>): AsyncGenerator<Value> {
  const iterator = values[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await untilAborted(signal, iterator.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    // A stream that ignores the signal never ends, so its end is not awaited.
    iterator.return?.().catch(() => undefined);
  }
}

/** Events that the host has not read yet. */
class EventQueue<Event> {
  readonly #events: Event[] = [];
  #end: { readonly error?: unknown } | undefined;
  #wake: (() => void) | undefined;

  add(event: Event): void {
    this.#events.push(event);
    this.#wake?.();
  }

  end(): void {
    this.#end ??= {};
    this.#wake?.();
  }

  fail(error: unknown): void {
    this.#end ??= { error };
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void, undefined> {
    for (;;) {
      while (this.#events.length > 0) yield this.#events.shift() as Event;
      if (this.#end && 'error' in this.#end) throw this.#end.error;
      if (this.#end) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
