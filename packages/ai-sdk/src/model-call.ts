import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import {
  FailedModelCall,
  TurnStoppedError,
  type HostModelCall,
  type HostModelContext,
  type HostSession,
} from '@h/bridge';
import { noUsage, type ErrorInfo, type TurnEnding, type Usage } from '@h/turn';
import { toErrorInfo } from './error-info.js';
import { hostAnswer, toHostResult, toHostUsage, type HostAnswer } from './answer/host-answer.js';
import { ownOptions, type HostRequest, type PromptMessage } from './host-request.js';
import { HostStream } from './answer/host-stream.js';
import type { ModelSource } from './model-source.js';
import { failureOf, readAnswer } from './answer/read-answer.js';
import { partsOf } from './answer/stream-parts.js';
import { toUsage } from './answer/usage.js';

/** What a host receives if an operator ends the turn: a last answer with the reason, or an error. */
export type ExitBehavior = 'end' | 'error';

/** A model call of the SDK. */
export interface ModelCall {
  readonly session: HostSession<PromptMessage>;
  readonly source: ModelSource;
  readonly host: HostRequest;
  readonly options: LanguageModelV4CallOptions;
  readonly exitBehavior: ExitBehavior;
  /** Called with the answer that the operators emit, before the host receives the answer. */
  readonly onAnswer: (result: LanguageModelV4GenerateResult) => void;
  /** Called when the loop ends because an operator ended the turn. */
  readonly onStop?: (ending: TurnEnding) => void;
  /** Called when the call has ended in any way. */
  readonly onEnd?: (() => void) | undefined;
}

/** Calls the model through the operators, without streaming. */
export const generate = async ({
  session,
  source,
  host,
  options,
  exitBehavior,
  onAnswer,
  onStop,
  onEnd,
}: ModelCall): Promise<LanguageModelV4GenerateResult> => {
  let answer: HostAnswer | undefined;
  const perform: HostModelCall<PromptMessage>['perform'] = async (request, { signal: abortSignal }) => {
    answer = undefined;
    const model = await source(request);
    const result = await model.doGenerate({ ...host.toOptions(request), abortSignal });
    abortSignal.throwIfAborted();
    const failure = failureOf(result);
    if (failure) throw failedCall(result, () => result, failure, toUsage(result.usage));
    answer = hostAnswer(result);
    return { response: answer.response, value: undefined };
  };
  try {
    const { response, ending } = await session.model({
      ...host.call,
      run: host.run,
      signal: options.abortSignal,
      perform: (request, context) => untilAborted(context.signal, perform(request, context)),
    });
    if (ending && exitBehavior === 'error') throw new TurnStoppedError(ending);
    const result = withEnding(toHostResult(response, answer), ending);
    onAnswer(result);
    if (ending) onStop?.(ending);
    return result;
  } catch (thrown) {
    if (thrown instanceof Undelivered) return thrown.deliver() as LanguageModelV4GenerateResult;
    if (!isStop(thrown)) throw thrown;
    onStop?.(thrown);
    if (exitBehavior === 'error') throw thrown;
    return lastAnswer(thrown);
  } finally {
    onEnd?.();
  }
};

