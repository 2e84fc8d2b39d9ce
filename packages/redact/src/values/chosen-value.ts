import { isStoredName, type KeyStrength } from '../names/key-name.js';
import { isRandomCased, isRandomLetters, isRandomMixed } from './random-letters.js';
import { isHash, isPrintableNoise, isPublicIdentifier, looksRandom } from './value.js';

/** The notation of a value, which determines how it is judged. */
export interface Style {
  readonly isQuoted: boolean;
  /** Whether the value is in code, where a name may be a variable: a list continues or a call follows. */
  readonly isCode: boolean;
  /** Whether the notation is `NAME=value`, as in environments and command lines. */
  readonly isLiteral: boolean;
  /** Whether the name and the value are a whole line without spaces. */
  readonly isSetting?: boolean;
}

/** Matches a password for an app, in four groups. */
export const appPassword = /^[a-z]{4}(?: [a-z]{4}){3}(?![\w ])/;

/** Matches a password for an app of WordPress, in groups of letters and digits. */
export const mixedGroups =
  /^(?=.*\d.*\d)(?=.*(?:[a-z][A-Z]|[A-Z]{2}|\d[A-Za-z]))[A-Za-z\d]{4}(?: [A-Za-z\d]{4}){4,7}(?![\w ])/;

/** Matches the key of a second factor in groups. */
export const groupsOfFour = /^[A-Z2-7]{4}(?: [A-Z2-7]{4}){3,12}(?![\w ])/i;

const identifier = /^[A-Za-z_$][\w$]*$/;
/** Matches the access to a member. */
export const path = /^[A-Za-z_$][\w$]*(?:(?:\.|\?\.|!\.|::|->)[A-Za-z_$][\w$]*)+[!?]?$/;
const wirelessKey = /^(?=.*\d)(?=.{8,63}$)[!-~]+(?: [!-~]+){1,7}$/;
const phrase = /^[a-z]+(?:[-_. ][a-z]+){3,24}$/;
/** The second half of a login to Vault, which is a UUID, and the code with which a device asks for its token. */
const roleSecret = /(?:secret[\s_-]?id|device[\s_-]?code|auth[\s_-]?string)$/i;
/** Maximum length of a value that does not look random; a longer one is text. */
export const maxChosen = 128;
/** Minimum length of the value of a weak name. */
const minWeak = 16;

/** The name and the notation of a value. */
interface Naming {
  readonly key: { readonly name: string; readonly strength: KeyStrength };
  readonly style: Style;
  readonly isRandom: boolean;
}

/** Whether the value is not a name, a call or a sentence. */
export const isChosen = (value: string, { key: { name, strength }, style, isRandom }: Naming): boolean => {
  // Only signs make a value a path, a call, a phrase or groups.
  const isPlain = alphanumeric.test(value);
  const isPath = !isPlain && isPathOf(value, name, style);
  if (strength === 'weak') {
    if (isPublicIdentifier(value)) return isTokenId(value, name, style) || roleSecret.test(name);
    const isLong = isRandom && value.length >= minWeak;
    return (isLong || isTokenWord(value, name, style)) && !isPath && !/\s/.test(value);
  }
  if (isPlain) return isRandom || isChosenWord(value, name, style);
  if (isRandom) return !(isPath && style.isCode) && !isCall(value);
  const isGrouped = /pass/i.test(name) && (appPassword.test(value) || mixedGroups.test(value));
  if (isGrouped || (/\d/.test(value) && groupsOfFour.test(value))) return true;
  if (/phrase|mnemonic|passw|secret/i.test(name) && phrase.test(value) && !mentions(value, name)) {
    return /phrase|mnemonic/i.test(name) || !value.includes(' ');
  }
  if (style.isQuoted && isPrintableNoise(value)) return true;
  // The key of a wireless network may consist of several words.
  if (/psk$/i.test(name) && style.isQuoted && wirelessKey.test(value)) return !mentions(value, name);
  if (isPath || isCall(value) || /\s/.test(value)) return false;
  if (isPassphrase(value) && (passphraseName.test(name) || /\W$/.test(value))) return !mentions(value, name);
  return isChosenWord(value, name, style);
};

