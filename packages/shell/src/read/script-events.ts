import type { Output } from './words/expand-word.js';
import type { Field } from './words/field.js';
import type { Redirection } from './invocation.js';
import type { Input } from './words/known-output.js';
import type { FunctionBody, Scope } from './scope.js';

/** Receives the findings of the reader. */
export interface ScriptEvents {
  readonly run: (
    argv: readonly Field[],
    redirections: readonly Redirection[],
    input: Input | undefined,
    scope: Scope,
    depth: number,
  ) => Output;
  readonly define: (name: string, body: FunctionBody, scope: Scope, isBomb: boolean) => void;
  /** A loop without end that starts processes, or appends to a file. */
  readonly exhausts: () => void;
  readonly isTooDeep: (depth: number) => boolean;
  readonly isTooMuch: () => boolean;
  readonly unparsable: (detail: string, text: string) => void;
  /** Data that the shell evaluates: the content of a variable in arithmetic. */
  readonly evaluate: (text: string, scope: Scope, depth: number) => void;
  /** The value of a variable that other programs run. */
  readonly program: (text: string, scope: Scope, depth: number) => void;
}

/** The circumstances in which a part of a script runs. */
export interface Place {
  readonly scope: Scope;
  readonly depth: number;
  readonly input: Input | undefined;
  /** Whether the command certainly runs. */
  readonly isCertain: boolean;
  /** Whether it may run several times: in a loop, a function or a text. */
  readonly isRepeated: boolean;
}
