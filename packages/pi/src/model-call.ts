import {
  TurnStoppedError,
  unknownChoice,
  type HostModelContext,
  type HostModelRequest,
  type HostSession,
  type ModelChoice,
} from '@h/bridge';
import {
  toErrorInfo,
  type FinishReason,
  type ModelDelta,
  type ModelResponse,
  type TurnEnding,
  type Usage,
} from '@h/turn';
import type { StreamFn } from '@earendil-works/pi-agent-core';
import {
  calculateCost,
  type Api,
  type AssistantMessage,
  type AssistantMessageEvent,
  type FetchFunction,
  type Message,
  type Model,
  type SimpleStreamOptions,
  type StopReason,
  type TranscriptContext,
  type Usage as PiUsage,
} from '@earendil-works/pi-ai';
import type { AnswerStream } from './answer-stream.js';
import { assistantBlocks, assistantParts, noUsageOfPi } from './messages.js';
import { fromRequest, type PiRequest } from './request.js';

/** A model that an operator chose, and the one of the agent. */
export interface PiModelChoice extends ModelChoice {
  readonly current: Model<Api>;
}

/** The model and the key of a request. Absent members are those of the agent. */
export interface ChosenModel {
  readonly model?: Model<Api> | undefined;
  readonly apiKey?: string | undefined;
}

/** Returns the model and the key for the choice of an operator. */
export type ResolveModel = (choice: PiModelChoice) => ChosenModel | Promise<ChosenModel>;

/** A model call of pi. */
export interface ModelCall {
  readonly session: HostSession<Message>;
  readonly streamFn: StreamFn;
  readonly model: Model<Api>;
  readonly context: TranscriptContext;
  readonly options: SimpleStreamOptions;
  readonly resolve: ResolveModel | undefined;
  /** Whether a stop is an answer with its reason, or an error. */
  readonly exitBehavior: 'end' | 'error';
  /** Called if an operator ended the turn. */
  readonly onStop: (ending: TurnEnding) => void;
}

/** Calls the model through the operators. Failures are messages in the stream, as pi requires. */
export const callModel = (call: ModelCall, out: AnswerStream): void => {
  const { options, exitBehavior, onStop } = call;
  answer(call, out).catch((thrown: unknown) => {
    if (thrown instanceof ModelFailure) return out.fail(thrown.answer);
    if (options.signal?.aborted) return out.fail({ ...out.partial, stopReason: 'aborted', errorMessage: aborted });
    if (!(thrown instanceof TurnStoppedError)) return out.fail(failureOf(thrown, out.partial));
    if (thrown.outcome !== 'error') onStop(thrown);
    if (thrown.outcome === 'error' || exitBehavior === 'error') return out.fail(failureOf(thrown, out.partial));
    return out.done(withEnding(lastAnswer(thrown, out.partial), thrown));
  });
};

const answer = async (call: ModelCall, out: AnswerStream): Promise<void> => {
  const { session, options, exitBehavior, onStop, model } = call;
  const request = fromRequest(call.context, options);
  let answered: AssistantMessage | undefined;
  const { response, returned, ending } = await session.model<AssistantMessage>({
    ...request.call,
    run: options.signal,
    signal: options.signal,
    perform: async (changed, context) => {
      answered = await streamAnswer(call, request, changed, context, out);
      return { response: toResponse(answered), value: answered };
    },
    onDelta: (delta) => out.delta(delta),
  });
  if (ending && exitBehavior === 'error') throw new TurnStoppedError(ending);
  const message = returned?.value ?? toMessage(response, answered ?? out.partial, model);
  if (ending) onStop(ending);
  out.done(ending ? withEnding(message, ending) : message);
};

