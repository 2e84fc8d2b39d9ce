import { zoneOf, type Place } from './paths.js';

/** Marks text that contains a secret, in the list of programs that produced it. */
export const secretMark = '(secret)';

/** Names of files that contain secrets in any folder. Examples and public keys are excluded. */
const secretName =
  /^(?:\.env(?:\.(?!example|sample|template|dist|defaults?|test|ci)[\w.-]+)?|[\w.-]*\.env|id_(?:rsa|dsa|ecdsa|ed25519)(?:_\w+)?|[\w.-]+\.(?:pem|key|p12|pfx|jks|keystore|kdbx)|credentials(?:\.json)?|service-account[\w.-]*\.json|secrets?\.(?:ya?ml|json|toml|env)|\.?htpasswd|shadow|master\.key|terraform\.tfstate)$/i;

/** Returns whether a path names a file with secrets. */
export const isSecretPath = (path: string, cwd: string, place: Place): boolean => {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name.endsWith('.pub')) return false;
  return secretName.test(name) || (/^[/~.]/.test(path) && zoneOf(path, cwd, place) === 'secret');
};

/** Programs that print the content of their files, or an encoding of it. */
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

/** Programs that print secrets without a file argument, with the required words. */
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

/** Programs whose output reveals nothing of their input. */
const digests = /^(?:wc|cksum|md5sum|shasum|sha\d+sum|b2sum|true|sleep)$/;

/** Returns whether a command prints a secret. */
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
