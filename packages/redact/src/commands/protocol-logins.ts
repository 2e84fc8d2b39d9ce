import { codeAt, lineStop } from '../text/characters.js';
import { isMixed, isPassphrase, isPasswordLike } from '../values/chosen-value.js';
import { quoteAt } from '../text/quotes.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { endsLine } from '../text/gaps.js';
import { isPlaceholder, looksRandom } from '../values/value.js';

const letterX = 120;
const apostrophe = 39;
const maxPassword = 256;

/**
 * The ends of commands that send a password: Redis 8, RFC 2812 (IRC), NickServ of Anope 2.1, RFC 9051 (IMAP), RFC 959
 * (FTP), and the secrets of strongSwan.
 */
const endings = ['AUTH', 'OPER', '/oper', 'IDENTIFY', 'identify', 'LOGIN', 'PASS', ' EAP', ' XAUTH'];
const lastLetters: ReadonlySet<number> = new Set(endings.map((ending) => ending.charCodeAt(ending.length - 1)));
/** Matches a line up to such a command, behind the direction in a trace, the prompt of a client or the tag of IMAP. */
const command =
  /(?:(?:(?:^|\n)[^\n\w]{0,4}(?:C: |[^\n ]{1,60}> )?|[\s(]b["'])(?:AUTH|OPER|oper|(?=\S*\d)[\w.]{1,12} LOGIN)|(?:Request: |C: |> |\.\.|(?:^|[\s(])b?["'])PASS|(?:^|\n)[^\n]{0,60}: (?:EAP|XAUTH)|(?:nick|NICK|Nick)(?:serv|SERV|Serv) :?(?:identify|IDENTIFY))$/;
/** Matches the user, which some commands may omit. The password ends the line. */
const user = /^ (?:"?[\w.@+[\]{}^|-]{1,64}"? )?"?(?=\S+[ \t]*(?:\r?\n|$|["'](?:\s|$)))/;

/** Finds the password in `AUTH user …`, `OPER user …` and `IDENTIFY …`. Called for the space. */
export const findProtocolLogin = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  if (!lastLetters.has(codeAt(text, index - 1)) || !endings.some((ending) => text.endsWith(ending, index))) {
    return undefined;
  }
  if (!command.test(text.slice(reader.floor(index), index))) return undefined;
  const before = user.exec(reader.slice(index, index + 340))?.[0];
  return before === undefined ? undefined : lastArgument(reader, index + before.length);
};

/** Returns a value that ends its line, unless it may be a word of a message. */
const lastArgument = (reader: Reader, start: number): Secret | undefined => {
  const end = reader.endOfRun(start, lineStop, maxPassword, false);
  const value = reader.text.slice(start, end);
  const isChosen = isMixed(value, { isQuoted: false }) || looksRandom(value) || isPassphrase(value);
  if (value.length < 6 || !isChosen || isPlaceholder(value) || value.includes(reader.replacement)) return undefined;
  const isQuoted = codeAt(reader.text, start - 1) === 34 && reader.code(end) === 34;
  const last = isQuoted ? end + 1 : end;
  return endsLine(reader, last) || reader.code(last) === apostrophe ? { kind: 'command-line', start, end } : undefined;
};

/**
 * Matches the lines of a configuration that set the name of a group, which authenticates in SNMP, a shared key, or the key
 * of a routing protocol.
 */
const deviceLine =
  /(?:^|\n)[ \t+-]{0,8}(?:set )?(?:[^\n]{0,80}snmp(?:-server|-agent|-setting)?\b[^\n]{0,80} (?:(?:snmp-)?community(?:-string)?(?: read| write)?|v2c|(?:auth|priv|authentication|privacy) (?:md5|sha|des|aes)[\d -]{0,4})|r[ow]community6?|crypto isakmp key|(?:tacacs|radius|server-private)(?:-server)?\b[^\n]{0,80} (?:key|secret)|(?:set |ip(?:v6)? )?(?:protocols |interfaces )?(?:ospf|rip|eigrp|isis|bgp|vrrp|standby|glbp|ntp|authentication-mode|st0)\b[^\n]{0,60} (?:authentication(?:-key)?|text|md5(?: \d{1,3})?|key)|key-string|(?:tacacs|radius) server [^\n]{1,40}\n(?: [^\n]{1,60}\n){0,2} +key|(?:wlan )?security wpa\b[^\n]{0,40} ascii|[^\n]{0,40}\b(?:password|user|user-?name)\b[^\n]{0,60} (?:plain|clear)-?text)$/i;
/** The ends of these lines. */
const deviceEnds =
  /(?:community(?:-string)?(?: read| write)?|[ -]key|(?:plain|clear)-?text|key-string|authentication(?: text)?|md5(?: \d{1,3})?|sha|des|aes|aes 128|256|v2c|ascii)$/i;
const deviceLetters: ReadonlySet<number> = new Set(Array.from('ydkgnt5scai128630479', (end) => end.charCodeAt(0)));
const standard =
  /^(?:snmp-community-string|public|private|default|read|write|cipher|plain|simple|text|mode|md5|key-chain|message-digest)$/i;
/** Matches the number of a key and how it is written. */
const notation = /^ (?:(?:\d{1,3}|cipher|plain|simple) ){1,2}/;
/** Matches the key of the encryption behind that of the authentication. */
const privacy = /^ priv(?:acy)? (?:(?!0x)\w{3,6}(?: \d{3})? )?(?=\S)/;

/** Finds the value in `snmp-server community …`, `rocommunity …` and `radius-server key …`. Called for the space. */
export const findDeviceSecret = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  if (!deviceLetters.has(codeAt(text, index - 1))) return undefined;
  if (!deviceEnds.test(text.slice(Math.max(0, index - 20), index))) return undefined;
  if (!deviceLine.test(text.slice(reader.floor(index), index))) return undefined;
  const quote = quoteAt(reader, index + 1);
  const type = notation.exec(reader.slice(index, index + 20))?.[0].length ?? 1;
  const start = quote?.end ?? index + type;
  const end = reader.endOfRun(start, lineStop, maxPassword, false);
  const value = text.slice(start, end);
  if (value.length < 4 || standard.test(value) || isPlaceholder(value) || value.includes(reader.replacement)) {
    return undefined;
  }
  if (/^[$:.-]/.test(value)) return undefined;
  // Prose has these words, too.
  if (/text$/i.test(text.slice(index - 4, index)) && !isPasswordLike(value)) return undefined;
  const found: Secret = { kind: 'command-line', start, end };
  const head = privacy.exec(reader.slice(end, end + 24))?.[0];
  if (head === undefined) return found;
  const other = end + head.length;
  return {
    ...found,
    more: [found, { ...found, start: other, end: reader.endOfRun(other, lineStop, maxPassword, false) }],
  };
};

/** Finds the cookie of an X server in what `xauth list` prints. Called for the space before it. */
export const findServerCookie = (reader: Reader, index: number): Secret | undefined => {
  if (!reader.text.endsWith('MIT-MAGIC-COOKIE-1', index)) return undefined;
  const start = reader.skipSpaces(index, 4);
  return /^[\da-f]{32}(?!\w)/.test(reader.slice(start, start + 33))
    ? { kind: 'command-line', start, end: start + 32 }
    : undefined;
};

/** Finds a key of Kerberos that `klist -K` prints behind its type. Called for the zero of `(0x…)`. */
export const findKerberosKey = (reader: Reader, index: number): Secret | undefined => {
  if (reader.code(index + 1) !== letterX) return undefined;
  if (!keyType.test(reader.text.slice(reader.floor(index), index))) return undefined;
  const key = /^0x[\da-f]{16,64}(?=\))/.exec(reader.slice(index, index + 67))?.[0];
  if (key === undefined) return undefined;
  return { kind: 'command-line', start: index, end: index + key.length };
};

/** Matches the types of keys of MIT Kerberos 1.21. */
const keyType = /\((?:aes|camellia|arcfour|des)[\w-]{3,32}\)\s{1,4}\($/i;

/** Matches the rules of a user of Redis before a password: `user joe on` and `ACL SETUSER joe on`. */
const userRules = /(?:\bSETUSER|(?:^|[\n"])user) [\w.@-]{1,64} [^\n]*$/i;

/** Finds the password in `ACL SETUSER joe on >…`, or its hash in `on #…`. Called for the sign. */
export const findUserRule = (reader: Reader, index: number): Secret | undefined => {
  const end = reader.endOfRun(index + 1, lineStop, maxPassword, false);
  const value = reader.text.slice(index + 1, end);
  if (reader.text.charAt(index) === '#' && !/^[\da-f]{64}$/.test(value)) return undefined;
  if (value.length < 4 || isPlaceholder(`${value}0`) || value.includes(reader.replacement)) return undefined;
  if (!userRules.test(reader.text.slice(reader.floor(index), index))) return undefined;
  return { kind: 'command-line', start: index + 1, end };
};
