import { isKnown, unknownText, type Field } from '../words/field.js';
import type { Input } from '../words/known-output.js';
import { arrayOf, lookUp, rememberSecret, setArray, setVariable, type Scope } from '../scope.js';

/** The builtins that set variables from their input, with their options that have a value. */
const valueOptions: Readonly<Record<string, string>> = {
  read: 'adinNptu',
  mapfile: 'CcdnOsu',
  readarray: 'CcdnOsu',
};

/** Returns whether a command sets variables from its input. */
export const readsVariables = (name: string): boolean => Object.hasOwn(valueOptions, name);

/** Sets the variables of `read` and `mapfile` from their input; they are unknown if it is. */
export const readVariables = (name: string, args: readonly Field[], input: Input | undefined, scope: Scope): void => {
  const { options, operands } = optionsOf(args, valueOptions[name] ?? '');
  const descriptor = options.get('u');
  const text = descriptor === undefined ? input?.text : scope.files.get(`/dev/fd/${descriptor}`);
  const delimiter = options.get('d');
  const array = name === 'read' ? options.get('a') : (operands[0] ?? 'MAPFILE');
  const names = array === undefined ? (operands.length === 0 ? ['REPLY'] : operands) : [array];
  if (text === undefined) {
    for (const variable of names) setVariable(scope, variable, input?.paths?.[0] ?? unknownText);
  } else if (name !== 'read') {
    if (['n', 'O', 's'].some((letter) => options.has(letter))) {
      scope.variables.set(names[0] ?? '', [unknownText]);
      return;
    }
    const lines = text.split(delimiter ?? '\n');
    setArray(scope, names[0] ?? '', arrayOf(lines.at(-1) === '' ? lines.slice(0, -1) : lines));
  } else {
    const [first = '', ...others] = delimiter === '' ? [text] : text.split(delimiter ?? '\n', 3);
    // Of several lines, an earlier command may have read the first one.
    const line = others.some((other) => other !== '') ? unknownText : first;
    const separators = lookUp(scope, 'variables', 'IFS')?.[0] ?? ' \t\n';
    if (array !== undefined) setArray(scope, array, arrayOf(splitWords(line, separators, maxWords)));
    else {
      const words = splitWords(line, separators, names.length);
      // An unknown part may contain a separator.
      const isCertain = names.length === 1 || isKnown(line);
      for (const [index, variable] of names.entries()) {
        setVariable(scope, variable, isCertain ? (words[index] ?? '') : unknownText);
      }
    }
  }
  for (const variable of array === undefined ? names : [array]) {
    rememberSecret(scope, variable, input?.programs ?? []);
  }
};

/** Maximum number of words of one line. */
const maxWords = 64;

const optionsOf = (
  args: readonly Field[],
  withValue: string,
): { readonly options: ReadonlyMap<string, string>; readonly operands: readonly string[] } => {
  const options = new Map<string, string>();
  const words = args.map(({ text }) => text);
  let index = 0;
  for (; /^-./.test(words[index] ?? '') && words[index] !== '--'; index += 1) {
    const word = words[index] ?? '';
    for (let at = 1; at < word.length; at += 1) {
      const letter = word.charAt(at);
      if (!withValue.includes(letter)) continue;
      const isLast = at === word.length - 1;
      options.set(letter, isLast ? (words[index + 1] ?? '') : word.slice(at + 1));
      if (isLast) index += 1;
      break;
    }
  }
  return { options, operands: words.slice(words[index] === '--' ? index + 1 : index) };
};

/** Splits a line into a number of words; the last one is the rest. */
const splitWords = (line: string, separators: string, count: number): readonly string[] => {
  const isBlank = (character: string): boolean => /[ \t\n]/.test(character) && separators.includes(character);
  const words: string[] = [];
  let end = line.length;
  while (end > 0 && isBlank(line.charAt(end - 1))) end -= 1;
  let start = 0;
  const skip = (): void => {
    while (start < end && isBlank(line.charAt(start))) start += 1;
  };
  skip();
  while (start < end && words.length < count - 1) {
    let at = start;
    while (at < end && !separators.includes(line.charAt(at))) at += 1;
    words.push(line.slice(start, at));
    start = at;
    skip();
    if (start < end && start === at) start += 1;
    skip();
  }
  if (start < end) words.push(line.slice(start, end));
  return words;
};
