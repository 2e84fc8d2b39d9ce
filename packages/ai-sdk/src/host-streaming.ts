import type { LanguageModelV4CallOptions, LanguageModelV4StreamResult } from '@ai-sdk/provider';
import type { PipelineOperator } from '@h/turn';
import { toErrorInfo } from './error-info.js';
import { hostAnswer, toHostResult, type HostAnswer } from './host-answer.js';
import { hostErrors } from './host-errors.js';
import { fromCallOptions } from './host-request.js';
import { HostStream } from './host-stream.js';
import { HostTurn, type HostCall } from './host-turn.js';
import { onlyModel, providerOf } from './model-source.js';
import type { AnyLanguageModel } from './model-version.js';
import { readAnswer } from './read-answer.js';
import { partsOf } from './stream-parts.js';

/** Makes a host's call for a stream, with operators around it. */
export const streamThrough = (
  model: AnyLanguageModel,
  operators: readonly PipelineOperator[],
  options: LanguageModelV4CallOptions,
): Promise<LanguageModelV4StreamResult> => {
  const out = new HostStream((reason) => turn.cancel(reason));
  const turn = new HostTurn(operators, streamCall(model, options, out));
  turn.start();
  return out.result;
};

const streamCall = (model: AnyLanguageModel, options: LanguageModelV4CallOptions, out: HostStream): HostCall => {
  const host = fromCallOptions(options, providerOf(model));
  const errors = hostErrors();
  let answer: HostAnswer | undefined;

  const perform: HostCall['perform'] = async (request, say, abortSignal) => {
    answer = undefined;
    try {
      const own = await onlyModel(model, request);
      const { stream, ...details } = await own.doStream({ ...host.toOptions(request), abortSignal });
      const reader = readAnswer();
      if (!abortSignal.aborted) out.begin(details);
      for await (const part of partsOf(stream, abortSignal)) {
        if (part.type === 'error') {
          return say(errors.toOutput(toErrorInfo(part.error), () => out.failWithin(part.error)));
        }
        const delta = reader.add(part);
        if (delta) out.expect(delta, part);
        if (delta) say({ type: 'delta', delta });
        else out.take(part);
      }
      if (abortSignal.aborted) return;
      const end = reader.end();
      if ('error' in end) return say(errors.toOutput(end.error, () => out.completeAsGiven(), end.usage));
      answer = hostAnswer(end.result);
      say({ type: 'response', response: answer.response });
    } catch (thrown) {
      say(errors.toOutput(toErrorInfo(thrown), () => out.breakOff(thrown)));
    }
  };

  return {
    host,
    signal: options.abortSignal,
    perform,
    onDelta: ({ delta }) => out.delta(delta),
    mayAskAgain: () => !out.isOpen,
    conclude: (conclusion) => {
      switch (conclusion.type) {
        case 'response':
          return out.complete(toHostResult(conclusion.event, answer), {
            isStreamed: answer !== undefined,
            isChanged: conclusion.event.content !== answer?.response.content,
          });
        case 'error':
          return errors.deliver(conclusion.error, (error) => out.fail(error));
        case 'failed':
          return out.fail(conclusion.error);
        case 'cancelled':
          return out.breakOff(conclusion.error);
      }
    },
  };
};
