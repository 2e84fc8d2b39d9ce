import { codeAt, is, word } from '../text/characters.js';
import { isPasswordLike, isUnlikeWord, isWords } from '../values/chosen-value.js';
import { argumentAt, findArgument, findUserPassword, isChosen, isLongRandom } from './command-line.js';
import { quoteAt } from '../text/quotes.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { isHash, isPlaceholder, isPublicIdentifier, looksRandom } from '../values/value.js';

/** Matches a command that reads a secret from its input. */
const readsInput =
  /\b(?:log-?in|sign-?in|auth|secrets?|tokens?|\w{0,12}passw(?:or)?d|passphrase|credentials?|configure|kinit|runas|sudo|su|cryptsetup|env add|variable)\b[^\n|]{0,100}$/i;
/** Matches commands that convert or search any text. */
const filters =
  /^(?:grep|rg|sed|awk|tee|cat|tr|cut|rev|jq|yq|bc|dc|od|xxd|hexdump|base(?:32|58|64)|\w*sum|md5|openssl|g?zip|gunzip|wc|head|tail|sort|uniq|fold|xargs|less|more|while|read|column|iconv|python\d?|node|perl|ruby|php|xclip|pbcopy|nc|diff|figlet|say)\b/;

const lastCommand = (near: string): string => near.replace(/^.*[\n|;&]\s*/s, '');

/** Finds the value in `gh auth login --with-token <<< …`. Called for the third sign. */
export const findHereString = (reader: Reader, index: number): Secret | undefined => {
  if (codeAt(reader.text, index - 2) !== 60 || index - 2 < reader.barrier) return undefined;
  const { start, end } = argumentAt(reader, reader.skipSpaces(index + 1, 4));
  const value = reader.text.slice(start, end);
  if (value.length < 6 || /^[$<(]/.test(value) || value.includes(reader.replacement) || isPlaceholder(value)) {
    return undefined;
  }
  const near = reader.text.slice(reader.floor(index), index - 2);
  const isRead = readsInput.test(near) || (isLongRandom(value) && !filters.test(lastCommand(near)));
  return isRead && isChosen(value) ? { kind: 'command-line', start, end } : undefined;
};

/** Matches what is before a command: the beginning of a line, its number in a history, a sign, or `sudo`. */
const commandStart = String.raw`(?:^|(?:^|\n) {0,6}\d{1,6}\*? {2}|[\n;|&("'${'`'}$>] ?|\bsudo )`;
/** Commands whose next argument is a secret if it is random. */
export const enrolling = 'init|attach|activate|register';
/** Matches commands whose next argument is a secret, at the beginning of a command. */
const login = new RegExp(
  String.raw`${commandStart}(?:[\w./-]{1,30} ){1,2}(?:log-?in|(?:add-)?auth(?:token)?|token|set[aA]pi[kK]ey|operator unseal|unlock|(${enrolling}))$`,
);
const loginEnds = [
  ...enrolling.split('|').map((verb) => ` ${verb}`),
  'login',
  'og-in',
  ' auth',
  'auth digest',
  ' AUTH',
  'token',
  'pikey',
  'piKey',
  'unseal',
  ' unlock',
];
const isLoginEnd = (text: string, end: number): boolean => loginEnds.some((last) => text.endsWith(last, end));

/** Matches what keys have and names of branches, images and hosts do not. */
const randomKey = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[\w+/=-]{16,}$/;

/** Matches the command of Redis before a password. */
const redisLogin = /(?:redis-cli [^\n]{0,80}|> )(?:AUTH|(?<=\d> )auth)$/;

/** Finds the value in `vault login …` and `stats auth user:…`. Called for a space. */
export const findLogin = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  if (!isLoginEnd(text, index)) return undefined;
  const isPair = text.endsWith(' auth', index) || text.endsWith('auth digest', index);
  const pair = isPair ? findUserPassword(reader, index, index + 1) : undefined;
  if (pair !== undefined || reader.starved) return pair;
  const { start, end } = argumentAt(reader, index + 1);
  const value = reader.text.slice(start, end);
  if (value.length < 8 || /^[$<\-/]/.test(value) || value.includes(reader.replacement)) return undefined;
  if (redisLogin.test(reader.text.slice(reader.floor(index), index)) && isChosen(value)) {
    return { kind: 'command-line', start, end };
  }
  const isRandom = looksRandom(value) || (value.length >= 32 && isPublicIdentifier(value));
  if (!isRandom || isPlaceholder(value)) return undefined;
  const command = login.exec(reader.text.slice(reader.floor(index), index));
  const isId = command?.[1] !== undefined && (isPublicIdentifier(value) || !randomKey.test(value));
  return command === null || isId ? undefined : { kind: 'command-line', start, end };
};

