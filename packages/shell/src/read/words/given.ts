import type { Word } from 'unbash';
import { isKnown, type Field } from './field.js';
import type { Input } from './known-output.js';
import { lookUp, type FunctionBody, type Scope } from '../scope.js';

/** Returns whether the unknown parts of a word are variables of the environment or arguments of the script. */
export const isGiven = ({ parts = [] }: Pick<Word, 'parts'>, scope: Scope): boolean =>
  parts.every((part) => {
    switch (part.type) {
      case 'Literal':
      case 'SingleQuoted':
        return true;
      case 'DoubleQuoted':
        return isGiven(part, scope);
      case 'SimpleExpansion':
        return isGivenVariable(part.text.slice(1), scope);
      case 'ParameterExpansion':
        return (
          part.prefix === undefined &&
          part.index === undefined &&
          isGivenVariable(part.parameter, scope) &&
          (part.operation === undefined ||
            (part.operation.type === 'Default' && /^:?\?$/.test(part.operation.operator)))
        );
      default:
        return false;
    }
  });

const isGivenVariable = (name: string, scope: Scope): boolean => {
  if (/^[@*1-9]$/.test(name)) return scope.positional === undefined;
  if (!/^[A-Za-z_]\w*$/.test(name)) return false;
  const values = lookUp(scope, 'variables', name);
  return values === undefined || values.isGiven === true || values.every(isKnown);
};

/**
 * Returns the program that a variable of the environment or an argument most likely names: `$PYTHON_BIN` is python. If
 * the name says nothing, it is any program, and a shell if it gets code.
 */
export const likelyProgram = (shown: string, args: readonly Field[], input: Input | undefined): string => {
  const [, name] = /^"?\$\{?([A-Z][A-Z\d_]*)\}?"?$/.exec(shown) ?? [];
  const program = name?.replace(/_(?:BIN|CMD|COMMAND|EXE|PATH|PROG|PROGRAM)$/, '').toLowerCase();
  if (program !== undefined) return program === 'shell' ? 'sh' : program;
  return input !== undefined || args[0]?.text === '-c' ? 'sh' : 'program';
};

/** Returns the functions that an unknown name such as `cmd_$1` may call: those with the same beginning. */
export const functionsOf = (name: string, scope: Scope): readonly FunctionBody[] => {
  const [prefix] = /^[A-Za-z]\w*_(?=\u{FFFF})/u.exec(name) ?? [];
  const found: FunctionBody[] = [];
  if (prefix === undefined) return found;
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent) {
    for (const [known, body] of at.functions) if (known.startsWith(prefix)) found.push(body);
  }
  return found;
};
