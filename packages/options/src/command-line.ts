import { nearestName } from './nearest-name.js';

/**
 * Returns what is wrong with a command line in one or two sentences, from an error of `parseArgs` of `node:util`.
 *
 * Every program has the option `--help`, to which an option without a similar name refers.
 *
 * @param options the options that were passed to `parseArgs`
 */
export const commandLineProblem = (error: unknown, options: object): string => {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { readonly code?: unknown };
  if (typeof code !== 'string' || !code.startsWith('ERR_PARSE_ARGS_')) return error.message;
  // The option is quoted, with its short form before it and `<value>` behind it if it needs one.
  const [name] = /--?[^\s',<]+(?=(?: <value>)?')/.exec(error.message) ?? [];
  if (name === undefined) return error.message;
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const meant = name.startsWith('--') ? nearestName(name.slice(2), Object.keys(options)) : undefined;
    return `Unknown option ${name}. ${meant === undefined ? 'See --help.' : `Did you mean --${meant}?`}`;
  }
  if (error.message.includes('does not take')) return `${name} accepts no value.`;
  const isAmbiguous = error.message.includes('ambiguous');
  const written = name.startsWith('--') ? `${name}=VALUE` : `${name}VALUE`;
  return `${name} needs a value.${isAmbiguous ? ` Write one that begins with a dash as ${written}.` : ''}`;
};