/** Matches commands whose arguments are a user and a password, at the beginning of a command. */
const userCommand = new RegExp(
  String.raw`${commandStart}(?:[\w./-]{1,30} ){0,2}(?:user|(?:add|authenticate)_user|user (?:add|create)|register|\+?login|account authorize|upwd|user:password|alias set|-setairportnetwork)(?: --?\w{1,16}){0,2}$`,
);
/** The first characters of an option, of a quote, and of what is behind a command. */
const followers: ReadonlySet<number> = new Set(Array.from('\n\r-+/&|;>"\'', (character) => character.charCodeAt(0)));
/** The ends of these commands, with what is before the password: a user, possibly with a server or an address. */
const userEnds: readonly (readonly [end: string, before: RegExp])[] = [
  ...['user add', 'register', '-setairportnetwork'].map((end) => [end, /^(?: [\w.@-]{1,64}){2} (?=[^\s-])/] as const),
  ...['user', 'user create', 'login', 'account authorize', 'upwd', 'user:password'].map(
    (end) => [end, /^ [\w.@\\-]{1,64} (?=[^\s-])/] as const,
  ),
  ['alias set', /^ [\w.-]{1,64} https?:\/\/[\w.:/-]{1,96} [\w-]{1,64} (?=[^\s-])/],
];

/** Finds the value in `rabbitmqctl add_user joe …`. Called for a space. */
export const findUsersArgument = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  const before = userEnds.find(([end]) => text.endsWith(end, index))?.[1];
  if (before === undefined || !userCommand.test(text.slice(reader.floor(index), index))) return undefined;
  const head = before.exec(reader.slice(index, index + 240));
  if (head === null) return undefined;
  const { start, end } = argumentAt(reader, index + head[0].length);
  const value = text.slice(start, end);
  if (/\s/.test(value) || value.includes(reader.replacement) || isPlaceholder(value)) return undefined;
  if (!isPasswordLike(value)) return undefined;
  const next = reader.code(reader.skipSpaces(end, 4));
  const isLast = Number.isNaN(next) || followers.has(next);
  return isLast ? { kind: 'command-line', start, end } : undefined;
};

