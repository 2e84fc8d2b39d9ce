import type { Command } from 'unbash';
import { lookUp, type Scope } from '../scope.js';

/** Builtins that change the shell, and programs that make files: their second run would hide the first. */
const changesState =
  /^(?:export|declare|local|readonly|typeset|alias|set|shift|read|mapfile|readarray|eval|source|\.|trap|cd|pushd|popd|unset|printf|exec|tee|cp|mv|ln|install)$/;

/** Returns the variables of a command that have several possible values. */
export const alternativesIn = (node: Command, scope: Scope): readonly string[] => {
  const program = node.name?.value ?? '';
  if (changesState.test(program) || lookUp(scope, 'functions', program) !== undefined) return [];
  const words = [node.name, ...node.args, ...node.prefix.filter((part) => part.type === 'Assignment')];
  const names = words.flatMap((word) =>
    word?.text.includes('$') === true
      ? Array.from(word.text.matchAll(/\$\{?([A-Za-z_]\w*)/g), ([, name = '']) => name)
      : [],
  );
  const found = [...new Set(names)].filter((name) => lookUp(scope, 'variables', name)?.alternatives !== undefined);
  const isPlain = node.redirects.every(
    (part) =>
      part.type === 'Redirect' && (part.operator === '<' || /^(?:\d|\/dev\/null)$/.test(part.target?.value ?? '')),
  );
  const values = found.flatMap((name) => lookUp(scope, 'variables', name)?.alternatives ?? []);
  const printsText = [program, ...values.map(([first = '']) => first)].some((text) => printers.test(text));
  return isPlain || !printsText ? found : [];
};

/** Programs with known output: what the last of several runs writes to a file would hide what the others write. */
const printers = /^(?:\S*\/)?(?:echo|printf|cat|tee)(?:\s|$)/;
