import picocolors from 'picocolors';

/** Functions that colour text; without colour they give it back as it is. */
export type Palette = ReturnType<typeof picocolors.createColors>;

/** What decides whether to colour. */
export interface ColourContext {
  readonly isTerminal: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * The colours of an output: none with `NO_COLOR`, always with `FORCE_COLOR`, else on a terminal that is able to.
 *
 * Both variables count when they are not empty (https://no-color.org); `FORCE_COLOR=0` is no wish for colour.
 */
export const paletteFor = ({ isTerminal, environment }: ColourContext): Palette => {
  const { NO_COLOR: none = '', FORCE_COLOR: forced = '', TERM: terminal } = environment;
  const isForced = forced !== '' && forced !== '0';
  return picocolors.createColors(none === '' && (isForced || (isTerminal && terminal !== 'dumb')));
};
