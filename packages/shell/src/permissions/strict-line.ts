import type { StaticWord } from './static-word.js';

/** One command of a line: a program or builtin with its arguments. */
export interface StrictCommand {
  readonly name: string;
  readonly args: readonly StaticWord[];
  /** Whether its input certainly has no content, or only that of an `echo` of at most one letter. */
  readonly hasNoInput: boolean;
}

/** The commands and files of a line. */
export interface StrictLine {
  /** The commands, including those behind wrappers: `env nice ls` is three. Functions of the line are omitted. */
  readonly commands: readonly StrictCommand[];
  /** Files that the shell itself writes. */
  readonly writes: readonly string[];
  /** The folders of `cd` and `git -C`; `undefined` for one that is unknown before the line runs. */
  readonly folders: readonly (string | undefined)[];
}

/** A line, or the reason why it is outside the grammar. */
export type StrictReading =
  | { readonly ok: true; readonly line: StrictLine }
  | { readonly ok: false; readonly problem: string };
