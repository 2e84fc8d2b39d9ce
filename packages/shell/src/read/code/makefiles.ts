import type { Field } from '../words/field.js';
import { ofInput, type Inner } from '../commands/inner.js';
import type { Input } from '../words/known-output.js';

/** A makefile from the input: its recipes. */
export const ofMakefile = (args: readonly Field[], input: Input | undefined): readonly Inner[] => {
  const words = args.map(({ text }) => text);
  const isRead = words.some(
    (word, index) =>
      /^(?:-f|--file=|--makefile=)./.test(word) ||
      (/^(?:-f|--file|--makefile)$/.test(word) && words[index + 1] !== undefined),
  );
  const evaluated = words.flatMap((word, index) =>
    /^(?:-E|--eval)$/.test(word) ? (words[index + 1] ?? '') : (/^(?:-E|--eval=)(.+)$/s.exec(word)?.[1] ?? []),
  );
  // `make SHELL=…`, and other variables with which recipes start programs.
  const variables: Inner[] = args.flatMap(({ text }): readonly Inner[] => {
    const [, value] = /^[A-Za-z_]\w*=((?!\$)\S+\s.+)$/s.exec(text) ?? [];
    return value === undefined ? [] : [{ kind: 'line', text: value, isGuess: true }];
  });
  for (const text of [...words, input?.text ?? '']) {
    for (const [, line = ''] of text.matchAll(/\$\(shell ([^()]{1,400})\)/g)) {
      variables.push({ kind: 'line', text: line, isGuess: true });
    }
  }
  const text = [...evaluated, ...(isRead && input?.text !== undefined ? [input.text] : [])].join('\n');
  const unread = isRead && input?.text === undefined ? ofInput(input) : [];
  const recipes = text
    .split('\n')
    .filter((line) => line.startsWith('\t') || /^[\w.-]+:.*;/.test(line))
    .map((line): Inner => ({ kind: 'line', text: line.replace(/^\t[@+-]*|^[\w.-]+:[^;]*;/, ''), isGuess: true }));
  return [...variables, ...unread, ...recipes];
};
