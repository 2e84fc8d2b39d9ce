/** The part of a word that is known before the shell expands it. */
export interface StaticWord {
  /** The exact argument; `undefined` if it is unknown until the line runs. */
  readonly value: string | undefined;
  /** The known prefix of the argument, {@link noDash}, or `''` if it may start with anything. */
  readonly start: string;
  /** Whether it may become no argument, or several. */
  readonly isMany: boolean;
  /** The word as written. */
  readonly source: string;
}

/** The `start` of a word that is only known not to start with a dash. */
export const noDash = '\u{FFFF}';

/** A word without expansions. */
export const literal = (value: string): StaticWord => ({ value, start: value, isMany: false, source: value });

/** A completely unknown word. */
export const unknownWord = (source: string): StaticWord => ({ value: undefined, start: '', isMany: true, source });
