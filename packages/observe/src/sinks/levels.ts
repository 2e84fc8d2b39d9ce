/** Level by subsystem name; `*` applies to all others. Level names are those of pino. */
export type Levels = Readonly<Record<string, string>>;

/**
 * Parses levels from a string such as `info,loop=debug,compaction=trace`.
 *
 * A level without a name, like that of `*`, applies to all other subsystems. Invalid entries are ignored.
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
