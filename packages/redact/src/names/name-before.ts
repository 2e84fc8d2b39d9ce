import { codeAt, is, word } from '../text/characters.js';
import type { Reader } from '../text/reader.js';

const above = 62;
const comma = 44;
const brace = 123;
const closingBrace = 125;
const closingBracket = 93;
const doubleQuote = 34;
const backslash = 92;
const colon = 58;
/** Maximum length of the account between a name and its value. */
export const maxOwner = 64;
/** Maximum length of a type between a name and its value. */
export const maxType = 32;
const verbs = ['is', 'provided', 'used', 'supplied', 'received', 'generated', 'created', 'set'];
const verb = new RegExp(` (?:${verbs.join('|')})$`);
/** Whether one of the verbs that may be between a name and its value ends here. */
export const endsWithVerb = (text: string, end: number): boolean =>
  verbs.some((one) => text.endsWith(one, end) && codeAt(text, end - one.length - 1) === 32);
/** Matches the preposition before an account, and what may be before it. */
const preposition = /(?: (?:is|was|has been) generated)? (?:for|für|voor|pour|para|per|för|dla|для) $/;
/** These prepositions, and the word that may be between them and the account. */
const ownerWords = ['for', 'für', 'voor', 'pour', 'para', 'per', 'för', 'dla', 'для', 'user'].map(
  (word) => ` ${word} `,
);
const ownerEnds: ReadonlySet<number> = new Set(Array.from('raя', (letter) => letter.charCodeAt(0)));
const auxiliary = /(?: (?:is|was|has been))?(?: successfully)?$/;

/** Returns the end of the name in `the password is: …` and `password provided: …`. */
export const beforeVerb = (reader: Reader, end: number): number => {
  const length = verb.exec(reader.text.slice(Math.max(reader.barrier, end - 14), end))?.[0].length ?? 0;
  if (length === 0) return end;
  const start = end - length;
  return start - (auxiliary.exec(reader.text.slice(Math.max(reader.barrier, start - 24), start))?.[0].length ?? 0);
};

/** Matches the default value that a prompt shows in brackets, of which the closing one is not part of a name. */
const shown = / \[[^[\]\n]{0,24}$/;

/** Returns the end of the name in `Unseal Key 1: …` and `Secret Access Key [None]: …`. */
export const beforeNumber = (reader: Reader, end: number): number => {
  if (codeAt(reader.text, end) === closingBracket) {
    const found = shown.exec(reader.text.slice(Math.max(reader.barrier, end - 26), end));
    return found === null ? end : end - found[0].length;
  }
  const code = codeAt(reader.text, end - 1);
  return code >= 48 && code <= 57 && codeAt(reader.text, end - 2) === 32 ? end - 2 : end;
};

/** Returns quickly whether a preposition may be before the word that starts here, or before `user` and the word. */
export const mayEndOwner = (text: string, start: number): boolean =>
  codeAt(text, start - 1) === 32 &&
  ownerEnds.has(codeAt(text, start - 2)) &&
  ownerWords.some((word) => text.endsWith(word, start));

/** Returns the end of the name in `password for user root: …` and `password is generated for root@localhost: …`. */
export const beforeOwner = (reader: Reader, end: number): number => {
  const { text } = reader;
  const floor = Math.max(reader.barrier, end - maxOwner);
  let start = end;
  for (let before = 0; start > floor; start -= 1) {
    const code = codeAt(text, start - 1);
    if (code <= 32) break;
    // Keys of minified JSON have no spaces between them.
    if ((code === comma || code === brace) && (before === doubleQuote || before === backslash)) return end;
    before = code;
  }
  if (start === end || !mayEndOwner(text, start)) return end;
  if (text.endsWith(' user ', start)) start -= 5;
  const found = preposition.exec(text.slice(Math.max(reader.barrier, start - 30), start));
  return found === null ? end : start - found[0].length;
};

/** Returns the end of the name in `SET PASSWORD FOR 'user'@'host' = …`. */
export const beforeAccount = (reader: Reader, end: number): number => {
  const { text } = reader;
  const last = codeAt(text, end);
  if (last !== 39 && last !== 34 && last !== 96) return end;
  const near = text.slice(Math.max(reader.barrier, end - maxOwner), end);
  const found = / FOR ["'`][\w.%-]{1,32}(?:["'`]@["'`][\w.%-]{1,32})?$/i.exec(near);
  return found === null ? end : end - found[0].length;
};

/** Returns the end of the name in `Password { get; set; } = "…"`. */
export const beforeAccessors = ({ text, barrier }: Reader, end: number): number => {
  if (codeAt(text, end - 1) !== closingBrace) return end;
  const found = / \{ get; (?:(?:private|protected|internal) )?(?:(?:set|init); )?\}$/.exec(
    text.slice(Math.max(barrier, end - maxOwner), end),
  );
  return found === null ? end : end - found[0].length;
};

/** Matches the types that follow a name without a colon. */
const spacedType = /[\w$](?: As)? (?:string|str|String|NSString|N?VARCHAR2?\(\d{1,4}\))$/;
const staticType = /: ?&'static str$/;

/** Returns the end of the name in `password: string = "…"` and `password string = "…"`. */
export const beforeType = (reader: Reader, end: number): number => {
  const { text } = reader;
  const floor = Math.max(reader.barrier, end - maxType);
  const last = codeAt(text, end - 1);
  const near = last === 103 || last === 114 || last === 41 ? text.slice(Math.max(reader.barrier, end - 18), end) : '';
  const isStatic = last === 114 && near.endsWith(' str') && staticType.test(text.slice(floor, end));
  if (isStatic) return text.lastIndexOf(':', end);
  const type = spacedType.exec(near);
  if (type !== null) return end - type[0].length + 1;
  let start = end;
  while (start > floor && isOfType(codeAt(text, start - 1))) start -= 1;
  if (codeAt(text, start) === 32) start += 1;
  const at = codeAt(text, start - 1) === 32 ? start - 2 : start - 1;
  if (start === end || at <= reader.barrier || codeAt(text, at) !== colon) return end;
  const before = codeAt(text, at - 1);
  return before === 63 || before === 33 ? at - 1 : at;
};

/** Whether the code belongs to the name of a type. */
export const isOfType = (code: number): boolean =>
  is(code, word) ||
  code === 46 ||
  code === 60 ||
  code === above ||
  code === 91 ||
  code === 93 ||
  code === 124 ||
  code === 38;