/** Makes one attempt. Rejects with a {@link ModelFailure} if the answer of the model is a failure. */
const streamAnswer = async (
  call: ModelCall,
  request: PiRequest,
  changed: HostModelRequest<Message>,
  context: HostModelContext,
  out: AnswerStream,
): Promise<AssistantMessage> => {
  const { signal } = context;
  const { model, apiKey } = await choose(call, changed);
  out.begin(model);
  const http = recordHttp(model, call.options);
  const stream = await call.streamFn(model, request.toContext(changed), {
    ...request.toOptions(changed),
    ...http.options,
    ...(apiKey !== undefined && { apiKey }),
    signal,
  });
  const toolCalls = new Map<number, { readonly id: string; readonly name: string }>();
  for await (const event of untilAborted(stream, signal)) {
    const delta = deltaOf(event, toolCalls);
    if (delta) context.onDelta(delta);
  }
  signal.throwIfAborted();
  const message = await stream.result();
  if (message.stopReason === 'error' || message.stopReason === 'aborted') throw new ModelFailure(message, http.last);
  out.completeAttempt();
  return message;
};

const aborted = 'Request was aborted';

/** A message of pi that reports a failed model call. */
class ModelFailure extends Error {
  readonly answer: AssistantMessage;
  readonly status: number | undefined;
  readonly headers: Headers | undefined;

  constructor(answer: AssistantMessage, http: Http | undefined) {
    const message = answer.errorMessage ?? 'The model failed without a message.';
    super(message);
    this.answer = answer;
    const isFailed = http !== undefined && http.status >= 400;
    this.status = isFailed ? http.status : statusIn(message);
    this.headers = isFailed ? http.headers : undefined;
  }
}

interface Http {
  readonly status: number;
  readonly headers: Headers;
}

/** The wire formats whose adapters accept `fetch`. Others report the status in the message of the error only. */
const fetchingApis: ReadonlySet<Api> = new Set([
  'openai-completions',
  'openai-responses',
  'azure-openai-responses',
  'anthropic-messages',
  'mistral-conversations',
]);

/** Records status and headers of the response, because errors of pi are text. */
const recordHttp = ({ api }: Model<Api>, { fetch = globalThis.fetch }: SimpleStreamOptions): HttpRecord => {
  const record: HttpRecord = { options: {}, last: undefined };
  if (!fetchingApis.has(api)) return record;
  const recording: FetchFunction = async (...request) => {
    const response = await fetch(...request);
    record.last = { status: response.status, headers: response.headers };
    return response;
  };
  record.options = { fetch: recording };
  return record;
};

interface HttpRecord {
  options: Pick<SimpleStreamOptions, 'fetch'>;
  last: Http | undefined;
}

