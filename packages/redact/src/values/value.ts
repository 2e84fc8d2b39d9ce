import { codeAt, kindOf } from '../text/characters.js';
import { isPublished } from './published.js';

/** Number of characters by which a value is judged. */
export const maxLooked = 96;
const minSegment = 12;
const minDistinct = 8;

/** Matches the beginning of a placeholder for a secret. */
const placeholder =
  /^(?:[$<%*#[(\\?~@…]|\.[*+]\$?(?:[/|#)'"]{0,3}$|[/|#](?:\\\d|\$\w+[/|#]|[A-Za-z_][\w.-]*['"]?[:=]))|\/[\^\\([]|\/\* ?[@#]__|x{3,}|\.{3}|your|(?:my[-_.]|(?:an?|the)[-_])[a-z]{2,}(?![a-z\d])|some|example|sample|dummy|fake|mock|test|placeholder|change[-_]?me|replace|insert|enter|put[-_]|redacted|hidden|removed|masked|null|nil|none|phc_|pk_(?:live|test)_|undefined|true|false|string|str\b|number|integer|boolean|optional\b|required\b|bearer\b|basic\b|process\.|import\.|env[.:]|os\.|config\.|self\.|this\.|options\.|vault:|op:\/\/|arn:|file:|https?:|data:|[a-z][a-z\d+.-]{1,15}:\/\/|&lt;|\.\s?\$|sha\d+[-:]|0x(?:[\da-f]{1,16}u?l{0,2}|[\da-f]{40})$|base(?:32|64)(?:url)?[a-z]*$|1password$|changeit$|ssh-(?:rsa|dss|ed25519)\b|projects\/[\w.-]+\/secrets\/|aes-?(?:128|192|256)(?:[-_](?:cbc|gcm|ctr|ecb|ccm|cfb))?$|(?:ecdsa|rsa)-sha2-|\.\/|\.\.\/|\/[a-z]+(?:[/.]|$)|\{[a-z_ -]+\}$|\{[a-z]\w*\()/i;

/** Matches words anywhere in a placeholder for a secret. */
const disclaimer =
  /example|placeholder|your[-_]|xxxx|[-_](?:x{3}|y{3,}|z{3,})$|aAbBcC|AaBbCc|\*{3}|\.\.\.|…|\$\{|\{\{|<[a-z][\w -]*>|redacted|change[-_]?me|dummy|anonymous|does-?not-?exist|non-?exist|pkcs-?\d|[-_]here\b/i;

const defaultPasswords = new Set(
  (
    'password passwd pass pwd secret token user username postgres mysql root admin guest minio minioadmin localhost ' +
    'key anonymous anoncvs production development staging preview'
  ).split(' '),
);

const maxDefault = 16;

/** Words that name a secret. */
const nouns: ReadonlySet<string> = new Set([
  'token',
  'secret',
  'password',
  'key',
  'value',
  'credential',
  'credentials',
]);
const camelCaseName = /^[a-z]{2,12}(?:Token|Secret|Password|Key|Credentials?)$/;
/** Matches the nouns of examples with a number; `token1` stands for the first token. */
const numberedNoun = /^(?:value|token|key)(?:\d|1234?5?6?)$/;
const plainWord = /^[a-z]{1,12}$/;
const countingDigits = '01234567890';

/**
 * Matches the beginnings of encrypted values: of Spring Cloud, Jasypt, eyaml and SOPS, of the key service of AWS, and of
 * sealed secrets of Kubernetes with a key of 4096 bits.
 */
const encrypted = /^(?:\{cipher\}|ENC[([]|AQICAH|Ag[A-D][\w+/=]{300})/;

/** Matches a time, which lists of secrets have beside their names, a port and its protocol, fields of an option of GnuPG, and a group of functions such as `crypt_*`. */
const publicForm =
  /^(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d{1,5}\/(?:tcp|udp|sctp)$|T1\d{3}\.\d{3}$|\d{1,2}:\d{1,2}:[A-Z]?:[\d:]*$|[a-z]+_\*\.?$)/;

/** Matches a password that begins with a literal, and has a digit before a letter and letters of both cases behind it. */
const literalStart =
  /^(?:true|false|null|nil|none|undefined)(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=.*\d[A-Za-z])[\w!@#%^&*+=?~-]{4,60}$/;

/** Returns whether the value is a placeholder for a secret, encrypted, a time or a port. */
export const isPlaceholder = (value: string): boolean =>
  value.length < 4 ||
  encrypted.test(value) ||
  publicForm.test(value) ||
  (placeholder.test(value) && !isSigned(value) && !isPrintableNoise(value) && !literalStart.test(value)) ||
  disclaimer.test(value.slice(0, maxLooked)) ||
  (value.length <= maxDefault && defaultPasswords.has(value.toLowerCase())) ||
  isDescription(value) ||
  isPublished(value) ||
  distinctOf(value) === 1;

/**
 * Matches what is before a digest or encrypted data: an algorithm, as in OpenSSH and the checksums of Go, or a part of a
 * value of SOPS.
 */
export const digest = /(?:(?:sha|md)-?\d{1,3}[:=-]|\bh1:|,(?:data|iv|tag):|\bENC[([])$/i;

/** Matches a name for a user, and a name for a password. */
const userWord = /(?:user(?:name)?|login|email|^name)$/i;
const passwordWord = /^[a-z_-]{0,16}(?:pass(?:w(?:or)?d)?|pwd?)$/i;
/** Matches the words for a user and a password in other languages. */
const foreignPair =
  /^(?:user(?:name)?|login|benutzer(?:name)?|utilisateur|usu[aá]rio|utente|gebruiker(?:snaam)?|identifiant):(?:pass(?:wor[dt])?|kennwort|mot_?de_?passe|contrase[nñ]a|senha|wachtwoord)$/i;

/** Whether a value is a word for a password, as in `root:password@tcp(…)`. */
export const isPasswordName = (value: string): boolean => /^(?:pass(?:w(?:or)?d)?|pwd?)$/i.test(value);

/** Whether a user and a password only name what belongs in their places, as in `user:pass`. */
export const isNamedPair = (user: string, password: string): boolean =>
  (userWord.test(user) && passwordWord.test(password)) || foreignPair.test(`${user}:${password}`);

const maxSigned = 64;
/**
 * Matches a sign before letters of both cases and digits. The sign of a variable counts only with another sign in the
 * value, since names of variables have none.
 */
const signed =
  /^(?:[%*#?~@([<]|\$(?=.*(?:[!@#%^&*=+~?]|[,;]\w)))(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[\w!@#$%^&*+=?~.,;:-]{7,63}$/;
/** Matches what names and numbers do not have: a digit before a letter, two digits behind letters, or three signs. */
const unlikeName = /\d[A-Za-z]|^[^([<$]?[A-Za-z]+\d{2,}\W?$|(?:.*[!@#$%^&*+=?~,;]){3}/;

/** Whether a value is chosen like a password that begins with a sign, and not a variable, a format, a color or a path. */
const isSigned = (value: string): boolean => value.length <= maxSigned && signed.test(value) && unlikeName.test(value);

/** Whether a value describes a secret: with words only, of which one is its kind. */
const isDescription = (value: string): boolean => {
  if (value === 'value' || camelCaseName.test(value) || numberedNoun.test(value)) return true;
  if (value.length > maxLooked) return false;
  const words = value.split(/[-_]/);
  return words.length > 1 && words.some((word) => nouns.has(word)) && words.every(isPlain);
};

/** Whether a part of a value is a word in lower case or consists of successive digits. */
const isPlain = (word: string): boolean => plainWord.test(word) || (word !== '' && countingDigits.includes(word));

const minNoise = 32;
const minNoiseSigns = 8;
const noisy = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)/;

/** Whether the value consists of random printable characters, of which some may be spaces, as the keys of WordPress. */
export const isPrintableNoise = (value: string): boolean =>
  value.length >= minNoise &&
  noisy.test(value) &&
  !/[A-Za-z]{9}|\s[a-z]+\s/.test(value) &&
  new Set(value.match(/[^A-Za-z\d\s]/g)).size >= minNoiseSigns;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const hash = /^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$/i;

/** Returns whether the value has the form of a hash. */
export const isHash = (value: string): boolean => hash.test(value);

/** Matches the ids of Twilio: two capitals for the kind, except `SK`, whose ids belong to keys. */
const kindAndHash = /^(?!SK)[A-Z]{2}[\da-f]{32}$/;

/** Returns whether the value is a UUID, a hash or an id with a hash, which are not secret. */
export const isPublicIdentifier = (value: string): boolean =>
  uuid.test(value) || isHash(value) || kindAndHash.test(value);

/**
 * Returns whether the value looks random: twelve or more consecutive letters and digits alternate between lower case,
 * capitals and digits more often than in words, camel-case names, versions, dates and model names.
 */
export const looksRandom = (value: string): boolean => {
  const length = Math.min(value.length, maxLooked);
  let start = 0;
  let changes = 0;
  let digitChanges = 0;
  let before = 0;
  for (let index = 0; index <= length; index += 1) {
    const kind = index < length ? kindOf(value.charCodeAt(index)) : 0;
    if (kind === 0) {
      const isMixed = (digitChanges >= 2 && changes >= 3) || changes * 3 >= index - start;
      if (index - start >= minSegment && isMixed && distinctOf(value, start, index) >= minDistinct) return true;
      start = index + 1;
      changes = 0;
      digitChanges = 0;
    } else if (before !== 0 && kind !== before) {
      // Lower-case letters after a capital are usual in names.
      if (before !== 2 || kind !== 1) changes += 1;
      if (kind === 3 || before === 3) digitChanges += 1;
    }
    before = kind;
  }
  return false;
};

/**
 * Returns whether the value looks random without the signs of base64, which may cut random bytes into short parts. A path
 * changes between capitals and other letters less often.
 */
export const looksRandomBase64 = (value: string): boolean => looksRandom(value.replaceAll(/[+/=]/g, ''));

/** Returns the number of distinct ASCII characters in a range. */
export const distinctOf = (text: string, start = 0, end = text.length): number => {
  const last = Math.min(end, text.length, start + maxLooked);
  let [low, middle, high, top] = [0, 0, 0, 0];
  for (let index = start; index < last; index += 1) {
    const code = codeAt(text, index) & 127;
    const bit = 1 << (code & 31);
    if (code < 32) low |= bit;
    else if (code < 64) middle |= bit;
    else if (code < 96) high |= bit;
    else top |= bit;
  }
  return bitsOf(low) + bitsOf(middle) + bitsOf(high) + bitsOf(top);
};

const bitsOf = (mask: number): number => {
  let rest = mask;
  let count = 0;
  while (rest !== 0) {
    rest &= rest - 1;
    count += 1;
  }
  return count;
};
