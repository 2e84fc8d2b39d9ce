import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4Source,
} from '@ai-sdk/provider';
import type { AssistantPart, FinishReason, ModelResponse } from '@h/turn';
import { toAssistantPart, toJSON } from './answer-parts.js';
import { toUsage } from './usage.js';

/** A complete answer of a model, however it was called. */
export type ModelResult = Pick<
  LanguageModelV4GenerateResult,
  'content' | 'finishReason' | 'usage' | 'providerMetadata' | 'warnings' | 'response'
>;

/**
 * An answer in the words of the contract.
 *
 * What the contract has no place for is kept under `providerMetadata['ai-sdk']`: `sources`, the `warnings` of the
 * provider (a setting that it ignored, say), and the provider's own `finishReason`. Citations within a text are left
 * out; the sources that they point to are there.
 *
 * @param origins - Is told what each part was made of.
 */
export const toModelResponse = (
  result: ModelResult,
  origins?: Map<AssistantPart, LanguageModelV4Content>,
): ModelResponse => {
  const { id, modelId } = result.response ?? {};
  const providerMetadata = { ...result.providerMetadata, ...ownMetadata(result) };
  return {
    content: result.content.flatMap((given) => {
      const part = toAssistantPart(given);
      if (part) origins?.set(part, given);
      return part ?? [];
    }),
    finishReason: toFinishReason(result.finishReason.unified),
    usage: toUsage(result.usage),
    ...(id !== undefined && { id }),
    ...(modelId !== undefined && { model: modelId }),
    ...(Object.keys(providerMetadata).length > 0 && { providerMetadata: toJSON(providerMetadata) }),
  };
};

/** The contract knows no `interrupted`: an answer that is not complete is an error, and never comes here. */
const toFinishReason = (unified: LanguageModelV4FinishReason['unified']): FinishReason =>
  unified === 'interrupted' ? 'error' : unified;

const ownMetadata = ({ content, warnings, finishReason }: ModelResult): { 'ai-sdk'?: object } => {
  const sources = content.filter(isSource);
  const own = {
    ...(sources.length > 0 && { sources }),
    ...(warnings.length > 0 && { warnings }),
    ...(finishReason.raw !== undefined && { finishReason: finishReason.raw }),
  };
  return Object.keys(own).length > 0 ? { 'ai-sdk': own } : {};
};

const isSource = (part: LanguageModelV4Content): part is LanguageModelV4Source => part.type === 'source';
