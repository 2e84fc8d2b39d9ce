/** A word of a command as far as it is certain before the shell expands it. */
export interface StaticWord {
  /** The exact argument; `undefined` if only the running shell knows it. */
  readonly value: string | undefined;
  /** What the argument begins with: its known prefix, {@link noDash}, or `''` if it may begin with anything. */
  readonly start: string;
  /** Whether it may become no argument, or more than one. */
  readonly isMany: boolean;
  /** The word as written. */
  readonly source: string;
}

/** The `start` of a word of which only one thing is known: it does not begin with a dash. */
export const noDash = '\u{FFFF}';

/** A word without anything to expand. */
export const literal = (value: string): StaticWord => ({ value, start: value, isMany: false, source: value });

/** A word of which nothing is known. */
export const unknownWord = (source: string): StaticWord => ({ value: undefined, start: '', isMany: true, source });
