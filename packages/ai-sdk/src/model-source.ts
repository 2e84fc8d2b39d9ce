import type { LanguageModelV4 } from '@ai-sdk/provider';
import { TurnError, type ModelRequest } from '@h/turn';
import { anyFunction, checkOptions, InvalidOptionError } from '@h/options';
import { asLanguageModelV4, isLanguageModel, type AnyLanguageModel } from './model-version.js';

/** Options of {@link languageModel}. */
export interface LanguageModelOptions {
  /**
   * Returns the model for a request, by the model name and the credential id of the request. Both are `undefined` if
   * the request does not set them. Called for every model call, so reuse your clients. An error that it throws
   * becomes the error of the call.
   */
  readonly resolve: (
    model: string | undefined,
    credential: string | undefined,
  ) => AnyLanguageModel | PromiseLike<AnyLanguageModel>;
}

/** The model name and the credential id of a request. */
type Choice = Pick<ModelRequest, 'model' | 'credential'>;

/** Resolves the model for a request. */
export type ModelSource = (choice: Choice) => Promise<LanguageModelV4>;

/**
 * Creates a model source from a fixed model or a function.
 *
 * @throws InvalidOptionError `invalid-option` for any other value, immediately.
 */
export const modelSource = (source: AnyLanguageModel | LanguageModelOptions): ModelSource => {
  if (isLanguageModel(source)) return fixedModel(source);
  const { resolve } = checkedOptions(source);
  return async ({ model, credential }) => {
    const found: unknown = await resolve(model, credential);
    if (isLanguageModel(found)) return asLanguageModelV4(found);
    throw new TurnError(
      'unknown-model',
      `resolve() gave no model for ${JSON.stringify(model ?? 'the default')}: ${describe(found)}.`,
    );
  };
};

/** Returns the same model for all requests that name no other model or credential. */
export const fixedModel =
  (model: AnyLanguageModel): ModelSource =>
  async (choice) => {
    assertOwn(model, choice);
    return asLanguageModelV4(model);
  };

/** Rejects the request, because answering with another model or credential would hide a configuration error. */
const assertOwn = (own: AnyLanguageModel, { model, credential }: Choice): void => {
  if (credential !== undefined) {
    throw new TurnError(
      'unknown-credential',
      `The credential ${JSON.stringify(credential)} cannot be used: there is one model only. Pass the option "resolve", which returns the model for a credential.`,
    );
  }
  const provider = providerOf(own);
  if (model !== undefined && model !== own.modelId && model !== `${provider}/${own.modelId}`) {
    throw new TurnError(
      'unknown-model',
      `The model ${JSON.stringify(model)} was asked for, but ${JSON.stringify(`${provider}/${own.modelId}`)} is the only one. Pass the option "resolve", which returns the model for a name.`,
    );
  }
};

/** Returns the provider's name without its interface: `openai` for `openai.responses`. */
export const providerOf = ({ provider }: Pick<LanguageModelV4, 'provider'>): string =>
  provider.split('.', 1)[0] as string;

const checkedOptions = (options: LanguageModelOptions): LanguageModelOptions => {
  if (typeof options !== 'object' || options === null || typeof options.resolve !== 'function') {
    throw new InvalidOptionError({
      owner: 'languageModel()',
      option: '',
      message: `languageModel() takes a model of the AI SDK or { resolve }; it was given ${describe(options)}.`,
    });
  }
  checkOptions('languageModel()', options, { resolve: anyFunction });
  return options;
};

const describe = (value: unknown): string =>
  typeof value === 'string'
    ? `the string ${JSON.stringify(value)} (make a model of it with its provider)`
    : typeof value;
