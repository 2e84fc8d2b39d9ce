import { zoneOf, type Place } from './paths.js';

/** Marks a text, among the programs that made it, as containing a secret. */
export const secretMark = '(secret)';

/** Names of files that hold secrets wherever they are. Examples and public keys do not. */
const secretName =
  /^(?:\.env(?:\.(?!example|sample|template|dist|defaults?|test|ci)[\w.-]+)?|[\w.-]*\.env|id_(?:rsa|dsa|ecdsa|ed25519)(?:_\w+)?|[\w.-]+\.(?:pem|key|p12|pfx|jks|keystore|kdbx)|credentials(?:\.json)?|service-account[\w.-]*\.json|secrets?\.(?:ya?ml|json|toml|env)|\.?htpasswd|shadow|master\.key|terraform\.tfstate)$/i;

/** Whether a path names a file with secrets. */
export const isSecretPath = (path: string, cwd: string, place: Place): boolean => {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name.endsWith('.pub')) return false;
  return secretName.test(name) || (/^[/~.]/.test(path) && zoneOf(path, cwd, place) === 'secret');
};

/** Programs that print what is in the files they are given, or an encoding of it. */
const printers: ReadonlySet<string> = new Set([
  'cat',
  'tac',
  'head',
  'tail',
  'nl',
  'less',
  'more',
  'bat',
  'sed',
  'awk',
  'gawk',
  'grep',
  'egrep',
  'rg',
  'cut',
  'sort',
  'paste',
  'tr',
  'rev',
  'fold',
  'strings',
  'od',
  'xxd',
  'hexdump',
  'base64',
  'base32',
  'openssl',
  'gpg',
  'age',
  'uuencode',
  'tar',
  'zip',
  'gzip',
  'bzip2',
  'xz',
  'zstd',
  'jq',
  'yq',
  'dd',
  'tee',
  'cp',
  'python',
  'python3',
  'perl',
  'ruby',
]);

/** Programs that print secrets without being given a file, with the words that make them do so. */
const ownSecrets: Readonly<Record<string, RegExp>> = {
  env: /^$/,
  printenv: /^$|secret|token|passw|key|cred|auth/i,
  set: /^$/,
  export: /^(?:-p)?$/,
  gpg: /--export-secret/,
  pass: /^(?:show )?\S+$/,
  security: /find-(?:generic|internet)-password.*-w/,
  'secret-tool': /^lookup/,
  kubectl: /^get secrets?\b.*-o/,
};

/** Programs whose output says nothing of what they read. */
const digests = /^(?:wc|cksum|md5sum|shasum|sha\d+sum|b2sum|true|sleep)$/;

/** Whether a command prints a secret. */
export const printsSecret = (
  name: string,
  args: readonly string[],
  isSecret: (path: string) => boolean,
  readsSecret: boolean,
): boolean => {
  if (digests.test(name)) return false;
  if (readsSecret) return true;
  const own = Object.hasOwn(ownSecrets, name) ? ownSecrets[name] : undefined;
  if (own?.test(args.join(' ')) === true) return true;
  return printers.has(name) && args.some((word) => isSecret(word.replace(/^(?:if=|@)/, '')));
};
