import { codeAt, is, key as keyClass, stop, word } from '../text/characters.js';
import { isAssigned, isMixed, isPassphrase, isUnlikeWord, isWords } from '../values/chosen-value.js';
import { findCookies } from '../named/headers.js';
import { isManagement, keyStrength, mayEndKey } from '../names/key-name.js';
import { quoteAt } from '../text/quotes.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { skipWhiteSpace } from '../text/gaps.js';
import type { Key } from '../names/key.js';
import { valueOf } from '../values/value-of-name.js';
import { isNamedPair, isPlaceholder, isPublicIdentifier, looksRandom, looksRandomBase64 } from '../values/value.js';

const hyphen = 45;
const equals = 61;
const comma = 44;
const lineFeed = 10;
const openingBracket = 91;
const maxFlag = 40;
const maxArgument = 2048;
/** Maximum number of commands of a line whose flags are considered. */
const maxCommands = 4;

interface PasswordFlag {
  readonly commands: ReadonlySet<string>;
  /** The flag, with a space if its password is a separate argument. */
  readonly flag: string;
  /** A word that must follow the command, such as a subcommand. */
  readonly needs?: string;
}

const commands = (list: string): ReadonlySet<string> => new Set(list.split(' '));

const redis = commands('redis-cli');
const sshpass = commands('sshpass');
const archivers = commands('zip unzip mosquitto_pub mosquitto_sub sqlcmd bcp isql osql tsql');
const directories = commands('ldapsearch ldapmodify ldapadd ldapdelete ldappasswd ldapwhoami');

/** Short flags with a password, by command. */
const passwordFlags: readonly PasswordFlag[] = [
  {
    commands: commands(
      'mysql mysqldump mysqladmin mysqlimport mysqlsh mysqlpump mariadb mariadb-dump mariadb-admin 7z 7za 7zz rar unrar',
    ),
    flag: '-p',
  },
  { commands: commands('rar unrar'), flag: '-hp' },
  { commands: sshpass, flag: '-p' },
  { commands: sshpass, flag: '-p ' },
  { commands: commands('useradd usermod altool unlock-keychain create-keychain poetry cqlsh nuget'), flag: '-p ' },
  { commands: commands('add-generic-password add-internet-password'), flag: '-w ' },
  { commands: commands('ssh-keygen'), flag: '-N ' },
  { commands: commands('ssh-keygen ipmitool'), flag: '-P ' },
  { commands: commands('snmpwalk snmpget snmpset snmpbulkwalk'), flag: '-c ' },
  { commands: commands('snmpwalk snmpget snmpset snmpbulkwalk'), flag: '-A ' },
  { commands: commands('snmpwalk snmpget snmpset snmpbulkwalk'), flag: '-X ' },
  { commands: commands('ldappasswd'), flag: '-s ' },
  {
    commands: commands('docker podman buildah skopeo nerdctl crane oras helm az oc cf argocd'),
    flag: '-p ',
    needs: 'login',
  },
  { commands: commands('twine'), flag: '-p ' },
  { commands: commands('gh'), flag: '-b ', needs: 'secret' },
  { commands: commands('mongo mongosh mongodump mongorestore mongoexport mongoimport'), flag: '-p ' },
  { commands: archivers, flag: '-P' },
  { commands: archivers, flag: '-P ' },
  { commands: redis, flag: '-a ' },
  { commands: directories, flag: '-w' },
  { commands: directories, flag: '-w ' },
  { commands: commands('plink pscp psftp'), flag: '-pw ' },
  { commands: commands('openssl'), flag: '-k ' },
  { commands: commands('evil-winrm nxc netexec crackmapexec'), flag: '-H ' },
  { commands: commands('oathtool'), flag: '-b ' },
  { commands: commands('nsupdate dig'), flag: '-y ' },
  { commands: commands('openssl swift'), flag: '-K ' },
];
/** Codes of the letters of these flags, in lower case, and of `-u`. */
const flagLetters: ReadonlySet<number> = new Set(
  ['-u', '-t', '-k', ...passwordFlags.map(({ flag }) => flag)].map((flag) => flag.charCodeAt(1) | 32),
);
/** The flags by the commands that have them. */
const flagsOf: ReadonlyMap<string, readonly PasswordFlag[]> = new Map(
  passwordFlags
    .flatMap((entry) => [...entry.commands])
    .map((name) => [name, passwordFlags.filter((entry) => entry.commands.has(name))]),
);
const apache = commands('htpasswd mosquitto_passwd');
const clients = commands('curl wget http https xh ab hey wrk rclone lftp smbclient smbget rpcclient');
/** Matches the words of a line that determine the meaning of a short flag. */
const commandWords = ((): RegExp => {
  const known = [...clients, ...apache, ...passwordFlags.flatMap((entry) => [...entry.commands]), 'login', 'secret'];
  const longestFirst = known.toSorted((one, other) => other.length - one.length);
  return new RegExp(`\\b(?:${longestFirst.join('|')})\\b`, 'g');
})();

