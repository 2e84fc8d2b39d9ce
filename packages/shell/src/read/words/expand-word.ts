import {
  forEachChild,
  type HereDocBody,
  type ParameterExpansionPart,
  type ParameterSliceOperation,
  type ParsedScript,
  type SimpleExpansionPart,
  type SyntaxNode,
  type Word,
  type WordPart,
} from 'unbash';
import { expandBraces } from './braces.js';
import { isKnown, unknownText, type Field } from './field.js';
import { isSecretVariable, secretVariableMark } from '../files/secrets.js';
import { arrayIn, assign, lookUp, valueOf, type Scope } from '../scope.js';

/** The output of a command, as far as it is known. */
export interface Output {
  readonly text: string | undefined;
  /** The programs that produced it. */
  readonly programs: readonly string[];
  /** Patterns of the paths that it lists. */
  readonly paths?: readonly string[] | undefined;
  /** The file whose content it is. */
  readonly file?: string | undefined;
  /** If branches print different texts, the text is unknown, but one of these. */
  readonly alternatives?: readonly string[] | undefined;
}

/** Reads a script within a word, or text that the shell evaluates there. `reads` is set for `>(script)`. */
export type RunScript = (script: ParsedScript | string, scope: Scope, reads?: boolean) => Output;

/** Maximum number of words that one word may expand to. */
const maxFields = 64;

/** Maximum length of text that is expanded, so that nested variables do not grow without limit. */
const maxText = 300_000;
const maxValue = 4_000;

/** Expands a word into fields, and reads the scripts inside it. */
export const expandWord = (word: Word, scope: Scope, run: RunScript): readonly Field[] => {
  if (word.parts === undefined) return [{ text: withHome(word.text, word.value, scope), shown: word.text, madeBy: [] }];
  const madeBy: string[] = [];
  let printed: readonly string[] | undefined;
  const expand = new WordExpansion(
    scope,
    (script, inner, reads) => {
      const output = run(script, inner, reads);
      madeBy.push(...output.programs);
      printed = output.alternatives?.map((text) => text.replace(/\n+$/, ''));
      return output;
    },
    madeBy,
  );
  for (const part of word.parts) expand.part(part);
  const texts = expand.fields();
  const alternatives = isSubstitution(word.parts) ? printed : undefined;
  // Braces are expanded before tildes. In other words that are split, a tilde at the start hides the same intention.
  const isSplit = texts.length > 1 && word.parts.some(({ type }) => !/Quoted|Literal/.test(type));
  return texts.slice(0, maxFields).map((text, index) => ({
    text: index === 0 || isSplit ? withHome(isSplit ? text : word.text, text, scope) : text,
    shown: texts.length === 1 ? word.text : text.replaceAll(unknownText, '?'),
    madeBy,
    alternatives,
  }));
};

/** Returns whether a word is the output of one script. */
const isSubstitution = (parts: readonly WordPart[]): boolean => {
  const [part, ...others] = parts;
  if (part === undefined || others.length > 0) return false;
  return part.type === 'DoubleQuoted' ? isSubstitution(part.parts) : part.type === 'CommandExpansion';
};

/** Returns the text of a word that is not split, as in an assignment. */
export const expandText = (word: Word, scope: Scope, run: RunScript): string =>
  expandWord(word, scope, run)
    .map(({ text }) => text)
    .join(' ');

/** Returns the text of a here-document. */
export const expandBody = (body: HereDocBody, scope: Scope, run: RunScript): Pick<Field, 'madeBy' | 'text'> => {
  const madeBy: string[] = [];
  if (body.parts === undefined) return { text: body.text, madeBy };
  const expand = new WordExpansion(
    scope,
    (script, inner) => {
      const output = run(script, inner);
      madeBy.push(...output.programs);
      return output;
    },
    madeBy,
  );
  for (const part of body.parts) {
    // Quotes in it quote nothing: the command in `${x:-'$(y)'}` runs.
    if (part.type === 'ParameterExpansion' && part.text.includes("'")) run(part.text, scope);
    expand.quoted(part);
  }
  return { text: expand.fields().join(' '), madeBy };
};

