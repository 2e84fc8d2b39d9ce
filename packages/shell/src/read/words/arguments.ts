import { grammars } from '../commands/programs.js';
import { isKnown, unknownText, type Field } from './field.js';

/** An argument that is not an option. */
export interface Operand {
  readonly text: string;
  /** Whether it follows an unknown option and may be its value. */
  readonly isMaybeValue: boolean;
}

/** Whether a property of a command is certain, possible or excluded. */
export type Certainty = 'yes' | 'maybe' | 'no';

/** The parsed arguments of a command. */
export interface ParsedArguments {
  readonly words: readonly string[];
  readonly operands: readonly Operand[];
  /**
   * Returns whether an option is present: alone, in a cluster (`-xfd`), with a value (`--force=yes`), abbreviated
   * (`--forc`).
   */
  readonly has: (option: string) => Certainty;
  /** Returns the values of an option. */
  readonly valuesOf: (option: string) => readonly string[];
}

/** Parses arguments by the common conventions. */
export const parseArguments = (program: string, fields: readonly Field[]): ParsedArguments => {
  const grammar = Object.hasOwn(grammars, program) ? grammars[program] : undefined;
  const withValue = new Set(grammar?.values?.split(' '));
  const words = fields.map(({ text }) => text);
  const options: string[] = [];
  const operands: Operand[] = [];
  const values: (readonly [string, string])[] = [];
  let isOpen = true;
  let isMaybeValue = false;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    const next = words[index + 1];
    if (isOpen && word === '--') {
      isOpen = false;
    } else if (program === 'cargo' && /^\+\w/.test(word)) {
      // The toolchain: `cargo +nightly publish`.
      continue;
    } else if (!isOpen || !/^-./.test(word)) {
      operands.push({ text: word, isMaybeValue });
      isMaybeValue = false;
    } else {
      const [name, inline] = splitValue(word);
      const takes =
        inline === undefined &&
        (withValue.has(word) || (/^-[A-Za-z]+$/.test(word) && endsWithValueOption(word, withValue)));
      options.push(name);
      if (inline !== undefined) values.push([name, inline]);
      else if (next !== undefined) {
        values.push([/^-[A-Za-z]{2,}$/.test(word) && !grammar?.singleDash ? `-${word.at(-1) ?? ''}` : word, next]);
      }
      isMaybeValue = inline === undefined && !takes;
      // In a grammar of several programs, the letter may be a switch of this one: `psql -q -c`, `mysql -f -e`.
      if (takes && (program === 'git' || !/^--?[A-Za-z][\w-]*(?:=|$)/.test(next ?? ''))) index += 1;
    }
  }
  const given = new Set(options);
  const clusters = grammar?.singleDash === true ? [] : options.filter((option) => /^-[A-Za-z0-9]+$/.test(option));
  const isDoubtful = options.some((option) => !isKnown(option));
  return {
    words,
    operands,
    has: (option) => {
      if (given.has(option)) return 'yes';
      const letter = /^-[A-Za-z0-9]$/.test(option) ? option.charAt(1) : undefined;
      if (letter !== undefined && clusters.some((cluster) => clusterHas(cluster, letter, withValue))) return 'yes';
      if (option.startsWith('--') && options.some((one) => one.length >= 5 && option.startsWith(one))) return 'yes';
      return isDoubtful ? 'maybe' : 'no';
    },
    valuesOf: (option) => values.flatMap(([name, value]) => (name === option ? [value] : [])),
  };
};

const splitValue = (word: string): readonly [string, string | undefined] => {
  const equals = word.indexOf('=');
  return equals === -1 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)];
};

/** Returns whether the last letter of a cluster has a value. In `-XPOST` an earlier letter has it. */
const endsWithValueOption = (cluster: string, withValue: ReadonlySet<string>): boolean =>
  cluster
    .slice(1)
    .split('')
    .findIndex((letter) => withValue.has(`-${letter}`)) ===
  cluster.length - 2;

const clusterHas = (cluster: string, letter: string, withValue: ReadonlySet<string>): boolean => {
  for (const one of cluster.slice(1)) {
    if (one === letter) return true;
    if (withValue.has(`-${one}`)) return false;
  }
  return false;
};

/**
 * Returns whether the words start like a pattern such as `volume rm` or `(up|deploy) *`. Words that may be values are
 * skipped.
 */
export const beginsWith = (operands: readonly Operand[], pattern: string): Certainty => {
  let certainty: Certainty = 'yes';
  let at = 0;
  for (const wanted of pattern.split(' ')) {
    const choices = wanted.startsWith('(') ? wanted.slice(1, -1).split('|') : [wanted];
    for (;;) {
      const operand = operands[at];
      if (operand === undefined) return 'no';
      at += 1;
      if (wanted === '*' || choices.includes(operand.text.toLowerCase())) break;
      if (operand.text === unknownText) {
        certainty = 'maybe';
        break;
      }
      if (!operand.isMaybeValue) return 'no';
    }
  }
  return certainty;
};