const alphanumeric = /^[A-Za-z\d]+$/;

/** Whether the value is not a word, a name or a number. */
const isChosenWord = (value: string, name: string, style: Style): boolean => {
  if (style.isLiteral && !style.isCode) return !/^[A-Z_]+$/.test(value) && !hexNumber.test(value);
  if (!style.isCode && isRandomCased(value)) return !mentions(value, name);
  if (value.length < 6 || !isMixed(value, style) || isName(value, style)) return false;
  return !mentions(value, name) || isDecorated(value, style);
};

/** Matches a passphrase of words in title case with a number at the end; two words also need a sign there. */
const titled = /^(?:(?:[A-Z][a-z]+\.){2,}[A-Z][a-z]+\d+\W?|[A-Z][a-z]+\.[A-Z][a-z]+\d{2,}[!?*+#%@$&~=])$/;

/**
 * Matches two words in title case and two digits, as people choose passwords. Names in code rarely have this form, except for
 * types, fields and versions.
 */
const titledPair = /^[A-Z][a-z]{2,}[._-][A-Z][a-z]{2,}\d{2}$/;
const typeEnd =
  /(?:int|str|string|bytes?|text|char|float|double|decimal|fixed|hash|base|utf|sha|word|vector|binary|bits?|field|input|item|key|value|version|secret|token)\d\d$/i;

/** Whether the value consists of two words in title case and two digits, with a sign between the words. */
export const isTitledPair = (value: string): boolean => titledPair.test(value) && !typeEnd.test(value);

/** Matches the token with which a node joins a cluster of Kubernetes. */
const bootstrapToken = /^[a-z\d]{6}\.(?=[a-z]*\d)[a-z\d]{16}$/;

/** Whether the value is the access to a member, with words between the signs. */
const isPathOf = (value: string, name: string, { isQuoted, isCode, isSetting: isLine }: Style): boolean => {
  if (isQuoted || (isTitledPair(value) && !mentions(value, name))) return false;
  if (!isCode && (bootstrapToken.test(value) || (titled.test(value) && !mentions(value, name)))) return false;
  const operand = isCode ? value.slice(0, maxChosen).replace(/^!{1,2}/, '') : value.slice(0, maxChosen);
  const isUnlike = isLine === true && !mentions(value, name) ? isUnlikeCode : isScrambled;
  return (
    path.test(operand) &&
    !value.split('.').some((part) => isUnlike(part) || (!/[a-z]{4}/.test(part) && looksRandom(part)))
  );
};

/** Matches names whose values may be several words. Other secrets often have names of this form. */
export const passphraseName =
  /pass|pwd|psk|pw$|secret$|masterauth$|senha$|parola$|heslo$|haslo$|contrasena$|kennwort$|wachtwoord$|salasana$|(?:api|access|secret|auth|private|pre-?shared|encryption|signing|session|master)[_-]?(?:key|token)s?$/i;

/** Whether a hash, or a UUID outside of quotes, is the value of a token, or a short hash that of a key. */
const isTokenId = (value: string, name: string, { isQuoted, isLiteral }: Style): boolean =>
  (isStoredName(name) && isHash(value)) ||
  (/(?:token|sonar\Wlogin)$/i.test(name) &&
    (isHash(value) || (!isQuoted && (name.length > 'token'.length || name === 'Token')))) ||
  (isLiteral && name.endsWith('_KEY') && /^[\da-f]{32}$/.test(value)) ||
  (/^[A-Z\d_]+_(?:AUTH|CREDENTIAL)$/.test(name) && isHash(value));

/** Whether the value of a token in quotes is chosen like a password. */
const isTokenWord = (value: string, name: string, { isQuoted }: Style): boolean =>
  isQuoted &&
  /token$|passw(?:or)?d$|^auth$/i.test(name) &&
  value.length >= 10 &&
  isUnlikeWord(value) &&
  isMixed(value, { isQuoted });

/** Matches a name before the opening bracket of a call or a subscript, up to what is behind its last closing one. */
const call = /^[A-Za-z_$][\w$.]*[([](?:.*[)\]])?/;

/** Matches the beginning of a function in an expression. */
const definition = /^(?:async )?function\b.*[({]/;

/** Matches two calls of members of the same object, which continue on the next line. */
const opensCall = /^([A-Za-z_$][\w$]{0,24}\.)(?:[A-Za-z_$]+\.)*[A-Za-z_$]+\(\1(?:[A-Za-z_$]+\.)*[A-Za-z_$]+\([[{(]$/;

/**
 * Whether the value is a call or a subscript: its last bracket closes at its end or before a member, or the value was cut
 * between its arguments. A bracket within a password closes before other characters, or never.
 */
export const isCall = (value: string): boolean => {
  if (definition.test(value) || opensCall.test(value)) return true;
  const found = call.exec(value)?.[0];
  if (found === undefined) return false;
  return /[)\]]$/.test(found) ? /^(?:$|[.,;:?!)\]}]|[([]|->)/.test(value.slice(found.length)) : /[,\s"'`]/.test(value);
};

/** Matches three words or more with hyphens between them, of which the last one may be a number. */
const hyphenated = /^[A-Za-z]{3,12}(?:-[A-Za-z]{3,12}){1,9}-(?:[A-Za-z]{3,12}|\d{2,4})[!?.+~=]?$/;

/** Whether the value has the form of a passphrase. Names in style sheets and clusters have it too. */
export const isPassphrase = (value: string): boolean => hyphenated.test(value);

/** Whether the value is a variable or a type. */
const isName = (value: string, { isQuoted, isCode }: Style): boolean =>
  !isQuoted && (isCode ? identifier.test(value) && !isUnlikeCode(value) : typeName.test(value) && !isScrambled(value));

/** Names in code rarely have digits before letters, or three of them, except for a few words. */
export const isUnlikeCode = (value: string): boolean =>
  /_\d{3,}$/.test(value) ||
  isTitledPair(value) ||
  isScrambled(value) ||
  ((/\d[A-Za-z]|\d{3}/.test(value) || isNumbered(value)) && !value.includes('_') && !codeWord.test(value));

const noisy = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)/;
/** Matches words and numbers with colons between them. */
const fields = /^[A-Za-z]*(?::(?:[A-Za-z]*|\d*)){2,}$/;

/** Whether the value has letters of both cases, digits and several of the signs that names and numbers do not have. */
export const isNoisy = (value: string): boolean =>
  noisy.test(value) && !fields.test(value) && (value.match(/[!@#$%^&*+=?~,;:|]/g)?.length ?? 0) >= 2;

/** Matches two words or more and two digits. Names of releases have no sign behind them, and others between the words. */
const numbered = /^(?:(?:[A-Z][a-z]{2,}){2,4}\d{2}|[A-Z][a-z]{2,}(?:[-_.]?[A-Z][a-z]{2,}){1,3}\d{2}[!?*+#%@$&~=])$/;

/** Whether the value consists of two words or more, two digits, and possibly signs. */
export const isNumbered = (value: string): boolean => numbered.test(value);

/** Whether the value is no word, number or technical name: letters that digits or signs interrupt or end. */
export const isUnlikeWord = (value: string): boolean =>
  isScrambled(value) ||
  (value.length >= 8 &&
    /[a-z]/i.test(value) &&
    (/\d[A-Za-z]|[A-Za-z]{3}\d{2,}\W?$|^[A-Z][a-z]{2,}(?:[$+=?~]\d{2,}|_\d{4}\W)/.test(value) ||
      /[!@#%^&*]/.test(value)) &&
    !/[/:]|^\W|^\d+[a-z]{1,3}$/i.test(value) &&
    !snakeCase.test(value) &&
    !codeWord.test(value));

const mixedWithin = /^(?=.*[a-z])(?=.*[A-Z])[\w!@#$%^&*+=?~.-]*[A-Za-z]\d+[A-Za-z][\w!@#$%^&*+=?~.-]*$/;
/** Matches the words and abbreviations of which names in code consist. */
const wordWithin = /[A-Za-z][a-z]{3}|[A-Z]{5}/;

/** Whether the value mixes letters of both cases around digits, without a word in it: unlike nearly all names in code. */
export const isWordless = (value: string): boolean =>
  mixedWithin.test(value) && !wordWithin.test(value) && isUnlikeWord(value);

/** Matches a name in one notation with a sign behind it. */
const assigned = /^(?:[a-z_.-]{2,}|[A-Z_.-]{2,}|[A-Z]?[a-z]{3,})\d?=./;

/** Whether the value is a name and a value, and not a password with a sign in it. */
export const isAssigned = (value: string): boolean => assigned.test(value);

/** Whether the value is random, or has the form of a password that people choose. */
export const isPasswordLike = (value: string): boolean =>
  looksRandom(value) || isNoisy(value) || isNumbered(value) || isUnlikeWord(value) || isPassphrase(value);

/** Matches names of functions, of which lists have several. */
export const snakeName = /^[a-z\d]+(?:_[a-z\d]+){3,}$/;

/** Matches names in code of a secret, its type or what has it, such as `v2ApiKey` and `Oauth2ClientCredentials`. */
const nounName = /^[A-Za-z][A-Za-z\d]*[a-z\d](?:Key|Secret|Token|Auth|Bearer|Password|Credential|Session)s?$/;

/** Whether the value is a name in code that ends with a word for a secret. */
export const isNounName = (value: string): boolean => nounName.test(value);

const snakeCase = /^(?:[a-z\d]+_[a-z\d_]*|[A-Z\d]+_[A-Z\d_]*)$/;
const codeWord =
  /base64|b64|utf\d|sha\d|md5|oauth\d|s3(?:(?![a-z\d])|bucket|client|config|access|secret|key)|ec2|k8s|x509|p12|h26\d|prime\d{3}|secp\d|[edx]+\d?(?:25519|448)|curve\d|int\d|2to|to\d|argon2|bcrypt/i;
const typeName =
  /^(?:[A-Z][A-Za-z]+\d?|(?:[Uu]?[Ii]nt|[Ff]loat|[Bb]ase|[Uu]tf|UTF|[Ss]ha|SHA|[Bb]ig|[Vv]ector)\w{0,6}\d+)$/;

/** Whether the value has the form of a chosen password: letters with digits or signs, but not a version or a path. */
export const isMixed = (value: string, { isQuoted }: Pick<Style, 'isQuoted'>): boolean => {
  if (/^v?\d+(?:\.\d+)*$/.test(value)) return isQuoted && !value.includes('.');
  if (packageVersion.test(value) || hexNumber.test(value) || pointer.test(value)) return false;
  if (/\d/.test(value)) return (/[a-z]/i.test(value) || groups.test(value)) && !isTechnical(value);
  return (/[a-z]/i.test(value) && /[!@$%^&#*]/.test(value)) || isScrambled(value);
};

const codeWords = new RegExp(String.raw`(?:${codeWord.source})\d*`, 'gi');

/** Whether the digits of several words with signs between them all belong to technical names, as in `Base64-encoded`. */
const isTechnical = (value: string): boolean =>
  /^[A-Za-z\d]+[._-][\w.-]+$/.test(value) && codeWord.test(value) && !/\d/.test(value.replaceAll(codeWords, ''));

const hexNumber = /^0x[\da-f]{1,16}u?l{0,2},?$/i;
/** Matches the type of a pointer in C. Names of types end with several digits only if these are a number of bits. */
const pointer = /^(?:[A-Za-z_]+\d?|[A-Za-z_]*(?:int|float)\d+)(?:_t|[A-Z][A-Za-z]*)?\*+$/;

/** Matches versions as in lists of packages. */
const packageVersion = /^(?:\d{1,3}:)?v?\d+(?:\.\d+)+(?:[-+~.][a-z\d]+)*$/i;

/** Matches groups of capitals and digits, as in recovery keys. */
const groups = /^(?=.*\d)(?:[A-Z\d]{4,8}-){3,12}[A-Z\d]{4,8}$/;

/** Minimum number of parts between capitals of a scrambled value, and their maximum average length. */
const scrambled = { minParts: 4, maxPart: 3 };
const seam = /(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/;

/** Whether the letters change between capitals and others more often than in names of several words, or are random. */
const isScrambled = (value: string): boolean => {
  if (isRandomLetters(value) || isRandomMixed(value)) return true;
  if (value.length < 10 || !/^[A-Za-z\d+/=_.-]+[!?,]?$/.test(value)) return false;
  const letters = value.slice(0, maxChosen).replaceAll(/[\d_.-]/g, '');
  const parts = letters.split(seam).length;
  if (parts >= scrambled.minParts && letters.length <= parts * scrambled.maxPart) return true;
  return parts >= 3 && letters.length >= 12 && letters.replaceAll(/[^aeiou]/gi, '').length * 5 <= letters.length;
};

/** Words that contain `key` by chance. */
const animals = /(?:mon|don|tur|hoc|joc|whis)key/g;

const nouns = /passw(?:or)?d|secret|token|key|credential|auth/;

/** Matches an example, such as `password123`. */
const counted = /^[a-z]+[_-]?1234?5?6?7?8?9?0?$/i;

/** Whether a value has what passwords have besides words, and variables do not: a sign, two digits, or a digit inside. */
const isDecorated = (value: string, { isQuoted, isCode }: Style): boolean =>
  /^[A-Za-z\d][A-Za-z\d!@#$%^&*?+~.-]*$/.test(value) &&
  /\d/.test(value) &&
  (/[!@#$%^&*?+~]|\d{2}/.test(value) || ((isQuoted || !isCode) && /\d[A-Za-z]{3}/.test(value))) &&
  !counted.test(value) &&
  !codeWord.test(value);

/** Whether the value repeats its name, as in `password2` and `my-secret-1`. */
const mentions = (value: string, name: string): boolean => {
  const lower = value.toLowerCase().replace(animals, '');
  return nouns.test(lower) || lower.includes(name.toLowerCase());
};

const lettersOnly = /^(?:[a-z]{8,24}|(?:[A-Z][a-z]{2,11}){2,4})$/;
const passwordName =
  /pass|pwd|psk|pw$|secret|senha|parola|heslo|key[_ -]?content|(?:api|access|auth|private|signing|encryption|master|session)[_ -]?(?:key|token)$/i;
/** Matches words that describe a password, by the endings of adjectives, participles and nouns of actions. */
const described =
  /(?:ed|ing|[ai]ble|[st]ions?|ory|ment|ness|ity|ive|less|ful|[ae]nt|ally|ator|lich|isch|iert|sen|oire|ori[ao]|[ai]d[ao]|at[ao]|Input|Field|Type|Widget|Handler|Provider)$/;

/** Whether the value of the name of a password consists of words without signs between them, or of random letters. */
export const isWords = (value: string, name: string): boolean =>
  lettersOnly.test(value) &&
  passwordName.test(name) &&
  !described.test(value) &&
  !/(?<!com)pass(?:$|[wpck])/i.test(value) &&
  !mentions(value, name);
