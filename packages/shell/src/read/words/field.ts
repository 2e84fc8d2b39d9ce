/** Represents the parts of a string that are unknown until the line runs. */
export const unknownText = '\u{FFFF}';

/** A word after expansion, as far as it is known before the line runs. */
export interface Field {
  /** The argument, with {@link unknownText} for unknown parts. */
  readonly text: string;
  /** The word as written. */
  readonly shown: string;
  /** Programs whose output is part of it. */
  readonly madeBy: readonly string[];
  /** If it is the output of a command that prints one of several texts, these. */
  readonly alternatives?: readonly string[] | undefined;
}

/** Creates a known word. */
export const known = (text: string): Field => ({ text, shown: text, madeBy: [] });

/** Creates a completely unknown word. */
export const unknownField = (shown: string, madeBy: readonly string[] = []): Field => ({
  text: unknownText,
  shown,
  madeBy,
});

/** Returns whether a string is completely known. */
export const isKnown = (text: string): boolean => !text.includes(unknownText);

/** Returns whether a string is completely unknown. */
export const isWhollyUnknown = (text: string): boolean => text.length > 0 && text.replaceAll(unknownText, '') === '';

/** Formats a word for messages: its value if it is known, otherwise its source. */
export const show = ({ text, shown }: Field): string => (isKnown(text) ? text : shown);

/** Returns the name of a program without its folder. */
export const programName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
