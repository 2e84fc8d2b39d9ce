import type { FailureScope } from '../reasons.js';

/** Names what is left alone: a profile, it with one model, or a model whoever asks. */
export const windowKey = (scope: FailureScope, profile: string | undefined, model: string | undefined): string =>
  JSON.stringify(scope === 'profile' ? [profile ?? null] : scope === 'model' ? [profile ?? null, model ?? null] : [null, model ?? null]);

/** The profile and the model that a key names. */
export const readWindowKey = (key: string): readonly [profile: string | undefined, model: string | undefined] => {
  const [profile, model] = JSON.parse(key) as readonly (string | null)[];
  return [profile ?? undefined, model ?? undefined];
};
