import { unknownText } from '../words/field.js';

/** Maximum length of a sed script that is searched for files. */
const maxScript = 20_000;

/** Returns the files that a sed script writes: its command `w`, and the flag of the same name. */
export const sedFiles = (script: string): readonly string[] =>
  [...script.slice(0, maxScript).matchAll(/(?:^|[;\n{}\d$/!])\s?w(?:\s+|(?=\/))([^\s;}]+)/g)].map(
    ([, path = '']) => path,
  );

/** Returns what a sed script runs: its command `e`, and the flag of the same name. */
export const sedLines = (script: string): readonly string[] => [
  ...[...script.matchAll(/(?:^|[;\n{}\d$/!])\s*e\s+([^\n]+)/g)].map(([, line = '']) => line),
  ...[...script.matchAll(/s([|/,#@!])(?:\\.|(?!\1).)*\1((?:\\.|(?!\1).)*)\1[gpiIM\d]*e/g)].map(
    // The rest of the line that is edited belongs to the command.
    ([, delimiter = '/', line = '']) => `${line.replaceAll(`\\${delimiter}`, delimiter)} ${unknownText}`,
  ),
];

/** Returns whether a sed script runs the lines that it reads: the command `e` without a line of its own. */
export const runsLines = (script: string): boolean => /^(?:\d+|\$|\/[^/]*\/)?!?\s*e\s*(?:$|[;\n}])/.test(script);

/** Maximum number of commands of a Tcl script. */
const maxCommands = 100;

/** Returns the programs that Tcl and Expect start: their words are not quoted. */
export const tclLines = (code: string): readonly string[] =>
  [...code.matchAll(/\b(exec|spawn|system|file\s+delete)\s+([^\n;\]]+)/g)]
    .slice(0, maxCommands)
    .map(([, command = '', line = '']) =>
      command.startsWith('file') ? `rm -rf ${line.replace(/^-force\s+(?:--\s+)?/, '')}` : line,
    );
