import { isKnown, isWhollyUnknown, known, type Field } from '../words/field.js';
import type { Input } from '../words/known-output.js';
import { isDownload, textOfFile } from '../files/line-files.js';
import type { Scope } from '../scope.js';
import { secretVariableMark } from '../files/secrets.js';
import { downloaders, generators } from '../files/sources.js';

/** A reason why a command cannot be judged, or must not run. */
export type ShellProblem =
  | 'unparsable'
  | 'too-complex'
  | 'unknown-program'
  | 'unknown-text'
  | 'runs-download'
  | 'opens-shell'
  | 'fork-bomb';

/** What a command runs besides itself. */
export type Inner =
  | {
      readonly kind: 'command';
      readonly argv: readonly Field[];
      /** The folder in which it runs, if different. */
      readonly folder?: string | undefined;
      /** Variables that are set for it. */
      readonly variables?: ReadonlyMap<string, string> | undefined;
      /** Words that may be a command. */
      readonly isGuess?: boolean | undefined;
      /** Whether it runs on another machine. */
      readonly isElsewhere?: boolean | undefined;
      /** Its input, if it is not that of the command. */
      readonly input?: Input | undefined;
    }
  | {
      readonly kind: 'line';
      readonly text: string;
      /** Whether its assignments persist. */
      readonly isSameShell?: boolean | undefined;
      /** Whether it runs on another machine. */
      readonly isElsewhere?: boolean | undefined;
      readonly positional?: readonly string[] | undefined;
      /** The value of `$0`. */
      readonly name?: string | undefined;
      /** Text that may be a shell line. */
      readonly isGuess?: boolean | undefined;
      /** Text that certainly runs, but that its program may read differently than a shell. */
      readonly mayBeInvalid?: boolean | undefined;
      /** Whether it runs when the shell ends. */
      readonly isAtEnd?: boolean | undefined;
      /** The input of its commands, if it is not that of the command. */
      readonly input?: Input | undefined;
    }
  | { readonly kind: 'problem'; readonly problem: ShellProblem };

/** The input of commands after a program has read it: nothing is known of the rest. */
export const spentInput: Input = { text: undefined, programs: [] };

/** The input of a program whose source is unknown: a file, or the terminal. */
export const unknownInput: Input = { text: undefined, programs: ['?'] };

/** Returns a command as one of another machine. */
export const elsewhere = (inner: Inner): Inner => (inner.kind === 'problem' ? inner : { ...inner, isElsewhere: true });

/** Returns a command as one of this machine. */
export const here = (inner: Inner): Inner => (inner.kind === 'problem' ? inner : { ...inner, isElsewhere: false });

/** Text that a shell runs. */
export const ofText = (field: Field, how: Partial<Extract<Inner, { kind: 'line' }>>): readonly Inner[] => {
  if (!isWhollyUnknown(field.text)) return [{ ...how, kind: 'line', text: field.text }];
  if (field.madeBy.some((name) => downloaders.has(name))) return [{ kind: 'problem', problem: 'runs-download' }];
  return field.madeBy.length > 0 && field.madeBy.every((name) => generators.has(name))
    ? []
    : [{ kind: 'problem', problem: 'unknown-text' }];
};

/** The input of a shell. */
export const ofInput = (input: Input | undefined, positional?: readonly string[]): readonly Inner[] => {
  if (input === undefined) return [];
  if (input.text !== undefined && isKnown(input.text)) {
    return [{ kind: 'line', text: input.text, positional, input: spentInput }];
  }
  if (input.programs.some((name) => downloaders.has(name))) return [{ kind: 'problem', problem: 'runs-download' }];
  if (input.text !== undefined && !isWhollyUnknown(input.text)) {
    return [{ kind: 'line', text: input.text, positional, input: spentInput }];
  }
  return input.programs.length === 0 ? [] : [{ kind: 'problem', problem: 'unknown-text' }];
};

/** Scripts in files are not read, unless the line itself wrote or downloaded them. */
export const ofScript = (
  field: Field | undefined,
  scope: Scope,
  isSameShell: boolean,
  input?: Input,
  positional?: readonly string[],
): readonly Inner[] => {
  if (field === undefined) return [];
  if (field.text === '/dev/stdin') return ofInput(input);
  if (field.madeBy.some((name) => !name.startsWith(secretVariableMark)) && isWhollyUnknown(field.text)) {
    return ofText(field, { isSameShell });
  }
  return ofPath(field.text, scope).map((inner) =>
    inner.kind === 'line' ? { ...inner, isSameShell, positional } : inner,
  );
};

/** A script that the line itself wrote or downloaded. */
export const ofPath = (path: string, scope: Scope): readonly Inner[] => {
  const text = textOfFile(scope, path);
  if (isDownload(path, scope)) return [{ kind: 'problem', problem: 'runs-download' }];
  return text === undefined ? [] : [{ kind: 'line', text, name: path }];
};

/** Shell lines that are values of options. */
export const ofOption = (args: readonly Field[], options: readonly string[]): readonly Inner[] =>
  args.flatMap(({ text }, index) => {
    const value = args[index + 1];
    if (options.includes(text) && value !== undefined) return ofText(value, {});
    const option = options.find((name) =>
      name.startsWith('--')
        ? text.startsWith(`${name}=`)
        : name.length === 2 && text.startsWith(name) && text.length > 2,
    );
    if (option === undefined) return [];
    return ofText(known(text.slice(option.length + (option.startsWith('--') ? 1 : 0))), { isGuess: true });
  });
