import { isUnlike } from './behind-signs.js';
import { codeAt, is, key as keyClass, space, word } from '../text/characters.js';
import { isMixed, isPassphrase, isPasswordLike, isWords } from '../values/chosen-value.js';
import { keyStrength, mayEndKey } from '../names/key-name.js';
import { endOfQuoted, quoteAt } from '../text/quotes.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { skipWhiteSpace } from '../text/gaps.js';
import { maxSpaces, type Key } from '../names/key.js';
import { valueOf } from '../values/value-of-name.js';
import { isPlaceholder, isPublicIdentifier, looksRandom } from '../values/value.js';

const opening = 40;
const closing = 41;
const bracket = 91;
const comma = 44;
const colon = 58;
const dot = 46;
const closingBracket = 93;
const equals = 61;
const letterT = 116;
const maxName = 48;
const maxArgument = 128;
/** Maximum length of a user in quotes. */
const maxUser = 68;
const otherVerb =
  /^(?:rotate|get|check|verify|delete|find|reset|show|validate|hash|compare|create|generate|[de]n?crypt|read|list|revoke|refresh|remove|fetch|load|parse|decode|sign|resolve|update|is|has)_?(?=[A-Z_])/;
const verb = /^(?:with|set|add|use)_?(?=[A-Za-z])/i;

/** Returns quickly whether a call before a bracket and a quote may set a secret. */
export const mayBeCall = (text: string, index: number): boolean => {
  const end = index - 1;
  return mayEndKey(text, end) || mayEndTyping(text, end) || wrappers.some((wrapper) => text.endsWith(wrapper, end));
};
const wrappers = ['(Some', '(String::from', '(Just'];

/** Finds the value in `setPassword("…")` and `.withApiKey("…")`. Called for the quote after the bracket. */
export const findCallArgument = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  const end = beforeWrapper(reader, index - 1);
  if (end <= reader.barrier) return undefined;
  const field = mayEndTyping(text, end) ? fieldBefore(reader, end) : '';
  const isTyped = field !== '';
  if (!isTyped && !mayEndKey(text, end)) return undefined;
  let start = end;
  const floor = Math.max(reader.barrier, end - maxName);
  while (start > floor && is(codeAt(text, start - 1), keyClass)) start -= 1;
  const called = text.slice(start, end).replace(/^.*\./, '');
  const name = isTyped ? field : called.replace(verb, '');
  // A function that is called by the name of a secret may show, check or find one. A method of a builder sets it.
  const isMethod = codeAt(text, end - called.length - 1) === 46 && !otherVerb.test(called);
  // The function of MySQL that hashes a password.
  const isHashed = called === 'PASSWORD' && text.endsWith('= ', start);
  const isSetter = isTyped || name !== called || isMethod || isHashed;
  const isLogin = isMethod && called === 'auth';
  if (!isSetter || !(isLogin || keyStrength(name) === 'strong')) return undefined;
  const key: Key = { name, strength: 'strong', start, isQuoted: true, isTight: false };
  return chosen(reader, valueOf(reader, key, index, { isColon: true }), isTyped || name !== called || isHashed);
};

