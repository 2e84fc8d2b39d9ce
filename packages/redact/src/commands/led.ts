import { base64, codeAt, pairStop, quotedStop } from '../text/characters.js';
import {
  enrolling,
  findConfigured,
  findConverted,
  findEchoed,
  findLogin,
  findPositional,
  findShareArgument,
  findUsersArgument,
} from './command-arguments.js';
import { findInserted } from '../named/inserts.js';
import { endingTest, spacedEndings, statedEndings, tailsOf } from '../names/key-name.js';
import { findOracleLogin } from './oracle.js';
import { findDeviceSecret, findProtocolLogin, findServerCookie } from './protocol-logins.js';
import { quoteAt } from '../text/quotes.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { isPlaceholder } from '../values/value.js';

const backslash = 92;
const letterG = 103;
const letterN = 110;

/** Finds the keys in `expect "password:"; send "…\\r"`. */
const findTyped = (reader: Reader, index: number): Secret | undefined => {
  if (!reader.text.endsWith('send', index)) return undefined;
  const quote = quoteAt(reader, index + 1);
  if (quote === undefined) return undefined;
  const near = reader.text.slice(reader.floor(index), index);
  if (!/ass(?:word|phrase|code)[^\n]{0,40}[\n;{][^\n]{0,40}$/i.test(near)) return undefined;
  const end = reader.endOfRun(quote.end, quotedStop, 64, false);
  const value = reader.text.slice(quote.end, end);
  const isKeys = value.length >= 4 && !value.startsWith('$') && reader.code(end) === backslash;
  return isKeys && !value.includes(reader.replacement) ? { kind: 'command-line', start: quote.end, end } : undefined;
};

/** Finds the user and password in `AUTH PLAIN …`. */
const findPlainLogin = (reader: Reader, index: number): Secret | undefined => {
  if (!reader.text.endsWith('AUTH PLAIN', index)) return undefined;
  const end = reader.endOfRun(index + 1, base64, 512);
  const isLogin = /^[^\0]*\0[^\0]+\0[^\0]+$/.test(Buffer.from(reader.text.slice(index + 1, end), 'base64').toString());
  return isLogin ? { kind: 'basic', start: index + 1, end } : undefined;
};

const oracleCommand = /(?:^|[\s>;"'$])(?:sqlplus|expdp|impdp|sqlldr|dgmgrl|rman|target|catalog|with:|conn(?:ect)?)$/i;
const oracleLetters: ReadonlySet<number> = new Set(Array.from('spdrltgn:', (letter) => letter.charCodeAt(0)));

/** Matches the options of these commands. */
const options = /^(?:-\w{1,6} ){0,3}/;

/** Finds the password in `sqlplus user/password@database`. */
const findOracleArgument = (reader: Reader, index: number): Secret | undefined =>
  oracleLetters.has(codeAt(reader.text, index - 1) | 32) &&
  oracleCommand.test(reader.text.slice(Math.max(reader.barrier, index - 12), index))
    ? findOracleLogin(reader, index + 1 + (options.exec(reader.slice(index + 1, index + 25))?.[0].length ?? 0))
    : undefined;

/** Matches the statement of Db2 that logs in, and the command of Teradata up to the password. */
const usingUser = /\bconnect to \S{1,40} user \S{1,64} using$/i;
const logon = /^ ["']?[\w.-]{1,64}\/[\w.$-]{1,64},\s?["']?(?=[^\s;"']{4})/;

/** Finds the password in `CONNECT TO db USER joe USING …` and `.LOGON server/joe,…`. */
const findDatabaseLogin = (reader: Reader, index: number): Secret | undefined => {
  const last = codeAt(reader.text, index - 1) | 32;
  if (last !== letterG && last !== letterN) return undefined;
  const command = reader.text.slice(index - 5, index).toLowerCase();
  if (command !== 'using' && command !== 'logon') return undefined;
  const near = reader.text.slice(reader.floor(index), index);
  const isLogon = /(?:^|[\s.>])logon$/i.test(near);
  if (!isLogon && !usingUser.test(near)) return undefined;
  const head = isLogon ? logon.exec(reader.slice(index, index + 140))?.[0].length : 1;
  if (head === undefined) return undefined;
  const quote = quoteAt(reader, index + head);
  const start = quote?.end ?? index + head;
  const end = reader.endOfRun(start, pairStop, 64, false);
  const value = reader.text.slice(start, end);
  if (value.length < 4 || isPlaceholder(value) || /^[$:&%]/.test(value) || value.includes(reader.replacement)) {
    return undefined;
  }
  return { kind: 'user-password', start, end };
};

/**
 * The detectors of secrets behind a space that are not after the name of one, and the endings of the text before the
 * space, in lower case and without digits at the end.
 */
const led = (
  [
    ['send', findTyped],
    ['plain', findPlainLogin],
    ['login|log-in|auth|auth digest|token|key|unseal|unlock|' + enrolling, findLogin],
    ['config', findConfigured],
    [
      'user|user add|user create|register|account authorize|setairportnetwork|login|upwd|password|alias set',
      findUsersArgument,
    ],
    ['radtest|createuser|com2sec', findPositional],
    ['net use', findShareArgument],
    ['echo|printf', findEchoed],
    ['values', findInserted],
    ['securestring|encrypt_string|obscure', findConverted],
    ['sqlplus|expdp|impdp|sqlldr|dgmgrl|target|catalog|conn|connect', findOracleArgument],
    [' using|logon', findDatabaseLogin],
    ['auth|oper|identify|login|pass|eap|xauth', findProtocolLogin],
    [
      'community|community-string|ommunity read|ommunity write|v2c|auth sha|auth md|priv aes|priv des| md|key|key-string|authentication|' +
        'authentication text| ascii|plaintext|plain-text|cleartext|clear-text',
      findDeviceSecret,
    ],
    ['cookie-', findServerCookie],
  ] as const
).map(([texts, find]) => {
  const endings = texts.split('|');
  return { endings, find, mayLead: endingTest(endings, new Set()) };
});

/** Finds a secret that a command or a statement before the space leads to. */
export const findLed = (reader: Reader, index: number): Secret | undefined => {
  for (const { find, mayLead: mayFind } of led) {
    if (!mayFind(reader.text, index)) continue;
    const found = find(reader, index);
    if (found !== undefined || reader.starved) return found;
  }
  return undefined;
};

const ledEndings = [...spacedEndings, ...statedEndings, 'by', ...led.flatMap(({ endings }) => endings)];
/** The last letters of the texts that {@link mayLead} looks for. */
export const ledLetters: ReadonlySet<string> = new Set(ledEndings.map((ending) => ending.slice(-1)));
/** Returns quickly whether the text that ends before `end` may lead to a secret behind a space. */
const mayEndLed = endingTest(ledEndings, new Set(['key', 'phrase', 'passe']));
/**
 * 1 for last letters of text that may lead to a secret behind a space: seven bits of the last one, five of each of the
 * two before. A name that ends with digits or `_` is read from the back.
 */
export const ledTails = new Uint8Array(128 << 10);
for (const ending of ledEndings) {
  for (const tail of tailsOf(ending)) {
    for (const high of [64, 96]) ledTails[(((tail & 31) | high) << 10) | (tail >> 5)] = 1;
  }
}
ledTails.fill(1, 48 << 10, 58 << 10);
ledTails.fill(1, 95 << 10, 96 << 10);

/** Returns quickly whether the text before a space may lead to a secret. */
export const mayLead = (text: string, index: number): boolean => {
  const middle = ((codeAt(text, index - 3) & 31) << 5) | (codeAt(text, index - 2) & 31);
  return ledTails[(codeAt(text, index - 1) << 10) | middle] === 1 && mayEndLed(text, index);
};
