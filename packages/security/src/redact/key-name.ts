import { is, key as keyClass } from './characters.js';

/**
 * How sure it is that what is assigned to a name is secret.
 *
 * `strong` names (`password`, `API_KEY`, `client_secret`) say so themselves; `weak` ones (`token`, `auth`, `signature`) also
 * name things that are not, so their values have to look random.
 */
export type KeyStrength = 'strong' | 'weak' | undefined;

/** Longer names are no names. */
export const maxKeyLength = 64;

const strongNouns = new Set([
  'password',
  'passwd',
  'passphrase',
  'pwd',
  'secret',
  'secrets',
  'apikey',
  'apitoken',
  'authtoken',
  'accesstoken',
  'refreshtoken',
  'secretkey',
  'privatekey',
  'credentials',
  'authorization',
  'passcode',
  'accesskey',
  'accountkey',
  'sharedaccesskey',
  'clientsecret',
  'cookie',
]);
const weakNouns = new Set([
  'token',
  'tokens',
  'credential',
  'auth',
  'bearer',
  'signature',
  'sig',
  'pat',
  'jwt',
  'otp',
  'pin',
  'sessionid',
]);
/** What makes a `key`, a `token` or a `pass` a secret one. */
const qualifiers = new Set([
  'api',
  'access',
  'secret',
  'private',
  'signing',
  'encryption',
  'account',
  'shared',
  'auth',
  'master',
  'service',
  'admin',
  'webhook',
  'deploy',
  'rsa',
  'ssh',
  'app',
  'application',
  'bot',
  'refresh',
  'bearer',
  'oauth',
  'personal',
  'client',
  'db',
  'database',
  'user',
  'root',
  'smtp',
  'mail',
  'redis',
  'mysql',
  'postgres',
  'pg',
  'mongo',
  'security',
  'gh',
  'github',
  'gitlab',
  'npm',
  'slack',
  'openai',
  'anthropic',
  'hf',
  'aws',
  'azure',
  'gcp',
  'google',
  'stripe',
  'subscription',
  'storage',
  'ftp',
  'ldap',
  'license',
  'vault',
  'session',
  'id',
]);
/** What makes it the name of something about a secret. */
const negations = new Set([
  'no',
  'is',
  'has',
  'max',
  'min',
  'num',
  'total',
  'public',
  'publishable',
  'next',
  'prev',
  'page',
  'csrf',
  'reset',
  'forgot',
  'show',
  'hide',
  'count',
  'stop',
  'special',
  'eos',
  'bos',
  'pad',
  'input',
  'output',
  'prompt',
  'completion',
]);

/** What names of secrets end with, by a number made of their last three letters. */
const endings: readonly string[] = [
  'password',
  'passwd',
  'passphrase',
  'pwd',
  'secret',
  'secrets',
  'token',
  'tokens',
  'credential',
  'credentials',
  'authorization',
  'passcode',
  'cookie',
  'auth',
  'bearer',
  'signature',
  'sig',
  'pat',
  'jwt',
  'otp',
  'pin',
  'sessionid',
  'key',
  'keys',
  'pass',
];

const tailOf = (text: string, last: number): number =>
  ((text.charCodeAt(last - 2) & 31) << 10) | ((text.charCodeAt(last - 1) & 31) << 5) | (text.charCodeAt(last) & 31);

/** Endings of one tail together. */
const families: readonly (readonly string[])[] = [...new Set(endings.map((ending) => ending.slice(-3)))].map((tail) =>
  endings.filter((ending) => ending.endsWith(tail)),
);
/** Place of the family, from 1, by the number of its tail. */
const familyOf = new Uint8Array(32_768);
for (const [place, [ending = '']] of families.entries()) familyOf[tailOf(ending, ending.length - 1)] = place + 1;

/** What needs a word before it. */
const bare: ReadonlySet<string> = new Set(['key', 'keys', 'pass']);

/** Quick, for names in a longer text: whether it is worth looking at the name that ends before `end`. */
export const mayEndKey = (text: string, end: number): boolean => {
  let last = end - 1;
  let code = text.charCodeAt(last);
  while (end - last <= 3 && ((code >= 48 && code <= 57) || code === 95)) {
    last -= 1;
    code = text.charCodeAt(last);
  }
  const family = familyOf[tailOf(text, last)] ?? 0;
  if (family === 0) return false;
  for (const ending of families[family - 1] ?? []) {
    if (endsWith(text, last, ending) && (!bare.has(ending) || is(text.charCodeAt(last - ending.length), keyClass))) {
      return true;
    }
  }
  return false;
};

/** Whether the letters up to `last` are these, capital or not. */
const endsWith = (text: string, last: number, ending: string): boolean => {
  for (let index = ending.length - 1, place = last; index >= 0; index -= 1, place -= 1) {
    if ((text.charCodeAt(place) | 32) !== ending.charCodeAt(index)) return false;
  }
  return true;
};

const seams = /[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/;

/** How secret what is assigned to this name is. */
export const keyStrength = (name: string): KeyStrength => {
  if (name.length > maxKeyLength) return undefined;
  const words = name
    .replace(/\d+$/, '')
    .split(seams)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());
  const noun = words.at(-1);
  const before = words.at(-2);
  if (noun === undefined || words.some((word) => negations.has(word))) return undefined;
  if (strongNouns.has(noun)) return 'strong';
  const isQualified = before !== undefined && qualifiers.has(before);
  if (noun === 'pass') return isQualified ? 'strong' : undefined;
  if (noun === 'key' || noun === 'keys') {
    return isQualified && before !== 'id' && before !== 'user' ? 'strong' : undefined;
  }
  if (noun === 'token') return isQualified || /^[A-Z\d_]+$/.test(name) ? 'strong' : 'weak';
  return weakNouns.has(noun) ? 'weak' : undefined;
};