/** Returns quickly whether a hyphen may begin a flag. */
export const mayBeFlag = (text: string, index: number): boolean => {
  const second = codeAt(text, index + 1);
  return second === hyphen || is(second, word) || index + 1 >= text.length;
};

/** Finds the value of a flag such as `--password`, `-u` or `-p`. Called for a hyphen after a space or a quote. */
export const findFlag = (reader: Reader, index: number): Secret | undefined => {
  const second = reader.code(index + 1);
  const isLong = second === hyphen || is(reader.code(index + 2), keyClass);
  if (second !== hyphen && !is(second, word)) return undefined;
  // A synopsis such as `[-P password]`.
  if (reader.before(index) === openingBracket) return undefined;
  if (isLong) {
    const found = findLongFlag(reader, index);
    if (found !== undefined || reader.starved) return found;
  }
  return second === hyphen ? undefined : findShortFlag(reader, index);
};

/** Length of the text before an option in which its command is searched, also before another secret. */
const maxStoring = 160;
/** Options with a secret in commands that store one. */
const contents = commands('body value secret-string data plaintext base64');
const storing =
  /\b(?:secrets?[ :](?:set|create|put)|(?:put|create|update)-secret\S*|secret-set-\S*|put-parameter|variable set|rootpw|hash-password)\b[^\n]*$/;

/** Matches the name of a secret of AWS, and the command before its option. */
const storedPath = /^[a-z\d_-]+(?:\/[a-z\d_-]+)+$/;
const manager = /\bsecretsmanager\b[^\n;&|]*$/;

const findLongFlag = (reader: Reader, index: number): Secret | undefined => {
  const start = index + (reader.code(index + 1) === hyphen ? 2 : 1);
  const end = reader.endOfRun(start, keyClass, maxFlag);
  if (end - start < 3 || end === start + maxFlag) return undefined;
  const name = reader.text.slice(start, end);
  if (isManagement(name)) return undefined;
  const isUser = /(?:^|-)(?:user|creds?|credentials|basic-auth|auth|cert)$/.test(name);
  const isContent = contents.has(name) && storing.test(reader.text.slice(Math.max(0, index - maxStoring), index));
  const isPass = /(?:^|-)pass$/.test(name);
  if (name === 'setcookie' || name === 'hashes') return findSessionFlag(reader, end);
  if (name === 'key' || name === 'certificate-key') return findKeyFlag(reader, end);
  if (!isUser && !isContent && !isPass && !mayEndKey(name, name.length)) return undefined;
  const strength = isContent || isPass ? 'strong' : keyStrength(name);
  if (!isUser && strength === undefined) return undefined;
  const valueStart = isUser && reader.code(end) === equals ? end + 1 : startOfArgument(reader, end);
  if (valueStart === undefined) return undefined;
  const ofUser = isUser ? findUserPassword(reader, index, valueStart) : undefined;
  if (ofUser !== undefined || strength === undefined || reader.starved || reader.code(end) === equals) return ofUser;
  const next = reader.code(valueStart);
  if (next === hyphen || next === 60 || next === 91) return undefined;
  const key: Key = { name, strength: 'strong', start, isQuoted: false, isTight: false };
  const found = valueOf(reader, key, valueStart, { isColon: true, isLiteral: true });
  if (found === undefined) return undefined;
  const value = reader.text.slice(found.start, found.end);
  // A word with a number is the name of something else, unless the flag is for a password.
  if (strength === 'weak' && nameOfOther.test(value)) return undefined;
  // The name of a secret of AWS.
  if (name === 'secret-id' && storedPath.test(value) && manager.test(reader.text.slice(reader.floor(index), index))) {
    return undefined;
  }
  // What a message says about the flag.
  if (/^(?:requires|expects|needs|cannot|accepts)$/.test(value) && reader.code(found.end) === 32) return undefined;
  if (isPass && /^(?:pass|env|file|fd|stdin):?/.test(value)) return undefined;
  return isChosen(value) || isWords(value, isContent ? 'password' : name)
    ? { ...found, kind: 'command-line' }
    : undefined;
};