/**
 * Replaces a leading `~` of a word as written by the folder that it names. In Bash, so does one behind the first equals
 * sign of a word that looks like an assignment: `of=~/x`.
 */
export const withHome = (written: string, text: string, { home, cwd }: Scope): string => {
  const [prefix, name = '', user] =
    (/^(?:\w+=)?~/.test(written) ? /^(\w+=)?~([\w.+-]*|\u{FFFF})(?=\/|$)/u.exec(text) : null) ?? [];
  if (prefix === undefined) return text;
  const folder = user === '' ? home : user === '+' ? cwd : `/home/${user}`;
  return name + folder + text.slice(prefix.length);
};

/** Builds fields part by part; several at once if braces create alternatives. */
class WordExpansion {
  readonly #done: string[] = [];
  #open: string[] = [''];
  #hasText = false;
  readonly #scope: Scope;
  readonly #run: RunScript;
  readonly #madeBy: string[];

  constructor(scope: Scope, run: RunScript, madeBy: string[]) {
    this.#scope = scope;
    this.#run = run;
    this.#madeBy = madeBy;
  }

  fields(): readonly string[] {
    return this.#hasText ? [...this.#done, ...this.#open] : this.#done;
  }

  part(part: WordPart): void {
    switch (part.type) {
      case 'DoubleQuoted':
      case 'LocaleString':
        this.#append('');
        for (const child of part.parts) this.quoted(child);
        return;
      case 'BraceExpansion':
        this.#within(part);
        this.#alternatives(expandBraces(part.text));
        return;
      case 'SimpleExpansion':
      case 'ParameterExpansion':
        this.#fields(this.#parameter(part));
        return;
      case 'CommandExpansion':
        this.#split(this.#output(part.script));
        return;
      default:
        this.quoted(part);
    }
  }

