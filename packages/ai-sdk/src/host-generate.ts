import type { LanguageModelV4CallOptions, LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import type { PipelineOperator } from '@h/turn';
import { toErrorInfo } from './error-info.js';
import { hostAnswer, toHostResult, type HostAnswer } from './host-answer.js';
import { hostErrors } from './host-errors.js';
import { fromCallOptions } from './host-request.js';
import { HostTurn, type HostCall } from './host-turn.js';
import { onlyModel, providerOf } from './model-source.js';
import type { AnyLanguageModel } from './model-version.js';
import { failureOf } from './read-answer.js';
import { toUsage } from './usage.js';

/** Runs a host's `generate` call with operators around it. */
export const generateThrough = (
  model: AnyLanguageModel,
  operators: readonly PipelineOperator[],
  options: LanguageModelV4CallOptions,
): Promise<LanguageModelV4GenerateResult> =>
  new Promise((resolve, reject) => {
    new HostTurn(operators, generateCall(model, options, resolve, reject)).start();
  });

const generateCall = (
  model: AnyLanguageModel,
  options: LanguageModelV4CallOptions,
  resolve: (result: LanguageModelV4GenerateResult) => void,
  reject: (error: unknown) => void,
): HostCall => {
  const host = fromCallOptions(options, providerOf(model));
  const errors = hostErrors();
  let answer: HostAnswer | undefined;

  const perform: HostCall['perform'] = async (request, say, abortSignal) => {
    answer = undefined;
    try {
      const own = await onlyModel(model, request);
      const result = await own.doGenerate({ ...host.toOptions(request), abortSignal });
      if (abortSignal.aborted) return;
      const failure = failureOf(result);
      if (failure) return say(errors.toOutput(failure, () => resolve(result), toUsage(result.usage)));
      answer = hostAnswer(result);
      say({ type: 'response', response: answer.response });
    } catch (thrown) {
      say(errors.toOutput(toErrorInfo(thrown), () => reject(thrown)));
    }
  };

  return {
    host,
    signal: options.abortSignal,
    perform,
    onDelta: () => undefined,
    mayAskAgain: () => true,
    conclude: (conclusion) => {
      if (conclusion.type === 'response') resolve(toHostResult(conclusion.event, answer));
      else if (conclusion.type === 'error') errors.deliver(conclusion.error, reject);
      else reject(conclusion.error);
    },
  };
};