/** Finds the value of `--key …`, and of `--certificate-key …` of kubeadm, that is random or a UUID. */
const findKeyFlag = (reader: Reader, end: number): Secret | undefined => {
  const from = reader.code(end) === equals ? end + 1 : startOfArgument(reader, end);
  const found = from === undefined ? undefined : findArgument(reader, from);
  if (found === undefined) return undefined;
  const value = reader.text.slice(found.start, found.end);
  const isRandom = isPublicIdentifier(value) || (looksRandom(value) && /^[\w+/=.-]{16,}$/.test(value));
  return isRandom && !/^(?:0x|arn:|\/|\w+\/)/.test(value) ? found : undefined;
};

/** Matches the hashes of a Windows account and the cookie of a node of Erlang. */
const sessionValue = /^[ =]["']?((?:[\da-f]{32})?:[\da-f]{32}|[A-Z]{20}|(?=\S*\d)[A-Za-z\d_-]{12,64})(?=["'\s]|$)/;

/** Finds the value of `-hashes lm:nt` and `-setcookie …`. */
const findSessionFlag = (reader: Reader, end: number): Secret | undefined => {
  const found = sessionValue.exec(reader.slice(end, end + 72));
  const value = found?.[1] ?? '';
  if (found === null || isPlaceholder(value) || value.includes(reader.replacement)) return undefined;
  return { kind: 'command-line', start: end + found[0].length - value.length, end: end + found[0].length };
};

const nameOfOther = /^[a-z]+(?:[-_.][a-z]+)*[-_.]?\d{0,3}$/;

/** Whether the value is chosen or random; letters alone may be a word of the help text. */
export const isChosen = (value: string): boolean =>
  isMixed(value, { isQuoted: false }) || looksRandom(value) || isPassphrase(value);

/** Returns the start of the next argument, after a space or in the next item of an argument list. */
const startOfArgument = (reader: Reader, end: number): number | undefined => {
  const quote = quoteAt(reader, end);
  let index = quote?.end ?? end;
  if (quote !== undefined && reader.code(index) === 44) index += 1;
  if (reader.code(index) === lineFeed && codeAt(reader.text, index - 1) !== comma) return nextItem(reader, index);
  const start = quote === undefined ? reader.skipSpaces(index, 4) : skipWhiteSpace(reader, index);
  return start === end || (start === index && quote === undefined) ? undefined : start;
};

const itemStart = /^\n[ \t]{0,40}- (?=["'\w])/;

/** Returns the start of the next item of a list in YAML. */
const nextItem = (reader: Reader, index: number): number | undefined => {
  const { text } = reader;
  const line = text.lastIndexOf('\n', index - 1) + 1;
  if (index - line > 100 || !/^\s*- ["']?--/.test(text.slice(line, index))) return undefined;
  const item = itemStart.exec(reader.slice(index, index + 48));
  return item === null ? undefined : index + item[0].length;
};

const findShortFlag = (reader: Reader, index: number): Secret | undefined => {
  const letter = reader.code(index + 1) | 32;
  const flags = reader.endOfRun(index + 1, word, 6);
  if (flags > index + 2 && (reader.code(flags - 1) | 32) === 117) {
    const found = findUserPassword(reader, index, reader.skipSpaces(flags, 4), true);
    if (found !== undefined || reader.starved) return found;
  }
  if (letter === 98 || letter === 99 || letter === 110) {
    const found =
      (letter === 98 && isAfter(reader, index, clients)
        ? findCookies(reader, reader.skipSpaces(index + 2, 4))
        : undefined) ?? findFileUser(reader, index);
    if (found !== undefined || reader.starved) return found;
  }
  if (!flagLetters.has(letter)) return undefined;
  if (letter === 117 || letter === 97) {
    const found = findUserPassword(reader, index, startOfArgument(reader, index + 2) ?? index + 2);
    if (letter === 117 || reader.starved) return found;
    if (found !== undefined && !isAfter(reader, index, redis)) return found;
  }
  return findKnownFlag(reader, index) ?? (reader.starved ? undefined : findPasswordFlag(reader, index));
};

/** Finds the value of a flag that has a password in a command before. */
const findKnownFlag = (reader: Reader, index: number): Secret | undefined => {
  const near = reader.slice(index, index + 5);
  const words = reader.wordsOnLine(commandWords, index).slice(0, maxCommands);
  for (const [place, { word: name }] of words.entries()) {
    for (const { flag, needs } of flagsOf.get(name) ?? []) {
      const isItem = flag.endsWith(' ') && near.startsWith(flag.trimEnd()) && /["'\\]/.test(near.charAt(2));
      if (!isItem && !near.startsWith(flag)) continue;
      if (needs !== undefined && !words.some((one, at) => at > place && one.word === needs)) continue;
      const start = isItem ? startOfArgument(reader, index + 2) : index + flag.length;
      // Without quotes, an item of a list in code is a variable.
      const isVariable = isItem && start !== undefined && isCodeItem(reader, start);
      const found = start === undefined || isVariable ? undefined : findArgument(reader, start);
      if (found !== undefined || reader.starved) return found;
    }
  }
  return undefined;
};

/** Whether an argument is a variable in a list of arguments. */
const isCodeItem = (reader: Reader, start: number): boolean =>
  codeAt(reader.text, start - 1) === 32 && /^[a-z_][\w.]{0,40}[,\])]/i.test(reader.slice(start, start + 42));

export const isLongRandom = (value: string): boolean => value.length >= 20 && looksRandom(value);

/** Matches a short flag that stands for a password in many commands. */
const passwordFlag = /^[-/][A-Za-z]{0,2}(?:[pPwWtTkK](?: {1,4}(?=\S)|["'], ?(?=["']))|[pP](?::(?=\S)|(?=["'][^\s,])))/;
const longBase64 = /^[A-Za-z\d+/]{20,}={0,2}$/;
/** Matches an argument with a user before the password. */
const userFlag =
  /\s(?:(?:-{1,2}\w{0,12}-?|\/\w?)(?:u|U|user(?:name)?)|-[lx]|-D)(?: |=|:)[^\s-][^\n]{0,60}\s$|["']-{1,2}u(?:ser(?:name)?)?["'], ?["'][^\s"'-][^\n]{0,60}[\s"']$/;

/** Whether the quote and the comma of an item of a list are at an offset. */
const isListEnd = (text: string, end: number): boolean =>
  (codeAt(text, end) === 34 || codeAt(text, end) === 39) && codeAt(text, end + 1) === comma;

/** Whether a letter that stands for a password is before a space, or ends an item of a list. */
const isFlagEnd = (text: string, end: number): boolean =>
  (flagEnds.has(codeAt(text, end)) || isListEnd(text, end)) && passwordLetters.has(codeAt(text, end - 1) | 32);
/** What may be behind a short flag: a space, a colon or the quote of its value. */
const flagEnds: ReadonlySet<number> = new Set(Array.from(' :"\'', (sign) => sign.charCodeAt(0)));
const passwordLetters: ReadonlySet<number> = new Set(Array.from('pwtk', (letter) => letter.charCodeAt(0)));

/** Returns quickly whether a sign may begin a short flag with a separate value. */
export const mayBePasswordFlag = (text: string, index: number): boolean =>
  index + 4 >= text.length || isFlagEnd(text, index + 2) || isFlagEnd(text, index + 3) || isFlagEnd(text, index + 4);

/** Finds the password in `-u user … -p password` and `/u user /p password` of any command. Called for the flag. */
export const findPasswordFlag = (reader: Reader, index: number): Secret | undefined => {
  if (!mayBePasswordFlag(reader.text, index)) return undefined;
  const flag = passwordFlag.exec(reader.slice(index, index + 10));
  if (flag === null) return undefined;
  const { start, end } = argumentAt(reader, index + flag[0].length);
  const value = reader.text.slice(start, end);
  const isAfterUser = (): boolean => userFlag.test(reader.text.slice(reader.floor(index), index));
  if (longBase64.test(value) && looksRandomBase64(value) && isAfterUser()) return { kind: 'command-line', start, end };
  if (
    value.length < 6 ||
    !/^[^\d/.$<-]|\d[A-Za-z]/.test(value) ||
    /[/:]/.test(value) ||
    isAssigned(value.replace(/={1,2}$/, '')) ||
    !isChosen(value)
  ) {
    return undefined;
  }
  if (value.includes(reader.replacement) || isPlaceholder(value)) return undefined;
  if (/[tk] *$/i.test(flag[0])) return isLongRandom(value) ? { kind: 'command-line', start, end } : undefined;
  const isSecret = (isUnlikeWord(value) && /[A-Z]|[a-z]{4}\d[a-z]{4}/.test(value)) || isAfterUser();
  return isSecret ? { kind: 'command-line', start, end } : undefined;
};

const fileCommand = /\b(?:htpasswd|mosquitto_passwd)[^;|&]*$/;
const lineBefore = (reader: Reader, index: number): string =>
  reader.text.slice(reader.floor(index), index).replace(/^[^]*\n/, '');

/** Finds the password in `htpasswd -b FILE USER PASSWORD`. */
const findFileUser = (reader: Reader, index: number): Secret | undefined => {
  if (!isAfter(reader, index, apache) || !fileCommand.test(lineBefore(reader, index))) return undefined;
  const head = /^-\w{0,4}[bn]\w{0,4} +(?:-\w{1,4} +){0,3}(?:[^\s-]\S{0,80} +){1,2}/.exec(
    reader.slice(index, index + 180),
  );
  return head === null ? undefined : findArgument(reader, index + head[0].length);
};

/** Whether one of these commands precedes on the line. */
const isAfter = (reader: Reader, index: number, names: ReadonlySet<string>): boolean =>
  reader.wordsOnLine(commandWords, index).some(({ word: name }) => names.has(name));

/** Matches the place of an argument in a template: `{0}`, `{password}`. */
const format = /^\{(?:\d*|[A-Za-z_]+)\}$/;

/** Returns the next argument, unless it is a placeholder or another flag. */
export const findArgument = (reader: Reader, from: number): Secret | undefined => {
  const { start, end } = argumentAt(reader, from);
  const value = reader.text.slice(start, end);
  // Text between two spans of code in Markdown.
  if (codeAt(reader.text, start - 1) === 96 && /\s/.test(value)) return undefined;
  if (value.length < 3 || value.startsWith('-') || value.includes(reader.replacement)) return undefined;
  if (reader.matches(reader.replacement, end)) return undefined;
  if (isPlaceholder(`${value}00`) || format.test(value)) return undefined;
  return { kind: 'command-line', start, end };
};

/** Returns the end of an argument without quotes. A comma within it belongs to it. */
const endOfWord = (reader: Reader, start: number): number => {
  let end = reader.endOfRun(start, stop, maxArgument, false);
  while (end > start && end < start + maxArgument && reader.code(end) === comma && !is(reader.code(end + 1), stop)) {
    if (Number.isNaN(reader.code(end + 1))) break;
    end = reader.endOfRun(end + 1, stop, maxArgument, false);
  }
  return end;
};

/** Returns the range of the argument, up to the closing quote or the next space. */
export const argumentAt = (reader: Reader, from: number): { readonly start: number; readonly end: number } => {
  const quote = quoteAt(reader, from);
  if (quote === undefined) return { start: from, end: endOfWord(reader, from) };
  const start = quote.end;
  let end = start;
  while (end < start + maxArgument) {
    const code = reader.code(end);
    if (Number.isNaN(code) || code === 10 || code === 13 || reader.matches(quote.literal, end)) break;
    end += 1;
  }
  return { start, end };
};

/** Maximum length of the part of a password by which it is judged. */
const maxJudged = 128;
const userPassword =
  /^((?:[A-Za-z][\w.-]{0,31}\/(?=[^\s:]{1,48}%))?[\w.@%][\w.@%+\\-]{0,63})(?:(?<!-)[:%](?!\/\/)|,(?=[^,]+$))(.{3,})$/;
/** Matches the password of a user without a name, as tokens are sent. */
const onlyPassword = /^():([^\s:/].{3,})$/;

/** Matches a token in place of the user, and a password that is ignored. */
const onlyUser = /^([\w-]{16,128}):[A-Za-z]{0,2}$/;

/** Matches a path, a port and words with a wildcard. */
const notPassword = /^(?:[/:]|\d+(?::|$)|[a-z]+:\*{1,2}$)/;

/** Finds the password of `user:password`: always for a web client, otherwise unless it may be a group or a port. */
export const findUserPassword = (
  reader: Reader,
  index: number,
  from: number,
  needsClient = false,
): Secret | undefined => {
  const { start, end } = argumentAt(reader, from);
  const sign = codeAt(reader.text, end - 1);
  const quoted = sign === 58 || sign === comma ? quoteAt(reader, end) : undefined;
  if (quoted !== undefined && end > start + 1) return findQuotedPassword(reader, index, end, needsClient);
  // The beginning of an argument whose rest is replaced.
  if (end - start < 5 || reader.matches(reader.replacement, end)) return undefined;
  const argument = reader.text.slice(start, Math.min(end, start + maxJudged));
  const pair = userPassword.exec(argument) ?? onlyPassword.exec(argument);
  const password = pair?.[2];
  const token = pair === null ? onlyUser.exec(argument)?.[1] : undefined;
  if (token !== undefined && looksRandom(token) && isAfter(reader, index, clients)) {
    return { kind: 'command-line', start, end: start + token.length };
  }
  if (pair === null || password === undefined) return undefined;
  if (isNamedPair(pair[1] ?? '', password) || isPlaceholder(`${password}0`) || notPassword.test(password)) {
    return undefined;
  }
  const isUnsure = needsClient || pair[1] === '' || !isChosen(password);
  if (isUnsure && !isAfter(reader, index, clients)) return undefined;
  if (/%[\dA-F]{2}.*%$/.test(pair[0].slice(0, -password.length))) return undefined;
  // The user may be a secret, too.
  const secretStart = start + (pair[0].length - password.length);
  if (reader.text.slice(secretStart, end).includes(reader.replacement)) return undefined;
  const secret: Secret = { kind: 'command-line', start: secretStart, end };
  return { ...secret, more: [secret] };
};

/** Finds the password in `user:'password'`. */
const findQuotedPassword = (reader: Reader, index: number, from: number, needsClient: boolean): Secret | undefined => {
  const { start, end } = argumentAt(reader, from);
  const password = reader.text.slice(start, end);
  if (end - start < 4 || isPlaceholder(password) || password.includes(reader.replacement)) return undefined;
  if ((needsClient || !isChosen(password)) && !isAfter(reader, index, clients)) return undefined;
  // The user may be a secret, too.
  const secret: Secret = { kind: 'command-line', start, end };
  return { ...secret, more: [secret] };
};