/** Returns the status at the beginning of a message such as `429: …` or `Bedrock (429): …`. */
const statusIn = (message: string): number | undefined => {
  const [, status] = /^(?:[^:(]{0,80}\()?([45]\d\d)\b/.exec(message) ?? [];
  return status === undefined ? undefined : Number(status);
};

const choose = async (
  { model: current, resolve }: ModelCall,
  { model, credential }: { readonly model?: string | undefined; readonly credential?: string | undefined },
): Promise<{ readonly model: Model<Api>; readonly apiKey?: string | undefined }> => {
  if (model === undefined && credential === undefined) return { model: current };
  if (!resolve) throw unknownChoice({ model, credential }, 'attach()', 'the model and the key');
  const chosen = await resolve({ model, credential, current });
  return { ...chosen, model: chosen.model ?? current };
};

/** Converts an event to the delta that operators decide about. */
const deltaOf = (
  event: AssistantMessageEvent,
  calls: Map<number, { readonly id: string; readonly name: string }>,
): ModelDelta | undefined => {
  switch (event.type) {
    case 'text_delta':
      return { type: 'text', text: event.delta, id: String(event.contentIndex) };
    case 'thinking_delta':
      return { type: 'reasoning', text: event.delta, id: String(event.contentIndex) };
    case 'toolcall_start': {
      const block = event.partial.content[event.contentIndex];
      if (block?.type === 'toolCall') calls.set(event.contentIndex, { id: block.id, name: block.name });
      return undefined;
    }
    case 'toolcall_delta': {
      const call = calls.get(event.contentIndex);
      return call && { type: 'tool-input', toolCallId: call.id, toolName: call.name, text: event.delta };
    }
    default:
      return undefined;
  }
};

/** Reads a stream until it ends or the signal is aborted, also if the provider ignores the signal. */
async function* untilAborted<Item>(items: AsyncIterable<Item>, signal: AbortSignal): AsyncGenerator<Item> {
  const iterator = items[Symbol.asyncIterator]();
  let onAbort: () => void = () => undefined;
  const abort = new Promise<undefined>((resolve) => {
    onAbort = () => resolve(undefined);
  });
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    while (!signal.aborted) {
      const next = await Promise.race([iterator.next(), abort]);
      if (next === undefined || next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

const finishReasons: Readonly<Partial<Record<StopReason, FinishReason>>> = {
  stop: 'stop',
  length: 'length',
  toolUse: 'tool-calls',
};

const toResponse = (message: AssistantMessage): ModelResponse => ({
  content: assistantParts(message),
  finishReason: finishReasons[message.stopReason] ?? 'other',
  usage: toUsage(message.usage),
  model: message.responseModel ?? message.model,
  ...(message.responseId !== undefined && { id: message.responseId }),
});

/** Input of pi excludes cached tokens, input of operators includes them. */
const toUsage = ({ input, output, cacheRead, cacheWrite, reasoning = 0 }: PiUsage): Usage => ({
  input: input + cacheRead + cacheWrite,
  output,
  cacheRead,
  cacheWrite,
  reasoning,
});

const fromUsage = ({ input, output, cacheRead, cacheWrite, reasoning }: Usage, model: Model<Api>): PiUsage => {
  const uncached = Math.max(0, input - cacheRead - cacheWrite);
  const usage: PiUsage = { ...noUsageOfPi, input: uncached, output, cacheRead, cacheWrite, reasoning };
  return { ...usage, totalTokens: input + output, cost: calculateCost(model, { ...usage, cost: { ...usage.cost } }) };
};

/** Converts an answer that operators changed or created; `template` has the members that they do not see. */
const toMessage = (response: ModelResponse, template: AssistantMessage, model: Model<Api>): AssistantMessage => ({
  ...template,
  content: assistantBlocks(response.content),
  usage: fromUsage(response.usage, model),
  stopReason:
    response.finishReason === 'length' ? 'length' : response.finishReason === 'tool-calls' ? 'toolUse' : 'stop',
});

/** Adds how an operator ended the turn. */
const withEnding = (message: AssistantMessage, { outcome, reason }: TurnEnding): AssistantMessage => ({
  ...message,
  diagnostics: [
    ...(message.diagnostics ?? []),
    {
      type: 'h.stop',
      timestamp: message.timestamp,
      details: { outcome, ...(reason !== undefined && { reason }) },
    },
  ],
});

const lastAnswer = ({ outcome, reason }: TurnEnding, partial: AssistantMessage): AssistantMessage => ({
  ...partial,
  content: [{ type: 'text', text: reason ?? `The agent was stopped: ${outcome}.` }],
  usage: noUsageOfPi,
  stopReason: 'stop',
});

/** Converts a failure that is not a message of the model. */
export const failureOf = (thrown: unknown, partial: AssistantMessage): AssistantMessage => {
  const isStop = thrown instanceof TurnStoppedError;
  const { name, message, code } = (isStop && thrown.error) || toErrorInfo(thrown);
  const error = { name, message, ...(code !== undefined && { code }) };
  const failure: AssistantMessage = {
    ...partial,
    stopReason: 'error',
    errorMessage: message,
    diagnostics: [{ type: 'h.error', timestamp: partial.timestamp, error }],
  };
  return isStop ? withEnding(failure, thrown) : failure;
};