/** Matches the name of a setting with a login or a secret, and its value: a user and a password, or a token. */
const setting =
  /^ (?:set |add )?(?:--?\w{1,12} )?[\w./-]{0,40}?(http-basic|oauth|token|secret|passw(?:or)?d|api-?key|credentials?)[\w./-]{0,60} (?:[\w.@-]{1,64} )?(?=([^\s"'-][^\s"']{7,255})["']?[ \t]*(?:\r?\n|$))/i;

/** Finds the value in `composer config http-basic.host joe …`. Called for the space behind the command. */
export const findConfigured = (reader: Reader, index: number): Secret | undefined => {
  if (!reader.text.endsWith('config', index)) return undefined;
  const found = setting.exec(reader.slice(index, index + 400));
  const value = found?.[2] ?? '';
  if (found === null || value.includes(reader.replacement) || isPlaceholder(value)) return undefined;
  if (!isPasswordLike(value) && !isHash(value)) return undefined;
  const start = index + found[0].length;
  return { kind: 'command-line', start, end: start + value.length };
};

/** The positions of the secrets among the arguments of commands: of FreeRADIUS 3, and of the settings of Net-SNMP 5.9. */
const positions: ReadonlyMap<string, readonly number[]> = new Map([
  ['radtest', [1, 4]],
  ['createUser', [2, 4]],
  ['com2sec', [2]],
]);

/** Finds the secrets in `radtest joe … localhost 0 …` and `createUser joe SHA … AES …`. Called for a space. */
export const findPositional = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  const name = [...positions.keys()].find((command) => text.endsWith(command, index));
  if (name === undefined || !/(?:^|[\n;|&$#>] ?)\w+$/.test(text.slice(Math.max(reader.barrier, index - 16), index))) {
    return undefined;
  }
  const found: Secret[] = [];
  let from = index;
  for (let position = 0; position <= 4; position += 1) {
    const { start, end } = argumentAt(reader, reader.skipSpaces(from, 8));
    if (end === start) break;
    const value = text.slice(start, end);
    const isSecret = positions.get(name)?.includes(position) === true && !isPlaceholder(`${value}0`);
    if (isSecret && isChosen(value) && !value.includes(reader.replacement)) {
      found.push({ kind: 'command-line', start, end });
    }
    from = end + (quoteAt(reader, end) === undefined ? 0 : 1);
  }
  return found[0] === undefined ? undefined : { ...found[0], more: found };
};

/** Matches commands that encrypt their argument. */
const encrypts = /(?:ConvertTo-SecureString(?: -String)?|\bencrypt_string|\brclone obscure)$/i;

/** Finds the value in `ConvertTo-SecureString "…"`. Called for the space. */
export const findConverted = (reader: Reader, index: number): Secret | undefined => {
  if (!encrypts.test(reader.text.slice(Math.max(reader.barrier, index - 32), index))) return undefined;
  const found = findArgument(reader, index + 1);
  if (found === undefined || quoteAt(reader, index + 1) !== undefined) return found;
  return isChosen(reader.text.slice(found.start, found.end)) ? found : undefined;
};

/** Matches the device and the share before a password. */
const share = /^ (?:(?:[A-Za-z]:|\*) )?\\\\[\w.$-]{1,64}\\[\w.$-]{1,64} (?=[^\s/]\S{5,63} \/user:)/;

/** Finds the password in `net use Z: \\srv\share … /user:joe`. Called for the space behind the command. */
export const findShareArgument = (reader: Reader, index: number): Secret | undefined => {
  const head = reader.text.endsWith('net use', index) ? share.exec(reader.slice(index, index + 220)) : null;
  return head === null ? undefined : findArgument(reader, index + head[0].length);
};

/** Matches the user and the password behind `/user:`, at the end of a command. */
const netUser = /^[\w.@\\-]{1,64} {1,4}([^\s/"][^\s"]{5,63})[ \t]*(?=[\r\n&|/"]|$)/;

/** Finds the password in `net use … /user:joe …`. Called for the colon. */
export const findNetUser = (reader: Reader, index: number): Secret | undefined => {
  const found = netUser.exec(reader.slice(index + 1, index + 140));
  const value = found?.[1] ?? '';
  if (found === null || !(isUnlikeWord(value) || looksRandom(value)) || value.includes(reader.replacement)) {
    return undefined;
  }
  const start = index + 1 + found[0].lastIndexOf(value);
  return { kind: 'command-line', start, end: start + value.length };
};

/** Finds the password in `/u:joe /p:…`. Called for the colon. */
export const findSlashFlag = (reader: Reader, index: number): Secret | undefined => {
  const near = reader.text.slice(reader.floor(index), index);
  if (!/\s\/u(?:ser)?[do]?:[^\s/][^\n]{0,100}\s\/p(?:ass(?:word)?)?[do]?$/.test(near)) return undefined;
  return findArgument(reader, index + 1);
};

/** Matches a command behind a pipe that reads a secret. */
const readsSecret =
  /(?:--password|--passwd|--passphrase|--with-token|-S\b|\b(?:su|kinit)\b|\b(?:secrets?|log-?in|sign-?in|auth|tokens?|passw(?:or)?d|pass|credentials?|keystore|vault|cryptsetup|keepassxc\w*|env add|variable|(?:load|import)-key|unlock\w*)\b)/i;
const piped = /^["']? ?\| ?((?:\w+=\S{0,40} )?[^\n|]{1,100})/;
/** Matches the options of a command that prints. */
const printOptions = /^ {1,4}(?:-[neE]{1,3} {1,4}|(["']?)%s(?:\\n)?\1 {1,4})?/;

/** Matches a flag for the file of a secret, or a variable for the command that prints it, before `echo`. */
const substituted = /(?:pass|key|psk|token|secret|cred)[\w-]*(?:[ =]<\(|COMMAND=["'])$/i;

/** Finds the value in `echo … | docker login --password-stdin`. Called for the space. */
export const findEchoed = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  const command = text.endsWith('echo', index) ? 4 : 6;
  if ((command === 6 && !text.endsWith('printf', index)) || is(reader.before(index - command), word)) return undefined;
  const options = printOptions.exec(reader.slice(index, index + 16))?.[0].length ?? 1;
  const { start, end } = argumentAt(reader, index + options);
  const value = reader.text.slice(start, end);
  if (value.length < 8 || /^[$<-]/.test(value) || value.includes(reader.replacement)) return undefined;
  const isWord = isWords(value, 'password');
  if (!(isWord || isChosen(value)) || isPlaceholder(value)) return undefined;
  if (substituted.test(text.slice(reader.floor(index), index - command))) return { kind: 'command-line', start, end };
  const next = piped.exec(reader.slice(end, end + 140))?.[1] ?? '';
  const isKnown = (!isWord && isUnlikeWord(value) && !/\s/.test(value)) || readsSecret.test(next);
  const isRead = next !== '' && !filters.test(next.replace(/^\w+=\S* /, '')) && isKnown;
  return isRead ? { kind: 'command-line', start, end } : undefined;
};
