import { fits, zoneOf, type Place } from './paths.js';

/** Marks text that contains a secret, in the list of programs that produced it. */
export const secretMark = '(secret)';

/** Marks a secret from a store, or an access token, in the list of programs that produced it. */
export const storedMark = '(stored secret)';

/** Marks a variable of the environment whose name says that it contains a secret; its name follows. */
export const secretVariableMark = '(secret variable) ';

/** Among the secrets of a scope: the environment, after the line has loaded a file with secrets. */
export const environmentMark = '(environment)';

/** Names of files that contain secrets in any folder. Examples, certificates and public keys are excluded. */
const secretName =
  /^(?:\.dev\.vars(?:\.(?!example|sample)[\w.-]+)?|\.env(?:\.(?!example|sample|template|dist|defaults?|test|ci|schema|vault)[\w.-]+)?|(?!example|sample|template)[\w.*-]*\.env|id_(?:rsa|dsa|ecdsa|ed25519)(?:_\w+)?|(?![\w.-]*(?:cert|chain|public|pub\.|ca\.pem|csr))[\w.*-]+\.pem|(?!public|pub\.)[\w.*-]+\.(?:key|p12|pfx|jks|keystore|kdbx|ppk)|[\w.-]*credentials(?:\.json)?|service[-_]?account[\w.-]*\.json|wp-config\.php|(?!.*(?:sealed|external|example|sample|template|encrypted|\.enc\b))(?:[\w.-]*[._-])?secrets?\.(?:ya?ml|json|toml|env)|[\w.-]*firebase-adminsdk[\w.-]*\.json|local\.settings\.json|kaggle\.json|\.?htpasswd|g?shadow|master\.key|terraform\.tfstate|\.(?:netrc|wgetrc|pgpass|git-credentials|my\.cnf|s3cfg|boto|claude\.json|vault[-_](?:token|pass\w*)|pypirc|(?:bash|zsh|python|psql|mysql|node_repl|rediscli)_history)|kubeconfig)$/i;

/** Folders whose files contain secrets, the environment of a process, and what programs store in a home folder. */
const secretPlace =
  /^(?:\/proc\/[^/]+\/environ$|(?:\.\/)?(?:config\/)?\.?secrets?\/(?!example|sample|test)[^/]*\.(?:json|ya?ml|toml|ini|txt|env|properties|conf)$|(?:\/var)?\/run\/secrets\/|\/etc\/(?:ssl\/private|sudoers(?:\.d)?|wireguard|NetworkManager\/system-connections)(?:\/|$)|(?:\/(?:home|Users)\/[^/]+|\/root)\/(?:\.|Library\/Application Support\/)(?:.*[/_.-])?(?:o?auth|tokens?|credentials?|creds|secrets?|api_?keys?)(?:[_-]\w{1,40})?(?:\.(?:json|ya?ml|toml|ini|db|txt))?$)/i;

/** Folders with keys that a search finds in any home folder. */
const foundFolder = /\*.*\/\.(?:ssh|gnupg|aws|azure|kube|password-store)(?:\/|$)/;

/** Files among keys that contain none. */
const plainNames = /\.pub$|\/\.ssh\/(?:config|known_hosts|authorized_keys)/;

/** Names that a pattern is compared with. */
const patternNames = ['.env', '.env.local', 'id_rsa', 'id_ed25519'];

