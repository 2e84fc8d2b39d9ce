import { forEachChild, type ArithmeticExpression, type SyntaxNode, type Word, type WordPart } from 'unbash';
import { refuse } from './refusal.js';
import { literal, noDash, type StaticWord } from './static-word.js';
import type { Variables } from './variables.js';

/** Reads the scripts inside words. Returns whether a word of the output can start with a dash, and whether it has many. */
export type ReadScript = (script: SyntaxNode) => { readonly mayBeOption: boolean; readonly isMany: boolean };

/** A word that starts with a tilde: a path, and no option. */
const homePath = { value: undefined, start: '/', isMany: false };

/** Parameters that always contain a number. */
const numeric = /^\$[#?$!]$/;

/**
 * Evaluates a word. Refuses every expansion that runs code which does not appear in the line: indirect and transformed
 * parameters, and subscripts and arithmetic over variables whose value is not a known number.
 */
export const staticWord = (word: Word, variables: Variables, read: ReadScript): StaticWord => {
  const isHome = word.text.startsWith('~');
  if (word.parts === undefined) {
    return { ...(isHome ? homePath : literal(word.value)), source: word.text };
  }
  const evaluated = new WordReader(variables, read).word(word.parts, word.text);
  return isHome ? { ...evaluated, ...homePath, isMany: evaluated.isMany } : evaluated;
};

/** Checks the expansions of a here-document. */
export const checkParts = (parts: readonly WordPart[], variables: Variables, read: ReadScript): void => {
  const reader = new WordReader(variables, read);
  for (const part of parts) {
    // Quotes in a here-document quote nothing: in `${x:-'$(touch y)'}`, the command runs.
    if (part.type === 'ParameterExpansion' && /'/.test(part.text) && /[$`]/.test(part.text.slice(1))) {
      refuse(`an expansion between quotes in a here-document, ${part.text}`);
    }
    reader.part(part, true);
  }
};

/** Refuses arithmetic that could evaluate the content of a variable as code. */
export const checkArithmetic = (node: ArithmeticExpression | undefined, variables: Variables): void => {
  if (node === undefined) return refuse('arithmetic that cannot be read');
  for (const word of arithmeticWords(node)) {
    if (/^(?:\d[\w#]*|0[xX][\da-fA-F]+)$/.test(word)) continue;
    const name = word.replace(/^\$\{?#?|\}$/g, '');
    if (word.startsWith('${#') && /^[A-Za-z_]\w*$/.test(name)) continue;
    if (numeric.test(word) || variables.isNumber(name)) continue;
    refuse(`arithmetic that may evaluate the value of ${word} as code`);
  }
};

const arithmeticWords = (node: SyntaxNode): readonly string[] => {
  if (node.type === 'ArithmeticWord') return [node.value];
  if (node.type === 'ArithmeticCommandExpansion') refuse('a command within arithmetic');
  const words: string[] = [];
  forEachChild(node, (child) => {
    words.push(...arithmeticWords(child));
  });
  return words;
};

/** A part of a word after its expansion. */
interface Piece {
  readonly value: string | undefined;
  readonly start: string;
  readonly isMany: boolean;
  /** Whether it may be split; the preceding part is then only the start of the first word. */
  readonly isSplit?: boolean;
}

const unknownPiece = (isMany: boolean): Piece => ({ value: undefined, start: '', isMany, isSplit: isMany });

class WordReader {
  readonly #variables: Variables;
  readonly #read: ReadScript;

  constructor(variables: Variables, read: ReadScript) {
    this.#variables = variables;
    this.#read = read;
  }

  word(parts: readonly WordPart[], source: string): StaticWord {
    const { value, start, isMany } = join(parts.map((part) => this.part(part, false)));
    return { value, start, isMany, source };
  }

  part(part: WordPart, isQuoted: boolean): Piece {
    switch (part.type) {
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        return known(part.value);
      case 'DoubleQuoted':
        return join(part.parts.map((child) => this.part(child, true)));
      case 'SimpleExpansion':
        return this.#parameter(part.text.slice(1), part.text, isQuoted);
      case 'ParameterExpansion':
        return this.#expansion(part, isQuoted);
      case 'CommandExpansion': {
        if (part.script === undefined) return refuse('a command substitution that cannot be read');
        const { mayBeOption, isMany } = this.#read(part.script);
        return mayBeOption ? unknownPiece(!isQuoted) : { value: undefined, start: noDash, isMany: isMany && !isQuoted };
      }
      case 'ProcessSubstitution':
        if (part.script === undefined || part.operator === '>') {
          return refuse('a process substitution that takes output');
        }
        this.#read(part.script);
        return { value: undefined, start: '/dev/fd/', isMany: false };
      case 'ArithmeticExpansion':
        checkArithmetic(part.expression, this.#variables);
        return { value: undefined, start: noDash, isMany: false };
      case 'Glob':
      case 'ExtendedGlob':
      case 'BraceExpansion':
        if (/[$`]|<\(/.test(part.text)) refuse('an expansion within a pattern');
        return { value: undefined, start: '', isMany: true };
      default:
        return refuse(`an expansion that cannot be checked, ${part.text}`);
    }
  }

  #parameter(name: string, text: string, isQuoted: boolean): Piece {
    if (numeric.test(text)) return { value: undefined, start: noDash, isMany: false };
    return this.#variables.valueOf(name, isQuoted, (word) => staticWord(word, this.#variables, this.#read));
  }

  #expansion(part: Extract<WordPart, { type: 'ParameterExpansion' }>, isQuoted: boolean): Piece {
    const { parameter, prefix, index, operation, text } = part;
    const isList = index?.text === '@' || index?.text === '*';
    if (prefix === '!' && !isList && operation?.type !== 'Names') refuse(`the indirect expansion ${text}`);
    if (index !== undefined && !isList && !/^\d+$/.test(index.text) && !this.#variables.isNumber(index.text)) {
      refuse(`the subscript in ${text}, which is evaluated as arithmetic`);
    }
    if (prefix === '#') return { value: undefined, start: noDash, isMany: false };
    if (operation === undefined && prefix === undefined && index === undefined) {
      return this.#parameter(parameter, `$${parameter}`, isQuoted);
    }
    const isMany = !isQuoted || isList || parameter === '@';
    switch (operation?.type) {
      case undefined:
      case 'Names':
        return unknownPiece(isMany);
      case 'Default': {
        const fallback = staticWord(operation.operand, this.#variables, this.#read);
        if (operation.operator === '=' || operation.operator === ':=') this.#variables.forbid(parameter);
        const own = this.#parameter(parameter, `$${parameter}`, isQuoted);
        const isSafe = own.start !== '' && !own.start.startsWith('-') && /^[^-]/.test(fallback.start);
        return isSafe ? { value: undefined, start: noDash, isMany: false } : unknownPiece(isMany);
      }
      case 'Slice':
        for (const bound of [operation.offset, operation.length]) {
          if (bound !== undefined && !/^\s*-?\d+\s*$/.test(bound.text) && !this.#variables.isNumber(bound.text)) {
            refuse(`the range in ${text}, which is evaluated as arithmetic`);
          }
        }
        return unknownPiece(isMany);
      case 'Remove':
      case 'Replace':
      case 'CaseModification':
        // Parsers disagree about where a substitution within a pattern ends.
        if (/\$\(|`|<\(|>\(/.test(text)) refuse(`a substitution within the pattern of ${text}`);
        checkNested(operation, this.#variables, this.#read);
        return unknownPiece(isMany);
      case 'Transform':
        if (!/@[QUuLa]\}$/.test(text)) refuse(`the transformation ${text}`);
        return unknownPiece(isMany);
      default:
        return refuse(`the expansion ${text}`);
    }
  }
}

const checkNested = (node: SyntaxNode, variables: Variables, read: ReadScript): void =>
  forEachChild(node, (child) => {
    if (child.type === 'Word') staticWord(child, variables, read);
    else checkNested(child, variables, read);
  });

const known = (value: string): Piece => ({ value, start: value, isMany: false });

const join = (pieces: readonly Piece[]): Piece => {
  let value: string | undefined = '';
  let start = '';
  let isOpen = true;
  for (const piece of pieces) {
    value = value === undefined || piece.value === undefined ? undefined : value + piece.value;
    if (isOpen) start = start === '' || piece.start !== noDash ? start + piece.start : start;
    if (piece.value === undefined) isOpen = false;
  }
  const isSplit = pieces.some((piece) => piece.isSplit === true);
  return { value, start: isSplit ? '' : start, isMany: pieces.some(({ isMany }) => isMany) };
};
