import { ModelError, openModels, type ModelChoice, type Models } from '@h/models';
import { UsageError } from '../usage-error.js';

/** The models that the command line names. */
export interface CoderModels extends ModelChoice {
  /** Base URL of the provider of `model`. */
  readonly baseUrl?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const labels = { model: '--model', fallback: '--fallback', baseUrl: '--base-url' };

/** Whether the environment has a key that selects a default model. */
export const hasKey = (environment: CoderModels['environment']): boolean =>
  openModels({ environment }).usual !== undefined;

/**
 * Resolves the model, its fallbacks and the keys from the environment. A provider SDK is loaded on the first request.
 *
 * @throws UsageError if a provider is unknown, a key is missing or the base URL is invalid
 */
export const chooseModel = (given: CoderModels): ReturnType<Models['choose']> => {
  const { model, fallback, baseUrl, environment } = given;
  try {
    const name = model ?? openModels({ environment }).usual;
    const provider = name?.split('/')[0] ?? '';
    const providers = baseUrl === undefined ? {} : { [provider]: { baseUrl } };
    return openModels({ environment, providers, labels }).choose({ model: name, fallback });
  } catch (error) {
    throw error instanceof ModelError ? new UsageError(error.message, { cause: error }) : error;
  }
};
