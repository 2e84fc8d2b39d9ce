import { codeAt, kindOf, valueStop } from '../text/characters.js';
import { isPasswordLike } from '../values/chosen-value.js';
import { keyStrength } from '../names/key-name.js';
import { endOfQuoted, quoteAt } from '../text/quotes.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { endsLine, skipGap } from '../text/gaps.js';
import type { Key } from '../names/key.js';
import { valueOf } from '../values/value-of-name.js';
import { looksRandom } from '../values/value.js';

const brace = 123;
const letterF = 102;
const letterT = 116;
/** Length of `false` and the sign behind it. */
const maxBoolean = 6;

/** Whether the name is `value` or `content`, so that the actual name is in another member. */
export const isValueName = (reader: Reader, end: number): boolean => {
  const { text } = reader;
  const last = codeAt(text, end - 1) | 32;
  const second = codeAt(text, end - 2) | 32;
  const mayBe =
    (last === 101 && second === 117) ||
    (last === 116 && (second === 110 || second === 108 || second === 117)) ||
    (last === 108 && second === 97);
  return mayBe && valueName.test(text.slice(Math.max(0, end - 16), end));
};

const valueName =
  /(?:^|[^\w])(?:(?:parameter|param|option|output|variable|item|field|attribute|property|setting|secret|env|string|input)?_?val(?:ue)?|(?<!key )content|default|result|input)$/i;

/** Whether the sign is that of `name="…"`. */
export const isFieldName = (reader: Reader, sign: { readonly start: number }, end: number): boolean =>
  end === sign.start && codeAt(reader.text, end) === 61 && reader.text.endsWith(' name', end);

const maxField = 256;
const formField = /^"([\w.-]{2,64})"\r?\n(?:Content-Type: [^\r\n]{1,80}\r?\n)?\r?\n(?=[^\r\n]{4})/i;

/** Finds the value of a field in a form with several parts, below its name. */
export const findFormField = (reader: Reader, start: number): Secret | undefined => {
  const close = endOfQuoted(reader, start + 1, '"', 64);
  if (close === undefined || (reader.code(close + 1) !== 13 && reader.code(close + 1) !== 10)) return undefined;
  const found = formField.exec(reader.slice(start, close + 100));
  const name = found?.[1] ?? '';
  const strength = keyStrength(name);
  if (found === null || strength === undefined) return undefined;
  const from = start + found[0].length;
  const end = reader.endOfRun(from, valueStop, maxField, false);
  if (strength === 'strong' && isPasswordLike(reader.slice(from, end)) && endsLine(reader, end)) {
    return { kind: 'assignment', start: from, end };
  }
  const key: Key = { name, strength, start, isQuoted: true, isTight: false };
  return valueOf(reader, key, from, { isColon: true, isLiteral: true });
};

