/**
 * Literals that are derived from one pattern, and their length. More or longer ones make the tables of an index large.
 */
const maxCues = 64;
const maxChars = 12;
const minChars = 2;
/** Marks the boundary of a word at the start or the end of a literal. */
const edge = '\u0000';

/** What a part of an expression matches. */
interface Part {
  /** All strings that it matches, if they are few. */
  readonly exact: readonly string[] | undefined;
  /** Strings of which every match contains one. */
  readonly cues: readonly string[] | undefined;
}

/**
 * Returns literals of which every match of a pattern contains one, in lower case, or `undefined` if there are none of a
 * useful length. White space in a literal stands for any white space.
 */
export const cuesOf = (pattern: RegExp): readonly string[] | undefined => {
  const { cues: found } = new Reader(pattern.source).alternatives();
  // With both flags, letters beyond ASCII belong to words.
  const cues = pattern.ignoreCase && pattern.unicode ? found?.map((cue) => cue.replaceAll(edge, '')) : found;
  return cues !== undefined && lengthOf(cues) >= minChars ? [...new Set(cues.map(shortened))] : undefined;
};

/** Length of the shortest literal. */
const lengthOf = (cues: readonly string[]): number =>
  cues.reduce((least, cue) => Math.min(least, cue.replaceAll(edge, '').length), Number.POSITIVE_INFINITY);

/** Words that most texts contain, so that they are no better than a single character. */
const frequent: ReadonlySet<string> = new Set(
  'and are as for from has have in is it not of on or that the then this to was when with you your'.split(' '),
);

const isFrequent = (cue: string): boolean => frequent.has(cue.replaceAll(edge, '').trim());

/** How rare texts with one of the literals are: few long ones are the best. */
const valueOf = (cues: readonly string[]): number => {
  const length = lengthOf(cues);
  if (length === 0) return 0;
  return (cues.some(isFrequent) ? 1 : Math.min(maxChars, length)) + 1 - Math.log2(cues.length) / 8;
};

const shortened = (cue: string): string => {
  const bare = cue.replaceAll(edge, '');
  if (bare.length > maxChars) return (cue.startsWith(edge) ? edge : '') + bare.slice(0, maxChars);
  return (cue.startsWith(edge) ? edge : '') + bare + (cue.endsWith(edge) ? edge : '');
};

/** Reads the source of an expression and derives literals from it. */
class Reader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** Reads up to a closing parenthesis, or to the end. */
  alternatives(): Part {
    const parts = [this.#sequence()];
    while (this.#take('|')) parts.push(this.#sequence());
    const union = (lists: readonly (readonly string[] | undefined)[]): readonly string[] | undefined =>
      lists.some((list) => list === undefined) ? undefined : [...new Set(lists.flatMap((list) => list ?? []))];
    return { exact: union(parts.map(({ exact }) => exact)), cues: union(parts.map(({ cues }) => cues)) };
  }

  #sequence(): Part {
    let best: readonly string[] | undefined;
    // The strings that the parts since the last unknown one match.
    let run: readonly string[] = [''];
    let isExact = true;
    const offer = (cues: readonly string[]): void => {
      if (valueOf(cues) > (best === undefined ? 0 : valueOf(best))) best = cues;
    };
    const cut = (next: readonly string[] = ['']): void => {
      offer(run);
      run = next;
      isExact = false;
    };
    while (this.#at < this.#source.length && !'|)'.includes(this.#source.charAt(this.#at))) {
      const { exact, cues } = this.#part();
      const [least, most] = this.#quantifier();
      const joined = exact?.flatMap((end) => run.map((begin) => begin + end)) ?? [];
      const isJoined = exact !== undefined && run.length + joined.length <= maxCues;
      if (least === 0 && (most > 1 || !isJoined)) cut();
      else if (isJoined && most === 1) run = least === 0 ? [...new Set([...run, ...joined])] : joined;
      else if (isJoined) {
        run = joined;
        cut(exact);
      } else {
        cut();
        if (cues !== undefined) offer(cues);
      }
    }
    offer(run);
    return { exact: isExact ? run : undefined, cues: best };
  }

  /** Reads a character, a class, a group or an assertion, without its quantifier. */
  #part(): Part {
    const source = this.#source;
    const character = source.charAt(this.#at);
    this.#at += 1;
    if (character === '(') return this.#group();
    if (character === '[') return this.#class();
    if (character === '\\') return this.#escape();
    if (character === '^' || character === '$') return literal('');
    return character === '.' ? unknown : literal(character);
  }

  #group(): Part {
    const [opening = ''] = /^\?(?:<?[=!]|:|<\w+>)/.exec(this.#source.slice(this.#at, this.#at + 40)) ?? [];
    this.#at += opening.length;
    const inner = this.alternatives();
    this.#take(')');
    // What a lookahead matches follows, but not directly.
    if (opening === '?=') return inner.cues === undefined ? literal('') : { exact: undefined, cues: inner.cues };
    return /[=!]$/.test(opening) ? literal('') : inner;
  }

  #class(): Part {
    const start = this.#at;
    while (this.#source.charAt(this.#at) !== ']') this.#at += this.#source.charAt(this.#at) === '\\' ? 2 : 1;
    const members = this.#source.slice(start, this.#at);
    this.#at += 1;
    return /^[^\\^-]{1,3}$/.test(members) ? { exact: Array.from(members, lower), cues: undefined } : unknown;
  }

  #escape(): Part {
    const character = this.#source.charAt(this.#at);
    this.#at += 1;
    if (character === 'b') return literal(edge);
    if (character === 's') return literal(' ');
    if (character === 'n' || character === 't' || character === 'r') return literal(' ');
    if (!/\w/.test(character)) return literal(character);
    // A class, a reference or the code of a character.
    const [rest = ''] = /^(?:\{[^}]*\}|<\w+>)/.exec(this.#source.slice(this.#at)) ?? [];
    if (/[pPuk]/.test(character)) this.#at += rest.length;
    if (character === 'u' && rest === '') this.#at += 4;
    if (character === 'x') this.#at += 2;
    return unknown;
  }

  /** Reads a quantifier. @returns how often the part is repeated at least and at most */
  #quantifier(): readonly [least: number, most: number] {
    const [all = '', sign = '', least = '', most] =
      /^(?:([*+?])|\{(\d+)(?:,(\d*))?\})\??/.exec(this.#source.slice(this.#at, this.#at + 16)) ?? [];
    this.#at += all.length;
    if (all === '') return [1, 1];
    if (sign !== '') return [sign === '+' ? 1 : 0, sign === '?' ? 1 : Number.POSITIVE_INFINITY];
    return [Number(least), most === undefined ? Number(least) : Number(most === '' ? Number.POSITIVE_INFINITY : most)];
  }

  #take(character: string): boolean {
    if (this.#source.charAt(this.#at) !== character) return false;
    this.#at += 1;
    return true;
  }
}

