import { placesOf } from './code-paths.js';
import { unknownText } from '../words/field.js';

/** Maximum number of strings that are examined. */
export const maxTexts = 100;

/** Returns the first group of each match that is not empty, without escapes. */
export const matchesOf = (pattern: RegExp, code: string): string[] =>
  [...code.matchAll(pattern)]
    .slice(0, maxTexts)
    .map(([, ...parts]) => (parts.find((part) => part !== undefined) ?? '').replaceAll(/\\(["\\])/g, '$1'));

/** Strings of Perl and Ruby between brackets. */
const bracketed = /(?:%x|\bq[qwx]?)\s?[([{<]([^)\]}>\n]{1,400})/g;

/** Returns the strings in code, up to a limit. */
export const textsOf = (whole: string): readonly string[] => {
  const code = whole.replaceAll(bracketed, '');
  const texts = placesOf(code).map(({ value, start, end }) => {
    // Text that is concatenated to a string is unknown until the code runs.
    const isContinued = /\s$/.test(value) && /^\s*(?:[+.%]|\$|[A-Za-z_])/.test(code.slice(end, end + 20));
    const text = /[fF]/.test(code.charAt(start - 1)) ? value.replaceAll(/\{([^{}]*)\}/g, inserted) : value;
    return isContinued ? `${text}${unknownText}` : text;
  });
  return [...matchesOf(bracketed, whole), ...texts].slice(0, maxTexts);
};

/** What an expression in an f-string inserts. */
const inserted = (_: string, expression: string): string =>
  /^\s*["']([^"']*)["']\s*$/.exec(expression)?.[1] ?? unknownText;

/**
 * Returns lists of strings, as programs and their arguments are passed: `["rm", "-rf", "/"]`, and `'rm', ['-rf', '/']`,
 * which R writes as `c("-rf", "/")`.
 */
export const listsOf = (code: string): readonly string[] =>
  code
    .replaceAll(/\bc\(/g, '[')
    .split(/[()]|\bqw\b/, maxTexts)
    .map((part) => textsOf(part.split(callOptions, 1)[0] ?? ''))
    .map((texts) => {
      // The first is a program, not a line.
      const at = texts.findIndex((text) => !/\s/.test(text));
      const list = at === -1 ? [] : texts.slice(at);
      // The functions named `exec` take the name of the program twice.
      return list[0]?.endsWith(`/${list[1]}`) === true ? list.toSpliced(1, 1) : list;
    })
    .filter((texts) => texts.length > 1 || (texts[0]?.startsWith('/') === true && texts[0].endsWith('sh')))
    .map((texts) => texts.join(' '));

/** A word in a list of strings: it is a program with arguments, or an argument. */
export const listedWord =
  /(["'])[^\s"'`\\]{1,200}\1(?=\s?,\s?\[?\s?f?["'`])|(?<=["']\s?,\s?\[?\s?)(["'])[^\s"'`\\]{1,200}\2/g;

/** Options behind the arguments of a call: `, { cwd: "x" }` and `, cwd="x"`. */
const callOptions = /,\s?(?:\{(?!\s?args)|\w{1,40}\s?=(?!=))/;
