import { isMixed, isPassphrase, isUnlikeWord } from '../values/chosen-value.js';
import { mayEndKey } from '../names/key-name.js';
import { endOfQuoted, quoteAt } from '../text/quotes.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import type { Key } from '../names/key.js';
import { isHash, isPlaceholder, isPublicIdentifier, looksRandom } from '../values/value.js';

const brace = 123;
const lineFeed = 10;
const maxMembers = 12;
/** Maximum length of the members that are read. */
const maxLength = 1200;
const maxValue = 512;
/** Minimum length of a random value below a name that has other meanings. */
const minRandom = 16;

/** Matches names of several secrets. */
const plural = /(?:secrets?|passwords?|credentials|keys|tokens|basic_?auth)$/i;
/** Matches names of which the members are passwords. */
const ofPasswords = /passw|secret|basic/i;
/** Matches the next member, with its indentation, its name and its sign. */
const member =
  /^(?:[\s,;]{0,80}\n)?([ \t]*)[\s,{]{0,4}(?:- )?["']?([\w.@/-]{1,48})["']?[ \t]{0,24}(?::|=>?)[ \t]{0,24}(?=\S|\r?\n)/;
const bare = /^[!-~]{6,512}(?=[ \t]*(?:\r?\n|$))/;

/** Matches names of members that describe a secret, which are no secrets. */
const descriptive =
  /(?:^|[._-]|(?<=[a-z])(?=[A-Z]))(?:name|id|path|file|type|kind|provider|engine|backend|version|region|profile|user|username|login|email|url|uri|host|server|issuer|audience|algorithm|alg|date|at|on|scope|scopes|description|image|bucket|ref|from|source|format|prefix|key|cert|mount|role|namespace|color|digest|sha|hash|checksum|commit)$|^(?:shape|schema|secure)$/i;

/**
 * Finds the values in `credentials: { stripe: "…" }` and in the lines below `passwords:` that are indented further.
 *
 * @param from offset behind the sign, of a brace or the end of the line
 */
export const findNested = (reader: Reader, { name, start }: Key, from: number): Secret | undefined => {
  if (reader.hasAhead || !plural.test(name)) return undefined;
  const isBraced = reader.code(from) === brace;
  const indent = isBraced ? -1 : indentOf(reader, start);
  const found: Secret[] = [];
  let at = isBraced ? from + 1 : from;
  for (let members = 0; members < maxMembers && at - from < maxLength; members += 1) {
    const head = member.exec(reader.slice(at, at + 200));
    if (head === null || (!isBraced && (head[1] ?? '').length <= indent)) break;
    const valueStart = at + head[0].length;
    const quote = quoteAt(reader, valueStart);
    const valueEnd =
      quote === undefined
        ? valueStart +
          (isBraced ? 0 : (bare.exec(reader.slice(valueStart, valueStart + maxValue + 2))?.[0].length ?? 0))
        : endOfQuoted(reader, quote.end, quote.literal, maxValue);
    if (valueEnd === undefined) break;
    const memberName = head[2] ?? '';
    const secretStart = quote?.end ?? valueStart;
    if (isSecret(reader.text.slice(secretStart, valueEnd), name, memberName, reader.replacement)) {
      found.push({ kind: 'assignment', start: secretStart, end: valueEnd });
    }
    at = valueEnd + (quote?.literal.length ?? 0);
    if (!isBraced) while (at < valueStart + maxValue && isInLine(reader.code(at))) at += 1;
  }
  return found[0] === undefined ? undefined : { ...found[0], more: found };
};

const isInLine = (code: number): boolean => !Number.isNaN(code) && code !== lineFeed;

const isSecret = (value: string, name: string, memberName: string, replacement: string): boolean => {
  // A member with the name of a secret is found by that name.
  if (descriptive.test(memberName) || mayEndKey(memberName, memberName.length)) return false;
  if (hashAndSalt.test(value)) return true;
  if (value.length < 6 || /[\s(){}<>]/.test(value) || value.includes(replacement) || isPlaceholder(value)) return false;
  if (isPublicIdentifier(value)) return isHash(value) ? /passw|secret|api/i.test(name) : /tokens$/i.test(name);
  if (looksRandom(value)) return value.length >= minRandom || ofPasswords.test(name);
  return (
    (ofPasswords.test(name) && isUnlikeWord(value) && isMixed(value, { isQuoted: true })) ||
    (/passw|basic/i.test(name) && isPassphrase(value))
  );
};

/** Matches a stored password: a hash and its salt. */
const hashAndSalt = /^[A-Za-z\d+/]{22,128}={0,2} [A-Za-z\d+/]{16,128}={0,2}$/;

/** Returns the number of spaces before the name. */
const indentOf = (reader: Reader, start: number): number => {
  let at = start;
  while (at > reader.barrier && start - at < 80 && !/[\n]/.test(reader.text.charAt(at - 1))) at -= 1;
  return (/^[ -]*/.exec(reader.text.slice(at, start))?.[0] ?? '').length;
};