/** Calls the model through the operators, with streaming. */
export const stream = ({
  session,
  source,
  host,
  options,
  exitBehavior,
  onAnswer,
  onStop,
  onEnd,
}: ModelCall): Promise<LanguageModelV4StreamResult> => {
  const cancelled = new AbortController();
  const out = new HostStream((reason) => cancelled.abort(reason), callIdsIn(options.prompt));
  const signal = options.abortSignal ? AbortSignal.any([options.abortSignal, cancelled.signal]) : cancelled.signal;
  let answer: HostAnswer | undefined;
  const read = async (
    own: LanguageModelV4,
    request: Parameters<typeof host.toOptions>[0],
    context: HostModelContext,
  ): Promise<HostAnswer> => {
    const abortSignal = context.signal;
    const { stream: parts, ...details } = await own.doStream({ ...host.toOptions(request), abortSignal });
    const reader = readAnswer();
    if (!abortSignal.aborted) out.begin(details);
    for await (const part of partsOf(parts, abortSignal)) {
      if (part.type === 'error') throw failedCall(part.error, () => out.failWithin(part.error));
      passPart(part, reader.add(part), out, context);
    }
    abortSignal.throwIfAborted();
    const end = reader.end();
    if ('error' in end) throw failedCall(undefined, () => out.completeAsGiven(), end.error, end.usage);
    return hostAnswer(end.result);
  };
  const perform: HostModelCall<PromptMessage>['perform'] = async (request, context) => {
    answer = undefined;
    try {
      answer = await read(await source(request), request, context);
      return { response: answer.response, value: undefined };
    } catch (thrown) {
      throw thrown instanceof FailedModelCall ? thrown : failedCall(thrown, () => out.breakOff(thrown));
    }
  };
  void session
    .model({
      ...host.call,
      run: host.run,
      signal,
      perform,
      onDelta: (delta) => out.delta(delta),
      canRestart: () => !out.isOpen,
    })
    .then(({ response, ending }) => {
      if (ending && exitBehavior === 'error') throw new TurnStoppedError(ending);
      const result = withEnding(toHostResult(response, answer), ending);
      onAnswer(result);
      if (ending) onStop?.(ending);
      out.complete(result, {
        isStreamed: answer !== undefined,
        isChanged: response.content !== answer?.response.content,
      });
    })
    .catch((thrown: unknown) => {
      if (thrown instanceof Undelivered) return thrown.deliver();
      if (signal.aborted) return out.breakOff(thrown);
      if (!isStop(thrown)) return out.fail(thrown);
      onStop?.(thrown);
      if (exitBehavior === 'error') return out.fail(thrown);
      return out.complete(lastAnswer(thrown), { isStreamed: false, isChanged: true });
    })
    // A callback of the host may throw above.
    .catch((thrown: unknown) => out.fail(thrown))
    .finally(onEnd);
  return out.result;
};

/** The ids of the calls in a history. */
const callIdsIn = (prompt: LanguageModelV4CallOptions['prompt']): ReadonlySet<string> =>
  new Set(
    prompt.flatMap((message) =>
      message.role === 'assistant'
        ? message.content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []))
        : [],
    ),
  );

const passPart = (
  part: LanguageModelV4StreamPart,
  delta: ReturnType<ReturnType<typeof readAnswer>['add']>,
  out: HostStream,
  context: HostModelContext,
): void => {
  if (!delta) return out.take(part);
  out.expect(delta, part);
  return context.onDelta(delta);
};

/** A failure that no operator handled, in the form that the host receives without operators. */
class Undelivered extends Error {
  readonly deliver: () => unknown;

  constructor(deliver: () => unknown) {
    super('No operator handled a failed model call.');
    this.deliver = deliver;
  }
}

const failedCall = (
  thrown: unknown,
  deliver: () => unknown,
  info: ErrorInfo = toErrorInfo(thrown),
  usage?: Usage,
): FailedModelCall => new FailedModelCall(new Undelivered(deliver), info, usage);

/** Whether an operator stopped the turn. The host receives failures of operators as errors. */
const isStop = (thrown: unknown): thrown is TurnStoppedError =>
  thrown instanceof TurnStoppedError && thrown.outcome !== 'error';

/** Returns the answer that ends the host's loop after an operator stopped the turn. */
const lastAnswer = (stopped: TurnStoppedError): LanguageModelV4GenerateResult => {
  const { outcome, reason } = stopped;
  return withEnding(
    {
      content: [{ type: 'text', text: reason ?? `The agent was stopped: ${outcome}.` }],
      finishReason: { unified: 'other', raw: outcome },
      usage: toHostUsage(noUsage),
      warnings: [],
    },
    stopped,
  );
};

/** Adds how an operator ended the turn to an answer. */
const withEnding = (
  result: LanguageModelV4GenerateResult,
  ending: TurnEnding | undefined,
): LanguageModelV4GenerateResult => {
  if (!ending) return result;
  const { outcome, reason } = ending;
  const own = { outcome, ...(reason !== undefined && { reason }) };
  return { ...result, providerMetadata: { ...result.providerMetadata, [ownOptions]: own } };
};

const untilAborted = <Value>(signal: AbortSignal, value: Promise<Value>): Promise<Value> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
