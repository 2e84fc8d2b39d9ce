import { known, type Field } from './field.js';

const actions: ReadonlySet<string> = new Set(['-exec', '-execdir', '-ok', '-okdir']);

/** Tests that leave most files alone. A type or a depth does not. */
const narrowing =
  /^-(?:i?name|i?path|i?wholename|i?regex|empty|newer\w*|[acm](?:time|min)|size|perm|user|group|inum|links|samefile|lname)$/;

/** What `find` does: the patterns of the paths that it finds, and the commands that it runs on them. */
export interface FindCommand {
  readonly paths: readonly string[];
  readonly commands: readonly (readonly Field[])[];
}

/** Takes the arguments of `find` apart. */
export const readFind = (args: readonly Field[]): FindCommand => {
  const start = args.findIndex(
    ({ text }, index) => /^[-(!]/.test(text) && !/^-[HLPOD]/.test(text) && args[index] !== undefined,
  );
  const bases = args.slice(0, start === -1 ? args.length : start).filter(({ text }) => !/^-[HLPOD]/.test(text));
  const tests = start === -1 ? [] : args.slice(start);
  const paths = (bases.length === 0 ? [known('.')] : bases).map(({ text }) => patternBelow(text, tests));
  const commands: (readonly Field[])[] = [];
  for (let index = 0; index < tests.length; index += 1) {
    const test = tests[index]?.text ?? '';
    if (test === '-delete') commands.push([known('rm'), known('-rf'), ...paths.map(known)]);
    if (!actions.has(test)) continue;
    const first = index + 1;
    while (index < tests.length && !/^[;+]$/.test(tests[index]?.text ?? '')) index += 1;
    commands.push(tests.slice(first, index).flatMap((field) => onPaths(field, paths)));
  }
  return { paths, commands };
};

const onPaths = (field: Field, paths: readonly string[]): readonly Field[] =>
  field.text.includes('{}')
    ? paths.slice(0, 8).map((path) => ({ ...field, text: field.text.replaceAll('{}', () => path) }))
    : [field];

/** The folder itself where nothing narrows the search down, else what it may find in it. */
const patternBelow = (base: string, tests: readonly Field[]): string => {
  const isNarrow = tests.some(
    ({ text }, index) =>
      narrowing.test(text) &&
      tests[index - 1]?.text !== '!' &&
      tests[index - 1]?.text !== '-not' &&
      tests[index + 1]?.text !== '*',
  );
  return isNarrow ? `${base.replace(/\/+$/, '') || '/'}/**/found` : base;
};
