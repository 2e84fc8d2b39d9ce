import type { LanguageModelV2, LanguageModelV3, LanguageModelV4 } from '@ai-sdk/provider';
import { TurnError } from '@h/turn';

/** A model of any supported version of the SDK's specification. */
export type AnyLanguageModel = LanguageModelV4 | LanguageModelV3 | LanguageModelV2;

/** Checks whether a value has the members that models of every version have. */
export const isLanguageModel = (value: unknown): value is AnyLanguageModel =>
  typeof value === 'object' && value !== null && 'doStream' in value && 'specificationVersion' in value;

/**
 * Returns a model of version 4: the model itself, or the SDK's adapter around it, which needs the package `ai`.
 *
 * @throws TurnError `unsupported-model` if the version is unknown, `missing-package` if `ai` is not installed.
 */
export const asLanguageModelV4 = async (model: AnyLanguageModel): Promise<LanguageModelV4> => {
  if (model.specificationVersion === 'v4') return model;
  if (model.specificationVersion !== 'v3' && model.specificationVersion !== 'v2') throw unsupported(model);
  const { wrapLanguageModel } = await import('ai').catch((error: unknown) => {
    throw new TurnError(
      'missing-package',
      `The model ${JSON.stringify(model.modelId)} speaks version ${model.specificationVersion} of the SDK's specification; install the package "ai" (version 7), which adapts it.`,
      { cause: error },
    );
  });
  return wrapLanguageModel({ model, middleware: [] });
};

const unsupported = (model: { readonly specificationVersion: unknown; readonly modelId?: unknown }): TurnError =>
  new TurnError(
    'unsupported-model',
    `The model ${JSON.stringify(model.modelId)} speaks version ${JSON.stringify(model.specificationVersion)} of the SDK's specification; v2, v3 and v4 are supported.`,
  );