  quoted(part: WordPart): void {
    switch (part.type) {
      case 'Glob':
        // The parser does not read what is in brackets.
        if (/\$\(|`/.test(part.text)) this.#run(part.text, this.#scope);
        this.#append(part.value);
        return;
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        this.#append(part.value);
        return;
      case 'SimpleExpansion':
      case 'ParameterExpansion':
        if (isJoined(part)) this.#append(this.#parameter(part).join(' '));
        else this.#list(this.#parameter(part), isList(part));
        return;
      case 'CommandExpansion':
        this.#append(this.#output(part.script));
        return;
      case 'ProcessSubstitution':
        this.#append(this.#substituted(part.script, part.text.startsWith('>')));
        return;
      case 'ExtendedGlob':
        this.#within(part);
        this.#append('*');
        return;
      default:
        this.#within(part);
        this.#append(unknownText);
    }
  }

  /** Reads substitutions whose value does not matter. */
  #within(node: SyntaxNode): void {
    if (node.type === 'ArithmeticWord') this.#evaluate(node.value);
    forEachChild(node, (child) => {
      const script =
        child.type === 'CommandExpansion' ||
        child.type === 'ArithmeticCommandExpansion' ||
        child.type === 'ProcessSubstitution'
          ? child.script
          : undefined;
      if (script === undefined) this.#within(child);
      else {
        this.#run(
          isWhole(child)
            ? script
            : { ...script, errors: [{ message: 'a substitution in a pattern is cut off', pos: child.pos }] },
          this.#scope,
        );
      }
    });
  }

  /** Arithmetic evaluates the content of a variable, not only its number. */
  #evaluate(name: string): void {
    for (const text of valueOf(this.#scope, name.replace(/^\$?\{?|\}$/g, '')) ?? []) this.#run(text, this.#scope);
  }

  #append(text: string): void {
    this.#hasText = true;
    if (text !== '') {
      this.#open = this.#open.map((open) => (open.length + text.length > maxText ? unknownText : open + text));
    }
  }

  #alternatives(texts: readonly string[]): void {
    this.#hasText = true;
    const open = this.#open.flatMap((start) => texts.map((text) => start + text));
    this.#open = open.length > maxFields ? [unknownText] : open;
  }

  #end(): void {
    if (!this.#hasText) return;
    if (this.#done.length < maxFields) this.#done.push(...this.#open);
    this.#open = [''];
    this.#hasText = false;
  }

  /** Splits a value at white space. */
  #split(text: string): void {
    const separators = (lookUp(this.#scope, 'variables', 'IFS')?.[0] ?? '').slice(0, 8);
    const pieces = separators
      .split('')
      .reduce((rest, separator) => rest.replaceAll(separator, ' '), text)
      .split(/[ \t\n]+/);
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) this.#end();
      if (piece !== '') this.#append(piece);
    }
  }

  #fields(values: readonly string[]): void {
    for (const [index, value] of values.entries()) {
      if (index > 0) this.#end();
      this.#split(value);
    }
  }

  #list(values: readonly string[], isSeparate: boolean): void {
    if (!isSeparate) {
      this.#append(values[0] ?? '');
      return;
    }
    for (const [index, value] of values.entries()) {
      if (index > 0) this.#end();
      this.#append(value);
    }
  }

  #output(script: ParsedScript | undefined): string {
    const output = script === undefined ? undefined : this.#run(script, this.#scope);
    if (output?.text !== undefined) return output.text.replace(/\n+$/, '');
    return output?.paths === undefined || output.paths.length === 0 ? unknownText : output.paths.join(' ');
  }

  /** `<(command)`: a file with the output of the command. */
  #substituted(script: ParsedScript | undefined, reads: boolean): string {
    const output = script === undefined ? undefined : this.#run(script, this.#scope, reads);
    if (output?.text === undefined || this.#scope.files.size > maxFields) return unknownText;
    const path = `/dev/fd/${60 + this.#scope.files.size}`;
    this.#scope.files.set(path, output.text);
    return path;
  }

  #parameter(part: SimpleExpansionPart | ParameterExpansionPart): readonly string[] {
    const name = part.type === 'ParameterExpansion' ? part.parameter : part.text.replace(/^\$/, '');
    const mark = this.#scope.secrets.get(`$${name}`);
    if (mark !== undefined && showsValue(part)) this.#madeBy.push(mark);
    const values = part.type === 'ParameterExpansion' ? this.#expanded(part) : valueOf(this.#scope, part.text.slice(1));
    const isReference = part.type === 'ParameterExpansion' && part.prefix === '!';
    for (const read of isReference ? (valueOf(this.#scope, name) ?? []) : [name]) {
      if (isSecretVariable(read) && showsValue(part) && valueOf(this.#scope, read) === undefined) {
        this.#madeBy.push(`${secretVariableMark}${read}`);
      }
    }
    if (values === undefined || values.length > maxFields) return [unknownText];
    return values.map((value) => (value.length > maxValue ? unknownText : value));
  }

  #expanded({ parameter, prefix, index, operation }: ParameterExpansionPart): readonly string[] {
    if (parameter === 'IFS') return [' '];
    if (index !== undefined) {
      this.#within(index);
      this.#evaluate(index.value);
    }
    if (prefix === '!' || (operation?.type === 'Transform' && operation.operand.text === 'P')) {
      this.#evaluate(parameter);
    }
    const value =
      prefix === undefined
        ? this.#element(parameter, index)
        : prefix === '!' && (index?.value === '@' || index?.value === '*')
          ? arrayIn(this.#scope, parameter)?.keys
          : this.#referred(parameter, prefix);
    if (operation === undefined) return value ?? [unknownText];
    if (operation.type === 'Slice' && value !== undefined) {
      this.#within(operation);
      return this.#slice(value, parameter, index?.value, operation);
    }
    if (operation.type !== 'Default') {
      this.#within(operation);
      return [unknownText];
    }
    const operand = expandText(operation.operand, this.#scope, this.#run);
    const isSet = value !== undefined && value.some((text) => text !== '');
    switch (operation.operator) {
      case ':=':
      case '=':
        if (!isSet) assign(this.#scope, parameter, [operand], false);
        return isSet ? value : [operand];
      case ':-':
      case '-':
        return isSet ? value : [operand];
      case ':+':
      case '+':
        return isSet ? [operand] : value === undefined ? [unknownText] : [''];
      default:
        return value ?? [unknownText];
    }
  }

  /** `${@:2}` and `${array[@]:1:2}`, with literal numbers. */
  #slice(
    values: readonly string[],
    name: string,
    index: string | undefined,
    { offset, length }: ParameterSliceOperation,
  ): readonly string[] {
    const isPositional = name === '@' || name === '*';
    const isWhole = isPositional || index === '@' || index === '*';
    const numbers = [offset.text, length?.text ?? '0'];
    if (!isWhole || isUnknown(values) || !numbers.every((text) => /^\d{1,4}$/.test(text))) {
      return [unknownText];
    }
    // `${@:0}` begins with the name of the script.
    if (isPositional && Number(offset.text) === 0) return [unknownText];
    const start = Number(offset.text) - (isPositional ? 1 : 0);
    return values.slice(start, length === undefined ? undefined : start + Number(length.text));
  }

  /** `${!name}`: the value of the variable whose name is the value of another one. */
  #referred(name: string, prefix: string): readonly string[] {
    const names = prefix === '!' ? (valueOf(this.#scope, name) ?? []) : [];
    return names.length === 0 ? [unknownText] : names.flatMap((read) => valueOf(this.#scope, read) ?? [unknownText]);
  }

  #element(name: string, index: Word | undefined): readonly string[] | undefined {
    if (index === undefined || index.value === '@' || index.value === '*') return valueOf(this.#scope, name);
    const array = arrayIn(this.#scope, name);
    const key = expandText(index, this.#scope, this.#run);
    // An index may be an expression, and an unknown value may have any key.
    if (array === undefined || isUnknown(array.values) || !isKnown(key)) return [unknownText];
    const at = array.keys.lastIndexOf(key);
    return at === -1 ? (/^\d+$/.test(key) ? [] : [unknownText]) : array.values.slice(at, at + 1);
  }
}

/** Returns whether even the number of values is unknown. */
const isUnknown = (values: readonly string[]): boolean => values.length === 1 && values[0] === unknownText;

/** Returns whether an expansion contains the value of its variable: `${#x}` and `${x:+set}` do not. */
const showsValue = (part: SimpleExpansionPart | ParameterExpansionPart): boolean =>
  part.type === 'SimpleExpansion' ||
  (part.prefix !== '#' && !(part.operation?.type === 'Default' && part.operation.operator.endsWith('+')));

/** The parser mistakes a slash in a substitution within a pattern for the end of the pattern. */
const isWhole = (node: SyntaxNode): boolean =>
  !('text' in node) || node.text.endsWith(node.text.startsWith('`') ? '`' : node.text.startsWith('${') ? '}' : ')');

/** `"$*"` is one word. */
const isJoined = (part: SimpleExpansionPart | ParameterExpansionPart): boolean =>
  part.type === 'SimpleExpansion' ? part.text === '$*' : part.parameter === '*' || part.index?.value === '*';

const isList = (part: WordPart): boolean =>
  part.type === 'SimpleExpansion'
    ? part.text === '$@' || part.text === '$*'
    : part.type === 'ParameterExpansion' &&
      (part.parameter === '@' || part.index?.value === '@' || part.index?.value === '*');
