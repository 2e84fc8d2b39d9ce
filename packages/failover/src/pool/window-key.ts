import type { FailureScope } from '@h/provider-errors';

/** Names what is left alone: a profile, it with one model, or a model whoever asks. Ids of profiles are of one line. */
export const windowKey = (scope: FailureScope, profile = '', model = ''): string =>
  scope === 'profile' ? profile : scope === 'model' ? `${profile}\n${model}` : `\n${model}`;

/** The profile and the model that a key names. */
export const readWindowKey = (key: string): readonly [profile: string | undefined, model: string | undefined] => {
  const end = key.indexOf('\n');
  if (end < 0) return [key, undefined];
  return [end === 0 ? undefined : key.slice(0, end), key.slice(end + 1)];
};
