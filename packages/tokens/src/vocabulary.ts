/** A vocabulary as js-tiktoken ships it. */
export interface PackedVocabulary {
  readonly pat_str: string;
  readonly bpe_ranks: string;
}

/** An immutable vocabulary, ready for use. */
export interface Vocabulary {
  /** Splits text into pieces; merges never cross pieces. */
  readonly pattern: string;
  /** Rank of each token. The characters of a key are the bytes of the token. */
  readonly ranks: ReadonlyMap<string, number>;
}

/** Unpacks a vocabulary. Each line contains the rank of its first token, and the tokens in base64. */
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
  // A capturing group would allocate an array per piece.
  return { pattern: pat_str.replaceAll(/\((?!\?)/g, '(?:'), ranks };
};
