import { LruMap } from '@h/bounded';
import { anyFunction, checkOptions, required } from '@h/options';
import type { MaybePromise, ToolDefinition } from '@h/turn';
import { wordsOf } from './words.js';

/** Scores how well each tool serves a request: one number for each tool, in order; higher is better. */
export type ToolScorer = (
  query: string,
  tools: readonly ToolDefinition[],
  context: { readonly signal: AbortSignal },
) => MaybePromise<readonly number[]>;

/** Weight of a word in the name, compared with one in the description. */
const nameWeight = 3;

/**
 * Scores tools by the words that they share with the request; rare words count more. Requires no model or network.
 */
export const keywordScorer = (): ToolScorer => {
  const counted = new WeakMap<ToolDefinition, ReadonlyMap<string, number>>();
  const countsOf = (tool: ToolDefinition): ReadonlyMap<string, number> => {
    const known = counted.get(tool) ?? wordCounts(tool);
    counted.set(tool, known);
    return known;
  };
  return (query, tools) => {
    const documents = tools.map(countsOf);
    const words = [...new Set(wordsOf(query))];
    const weights = words.map((word) => {
      const holding = documents.reduce((sum, document) => sum + (document.has(word) ? 1 : 0), 0);
      return Math.log(1 + tools.length / (1 + holding));
    });
    return documents.map((document) =>
      words.reduce((score, word, index) => score + (document.get(word) ?? 0) * (weights[index] as number), 0),
    );
  };
};

const wordCounts = ({ name, description, inputSchema }: ToolDefinition): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const word of wordsOf(`${description} ${Object.keys(inputSchema['properties'] ?? {}).join(' ')}`)) {
    counts.set(word, 1);
  }
  for (const word of wordsOf(name)) counts.set(word, nameWeight);
  return counts;
};

/** Options of {@link embeddingScorer}. */
export interface EmbeddingScorerOptions {
  /** Returns a vector for each string, all of the same length. */
  readonly embed: (
    texts: readonly string[],
    context: { readonly signal: AbortSignal },
  ) => MaybePromise<readonly (readonly number[])[]>;
}

/** Tools whose vectors are remembered. */
const maxVectors = 2_000;

/**
 * Scores tools by the similarity of their descriptions to the request, with an embedding model of the caller. A tool is
 * embedded again only when its description changes.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * const embed = async (texts: readonly string[]) => (await embedMany({ model, values: [...texts] })).embeddings;
 * selectTools({ scorer: embeddingScorer({ embed }) });
 * ```
 */
export const embeddingScorer = (options: EmbeddingScorerOptions): ToolScorer => {
  checkOptions('embeddingScorer()', options, { embed: required(anyFunction) });
  const { embed } = options;
  const vectors = new LruMap<string, readonly number[]>(maxVectors);
  return async (query, tools, context) => {
    const texts = tools.map(({ name, description }) => `${name}: ${description}`);
    const unknown = [...new Set(texts)].filter((text) => vectors.get(text) === undefined);
    const [target, ...fresh] = await embed([query, ...unknown], context);
    if (target === undefined || fresh.length !== unknown.length) {
      throw new Error(
        `embed() must return ${unknown.length + 1} vectors, one for each string; it returned ${fresh.length + (target === undefined ? 0 : 1)}.`,
      );
    }
    for (const [index, text] of unknown.entries()) vectors.set(text, fresh[index] as readonly number[]);
    const own = new Map(unknown.map((text, index) => [text, fresh[index] as readonly number[]]));
    return texts.map((text) => cosine(target, own.get(text) ?? vectors.get(text) ?? []));
  };
};

const cosine = (left: readonly number[], right: readonly number[]): number => {
  let [product, leftSquares, rightSquares] = [0, 0, 0];
  for (let index = 0; index < left.length; index += 1) {
    const [a, b] = [left[index] as number, right[index] ?? 0];
    product += a * b;
    leftSquares += a * a;
    rightSquares += b * b;
  }
  return leftSquares === 0 || rightSquares === 0 ? 0 : product / Math.sqrt(leftSquares * rightSquares);
};
