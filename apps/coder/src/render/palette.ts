import picocolors from 'picocolors';

/** Functions that color text, or return it unchanged if colors are off. */
export type Palette = ReturnType<typeof picocolors.createColors>;

/** Inputs of the decision whether to use colors. */
export interface ColorContext {
  readonly isTerminal: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Returns the palette of an output: no colors with `NO_COLOR`, colors with `FORCE_COLOR`, else colors on a capable
 * terminal.
 *
 * Empty variables are ignored (https://no-color.org), and so is `FORCE_COLOR=0`.
 */
export const paletteFor = ({ isTerminal, environment }: ColorContext): Palette => {
  const { NO_COLOR: none = '', FORCE_COLOR: forced = '', TERM: terminal } = environment;
  const isForced = forced !== '' && forced !== '0';
  return picocolors.createColors(none === '' && (isForced || (isTerminal && terminal !== 'dumb')));
};
