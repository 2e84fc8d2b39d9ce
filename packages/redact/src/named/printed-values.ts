import { codeAt } from '../text/characters.js';
import { isNoisy, isPasswordLike, isTitledPair, isWords } from '../values/chosen-value.js';
import { isChosen } from '../commands/command-line.js';
import { endsLine } from '../text/gaps.js';
import { mayEndKey } from '../names/key-name.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { isHash, isPlaceholder, isPublicIdentifier, looksRandom, looksRandomBase64 } from '../values/value.js';

const lineFeed = 10;
const tab = 9;
const space = 32;
const hash = 35;
const percent = 37;
const comma = 44;
const equals = 61;
const above = 62;
const maxPrompt = 72;
const maxCommand = 512;
const maxOutput = 4096;
const minOutput = 8;

/**
 * Matches the prompt of a shell or an interpreter up to its last sign: nothing, a user and a host, a directory of
 * Windows, or the name and the number of an interpreter.
 */
const prompt =
  /^(?:\([\w.-]{1,24}\) )?(?:|[\w.-]{1,32}@[\w.-]{1,64}[: ]?\S{0,40}? ?|\[[\w.-]{1,32}@[^\]\n]{1,48}\]|PS(?: [A-Z]:[\w\\. -]{0,48})?|[A-Z]:\\[\w\\. -]{0,48}|>>|[a-z][\w-]{0,15}(?:\([\w:]{1,16}\)(?::\d{1,4}){0,2})?)$/;
/** Matches the prompt of PowerShell or of a command line of Windows. */
const windows = /^(?:PS|[A-Z]:\\)/;

/** Returns the start of the line of a prompt whose last sign is at the offset; `undefined` without a prompt. */
const startOfPrompt = (text: string, index: number): number | undefined => {
  let start = index;
  while (start > 0 && codeAt(text, start - 1) !== lineFeed) {
    if (index - start === maxPrompt || codeAt(text, start - 1) === equals) return undefined;
    start -= 1;
  }
  return start;
};

/** Returns quickly whether a sign may be the last one of a prompt. */
export const mayBePrompt = (text: string, index: number): boolean => {
  const next = codeAt(text, index + 1);
  return Number.isNaN(next) || (next === space && startOfPrompt(text, index) !== undefined);
};

/** Matches words that say that a command prints a secret, and the commands of password managers. */
const printing = new RegExp(
  String.raw`^pass(?! \w+ )|(?<![a-z])(?:` +
    'passwords?|passwd|passphrase|secrets?|tokens?|credentials?|keyring|kwallet-query -r|(?:go)?pass show|genkey|genpsk|keygen|psk|rand|urandom|random_?bytes|secure_?random|pwgen|' +
    'keys? (?:list|show|renew)|list-keys|print-key|-gen user|cookie|key-?file|pki ticket|(?:gen[_-]?)?api[-_]?keys?|' +
    String.raw`\w*(?:priv|auth|join|setup|license|master|access|signing|encryption)[-_.]?keys?|` +
    'with-decryption|berglas access|bao (?:kv get|read) -field|vault (?:kv get|read) -field' +
    ')(?![a-z])',
  'i',
);
/** Matches commands that read a setting, which is a secret if it is random. */
const reading = /\b(?:config(?:ure)?|settings?|env|vars?|variables?)[ :](?:get|show|read|print|reveal)\b/;
const nameInside = /[A-Za-z_][\w.-]{2,63}/g;
/** Matches the name of a flag that takes a value, which the command does not print. */
const flagWithValue = /(?:^|\s)--?[A-Za-z][\w-]*=/g;

/** Whether a command has the name of a secret in it, such as `npmAuthToken`. */
const hasName = (reader: Reader, command: string): boolean =>
  (command.replaceAll(flagWithValue, ' ').match(nameInside) ?? []).some(
    (name) => mayEndKey(name, name.length) && reader.strengthOf(name) !== undefined,
  );

/** Matches a command, which continues behind a backslash, and messages before its output. */
const command =
  /^((?:[^\n]*\\\r?\n){0,4}[^\n]*)\r?\n(?:(?=[^\n]*\b(?:warning|note|using|passwords?|tokens?|secrets?)\b)[^\n ]* [^\n]*\r?\n)?(?:\r?\n)?(?=\S)/i;