/** Returns whether a path names a file with secrets, or a pattern that selects one. */
export const isSecretPath = (path: string, cwd: string, place: Place): boolean => {
  // A text with a path in it, such as a command.
  if (plainNames.test(path) || /^[^/]*\s/.test(path)) return false;
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (secretName.test(name) || secretPlace.test(path) || foundFolder.test(path)) return true;
  if (
    /^[.i][\w.]+.*[*?[]|^\.[?[]|\*.*(?:env|rsa|25519)/.test(name) &&
    patternNames.some((secret) => fits(name, secret))
  ) {
    return true;
  }
  return (/^[/~.]/.test(path) || cwd.includes('/.')) && zoneOf(path, cwd, place) === 'secret';
};

/** Names of variables for secrets, with the words that may follow. Keys of a cache or a table and folders are not secret. */
const secretVariable =
  /(?:(?:^|_)(?:SECRET|TOKEN|PASSPHRASE|CREDENTIALS?|API_?KEY|SECRET_KEY_BASE|CONNECTION_STRING|PAT)|PASSWORD|PASSWD|_PASS|(?<!(?:^|_)(?:BASE|CUR|CURRENT|HOST|INIT|INITIAL|LAST|OLD|ORIG|ORIGINAL|PREV|PREVIOUS|SAVED|START))_PWD|(?<!(?:^|_)(?:ANON|CACHE|CONFIG|CURRENT|FILE|FOREIGN|GROUP|HOST|INDEX|ISSUE|MAP|OBJECT|PARTITION|PRIMARY|PROJECT|PUB|PUBLIC|PUBLISHABLE|ROUTING|S3|SORT|UNIQUE))_KEY|(?:^|_)(?:DATABASE|DB|REDIS|MONGO(?:DB)?|POSTGRES(?:QL)?|MYSQL|AMQP|RABBITMQ)_UR[IL])(?:_(?:PROD|PRODUCTION|STAGING|LIVE|TEST|OLD|NEW|V?\d+))?$/;

/** Returns whether the name of a variable says that it contains a secret. */
export const isSecretVariable = (name: string): boolean => secretVariable.test(name);

/** Programs that run others with secrets in the environment. */
const loaders =
  /^(?:op|doppler|infisical|chamber|aws-vault|dotenvx?|dotenv-cli|env-cmd|sops|railway|envchain|teller|summon|berglas)$/;

/** Returns whether a command runs another with secrets in its environment: those of a store, a file or its own. */
export const loadsSecrets = (name: string, args: readonly string[]): boolean =>
  loaders.test(name) ||
  args.some((word, index) => {
    const [, option = args[index - 1], value = word] = /^(--env-file)=(.*)$/.exec(word) ?? [];
    if (/^(?:-e|--env)$/.test(option ?? '')) return isSecretVariable(value);
    return option === '--env-file' && secretName.test(value.slice(value.lastIndexOf('/') + 1));
  });

/** Programs that print the content of their files, or an encoding of it. */
const printers: ReadonlySet<string> = new Set(
  'ul m4 cpp look xzcat bzcat lzcat zstdcat gzcat cat tac head tail nl less more bat sed awk gawk grep egrep rg cut sort paste tr rev fold strings od xxd hexdump base64 base32 openssl gpg age uuencode tar zip gzip bzip2 xz zstd jq yq dd tee cp diff comm join column fmt pr batcat view zcat echo printf uniq pbcopy xclip xsel wl-copy clip.exe python python3 perl ruby ccat pygmentize highlight glow mdcat jless fx gron dasel tomlq xmllint hexyl hd expand unexpand iconv envsubst shuf pv most json.tool sqlite3 ag ack cmp ed split funzip'.split(
    ' ',
  ),
);

const printsVariables = /^(?:-[px]+)?$|^-\w*p.*(?:secret|token|passw|key|cred|auth)/i;

/** Programs that print secrets without a file argument, with the required words. */
const ownSecrets: Readonly<Record<string, RegExp>> = {
  env: /^$/,
  printenv: /^$|secret|token|passw|key|cred|auth/i,
  set: /^$/,
  export: /^(?:-p)?$/,
  declare: printsVariables,
  typeset: printsVariables,
  gpg: /--export-secret/,
  pass: /^(?:show )?\S+$/,
  security: /find-(?:generic|internet)-password.*-w/,
  'secret-tool': /^lookup/,
  kubectl: /^get (?:\S+,)?secrets?\b.*-o/,
};

/** Formats in which kubectl prints a secret. */
const formats = '(?:ya?ml|json|go-template|custom-columns)';
/**
 * A command of kubectl that prints one field without a secret. A further option for the format would override it, so no other
 * option begins like one, and no word is unknown.
 */
const onlyMetadata = String.raw`(?:(?! -\w*o| --o| --t)[\w ./:=,-])* (?:-o ?|--output[ =])jsonpath=\{\.(?:metadata\.(?:name|namespace|uid|creationTimestamp)|type)\}(?: (?!-\w*o|--o|--t)[\w./:=,-]+)*`;

/** Words with which the program of a secret manager or a provider prints a secret. */
const printing: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(
    ['aws', 'awslocal'].map((name) => [name, /^sts assume-role|^ssm get-parameter.* --with-decryption/]),
  ),
  gcloud: /\bservice-accounts keys create/,
  az: /^(?:keyvault (?:key|certificate) (?:show|download)|\S+ .*(?:keys list|list-keys|show-connection-string)|redis list-keys|ad (?:sp|app) (?:create-for-rbac|credential reset))\b/,
  doctl: /^(?:auth token|databases connection|registry docker-config)/,
  heroku: /^(?:config(?::get)?|auth:token|pg:credentials\S*)(?: |$)/,
  fly: /^auth token/,
  flyctl: /^auth token/,
  railway: /^variables/,
  netlify: /^env:(?:list|get)/,
  firebase: /^functions:config:get/,
  vault: /^(?:kv get|read|unwrap|print token)/,
  bao: /^(?:kv get|read|unwrap|print token)/,
  op: /^(?:read|item get|document get|inject)/,
  doppler: /^secrets(?: (?:download|substitute)|$| --)/,
  infisical: /^(?:secrets(?:$| --)|export)/,
  conjur: /^variable get/,
  chamber: /^(?:read|export|env)/,
  berglas: /^access/,
  bw: /^(?:get (?:totp|item|notes|attachment)|list items|export)/,
  bws: /^secret list/,
  rbw: /^get/,
  'keepassxc-cli': /^show/,
  pass: /^(?:show |grep |otp )?(?!-|(?:ls|list|find|search|insert|add|generate|edit|rm|remove|mv|cp|git|init|help|version)\b)\S/,
  gopass:
    /^(?:show |cat |otp )?(?!-|(?:ls|list|find|search|insert|add|generate|edit|rm|remove|mv|cp|git|init|help|version|sync|audit)\b)\S/,
  lpass: /^(?:show|export)/,
  sops: /^(?:-d|--decrypt|decrypt)/,
  'ansible-vault': /^(?:view|decrypt)/,
  security: /^(?:find-(?:generic|internet)-password.* -[a-z]*[wg]|dump-keychain|export)/,
  'secret-tool': /^(?:lookup|search)/,
  keyctl: /^(?:print|pipe|read)/,
  gpg: /--export-secret|^(?:-d|--decrypt)/,
  gpg2: /--export-secret|^(?:-d|--decrypt)/,
  gh: /^auth (?:token|status .*(?:-t|--show-token)\b)/,
  glab: /^auth status .*--show-token|^variable (?:get|export)/,
  git: /^credential(?:-\w+)? (?:fill|get)/,
  ...Object.fromEntries(
    ['kubectl', 'oc', 'k'].map((name) => [
      name,
      new RegExp(
        String.raw`^(?!${onlyMetadata}$).*\bget (?:\S+[ ,])*?secrets?\b(?=.* (?:-\w*o[ =]?${formats}|--output[ =]${formats}|--template))|` +
          String.raw`\bcreate token\b|\bconfig view .*--raw`,
      ),
    ]),
  ),
  pulumi: /--show-secrets/,
  ...Object.fromEntries(
    ['terraform', 'tofu'].map((name) => [name, /^state pull|^output .*(?:secret|token|passw|key|cred|connection)/i]),
  ),
  age: /^(?:-d|--decrypt)/,
  argocd: /^(?:\S+ )*?admin initial-password/,
  // Words may be abbreviated.
  nmcli: /^(?:\S+ )*?(?:--?s(?:h[\w-]*)?(?: |$)|d\w* w\w* s)/,
  'systemd-creds': /^(?:\S+ )*?(?:cat|decrypt)\b/,
  rclone: /^config (?:show|dump|reveal)|^reveal/,
  rails: /^(?:credentials|secrets):show/,
  wg: /^(?:showconf|genkey)/,
  npm: /^config (?:get|list) .*_(?:auth|authToken|password)/i,
};

/** Returns whether a program prints a secret from a store, or an access token. */
export const printsStored = (name: string, words: string): boolean =>
  Object.hasOwn(printing, name) && printing[name]?.test(words) === true;

/** Words of a subcommand for secrets, and verbs that print what they name: `secrets access`, `get-password`. */
const storedThing =
  /(?:^|[-_:])(?:(?:secrets?|passwords?|passphrase|credentials?|api-?keys?|access-keys?)(?:$|[-_:])|tokens?(?:$|:))/;
const revealing =
  /(?:^|[-_:])(?:get|show|view|reveal|print|read|access|export|decrypt|dump|download|generate)(?:$|[-_:])/;
const revealsNothing = /(?:^|[-_:\s])(?:list|polic\w+|report|last-used|metadata)(?:$|[-_:\s])|\bget-credentials\b/;

/** Number of words in which the subcommand of an unknown program is expected. */
const maxSubcommands = 5;

/** Returns whether the subcommand of any program says that it prints a secret that the program stores. */
export const namesStored = (operands: readonly string[]): boolean => {
  const words = operands.slice(0, maxSubcommands).map((text) =>
    text
      .slice(0, 80)
      .replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-')
      .toLowerCase(),
  );
  const text = words.join(' ');
  return (
    (words.some((word) => storedThing.test(word)) || operands.slice(1, maxSubcommands).some(isSecretVariable)) &&
    (words.some((word) => revealing.test(word)) || /\btokens? create/.test(text)) &&
    !revealsNothing.test(text)
  );
};

/** Programs that display text: their arguments, files or input. */
export const displayers: ReadonlySet<string> = new Set(
  [...printers].filter((name) => !/^(?:tar|zip|gzip|bzip2|xz|zstd|cp|python3?|ruby|age|gpg)$/.test(name)),
);

/** Programs whose output reveals nothing of their input. */
const digests = /^(?:wc|cksum|md5sum|shasum|sha\d+sum|b2sum|true|sleep)$/;

/** Arguments with which a program prints names, counts or public parts only, or writes into its file. */
const harmlessUses: Readonly<Record<string, RegExp>> = {
  grep: /(?:^| )(?:-[A-Za-z]*[cqlL][A-Za-z]*|--(?:count|quiet|silent|files-with(?:out)?-match(?:es)?))(?: |$)|(?:^| )-[A-Za-z]*o[A-Za-z]* \^\S*[A-Z_=]\S*=?(?: |$)/,
  cut: /(?:^| )-d ?= .*-f ?1(?: |$)/,
  awk: /-F ?= .*print \$1 ?\}/,
  sed: /(?:^| )(?:-[A-Za-z]*i|--in-place)|s(.)=\.\*\1|\*\*\*|redact|masked|xxxx/i,
  perl: /(?:^| )-[A-Za-z]*i/,
  jq: /(?:^| )(?:\. \| )?keys(?: |$)/,
  openssl:
    /^(?:x509|req|verify|dgst|s_client|s_server|rand|ca|crl|version|ciphers)(?: |$)|-(?:pubout|noout|check)(?: |$)|^(?!.*-out \/dev\/)(?:gen\w+|ecparam|pkcs\d+|rsa|ec|pkey|req) .*-out /,
};

