import { placesOf, textAt } from './code-paths.js';

/** Maximum number of names that are replaced. */
const maxNames = 20;

/** Statements that import under other names: `import shutil as s`, `from os import system as run`. */
const imports = /\bimport\b[^;\n]{1,300}/g;
const renamed = /\b([A-Za-z_]\w*(?:\.\w+)*)\s+as\s+(\w{1,60})\b/g;
/** `const { rmSync: gone } = require("fs")`. */
const destructured = /\{([^{}]{1,300})\}\s?=\s?(?:await\s)?(?:require|import)\s?\(/g;
const renamedMember = /\b(\w{1,60})\s?:\s?(\w{1,60})\b/g;
/** `put = shutil.move` */
const assignedFunction =
  /(?:^|[;\n])[ \t]{0,20}(?:(?:const|let|var|local)\s)?(\w{1,60})\s?=\s?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)[ \t]{0,9}(?=[;\n]|$)/g;

/** A name at the start of a statement, before the string that is assigned to it. */
const assigned =
  /(?:^|[;\n{])[ \t]{0,20}(?:(?:const|let|var|my|our|local|final|val|def|auto|String)\s)?(\$?[A-Za-z_]\w{0,60})[ \t]?:?=[ \t]?(?=["'`])/g;

/** Returns the names that functions, modules and strings have in code, with what they stand for. */
const namesIn = (code: string): ReadonlyMap<string, string> => {
  const names = new Map<string, string>();
  for (const [statement] of code.matchAll(imports)) {
    for (const [, whole = '', name = ''] of statement.matchAll(renamed)) names.set(name, whole);
  }
  for (const [, members = ''] of code.matchAll(destructured)) {
    for (const [, whole = '', name = ''] of members.matchAll(renamedMember)) names.set(name, whole);
  }
  for (const [, name = '', whole = ''] of code.matchAll(assignedFunction)) names.set(name, whole);
  for (const { index, 0: start, 1: name = '' } of code.matchAll(assigned)) {
    const text = textAt(code, index + start.length);
    const isWhole = text !== undefined && /^[ \t]{0,9}(?:[;\n}]|$)/.test(code.slice(text.end, text.end + 10));
    // A second value makes the name unknown; a string with another variable is unknown, too.
    if (!isWhole || names.has(name) || /[${}\n]/.test(text.value)) names.set(name, '');
    else names.set(name, code.slice(text.start, text.end));
  }
  return new Map([...names].filter(([, whole]) => whole !== '').slice(0, maxNames));
};

/** An assignment; a member of an object is another name. */
const assignment = /(?<![\w.$])(\$?[A-Za-z_]\w{0,60})\s?(?:[-+*/.|&?]{1,2}|:)?=(?![=>~])/g;

/** Returns the names to which code assigns more than once. */
const reassignedIn = (code: string): ReadonlySet<string> => {
  const seen = new Set<string>();
  const reassigned = new Set<string>();
  for (const [, name = ''] of code.matchAll(assignment)) (seen.has(name) ? reassigned : seen).add(name);
  return reassigned;
};

/** Replaces other names of functions and modules, and of strings that are assigned once, by what they stand for. */
export const withPlainNames = (code: string): string => {
  const all = namesIn(code);
  if (all.size === 0) return code;
  const reassigned = reassignedIn(code);
  const names = new Map([...all].filter(([name]) => !reassigned.has(name)));
  if (names.size === 0) return code;
  const any = [...names.keys()].map((name) => name.replace('$', String.raw`\$`)).join('|');
  // Neither a member of an object nor the name of an argument.
  const uses = new RegExp(String.raw`(?<![\w.$:>])(?:${any})(?![\w$]|\s?:?=(?!=)|\s?:(?!:))`, 'g');
  const replace = (part: string): string => part.replaceAll(uses, (name) => names.get(name) ?? name);
  let end = 0;
  let plain = '';
  for (const text of placesOf(code)) {
    plain += replace(code.slice(end, text.start)) + code.slice(text.start, text.end);
    end = text.end;
  }
  return plain + replace(code.slice(end));
};