/** Matches what is before a value on its line: the beginning of a list, or the sign of an interpreter. */
const marker =
  /^(?:\[\r?\n {0,8}(?=")|\[\d{1,4}\] |=> |Just |- : \w{1,12} = |(?:Out\[\d{1,4}\]|\$R?\d{1,4}|(?:val )?res\d{1,4})(?:: \w{1,12})? ?(?:=|:|==>) )?(?:b(?=["']))?(["']?)/;
const run = /^[!-~]{8,4096}/;
/** Matches commands whose output is one secret, whatever its form. */
const printingOne = /^(?:go)?pass |SecretString|\bsecrets? (?:versions )?(?:access|get|read|show)\b|\s--?field\b/;
/** Matches the first member of an object in JSON. */
const objectStart = /^\{"[\w.-]*":/;

/** Finds the output of `$ terraform output -raw db_password`. Called for the last sign of the prompt. */
export const findPrinted = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  if (reader.code(index + 1) !== space) return undefined;
  const promptStart = startOfPrompt(text, index);
  if (promptStart === undefined || promptStart < reader.barrier) return undefined;
  const before = text.slice(promptStart, index);
  const sign = codeAt(text, index);
  // Headings of Markdown begin with `#`, too.
  if (!prompt.test(before) || ((sign === hash || sign === percent) && !before.includes('@'))) return undefined;
  const [lines, asked = ''] = command.exec(reader.slice(index + 2, index + maxCommand)) ?? [];
  if (lines === undefined) return undefined;
  const isShell = sign !== above || windows.test(before);
  const isNamed = printing.test(asked) || hasName(reader, asked);
  if (!isNamed && !reading.test(asked)) return undefined;
  const from = index + 2 + lines.length;
  const [head = '', quote = ''] = marker.exec(reader.slice(from, from + 48)) ?? [];
  const start = from + head.length;
  const whole = run.exec(reader.slice(start, start + maxOutput))?.[0] ?? '';
  const close = quote === '' ? whole.length : whole.indexOf(quote);
  const value = whole.slice(0, close);
  if (close < minOutput || (!isShell && head === '')) return undefined;
  // Other commands print objects whose secrets are found by their names.
  if (objectStart.test(value) && !printingOne.test(asked)) return undefined;
  if (!(isNamed ? isOutput(value, isShell) : looksRandom(value) || (isPublicIdentifier(value) && !isHash(value)))) {
    return undefined;
  }
  if ((isPublicIdentifier(value) && hashing.test(asked)) || keyId.test(value)) return undefined;
  if (value.includes(reader.replacement) || isPlaceholder(value)) return undefined;
  const end = start + close;
  const behind = end + quote.length;
  const isItem = head.startsWith('[') && reader.code(behind) === comma;
  if (!isItem && !endsLine(reader, behind) && reader.code(behind) !== tab) return undefined;
  const output: Secret = { kind: 'command-line', start, end };
  return { ...output, more: [output, ...findMorePrinted(reader, end)] };
};

/** Matches another value of a list: on the next line or behind a tab. */
const nextPrinted = /^(?:\r?\n|\t)([\w+/=.-]{20,512})(?=\s|"|$)/;
const maxPrinted = 8;

/** Returns the random values that follow the first one, such as the second key of an account. */
const findMorePrinted = (reader: Reader, from: number): readonly Secret[] => {
  const found: Secret[] = [];
  for (let end = from; found.length < maxPrinted;) {
    const [whole = '', value = ''] = nextPrinted.exec(reader.slice(end, end + 520)) ?? [];
    if (!looksRandomBase64(value) || isPublicIdentifier(value)) break;
    end += whole.length;
    found.push({ kind: 'command-line', start: end - value.length, end });
  }
  return found;
};

/** Matches the id and the fingerprint of a key of OpenPGP. */
const keyId = /^(?:0x)?(?:[\dA-F]{16}|[\dA-F]{40})$/;

/** Matches commands that print commits and digests. */
const hashing =
  /\b(?:pub\w*|git (?!config|credential)|\w*sum|md5|sha\d{1,3}|dgst|hash|rev|commit|(?:docker|podman) (?!exec))\b/i;

/** Whether a line may be a secret: random or chosen, and not a path or a message. */
const isOutput = (value: string, isShell: boolean): boolean =>
  looksRandomBase64(value) ||
  isPublicIdentifier(value) ||
  isTitledPair(value) ||
  (isNoisy(value) && !/[/\\(){}<>[\]]/.test(value)) ||
  (isShell
    ? isWords(value, 'password') || (/^[\w!@#$%^&*+=?~-]+\.?$/.test(value) && isChosen(value))
    : /^[\w!@#$%^&*+=?~-]+$/.test(value) && isPasswordLike(value));