/** Number of characters of the arguments that are compared with them. */
const maxArguments = 400;

/** Programs whose first operand is a pattern or a script, unless an option contains it. */
const patternFirst = /^(?:[efz]?grep|rg|ag|ack|[gm]?awk|g?sed)$/;
const givesPattern = /^-[A-Za-z]*[ef]|^--(?:regexp|file|expression)/;

/** Returns the arguments that may be files. */
export const filesOf = (name: string, args: readonly string[]): readonly string[] => {
  if (!patternFirst.test(name) || args.some((word) => givesPattern.test(word))) return args;
  const pattern = args.findIndex((word) => !word.startsWith('-'));
  return args.filter((_, index) => index !== pattern);
};

/** Returns whether a command prints what it reads, or an encoding of it. */
export const passesInput = (name: string, args: readonly string[]): boolean =>
  printers.has(name) && !hidesValues(name, args);

/** Returns whether a command shows nothing of the values in the files that it reads. */
export const hidesValues = (name: string, args: readonly string[]): boolean => {
  const key = name
    .replace(/^(?:[efz]?grep|rg)$/, 'grep')
    .replace(/^gsed$/, 'sed')
    .replace(/^[gm]awk$/, 'awk');
  return (
    digests.test(name) ||
    (Object.hasOwn(harmlessUses, key) && harmlessUses[key]?.test(args.join(' ').slice(0, maxArguments)) === true)
  );
};

