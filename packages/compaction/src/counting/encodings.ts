import type { Encoding } from './vocabulary.js';

/** Families of models whose vocabulary is published, by how their names begin. The first that fits counts. */
const families: readonly (readonly [pattern: RegExp, encoding: Encoding])[] = [
  [/^(?:gpt-4o|gpt-4\.1|gpt-4\.5|chatgpt-|gpt-5|gpt-oss|o[134](?:-|$))/, 'o200k_base'],
  [/^(?:gpt-4|gpt-3\.5|gpt-35|text-embedding-)/, 'cl100k_base'],
];

/**
 * The vocabulary of a model by its name (`gpt-5-mini`, `openai/gpt-4o`); `undefined` for models that nobody has
 * published one for, Claude and Gemini among them.
 */
export const encodingOf = (model: string | undefined): Encoding | undefined => {
  if (model === undefined) return undefined;
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  return families.find(([pattern]) => pattern.test(name))?.[1];
};
