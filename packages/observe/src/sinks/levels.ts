/** The level of each subsystem by its name, `*` for all others. Names of levels are those of pino. */
export type Levels = Readonly<Record<string, string>>;

/**
 * Levels as an environment variable has them: `info,loop=debug,compaction=trace`. A level without a name is that of all
 * others, and so is the one of `*`. What is not understood is left out.
 *
 * @example
 * ```ts
 * parseLevels('warn,loop=debug'); // { '*': 'warn', loop: 'debug' }
 * ```
 */
export const parseLevels = (text: string): Levels => {
  const levels: Record<string, string> = {};
  for (const entry of text.split(',')) {
    const [left = '', right] = entry.split('=', 2).map((part) => part.trim());
    if (right === undefined && left !== '') levels['*'] = left.toLowerCase();
    else if (left !== '' && right !== undefined && right !== '') levels[left] = right.toLowerCase();
  }
  return levels;
};