/** Returns the end of the outer function in `password(Some("…"))`. */
const beforeWrapper = (reader: Reader, end: number): number => {
  const last = codeAt(reader.text, end - 1);
  if (last !== 101 && last !== 103 && last !== 109) return end;
  const wrapper = /\((?:Some|String::from|Just)$/.exec(reader.text.slice(Math.max(reader.barrier, end - 14), end));
  return wrapper === null ? end : end - wrapper[0].length;
};

/** Matches a method that types a text into a field that was just found, such as `getByLabel("Password").fill`. */
const typing =
  /([\w.-]{2,48})["'`)\]]{2,5}\s?\.(?:(?:type|fill|input|enter|send|set|replace|append|unwrap_or)(?:_?(?:text|keys|value|password))?|pressSequentially)$/i;

/** Returns quickly whether a method of an expression in brackets, or of one that ends with a quote, ends here. */
const mayEndTyping = (text: string, end: number): boolean => {
  let start = end;
  while (end - start < maxMethod && is(codeAt(text, start - 1), word)) start -= 1;
  if (start === end || codeAt(text, start - 1) !== dot) return false;
  const before = codeAt(text, start - 2);
  return before === closing || before === closingBracket;
};
/** Maximum length of the name of a method that types. */
const maxMethod = 20;

const fieldBefore = (reader: Reader, end: number): string =>
  typing.exec(reader.text.slice(reader.floor(end), end))?.[1] ?? '';

/** Matches the arguments of an authentication before the password. */
const user =
  /(?:\b(?:auth|credentials?|creds|login)["']?\s?[=:]\s?\[?|(?:basic_?auth\w{0,14}|\blogin|\.auth|\bauthenticate|passwordauthentication|credentials?|wifi\w*\.begin)\s?)[([ ]\s?["'][^"'\n]{1,64}["']$/i;
/** Matches the arguments of a connection before the password. */
const account =
  /(?:(?:connect|connection|\b\w{1,24}Credentials?(?:Impl|Provider)?|\b(?:Sequelize|PDO|mysqli|database|Credentials?(?:Impl|Provider)?|MySQL|mysql|PostgreSQL|postgresql|mongodb|MongoDB|remote(?:Secure)?|jdbc|odbc|redis|s3(?:Cluster)?|S3(?:Queue)?|gcs|cosn|oss|azureBlobStorage|AzureBlobStorage|iceberg\w{0,8}|deltaLake\w{0,8}))(?:->__construct)?\([^()\n]{1,90}|\w\(\s{0,24}["'](?!https?:)\w{2,12}:\/\/[^"'\n]{1,80}["']),\s{0,32}["'][^"'\n]{1,64}["']$/i;

/**
 * Matches the arguments of a client up to the user: of a function that is named like one or opens a session, or that has
 * an address. The password behind them must be unlike a word.
 */
const client =
  /(?:(?:client|api|controller|session|driver|device|gateway|service|server|manager|handler|ssh|ftp|smtp|imap|ldap|telnet|mqtt|db|conn|login|start|open)\w{0,8}(?:(?:\.|::|->)\w{1,24})?\((?:[^()\n]|\(\)){0,90}|\w\(\s{0,8}["'](?:\w{2,12}:\/\/)?(?:[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}|localhost)(?::\d{1,5})?\/?["'][^()\n]{0,60}),\s{0,32}["'][\w.@\\=, -]{1,64}["']$/i;
/** Matches the user that is the first argument of a method that opens a session. */
const firstUser =
  /\b(?:\w{1,24}(?:\.|->|::|:))?_{0,2}(?:connect|(login|log_in|signIn|sign_in|authenticate|auth))(?:With[A-Z]\w{1,16}|_with_\w{1,16})?\(\s?["'][\w.@\\-]{1,64}["']$/;

/** Returns the expression that may match before a comma, by the character before the argument that ends there. */
const callBefore = (text: string, index: number, barrier: number): RegExp | undefined => {
  const floor = Math.max(barrier + 2, index - maxUser);
  const quote = codeAt(text, index - 1);
  let open = index - 2;
  while (open > floor && codeAt(text, open) !== quote) open -= 1;
  let end = open;
  while (end > floor && codeAt(text, end - 1) <= 32) end -= 1;
  const before = codeAt(text, end - 1);
  if (before === comma) return account;
  // A sign is behind a name without quotes.
  const isSpaced = codeAt(text, open - 1) === 32;
  if (before === colon || before === equals) {
    return isSpaced && is(codeAt(text, end - 2), word | space) ? user : undefined;
  }
  return before === opening || before === bracket || isSpaced ? user : undefined;
};

/** Returns quickly whether another argument in quotes is behind a comma and the call before it may take a password. */
export const mayBeCredential = (text: string, index: number): boolean => {
  let next = index + 1;
  while (next < index + maxSpaces && codeAt(text, next) <= 32) next += 1;
  return (next >= text.length || mayOpen.has(codeAt(text, next))) && callBefore(text, index, 0) !== undefined;
};
/** The first characters of quotes. */
const mayOpen: ReadonlySet<number> = new Set(Array.from('"\'`\\%&', (character) => character.charCodeAt(0)));

/** Finds the password in `basicAuth("user", "…")` and `connect(host, "user", "…")`. Called for the comma after a quote. */
export const findCredentialArgument = (reader: Reader, index: number): Secret | undefined => {
  const expected = callBefore(reader.text, index, reader.barrier);
  if (expected === undefined) return undefined;
  const quote = quoteAt(reader, skipWhiteSpace(reader, index + 1));
  const end = quote === undefined ? undefined : endOfQuoted(reader, quote.end, quote.literal, maxArgument);
  if (quote === undefined || end === undefined) return undefined;
  const behind = end + quote.literal.length;
  const next = reader.matches(toCharacters, behind) ? closing : reader.code(behind);
  const isLast = Number.isNaN(next) || next === 10;
  if (next !== closing && next !== comma && !isLast) return undefined;
  const near = reader.text.slice(reader.floor(index), index);
  const isExpected = expected.test(near);
  const isOfClient = !isExpected && (expected === account ? client : firstUser).test(near);
  const value = reader.text.slice(quote.end, end);
  const isLikely = isUnlike(value) || (isPasswordLike(value) && firstUser.exec(near)?.[1] !== undefined);
  if (!isExpected && !(isOfClient && isLikely && !isPublicIdentifier(value))) return undefined;
  // The user is the second argument, and the password is the next one.
  const isUser = !isExpected && address.test(value);
  if (isUser && quoteAt(reader, skipWhiteSpace(reader, behind + 1)) !== undefined) return undefined;
  const found = chosen(reader, { kind: 'argument', start: quote.end, end }, true);
  const others = found === undefined || next !== closing ? [] : findPairs(reader, behind);
  return found === undefined || others.length === 0 ? found : { ...found, more: [found, ...others] };
};

/** Matches an address of a user. */
const address = /^[\w.+-]+@[\w-]+(?:\.[a-z]{2,12})+$/i;

/** Matches the user of the next pair in a list of credentials. */
const nextPair = /^\),\s{0,8}\(\s?(["'])[^"'\n]{1,64}\1,\s?["']/;
const maxPairs = 20;

/** Finds the passwords of the pairs behind the first one of a list. */
const findPairs = (reader: Reader, from: number): readonly Secret[] => {
  const found: Secret[] = [];
  for (let [at, pairs] = [from, 0]; pairs < maxPairs; pairs += 1) {
    const head = nextPair.exec(reader.slice(at, at + 84));
    if (head === null) break;
    const start = at + head[0].length;
    const end = endOfQuoted(reader, start, reader.text.charAt(start - 1), maxArgument);
    if (end === undefined) break;
    const pair = chosen(reader, { kind: 'argument', start, end }, true);
    if (pair !== undefined) found.push(pair);
    at = end + 1;
  }
  return found;
};

/** How Java passes a password: as an array, which can be overwritten. */
const toCharacters = '.toCharArray()';

/** Finds the value of `"…".toCharArray()` that is chosen like a password. Called for the dot. */
export const findCharacters = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  if (reader.code(index + 1) !== letterT || !reader.matches(toCharacters, index)) return undefined;
  const floor = Math.max(reader.barrier, index - 66);
  const start = text.lastIndexOf('"', index - 2) + 1;
  const value = text.slice(start, index - 1);
  const isPassword = isPasswordLike(value);
  if (start <= floor || !isPassword || /\s/.test(value) || alphabet.test(value)) return undefined;
  return chosen(reader, { kind: 'argument', start, end: index - 1 }, false);
};

/** Matches the characters from which a program chooses. */
const alphabet = /0123|1234|abcd/i;

const chosen = (reader: Reader, found: Secret | undefined, allowsWords: boolean): Secret | undefined => {
  if (found === undefined) return undefined;
  const value = reader.text.slice(found.start, found.end);
  const isChosen =
    value.length >= 6 &&
    (looksRandom(value) ||
      isMixed(value, { isQuoted: false }) ||
      isPassphrase(value) ||
      (allowsWords && isWords(value, 'password')));
  return isChosen && !isPlaceholder(value) && !value.includes(reader.replacement) ? found : undefined;
};
