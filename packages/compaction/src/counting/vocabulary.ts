/** Names of the vocabularies that are published with js-tiktoken and still in use. */
export type Encoding = 'o200k_base' | 'cl100k_base';

/** A vocabulary as js-tiktoken ships it. */
export interface PackedVocabulary {
  readonly pat_str: string;
  readonly bpe_ranks: string;
}

/** A vocabulary, ready for use. It never changes. */
export interface Vocabulary {
  /** How text falls into pieces before anything is merged. */
  readonly pattern: string;
  /** Rank of each token. The bytes of a token are the characters of its key. */
  readonly ranks: ReadonlyMap<string, number>;
}

/** Unpacks a vocabulary: lines of a first rank and the base64 of one token after the other. */
export const readVocabulary = ({ pat_str, bpe_ranks }: PackedVocabulary): Vocabulary => {
  const ranks = new Map<string, number>();
  for (const line of bpe_ranks.split('\n')) {
    const [, first, ...tokens] = line.split(' ');
    let rank = Number(first);
    for (const token of tokens) {
      ranks.set(Buffer.from(token, 'base64').toString('latin1'), rank);
      rank += 1;
    }
  }
  // Groups that capture would cost an array for each piece.
  return { pattern: pat_str.replaceAll(/\((?!\?)/g, '(?:'), ranks };
};

/** Loads a vocabulary: some hundred milliseconds the first time in a process, nothing after that. */
export const loadVocabulary = async (encoding: Encoding): Promise<Vocabulary> => {
  const { vocabulary } = encoding === 'o200k_base' ? await import('./o200k-base.js') : await import('./cl100k-base.js');
  return vocabulary;
};
