import type { ModelSettings } from '@h/turn';

/** A model of the chain that needs more than a name. */
export interface ModelChoice {
  /** As the driver names it: `provider/model`. */
  readonly model: string;
  /**
   * The provider whose credentials it needs.
   *
   * @defaultValue the part of its name before the first slash
   */
  readonly provider?: string | undefined;
  /** Settings that differ for this model, such as a smaller `maxOutputTokens`. */
  readonly settings?: ModelSettings | undefined;
}

/** A model that the step may ask. */
export interface Candidate {
  /** If absent, the driver chooses. */
  readonly model: string | undefined;
  readonly provider: string | undefined;
  readonly settings: ModelSettings | undefined;
}

/**
 * Splits a name into provider and model: `openrouter/qwen/qwen3` is `qwen/qwen3` of `openrouter`. A bare name has no
 * provider.
 */
export const splitModelName = (name: string): { readonly provider: string | undefined; readonly model: string } => {
  const slash = name.indexOf('/');
  return slash <= 0
    ? { provider: undefined, model: name }
    : { provider: name.slice(0, slash), model: name.slice(slash + 1) };
};

/**
 * The models that are asked, in order: the model of the request, then the chain, each once.
 *
 * @param onlyProvider the provider of bare names, if the pool has credentials of a single one
 */
export const chainOf = (
  requested: string | undefined,
  models: readonly (string | ModelChoice)[],
  onlyProvider: string | undefined,
): readonly Candidate[] => {
  const choices = models.map((model): ModelChoice => (typeof model === 'string' ? { model } : model));
  const first =
    requested === undefined ? undefined : (choices.find(({ model }) => model === requested) ?? { model: requested });
  const ordered = first === undefined ? choices : [first, ...choices];
  if (ordered.length === 0) return [{ model: undefined, provider: onlyProvider, settings: undefined }];
  const byName = new Map(ordered.toReversed().map((choice) => [choice.model, choice]));
  const names = [...new Set(ordered.map(({ model }) => model))];
  return names.map((name) => {
    const choice = byName.get(name);
    return {
      model: name,
      provider: choice?.provider ?? splitModelName(name).provider ?? onlyProvider,
      settings: choice?.settings,
    };
  });
};