const nameBefore =
  /(?:name|key|label|variable|header|field|parameter)["'\\]{0,8}\s{0,4}[:=]\s{0,4}["'\\]{0,8}([\w.$/-]{2,80})["'\\]{0,8}[\s,;/<>]{0,40}(?:["'\\]{0,8}\w{1,20}["'\\]{0,8}\s{0,4}[:=]\s{0,4}["'\\]{0,8}\w{0,24}["'\\]{0,8}[\s,;]{1,40})?["'\\]{0,8}$/i;
/** Matches the flag in `option("--token", default="…")`. */
const flagBefore = /\(\s{0,8}["'](?:-\w["'],\s?["'])?--?([\w-]{2,48})(?: [^"'\n]{1,24})?["'],[^()\n]{0,100}$/;
/** Matches the place of an invalid `input`, as Pydantic reports it in data and in text. */
const locatedAt =
  /(?:["']loc["']:\s?[([](?:["'][\w.]{1,24}["'],\s?){0,3}["']([\w.-]{2,64})["'],?\s?[)\]][^\n]{0,90}|\n(?:[\w.]{1,64}\.)?(\w{2,64})\r?\n {2}[^\n]{4,90}, (?:input_)?)$/;
/** Matches a label that says that the value is a key. */
const keyLabel = /\bkey_?name["']?$/i;
/** Matches the name of an object whose `value` follows, as in outputs of Terraform. */
const nameAround = /["']([\w.-]{2,64})["'](?:\s{0,4}:)?\s{0,4}\{[^{}]{0,100}$/;
const nameAfter =
  /^["'\\]{0,8}[\s,;]{0,20}["'\\]{0,8}(?:WHERE )?(?:(?:field|item|attribute|variable|property|setting)?_?name|(?:parameter)?key)["'\\]{0,8}\s{0,4}[:=]\s{0,4}["'\\]{0,8}([\w.$/-]{2,64})/i;

/** Matches the address of a secret in a vault behind its value, and the user behind a password. */
const secretAfter =
  /^["'\\]{1,8}[\s,]{1,20}["'\\]{1,8}id["'\\]{1,8}\s?:\s?["'\\]{1,8}https:\/\/[\w.-]{1,64}\/secrets\/([\w-]{2,64})[/"'\\]/;
/** Matches the type of a value behind it. */
const typeAfter =
  /^["'\\]{1,8}[\s,]{1,20}["'\\]{1,8}type["'\\]{1,8}\s?:\s?["'\\]{1,8}(?:[a-z]{1,12}[-_])?(secret|password)["'\\]/i;
const userAfter = /^["'\\]{1,8}[\s,]{1,20}["'\\]{1,8}user_?name["'\\]{1,8}\s?:/i;

/** Matches the section of a value: `[auth.secret]`. */
const sectionBefore = /\[["']?([\w.-]{2,64})["']?\][ \t]*\r?\n(?:[ \t]*[\w-]{1,24} ?= ?[^\n]{0,40}\n){0,2}[ \t]*$/;
/** Matches the type of a value. */
const typeBefore = /["']type["']\s?:\s?["'](secret|password)["'],\s{0,40}["']$/i;
/** Matches the mark of an output that is a secret. */
const sensitive = /["']sensitive["']\s?:\s?true,[^{}]{0,80}$/;
/** Matches attributes beside `result` in a random password of Terraform, and its type. */
const generated =
  /\b(?:random_password|bcrypt_hash|min_(?:lower|upper|numeric|special)|override_special)\b|["']length["']:\s?\d{1,3},\s{0,40}["']$/;

/** Matches attributes behind the result, as they are in the state of Terraform. */
const generatedBehind = /^"[^"\n]{4,100}",\s{1,40}"(?:special|upper|numeric|number)":/;

/** Matches a line that states a new secret above `New value: …`. */
const stated = /\b(?:password|secret|api key|token)\b[^\n]{0,80}\.?\n[^\n]{0,24}$/i;

const boolean = /^(?:true|false)[\s,;)}\]]/;

/** Whether the value is `true` or `false`, as in `Object.defineProperty(exports, 'x', { value: true })`. */
const isBoolean = (reader: Reader, start: number): boolean => {
  const first = reader.code(start);
  return (first === letterT || first === letterF) && boolean.test(reader.slice(start, start + maxBoolean));
};

const findStatedValue = (reader: Reader, start: number, valueStart: number): Secret | undefined => {
  const key: Key = { name: 'password', strength: 'strong', start, isQuoted: false, isTight: false };
  const found = valueOf(reader, key, valueStart, { isColon: true });
  return found !== undefined && endsLine(reader, found.end) ? found : undefined;
};

/** Finds the value in `{"name": "DB_PASSWORD", "value": "…"}`, in either order, and in `key="ApiKey" value="…"`. */
export const findNamedValue = (reader: Reader, signEnd: number, nameEnd: number): Secret | undefined => {
  const start = skipGap(reader, signEnd);
  // An object, of which each member has its own name, or no text.
  if (reader.code(start) === brace || isBoolean(reader, start)) return undefined;
  const last = codeAt(reader.text, nameEnd - 1) | 32;
  let end = nameEnd - (last === 101 ? 5 : 6);
  while (kindOf(codeAt(reader.text, end - 1)) === 1 || kindOf(codeAt(reader.text, end - 1)) === 2) end -= 1;
  const before = reader.text.slice(reader.floor(nameEnd), end);
  const labeled = nameBefore.exec(before);
  if (last === 116 && reader.text.endsWith('result', nameEnd)) {
    if (!generated.test(before) && !generatedBehind.test(reader.slice(start, start + 160))) return undefined;
    const found = { name: 'password', strength: 'strong', start: nameEnd, isQuoted: true, isTight: false } as const;
    return valueOf(reader, found, start, { isColon: true });
  }
  const section = sectionBefore.exec(before)?.[1];
  const typed = typeBefore.exec(before)?.[1];
  const named =
    labeled?.[1] ??
    nameAround.exec(before)?.[1] ??
    flagBefore.exec(before)?.[1] ??
    locatedAt.exec(before)?.slice(1).find(Boolean) ??
    section ??
    typed;
  if (named === undefined && stated.test(before)) return findStatedValue(reader, nameEnd, start);
  const key = (name: string): Key => ({
    name: name.replace(/^.*[/.]/, ''),
    strength: /(?:^|[/.])pass$/i.test(name) ? 'strong' : keyStrength(name.replace(/^.*[/.]/, '')),
    start: nameEnd - 5,
    isQuoted: true,
    isTight: false,
  });
  if (labeled !== null && keyLabel.test(before.slice(0, labeled.index + 5))) {
    return valueOf(reader, { ...key('key'), strength: 'weak' }, start, { isColon: true });
  }
  if (key(named ?? '').strength === undefined && sensitive.test(before)) {
    return valueOf(reader, key('password'), start, { isColon: true });
  }
  if (named !== undefined) {
    const known = key(named);
    const isLiteral = named !== section && named !== typed;
    return known.strength === undefined ? undefined : valueOf(reader, known, start, { isColon: true, isLiteral });
  }
  const quote = quoteAt(reader, start);
  if (quote === undefined) return findBeforeName(reader, start, key);
  const close = endOfQuoted(reader, quote.end, quote.literal, 128);
  if (close === undefined || close - quote.end < 4) return undefined;
  const behind = reader.slice(close, close + 160);
  const after = nameAfter.exec(behind)?.[1] ?? secretAfter.exec(behind)?.[1] ?? typeAfter.exec(behind)?.[1];
  if (after === undefined && userAfter.test(behind)) {
    const isPassword = isPasswordLike(reader.text.slice(quote.end, close));
    const found: Key = { name: 'password', strength: 'strong', start: nameEnd - 5, isQuoted: true, isTight: false };
    return isPassword ? valueOf(reader, found, start, { isColon: true }) : undefined;
  }
  const known = after === undefined ? undefined : key(after);
  return known?.strength === undefined ? undefined : valueOf(reader, known, start, { isColon: true, isLiteral: true });
};

/** Matches the name on the line below a value, as in lists of YAML. */
const nameBelow = /^[ \t]*\r?\n[ \t]{1,40}name:[ \t]{1,4}["']?([\w.-]{2,64})["']?[ \t]*(?:\r?\n|$)/;

/** Finds a value without quotes that has its name on the next line. */
const findBeforeName = (reader: Reader, start: number, keyOf: (name: string) => Key): Secret | undefined => {
  const end = reader.endOfRun(start, valueStop, maxField, false);
  const name = end === start ? undefined : nameBelow.exec(reader.slice(end, end + 120))?.[1];
  const key = name === undefined ? undefined : keyOf(name);
  return key?.strength === undefined ? undefined : valueOf(reader, key, start, { isColon: true, isLiteral: true });
};

/** Returns the value behind an arrow. Without quotes, it must be random or end its line. */
export const findPointedAt = (reader: Reader, key: Key, start: number): Secret | undefined => {
  const found = valueOf(reader, { ...key, isTight: false }, start);
  if (found === undefined || quoteAt(reader, start) !== undefined) return found;
  const isRandom = looksRandom(reader.text.slice(found.start, found.end));
  return isRandom || reader.matches(' (', found.end) || endsLine(reader, found.end) ? found : undefined;
};
