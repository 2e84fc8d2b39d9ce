import type { Assignment, Word } from 'unbash';
import { expandText, expandWord, type RunScript } from './expand-word.js';
import { isKnown, isWhollyUnknown, known, unknownText, type Field } from './field.js';
import { isGiven } from './given.js';
import { isCodeVariable, programIn, programVariable } from '../commands/program-variables.js';
import type { Place, ScriptEvents } from '../script-events.js';
import {
  arrayIn,
  arrayOf,
  assign,
  innerScope,
  oneOfValues,
  rememberSecret,
  setArray,
  valueOf,
  type Scope,
  type ShellArray,
  type Values,
} from '../scope.js';

/** Follows assignments, and reports the programs that the assigned variables run. */
export interface AssignmentReader {
  readonly set: (assignment: Assignment, scope: Scope, place: Place) => void;
  /** Returns an assignment among arguments, as after `export` and `alias`: it is one word. */
  readonly argument: (assignment: Assignment, place: Place) => Field;
}

/** Variables of Bash whose value is evaluated as arithmetic. */
const numbers = /^(?:S?RANDOM|SECONDS|LINENO|HISTCMD|OPTIND)$/;

/** A substitution in a subscript. It runs when the value is used as a number, in any of the ways that a shell has. */
const delayed = /\w\[[^\]]*(?:\$\(|`)/;

/** Creates a reader; `runIn` reads the substitutions in values. */
export const assignmentReader = (events: ScriptEvents, runIn: (place: Place) => RunScript): AssignmentReader => {
  /** The value of a variable that programs run. A program that the environment names is as trusted as `$EDITOR x`. */
  const setsProgram = (name: string, value: Word, text: string, scope: Scope, { depth }: Place): void => {
    if (!isWhollyUnknown(text) || !isGiven(value, scope)) events.program(programIn(name, text), scope, depth);
  };

  const set = ({ name, value, append, index }: Assignment, scope: Scope, place: Place): void => {
    const run = runIn(place);
    // `x=(a)b` is an array, and a command.
    if (value.type === 'Word' && value.text.startsWith('(')) events.unparsable('text behind an array', value.text);
    const key = index === undefined ? undefined : expandText(index, scope, run);
    const words = value.type === 'Word' ? expandWord(value, scope, run) : [];
    for (const { madeBy } of words) rememberSecret(scope, name, madeBy);
    if (programVariable.test(name) && value.type === 'Word') {
      setsProgram(name, value, words.map((word) => word.text).join(' '), scope, place);
    }
    if (isCodeVariable(name)) {
      const field = known(`${name}=${words.map(({ text }) => text).join(' ')}`);
      events.run([known('export'), field], [], undefined, innerScope(scope), place.depth);
    }
    const text = words.map((word) => word.text).join(' ');
    const evaluate = (value: string, isNumber = false): void => {
      if (isNumber || delayed.test(value)) events.evaluate(value, scope, place.depth);
    };
    evaluate(text, numbers.test(name));
    const subscript = key === undefined ? undefined : valueOf(scope, key);
    for (const each of subscript ?? []) events.evaluate(each, scope, place.depth);
    const printed = words.length === 1 ? words[0]?.alternatives : undefined;
    const valueWith = (whole: string): Values =>
      printed !== undefined && append !== true
        ? oneOfValues(printed.map((each) => [each]))
        : Object.assign(
            [whole],
            value.type === 'Word' && !isKnown(whole) && isGiven(value, scope) && { isGiven: true },
          );
    if (value.type === 'ArrayValue') {
      const before = append === true ? (arrayIn(scope, name) ?? arrayOf([unknownText])) : arrayOf([]);
      const after = withElements(before, value.elements, scope, run);
      const added = after.values.slice(before.values.length);
      for (const each of added) evaluate(each);
      const alternatives = before.values.alternatives?.map((values) => [...values, ...added]);
      const isKept = before.values.every(isKnown) || before.values.isGiven === true;
      const isAllGiven = isKept && value.elements.every((word) => isGiven(word, scope));
      if (isAllGiven) Object.assign(after.values, { isGiven: true });
      const array = alternatives === undefined ? after : arrayOf(oneOfValues(alternatives));
      setArray(scope, name, array, place.isCertain, !place.isRepeated);
    } else if (key === undefined) {
      const before = append === true ? (scope.variables.get(name) ?? [unknownText]) : [];
      const result = valueWith(`${before[0] ?? ''}${text}`);
      const isStable = !place.isRepeated || result.isGiven === true || (append !== true && !/[$`<>]/.test(value.text));
      assign(scope, name, result, place.isCertain, isStable);
    } else if (isKnown(key) && append !== true) {
      const { values, keys } = arrayIn(scope, name) ?? arrayOf([]);
      const at = keys.indexOf(key);
      const array =
        at === -1 ? { values: [...values, text], keys: [...keys, key] } : { values: values.with(at, text), keys };
      setArray(scope, name, array, place.isCertain);
    } else {
      assign(scope, name, [unknownText], place.isCertain);
    }
  };

  const argument = ({ name, value, text, index }: Assignment, place: Place): Field => {
    const run = runIn(place);
    if (programVariable.test(name) && value.type === 'Word') {
      setsProgram(name, value, expandText(value, place.scope, run), place.scope, place);
    }
    if (index !== undefined) expandWord(index, place.scope, run);
    const words = value.type === 'Word' ? expandWord(value, place.scope, run) : [known(unknownText)];
    return {
      text: `${name}=${words.map((word) => word.text).join(' ')}`,
      shown: text,
      madeBy: words.flatMap(({ madeBy }) => madeBy),
    };
  };

  return { set, argument };
};

/** Adds the elements of an array, with the keys that they name. */
const withElements = (
  { values, keys }: ShellArray,
  elements: readonly Word[],
  scope: Scope,
  run: RunScript,
): ShellArray => {
  const array: { values: string[]; keys: string[] } = { values: [...values], keys: [...keys] };
  for (const word of elements) {
    for (const { text } of expandWord(word, scope, run)) {
      const [, key, value = text] = (word.text.startsWith('[') ? /^\[([^\]]*)\]=(.*)$/s.exec(text) : null) ?? [];
      array.values.push(value);
      array.keys.push(key ?? String(array.keys.length));
    }
  }
  return array;
};
