/** The name of an MCP server and its command or URL. */
export type ServerAddress =
  | { readonly name: string | undefined; readonly url: string }
  | { readonly name: string | undefined; readonly words: readonly [string, ...string[]] };

/**
 * Parses the value of `--mcp`: a command with arguments or a URL, optionally after a name (`files=npx …`). Quotes and
 * backslashes group words as in a shell; no other shell syntax is supported.
 *
 * @returns `undefined` if the command is empty or a quote is not closed
 */
export const serverAddress = (text: string): ServerAddress | undefined => {
  const [, name, rest = ''] = /^(?:([A-Za-z0-9][\w-]*)=)?([^]*)$/.exec(text.trim()) ?? [];
  if (/^https?:\/\//.test(rest)) return { name, url: rest };
  const [first, ...more] = wordsOf(rest) ?? [];
  return first === undefined ? undefined : { name, words: [first, ...more] };
};

/** Splits a command line into words; `undefined` if a quote is not closed. */
export const wordsOf = (text: string): readonly string[] | undefined => {
  const words: string[] = [];
  const pattern = /(?:[^\s'"\\]|'[^']*'|"(?:[^"\\]|\\[^])*"|\\[^])+|\s+|([^])/gy;
  for (const [piece, rest] of text.matchAll(pattern)) {
    if (rest !== undefined) return undefined;
    if (piece.trim() !== '') words.push(unquoted(piece));
  }
  return words;
};

const unquoted = (word: string): string =>
  word.replaceAll(
    /'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])/g,
    (_, single?: string, double?: string, escaped?: string) =>
      single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? escaped ?? '',
  );

/** Launchers: the name of the program that they start is more specific. */
const runners: readonly string[] = [
  'npx',
  'pnpm',
  'yarn',
  'bunx',
  'uvx',
  'uv',
  'node',
  'python',
  'python3',
  'docker',
  'dlx',
  'exec',
  'run',
  'tool',
];

/** Derives the name of a server from its program or package, without common affixes such as `mcp-server-`. */
export const serverName = (words: readonly string[]): string => {
  const telling =
    words.find(
      (word, index) => !word.startsWith('-') && (index === words.length - 1 || !runners.includes(baseOf(word))),
    ) ?? 'server';
  const names = partsOf(telling)
    .map(plainName)
    .filter((name) => name !== '');
  return (names.findLast((name) => !generic.includes(name)) ?? 'server').slice(0, maxNameLength);
};

const maxNameLength = 20;

/** Generic names of files and folders. */
const generic: readonly string[] = ['index', 'main', 'cli', 'server', 'dist', 'build', 'lib', 'bin', 'src'];

const plainName = (part: string): string =>
  part
    .replace(/(?<=.)@.*$/, '')
    .replace(/\.[a-z]+$/, '')
    .replaceAll(/^(?:mcp-server-|server-|mcp-)|(?:-mcp-server|-mcp|-server)$/g, '')
    .replaceAll(/[^A-Za-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');

const partsOf = (word: string): readonly string[] => word.split(/[\\/]/).filter((part) => part !== '');

const baseOf = (word: string): string => partsOf(word).at(-1) ?? '';