const unknown: Part = { exact: undefined, cues: undefined };
const lower = (character: string): string => character.toLowerCase();
const literal = (character: string): Part => ({ exact: [lower(character)], cues: undefined });

/** A literal that ends in a state of the automaton. */
interface Ending {
  /** The place of its pattern in the list. */
  readonly place: number;
  readonly length: number;
  readonly beginsWord: boolean;
  readonly endsWord: boolean;
}

/** Tells whether a text may match a pattern; `true` for patterns that an index lacks. */
export type MayMatch = (pattern: RegExp) => boolean;

/** Patterns of one index, whose results are bits of two numbers. */
export const maxPatterns = 62;
const half = maxPatterns / 2;

/**
 * Tells in one pass which of up to `maxPatterns` patterns a text may match. A pattern without literals may match any
 * text. Its tables are built for the first text.
 */
export class CueIndex {
  readonly #patterns: readonly RegExp[];
  readonly #places: ReadonlyMap<RegExp, number>;
  #automaton: Automaton | undefined;

  constructor(patterns: readonly RegExp[]) {
    if (patterns.length > maxPatterns) throw new RangeError(`An index takes up to ${maxPatterns} patterns.`);
    this.#patterns = patterns;
    this.#places = new Map(patterns.map((pattern, place) => [pattern, place]));
  }

  /** Returns a function that tells whether the text may match a pattern; `true` for patterns that the index lacks. */
  in(text: string): MayMatch {
    const mayMatchAt = this.placesIn(text);
    return (pattern) => {
      const place = this.#places.get(pattern);
      return place === undefined || mayMatchAt(place);
    };
  }

  /** Returns a function that tells whether the text may match the pattern at a place of the list. */
  placesIn(text: string): (place: number) => boolean {
    const [low, high] = (this.#automaton ??= new Automaton(this.#patterns)).bitsIn(text);
    return (place) => ((place < half ? low : high) & bitOf(place)) !== 0;
  }
}

const bitOf = (place: number): number => 1 << (place < half ? place : place - half);

/** An automaton (Aho-Corasick) for the literals of patterns. */
class Automaton {
  readonly #always: readonly [number, number];
  /** The class of each character of ASCII. Capitals have those of small letters, and white space has one class. */
  readonly #classes = new Uint8Array(128);
  readonly #width: number;
  readonly #next: Uint16Array;
  readonly #endings: readonly (readonly Ending[])[];
  /** The bits of the literals that end in each state, for both halves of the patterns. */
  readonly #lowBits: Int32Array;
  readonly #highBits: Int32Array;

