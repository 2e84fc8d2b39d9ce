import type { Encoding } from './vocabulary.js';

/** Model families with a published vocabulary, by the beginning of their names. The first match counts. */
const families: readonly (readonly [pattern: RegExp, encoding: Encoding])[] = [
  [/^(?:gpt-4o|gpt-4\.1|gpt-4\.5|chatgpt-|gpt-5|gpt-oss|o[134](?:-|$))/, 'o200k_base'],
  [/^(?:gpt-4|gpt-3\.5|gpt-35|text-embedding-)/, 'cl100k_base'],
];

/**
 * The vocabulary of a model by its name (`gpt-5-mini`, `openai/gpt-4o`); `undefined` for models without
 * a published one, such as Claude and Gemini.
 */
export const encodingOf = (model: string | undefined): Encoding | undefined => {
  if (model === undefined) return undefined;
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  return families.find(([pattern]) => pattern.test(name))?.[1];
};
