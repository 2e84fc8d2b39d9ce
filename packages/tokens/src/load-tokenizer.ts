import { checkValue, oneOf } from '@h/options';
import { createTokenizer } from './tokenizer.js';

/** Vocabularies that js-tiktoken publishes and that current models use. */
export type Encoding = 'o200k_base' | 'cl100k_base';

/** Counts the tokens of a string in time linear in its length. */
export type Tokenizer = (text: string) => number;

/** Model families with a published vocabulary, by the beginning of the model name. The first match wins. */
const families: readonly (readonly [pattern: RegExp, encoding: Encoding])[] = [
  [/^(?:gpt-4o|gpt-4\.1|gpt-4\.5|chatgpt-|gpt-5|gpt-oss|o[134](?:-|$))/, 'o200k_base'],
  [/^(?:gpt-4|gpt-3\.5|gpt-35|text-embedding-)/, 'cl100k_base'],
];

/**
 * Returns the vocabulary of a model (`gpt-5-mini`, `openai/gpt-4o`), or `undefined` for a model whose vocabulary is not
 * published, such as Claude and Gemini.
 */
export const encodingOf = (model: string | undefined): Encoding | undefined => {
  if (model === undefined) return undefined;
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  return families.find(([pattern]) => pattern.test(name))?.[1];
};

/**
 * Loads a vocabulary and returns its tokenizer.
 *
 * The call imports js-tiktoken. The first call for an encoding takes a few hundred milliseconds; later calls return a
 * new tokenizer with the same vocabulary.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * const countTokens = await loadTokenizer('o200k_base');
 * countTokens('Fix the failing test.'); // 5
 * ```
 */
export const loadTokenizer = async (encoding: Encoding): Promise<Tokenizer> => {
  checkValue('loadTokenizer()', 'encoding', encoding, oneOf('o200k_base', 'cl100k_base'));
  const { vocabulary } = encoding === 'o200k_base' ? await import('./o200k-base.js') : await import('./cl100k-base.js');
  return createTokenizer(vocabulary);
};
