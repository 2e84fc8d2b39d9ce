/** Replaces, within a text, what is only known at run time. */
export const unknownText = '\u{FFFF}';

/** A word of a command after expansion, as far as it is known before the line runs. */
export interface Field {
  /** The argument, with {@link unknownText} in place of what is unknown. */
  readonly text: string;
  /** The word as written. */
  readonly shown: string;
  /** Programs whose output is part of it. */
  readonly madeBy: readonly string[];
}

/** A word that is known exactly. */
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

/** The form of a word in messages: its text if that is known, else the word as written. */
export const show = ({ text, shown }: Field): string => (isKnown(text) ? text : shown);

/** The name of a program without its folder. */
export const programName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