/** Subcommands of git that print the content of files. */
const versionPrinters = /^(?:show|diff|blame|cat-file|grep|log|stash)$/;

/**
 * Returns whether git prints a secret file as it is in a commit.
 *
 * @param words the arguments from the subcommand on
 */
export const printsVersion = (words: readonly string[], isSecret: (path: string) => boolean): boolean => {
  // Words behind two hyphens are paths.
  const end = words.indexOf('--');
  const options = end === -1 ? words : words.slice(0, end);
  const showsPatch = options.some((word) => /^(?:-p|-u|--patch|-L.*|-\d*p)$/.test(word));
  const showsNames = options.some((word) => /^--(?:stat|name-only|name-status|quiet)(?:=|$)/.test(word));
  return (
    (showsPatch || (words[0] !== 'log' && !showsNames)) &&
    words.some((word) => isSecret(word.slice(word.indexOf(':') + 1)))
  );
};

/** Returns whether a command prints a secret. */
export const printsSecret = (
  name: string,
  args: readonly string[],
  isSecret: (path: string) => boolean,
  readsSecret: boolean,
): boolean => {
  if (hidesValues(name, args)) return false;
  if (readsSecret) return true;
  const own = Object.hasOwn(ownSecrets, name) ? ownSecrets[name] : undefined;
  if (own?.test(args.join(' ')) === true) return true;
  if (name === 'git') {
    const subcommand = args.findIndex((word) => versionPrinters.test(word));
    return subcommand !== -1 && printsVersion(args.slice(subcommand), isSecret);
  }
  return printers.has(name) && filesOf(name, args).some((word) => isSecret(word.replace(/^(?:if=|@)/, '')));
};