  constructor(patterns: readonly RegExp[]) {
    const known = patterns.map(cuesOf);
    const signs = new Set(known.flatMap((cues) => cues ?? []).flatMap((cue) => Array.from(cue.replaceAll(edge, ''))));
    for (const [index, sign] of [...signs].entries()) this.#classes[sign.charCodeAt(0)] = index + 1;
    for (let code = 65; code <= 90; code += 1) this.#classes[code] = this.#classOf(code + 32);
    for (let code = 9; code <= 13; code += 1) this.#classes[code] = this.#classOf(32);
    this.#width = signs.size + 1;
    const children: Map<number, number>[] = [new Map<number, number>()];
    const endings: Ending[][] = [[]];
    const add = (cue: string, place: number): void => {
      const text = cue.replaceAll(edge, '');
      let state = 0;
      for (let index = 0; index < text.length; index += 1) {
        const kind = this.#classOf(text.charCodeAt(index));
        const next = children[state]?.get(kind) ?? children.push(new Map()) - 1;
        endings[next] ??= [];
        children[state]?.set(kind, next);
        state = next;
      }
      endings[state]?.push({
        place,
        length: text.length,
        beginsWord: cue.startsWith(edge),
        endsWord: cue.endsWith(edge),
      });
    };
    const unknown: number[] = [];
    for (const [place, cues] of known.entries()) {
      if (cues === undefined) unknown.push(place);
      for (const cue of cues ?? []) add(cue, place);
    }
    this.#always = [bitsOf(unknown, false), bitsOf(unknown, true)];
    this.#next = transitions(children, endings, this.#width);
    this.#endings = endings;
    const places = endings.map((list) => list.map(({ place }) => place));
    this.#lowBits = Int32Array.from(places, (list) => bitsOf(list, false));
    this.#highBits = Int32Array.from(places, (list) => bitsOf(list, true));
  }

  /** Returns the bits of the patterns that the text may match, of the first half and of the second. */
  bitsIn(text: string): readonly [low: number, high: number] {
    const [next, width, classes, lowBits, highBits] = [
      this.#next,
      this.#width,
      this.#classes,
      this.#lowBits,
      this.#highBits,
    ];
    let [low, high] = this.#always;
    let state = 0;
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      state = next[state * width + (code < 128 ? (classes[code] as number) : this.#classOf(code))] as number;
      if (((lowBits[state] as number) & ~low) === 0 && ((highBits[state] as number) & ~high) === 0) continue;
      const places = this.#endingsAt(state, text, index);
      low |= bitsOf(places, false);
      high |= bitsOf(places, true);
    }
    return [low, high];
  }

  /** Returns the places of the patterns whose literals end at a place of the text. */
  #endingsAt(state: number, text: string, index: number): readonly number[] {
    const places: number[] = [];
    for (const { place, length, beginsWord, endsWord } of this.#endings[state] ?? []) {
      if (beginsWord && !isEdge(text, index - length + 1)) continue;
      if (endsWord && !isEdge(text, index + 1)) continue;
      places.push(place);
    }
    return places;
  }

  #classOf(code: number): number {
    if (code < 128) return this.#classes[code] as number;
    // Expressions that ignore case match these as `s` and `k`; the rest may be white space.
    return this.#classes[code === 0x17f ? 115 : code === 0x212a ? 107 : 32] as number;
  }
}

/** Returns the bits of the places in one half. */
const bitsOf = (places: readonly number[], isHigh: boolean): number =>
  places.reduce((bits, place) => (place >= half === isHigh ? bits | bitOf(place) : bits), 0);

/** Builds the table of the automaton, and adds the endings of suffixes to each state. */
const transitions = (
  children: readonly ReadonlyMap<number, number>[],
  endings: readonly Ending[][],
  width: number,
): Uint16Array => {
  const next = new Uint16Array(children.length * width);
  const fallback = new Uint16Array(children.length);
  const queue = [0];
  for (const state of queue) {
    const back = fallback[state] as number;
    if (state !== 0) endings[state]?.push(...(endings[back] ?? []));
    for (let kind = 0; kind < width; kind += 1) {
      const behind = state === 0 ? 0 : (next[back * width + kind] as number);
      const child = children[state]?.get(kind);
      next[state * width + kind] = child ?? behind;
      if (child === undefined) continue;
      fallback[child] = behind;
      queue.push(child);
    }
  }
  return next;
};

/** Whether a word begins or ends before a character. */
const isEdge = (text: string, index: number): boolean =>
  isWord(text.charCodeAt(index - 1)) !== isWord(text.charCodeAt(index));

const isWord = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95;
