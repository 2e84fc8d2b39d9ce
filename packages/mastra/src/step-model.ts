import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import {
  fromCallOptions,
  generate,
  providerOf,
  stream,
  type ModelCall,
  type PromptFormat,
  type PromptMessage,
} from '@h/ai-sdk/bridge';
import { TurnStoppedError, type HostSession } from '@h/bridge';
import type { TurnEnding } from '@h/turn';
import type { MastraLanguageModel } from '@mastra/core/agent';
import { asV4, forMastra, mapped, upgradedOptions } from './model-versions.js';

/** A step of a run of Mastra, in which its model is called. */
export interface Step {
  readonly session: HostSession<PromptMessage>;
  /** Identifies the run, and changes when Mastra repeats a call that failed. */
  readonly run: { readonly id: string; failures: number };
  readonly format: PromptFormat;
  /** Returns the model that an operator chose, or `undefined` for the model of the step. */
  readonly choose: (choice: Parameters<ModelCall['source']>[0]) => Promise<MastraLanguageModel | undefined>;
  /** What the host receives for a stop: an answer with the reason, an answer without text, or an error. */
  readonly exitBehavior: 'end' | 'tripwire' | 'error';
  /** Called when an operator ended the turn. */
  readonly onStop: (ending: TurnEnding) => void;
}

/**
 * Wraps the model of a step, so that its calls pass the operators. The wrapped model has the version of the original,
 * so Mastra builds the same prompt as without operators.
 */
export const stepModel = (model: MastraLanguageModel, step: Step): LanguageModelV4 => {
  const own = asV4(model);
  let isStopped = false;
  /** Whether the answer is the reason of the stop, and not the last one of the model. */
  let hasReason = false;
  const callOf = (given: LanguageModelV4CallOptions): ModelCall => {
    const request = fromCallOptions(given, providerOf(model), step.format);
    const { id, failures } = step.run;
    return {
      session: step.session,
      source: async (choice) => {
        const chosen = await step.choose(choice);
        return chosen ? asV4(chosen) : own;
      },
      host: { ...request, run: failures === 0 ? id : `${id} ${failures}` },
      options: given,
      exitBehavior: step.exitBehavior === 'error' ? 'error' : 'end',
      onAnswer: () => undefined,
      onStop: (ending) => {
        isStopped = true;
        hasReason = ending instanceof TurnStoppedError;
        step.onStop(ending);
      },
    };
  };
  const call = async <Result>(run: (call: ModelCall) => Promise<Result>, given: unknown): Promise<Result> => {
    try {
      return await run(callOf(upgradedOptions(given)));
    } catch (error) {
      // A call that Mastra repeats begins a new turn, except after a stop.
      if (!(error instanceof TurnStoppedError)) step.run.failures += 1;
      throw error;
    }
  };
  const isHidden = ({ type }: { readonly type: string }): boolean =>
    hasReason && step.exitBehavior === 'tripwire' && type.startsWith('text');
  /** Mastra ends its loop after an answer with this finish reason. */
  const stopReason = { unified: 'stop', raw: undefined } as const;
  return {
    specificationVersion: model.specificationVersion as 'v4',
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: async (given) => {
      const result = await call(generate, given);
      const content = result.content.filter((part) => !isHidden(part)).map(forMastra);
      return { ...result, content, ...(isStopped && { finishReason: stopReason }) };
    },
    doStream: async (given) => {
      const result = await call(stream, given);
      const convert = (part: LanguageModelV4StreamPart): LanguageModelV4StreamPart | undefined => {
        if (isHidden(part)) return undefined;
        return part.type === 'finish' && isStopped ? { ...part, finishReason: stopReason } : forMastra(part);
      };
      return { ...result, stream: mapped(result.stream, convert) };
    },
  };
};
