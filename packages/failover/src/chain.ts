import type { ModelSettings } from '@h/turn';

/** A model of the chain, where its name does not say it all. */
export interface ModelChoice {
  /** As the driver names it: `provider/model`. */
  readonly model: string;
  /**
   * Whose credentials it needs.
   *
   * @defaultValue what stands before the first slash of its name
   */
  readonly provider?: string | undefined;
  /** Settings that differ for it: a smaller `maxOutputTokens`, say. */
  readonly settings?: ModelSettings | undefined;
}

/** Somebody who may be asked. */
export interface Candidate {
  /** The driver's own choice when absent. */
  readonly model: string | undefined;
  readonly provider: string | undefined;
  readonly settings: ModelSettings | undefined;
}

/**
 * The provider and the model of a name: `openrouter/qwen/qwen3` is the model `qwen/qwen3` of `openrouter`. A bare name has no
 * provider.
 */
export const splitModelName = (name: string): { readonly provider: string | undefined; readonly model: string } => {
  const slash = name.indexOf('/');
  return slash <= 0
    ? { provider: undefined, model: name }
    : { provider: name.slice(0, slash), model: name.slice(slash + 1) };
};

/**
 * Who is asked, in order: the model of the request, then the chain, each once.
 *
 * @param known the only provider that there are credentials of, which a bare name belongs to
 */
export const chainOf = (
  requested: string | undefined,
  models: readonly (string | ModelChoice)[],
  known: string | undefined,
): readonly Candidate[] => {
  const choices = models.map((model): ModelChoice => (typeof model === 'string' ? { model } : model));
  const first =
    requested === undefined ? undefined : (choices.find(({ model }) => model === requested) ?? { model: requested });
  const ordered = first === undefined ? choices : [first, ...choices];
  if (ordered.length === 0) return [{ model: undefined, provider: known, settings: undefined }];
  const byName = new Map(ordered.toReversed().map((choice) => [choice.model, choice]));
  const names = [...new Set(ordered.map(({ model }) => model))];
  return names.map((name) => {
    const choice = byName.get(name);
    return {
      model: name,
      provider: choice?.provider ?? splitModelName(name).provider ?? known,
      settings: choice?.settings,
    };
  });
};
