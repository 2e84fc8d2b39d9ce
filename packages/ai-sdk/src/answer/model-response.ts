import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4Source,
} from '@ai-sdk/provider';
import type { AssistantPart, FinishReason, ModelResponse } from '@h/turn';
import { toAssistantPart, toJSON } from './answer-parts.js';
import { toUsage } from './usage.js';

/** A complete answer of a model, streamed or not. */
export type ModelResult = Pick<
  LanguageModelV4GenerateResult,
  'content' | 'finishReason' | 'usage' | 'providerMetadata' | 'warnings' | 'response'
>;

/**
 * Converts an answer to the contract of `@h/turn`.
 *
 * Data without an equivalent is in `providerMetadata['ai-sdk']`: `sources`, the `warnings` of the provider (an
 * ignored setting, for example), and the provider's `finishReason`. Citations within a text are omitted; their
 * sources are included.
 *
 * @param origins - Receives the source of each part.
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

/** The contract has no `interrupted`: an incomplete answer is an error and never reaches this function. */
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
