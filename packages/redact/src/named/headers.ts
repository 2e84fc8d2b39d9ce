import { codeAt, headerStop, quotedStop } from '../text/characters.js';
import { isCall, isNumbered, isUnlikeWord, path } from '../values/chosen-value.js';
import { quoteAt } from '../text/quotes.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { isPlaceholder, looksRandom } from '../values/value.js';

const maxHeader = 4096;
/** Maximum length of the text that identifies a header. */
const maxHead = 256;

/** Matches the names of headers with cookies, including those of RFC 2965. */
export const cookieName = /(?:^|[-_])(?:set)?cookie2?$/i;
/** Matches cookies up to the first with a value of some length. The attributes are those of RFC 6265 and RFC 2965. */
const cookieHead =
  /^(?:[\w!#$%&*+.^|~-]{1,80}=[^\s;"'`\\]{0,80}; ?){0,4}?(?!(?:max-age|expires|path|domain|version|comment|port)=)[\w!#$%&*+.^|~-]{1,80}=(?![A-Z]+(?:_[A-Z]+)+(?:_\d{1,4})?(?:[;\s"']|$)|\$\{)(?=[^\s;"'`\\<]*\d|[^\s;"'`\\<]{12})[^\s;"'`\\<]{6,}/i;

/** Finds the whole value of a cookie header, because each cookie may be a secret. */
export const findCookies = (reader: Reader, start: number): Secret | undefined => {
  const from = quoteAt(reader, start)?.end ?? start;
  if (!cookieHead.test(reader.slice(from, from + 160))) return undefined;
  const end = reader.endOfRun(from, quotedStop, maxHeader, false);
  return reader.text.slice(from, end).includes(reader.replacement) ? undefined : { kind: 'cookie', start: from, end };
};

/** Matches the secret that the nodes of Erlang share. */
const nodeCookie = /^["']?([\w-]{8,64})(?=["'\s]|$)/;

/** Finds the value of `RABBITMQ_ERLANG_COOKIE`, which is one word. */
export const findNodeCookie = (reader: Reader, start: number): Secret | undefined => {
  const [whole = '', value = ''] = nodeCookie.exec(reader.slice(start, start + 68)) ?? [];
  if (value === '' || isPlaceholder(value) || /^[a-z]+(?:[A-Z][a-z]+)+$/.test(whole)) return undefined;
  const end = start + whole.length;
  return { kind: 'cookie', start: end - value.length, end };
};

const scheme = /^[A-Za-z][\w-]{1,30}(?: +|%20|\+)(?=\S)/;

/** Matches the end of a string in compact JSON. Parameters have a space behind their commas. */
const stringEnd = /"(?:,"|[}\]])/;

/** Finds the credential of an authorization header, without its scheme. */
export const findAuthorization = (reader: Reader, start: number): Secret | undefined => {
  const quote = quoteAt(reader, start);
  const from = quote?.end ?? start;
  const isInQuotes = quote !== undefined || isQuotedBefore(reader, start);
  const run = reader.endOfRun(from, isInQuotes ? quotedStop : headerStop, maxHeader, false);
  const close = stringEnd.exec(reader.text.slice(from, run));
  const end = close === null ? run : from + close.index;
  const head = reader.text.slice(from, Math.min(end, from + maxHead)).trimEnd();
  const named = scheme.exec(head)?.[0] ?? '';
  const credential = head.slice(named.length);
  const isParameters = named !== '' && /^[\w-]+\s?[=:]\s?\S/.test(credential) && /["',]|=\S{8}/.test(credential);
  if (!isParameters && /\s/.test(credential)) return undefined;
  const isKnown =
    isParameters ||
    looksRandom(credential) ||
    isUnlikeWord(credential) ||
    isNumbered(credential) ||
    (credential.length >= 12 && /\d/.test(credential) && !path.test(credential));
  // A key in place of a scheme is a part of the credential.
  const credentialStart = looksRandom(named.trimEnd()) ? from : from + named.length;
  if (!isKnown || isPlaceholder(credential) || isCall(credential)) return undefined;
  if (reader.text.slice(from, end).includes(reader.replacement)) return undefined;
  const credentialEnd = head.length < maxHead ? from + named.length + credential.length : end;
  return { kind: 'authorization', start: credentialStart, end: credentialEnd };
};

/** Whether a quote was opened or closed shortly before on this line. */
const isQuotedBefore = (reader: Reader, index: number): boolean => {
  const floor = Math.max(reader.barrier, index - 40);
  for (let at = index - 1; at >= floor; at -= 1) {
    const code = codeAt(reader.text, at);
    if (code === 34 || code === 39) return true;
    if (code === 10) return false;
  }
  return false;
};
