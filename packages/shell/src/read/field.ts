/** Stands in a text for what only the running shell knows. */
export const unknownText = '\u{FFFF}';

/** A word of a command after the shell has expanded it, as far as that can be told beforehand. */
export interface Field {
  /** What the command gets, with {@link unknownText} in place of what is not known. */
  readonly text: string;
  /** How it stands in the line. */
  readonly shown: string;
  /** Programs whose output is part of it. */
  readonly madeBy: readonly string[];
}

/** A word that says what it means. */
export const known = (text: string): Field => ({ text, shown: text, madeBy: [] });

/** A word of which nothing is known. */
export const unknownField = (shown: string, madeBy: readonly string[] = []): Field => ({
  text: unknownText,
  shown,
  madeBy,
});

/** Whether all of a text is known. */
export const isKnown = (text: string): boolean => !text.includes(unknownText);

/** Whether nothing of a text is known. */
export const isWhollyUnknown = (text: string): boolean => text.length > 0 && text.replaceAll(unknownText, '') === '';

/** How people read a word: as it is if it is known, else as it stands in the line. */
export const show = ({ text, shown }: Field): string => (isKnown(text) ? text : shown);

/** The name of a program without its folder. */
export const programName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
