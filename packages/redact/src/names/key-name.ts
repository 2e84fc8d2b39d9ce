import { codeAt, is, key as keyClass, kindOf } from '../text/characters.js';

/**
 * How certain it is that the value of a name is secret.
 *
 * The value of a `strong` name (`password`, `API_KEY`, `client_secret`) is a secret. A `weak` name (`token`, `auth`)
 * has other meanings too, so its value must look random.
 */
export type KeyStrength = 'strong' | 'weak' | undefined;

/** Maximum length of a name. */
export const maxKeyLength = 64;

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));

const strongNouns = words(
  'password passwords passwd passphrase passwort kennwort wachtwoord contrasena passw pwd pswd pw senha passcode parola heslo lozinka jelszo losenord salasana passord adgangskode kodeord geslo haslo sifre zaporka parool slaptazodis lykilord parol contrasenya contrasinal pasahitza wagwoord sandi laluan nenosiri motdepasse clave zugangscode secret secrets apikey apikeys apitoken apisecret ' +
    'appsecret psksecret sharedsecret jwtsecret sessionsecret webhooksecret authtoken authtok accesstoken refreshtoken secretkey privatekey credentials authorization accesskey accountkey ' +
    'sharedaccesskey clientsecret cookie dbpass dbpw userpass rootpass rootpw bindpw storepass keypass requirepass ' +
    'masterauth mdp pepper encryptionkey signingkey masterkey sessionkey mnemonic seedphrase psk identitytoken secretstring ' +
    'secretbinary snmpcommunity rocommunity rwcommunity',
);
const weakNouns = words(
  'token tokens credential creds auth authz bearer ident sig pat jwt otp totp salt session sessionid sid sessid phpsessid jsessionid hmac ntlm authkey secretid verifier macaroon samlresponse authstring cleartext',
);
/** Words that make a `key`, a `token` or a `pass` secret. */
const qualifiers = words(
  'api access authentication secret private signing encryption account shared auth master service admin webhook deploy rsa ssh app ' +
    'application bot refresh bearer oauth personal client db database user root smtp mail redis mysql postgres pg mongo ' +
    'security gh github gitlab npm slack openai anthropic hf aws azure gcp google gemini stripe subscription storage ftp ' +
    'ldap license vault session id crypto cipher jwt hmac consumer function registration server write twilio sendgrid ' +
    'mailgun datadog dd newrelic algolia mistral cohere groq pinecone supabase cloudflare tavily deepseek openrouter ' +
    'replicate together perplexity xai elevenlabs huggingface linear notion figma sentry posthog segment braintree ' +
    'preshared recovery unseal setup fernet functions host paypal square shopify mapbox maps store wireless mqtt keystore truststore cookie data base sas primary secondary wifi radio proxy http decryption validation unlock des aes wep sec symm symmetric otp network props gossip encrypt ingest ingestion integration activation enrollment ' +
    'join provisioning tunnel vpn deployment',
);
/** Words that make a name refer to a property of a secret. */
const negations = words(
  'no is has max min num meta total public publishable next prev page show hide count stop special eos bos pad ' +
    'prompt completion used remaining limit ssh2 foreign sort cache idempotency partition object to',
);
/** Words that make a token refer to a form, which pages contain, or to a step. */
const tokenNegations = words('csrf xsrf lifecycle');
/** Words that make a token, with no other word, refer to the state or the rest of a list. */
const stateWords = words('lock starting continuation change');
/** Words that make only a `pass` secret. */
const passQualifiers = words(
  'default become sudo login ansible rabbitmq kafka proxy cert vnc zip su imap pop irc bind sql email router smb',
);
/** Words that make a key, with other words of no known meaning, refer to something that is looked up or shown. */
const keyNegations = words(
  'hash map dict lookup index unique primary group event dedup deduplication row column item node element list file bucket ' +
    'blob image video asset translation message i18n locale route query param feature flag site issue project i s ' +
    'attribute field property entity record document doc member team tenant org label tag property config setting storage ' +
    'state tree parent child root base host peer trace span metric job task queue topic stream shard range hot short ' +
    'accelerator modifier arrow known gpg pgp trusted imported license header footer menu tab recv websocket certificate response',
);
/** Words that make a name weak. */
const doubts = words('reset forgot');
/** Words that may follow the noun in names of environment variables. */
const suffixes = words(
  'base prod production dev development staging stage live old new backup primary secondary ro rw main default current ' +
    'previous local admin value info',
);

/** Words that may follow the noun in any name. */
const alwaysSuffixes = words('base value info');

/** Words for what a password opens, behind a word for it. */
const places = words('db bd bdd banco base root ftp smtp mail wifi admin');
const passwordWord =
  /^(?:passw(?:or)?[dt]|pass|pwd|pw|mdp|senha|clave|contrasena|heslo|haslo|parola|sifre|lozinka|kennwort)$/;

/** Creates a fast test of name endings with a table of their last letters. */
export const endingTest = (
  endings: readonly string[],
  bare: ReadonlySet<string>,
): ((text: string, end: number) => boolean) => {
  const families: (readonly string[])[] = [];
  const familyOf = new Uint8Array(32_768);
  // An ending that contains another one at its end is covered by the shorter one.
  const shortest = endings.filter((ending) => !endings.some((other) => other !== ending && ending.endsWith(other)));
  for (const ending of shortest) {
    for (const tail of tailsOf(ending)) {
      const place = familyOf[tail] ?? 0;
      if (place === 0) familyOf[tail] = families.push([ending]);
      else families[place - 1] = [...(families[place - 1] ?? []), ending];
    }
  }
  return (text, end) => {
    let last = end - 1;
    let code = codeAt(text, last);
    while (end - last <= 3 && ((code >= 48 && code <= 57) || code === 95)) {
      last -= 1;
      code = codeAt(text, last);
    }
    const family = familyOf[tailOf(text, last)] ?? 0;
    if (family === 0) return false;
    for (const ending of families[family - 1] ?? []) {
      if (!endsWith(text, last, ending)) continue;
      const before = codeAt(text, last - ending.length);
      if (!bare.has(ending) || is(before, keyClass) || before === 32 || before === 58) return true;
    }
    return false;
  };
};

export const tailOf = (text: string, last: number): number =>
  ((codeAt(text, last - 2) & 31) << 10) | ((codeAt(text, last - 1) & 31) << 5) | (codeAt(text, last) & 31);

/** Returns the last letters of an ending. An ending of two letters matches any third letter. */
export const tailsOf = (ending: string): readonly number[] => {
  const last = ending.length - 1;
  const tail = tailOf(ending, last);
  return last > 1 ? [tail] : Array.from({ length: 32 }, (_, any) => (any << 10) | tail);
};

const endsWith = (text: string, last: number, ending: string): boolean => {
  for (let index = ending.length - 1, place = last; index >= 0; index -= 1, place -= 1) {
    if ((codeAt(text, place) | 32) !== (ending.charCodeAt(index) | 32)) return false;
  }
  return true;
};

/** Words that require a preceding word. */
const bareWords: ReadonlySet<string> = new Set([
  ...suffixes,
  ...words('key keys pass passe phrase community session ident salt'),
]);

/** Names of keys whose first word is the noun, or is no English word. */
const foreignKeys: ReadonlySet<string> = new Set([
  ...['clave', 'chave', 'chiave', 'klucz', 'kljuc'].map((noun) => `${noun} api`),
  ...['api', 'access', 'licentie'].map((use) => `${use} sleutel`),
  'clave secreta',
  'clave privada',
  'clave acceso',
  'chave secreta',
  'chave privada',
  'chave acesso',
  'chiave segreta',
  'chiave privata',
  'palavra passe',
]);

/** Names of two words of which the last one alone has other meanings. */
const compounds = [
  'secret id',
  'secret string',
  'secret binary',
  'secret data',
  'key data',
  'key content',
  'key material',
  'clear text',
  'auth string',
  'saml response',
  'device code',
  'de api',
  'de acceso',
  'de acesso',
  ...foreignKeys,
  'sonar login',
].flatMap((name) => [' ', '_', '-', '.', ''].map((joint) => name.replace(' ', joint)));

/** Endings of names of stored passwords: of what a function made of them. Digits may follow. */
const storedEndings = ['password', 'passwd', 'pass', 'pwd', 'pw'].flatMap((noun) =>
  ['hash', 'digest', 'pbkdf', 'bcrypt', 'sha', 'md', 'ntlm', 'ntlmv', 'lm', 'nt'].flatMap((made) =>
    ['', '_', '-'].map((joint) => `${noun}${joint}${made}`),
  ),
);
const storedName =
  /(?:^|[_.-])(?:\w*_)?(?:password|passwd|pass|pwd|pw)[_-]?(?:hash|digest|pbkdf2?|bcrypt|sha\d{0,3}|md5|ntlm(?:v2)?|lm|nt)$/i;

/** Returns whether the value of a name is made of a password, so that it may be a hash. */
export const isStoredName = (name: string): boolean =>
  storedLast.has(name.charCodeAt(name.length - 1) | 32) && storedName.test(name);
/** The last letters and digits of these names. */
const storedLast: ReadonlySet<number> = new Set(Array.from('htm1245620', (last) => last.charCodeAt(0) | 32));

/** The end of the name of the key of a storage account of Azure in Hadoop, which has its host behind it. */
const accountHost = '.core.windows.net';
const withoutHost = (name: string): string =>
  name.endsWith(accountHost) ? name.replace(/\.[a-z\d]{3,24}\.[a-z]{3,8}\.core\.windows\.net$/, '') : name;

/** Endings of names of environment variables with the number of a version behind them. */
const numberedEndings = words('key_v token_v secret_v password_v');
const version = /_V\d{1,2}$/;

const keyEndings = [
  ...strongNouns,
  ...weakNouns,
  ...suffixes,
  'key',
  'keys',
  'pass',
  'passe',
  'phrase',
  'community',
  ...compounds,
  ...storedEndings,
  ...numberedEndings,
  accountHost,
  ...Array.from(places, (place) => `_${place}`),
];
/** Returns quickly whether a name that ends before `end` may be the name of a secret. */
export const mayEndKey = endingTest(keyEndings, bareWords);
/** 1 for the last three letters of the names of secrets. */
export const keyTails = new Uint8Array(32_768);
for (const tail of keyEndings.flatMap(tailsOf)) keyTails[tail] = 1;

/** Endings of names that are separated from their values by a space only. */
export const spacedEndings = [
  ':pass',
  ...words(
    'password passwd passphrase pass pwd psk secret token key masterauth mnemonic phrase secret_id secretid authtok pw ' +
      'passntlm passntlmv passlm passnt',
  ),
];
/** Words for a password that a verb follows in other languages. */
export const statedEndings = words(
  'passwort kennwort wachtwoord contraseña contrasena senha passe parola salasana lösenord heslo hasło',
);

/** Like {@link mayEndKey}, for names that are separated from their values by a space only. */
export const mayEndSpacedKey = endingTest(spacedEndings, new Set(['key', 'phrase']));
/** Like {@link mayEndKey}, for names with a verb or other words before their values. */
export const mayBeStated = endingTest([...spacedEndings, ...statedEndings], new Set(['key', 'phrase', 'passe']));

/** Returns the words of a name, in lower case: between other characters, and at capitals as in `apiKey` and `APIKey`. */
const wordsOf = (name: string): readonly string[] => {
  const found: string[] = [];
  let start = 0;
  let [second, last] = [0, 0];
  const cut = (end: number): void => {
    if (end > start) found.push(name.slice(start, end).toLowerCase());
    start = end;
  };
  for (let index = 0; index <= name.length; index += 1) {
    const code = codeAt(name, index);
    const kind = code < 128 ? kindOf(code) : 0;
    if (kind === 0 || kind === 3) {
      cut(index);
      start = index + 1;
    } else if (kind === 2 && last === 1) cut(index);
    else if (kind === 1 && last === 2 && second === 2) cut(index - 1);
    [second, last] = [last, kind];
  }
  return found;
};

/** Matches names of environment variables, of which the last word may be a noun. */
const environmentName = /^_?[A-Z][A-Z\d_]*(?:_Key|_Token)?$|^(?:[A-Z][A-Z\d]+_){2}[a-z\d_]+$/;

/** Returns whether a flag or a command does something with a secret, so that it takes its id, as `--export-secret-key`. */
export const isManagement = (name: string): boolean =>
  /^(?:list|show|print|export|delete|generate|describe)-/.test(name);

/** The id of a statement in a policy of AWS, and the public key of a server that sends notifications to browsers. */
const publicNames: ReadonlySet<string> = new Set(['Sid', 'applicationServerKey']);

/** Returns how certain it is that the value of this name is secret. */
export const keyStrength = (name: string): KeyStrength => {
  if (name.length > maxKeyLength || publicNames.has(name) || !mayEndKey(name, name.length)) return undefined;
  // A command, and the name of its file.
  if (isManagement(name) || name.endsWith('htpasswd')) return undefined;
  if (isStoredName(name)) return 'weak';
  const parts = wordsOf(withoutHost(name).replace('assWord', 'assword').replace(version, '')).filter(
    (part) => part !== 'de',
  );
  const isEnvironment = environmentName.test(name);
  let last = parts.length - 1;
  const isSuffix = (part: string): boolean => suffixes.has(part) && (isEnvironment || alwaysSuffixes.has(part));
  while (last > 0 && isSuffix(parts[last] ?? '')) last -= 1;
  // Outside of English, the noun is often the first word.
  if (last === 1 && places.has(parts[1] ?? '') && passwordWord.test(parts[0] ?? '')) last = 0;
  const noun = parts[last];
  if (noun === undefined || parts.some((part) => negations.has(part))) return undefined;
  if (noun.startsWith('token') && parts.some((part) => tokenNegations.has(part))) return undefined;
  if (noun === 'token' && parts.length === 2 && stateWords.has(parts[0] ?? '')) return undefined;
  const strength = strengthOf(noun, parts[last - 1], isEnvironment) ?? (isUnknownKey(name, parts) ? 'weak' : undefined);
  return strength === 'strong' && parts.some((part) => doubts.has(part)) ? 'weak' : strength;
};

const minCompound = 5;
/** Matches compounds such as `pgpassword`, but not `showpassword`. */
const compound =
  /^(?!(?:no|is|has|show|hide|forgot|reset|change|confirm|verify|with|use(?!r))[a-z])[a-z]{0,24}?(?:password|passwd|passphrase|(?<!ask|by|com|sur|tres|over|under|encom)pass|(?:api|secret|access|account|storage|encryption|signing|license|subscription|webhook)key|authtoken|(?:client|webhook|app|auth|jwt|session|consumer|shared|signing|cookie|psk)secret|pwd|psk|(?:bind|root|mod|user|db|ldap|admin|bot)pw)$/;

/** Matches compounds of Germanic languages such as `Initialpasswort`. */
const foreignCompound =
  /^[a-z]{1,24}(?:passwort|kennwort|passwoord|wachtwoord|passord|adgangskode|kodeord|losenord|salasana)$/;

/** Whether a name in code is one of a key that may be secret, since no word before says what else it is. */
const isUnknownKey = (name: string, parts: readonly string[]): boolean =>
  /(?:[a-z\d][_-]key|[a-z]Key)$/.test(name) && !parts.slice(0, -1).some((part) => keyNegations.has(part));

const strengthOf = (noun: string, before: string | undefined, isEnvironment: boolean): KeyStrength => {
  if (foreignCompound.test(noun) || (before !== undefined && foreignKeys.has(`${before} ${noun}`))) return 'strong';
  if (strongNouns.has(noun) || (noun.length >= minCompound && compound.test(noun))) return 'strong';
  const isQualified = before !== undefined && qualifiers.has(before);
  if (noun === 'pass') {
    const isSecret = isQualified || (before !== undefined && (isEnvironment || passQualifiers.has(before)));
    return isSecret ? 'strong' : undefined;
  }
  if (noun === 'string' && before === 'auth') return 'weak';
  if (noun === 'text') return before === 'clear' ? 'weak' : undefined;
  if (noun === 'response') return before === 'saml' ? 'weak' : undefined;
  if (noun === 'string' || noun === 'binary') return before === 'secret' ? 'strong' : undefined;
  if (noun === 'data' && before === 'secret') return 'strong';
  if (noun === 'data' || noun === 'content' || noun === 'material') return before === 'key' ? 'strong' : undefined;
  if (noun === 'login') return before === 'sonar' ? 'weak' : undefined;
  if (noun === 'id') return before === 'secret' ? 'weak' : undefined;
  if (noun === 'code') return before === 'device' ? 'weak' : undefined;
  if (noun === 'community') return before === 'snmp' || before === 'ro' || before === 'rw' ? 'strong' : undefined;
  if (noun === 'phrase') return before === 'seed' || before === 'recovery' || before === 'pass' ? 'strong' : undefined;
  if (noun === 'key' || noun === 'keys') {
    if (isQualified && before !== 'id' && before !== 'user' && before !== 'data') return 'strong';
    return before !== undefined && isEnvironment && noun === 'key' ? 'weak' : undefined;
  }
  if (noun === 'token' || (noun === 'tokens' && isQualified)) return isQualified || isEnvironment ? 'strong' : 'weak';
  if (noun === 'pat' && isQualified && isEnvironment) return 'strong';
  if (noun === 'session') return isEnvironment && before !== undefined ? 'weak' : undefined;
  if (noun === 'passe') return before === 'mot' ? 'strong' : undefined;
  return weakNouns.has(noun) ? 'weak' : undefined;
};

/** Returns whether the value of a name is opaque data of a provider, such as a signature. It must not be changed. */
export const isOpaqueName = (name: string): boolean => /signature$|^encrypted|^(?:tool_?call_?)?id$/i.test(name);

/**
 * The words for a password, and for keys of interfaces and networks, with letters beyond ASCII: in the languages of the
 * European Union, of its neighbors, and of Asia.
 */
export const foreignNames =
  'contraseña|lösenord|hasło|şifre(?:niz)?|şifrə(?:niz)?|parolă|parola(?:nız)|jelszó|slaptažodis|lykilorð|mật khẩu|κωδικός(?: πρόσβασης)?|συνθηματικό|пароль|парола|лозинка|құпия сөз|нууц үг|პაროლი|գաղտնաբառ|fjalëkalimi|密码|密碼|口令|暗証番号|合言葉|パスワード|비밀번호|패스워드|비번|암호|รหัสผ่าน|पासवर्ड|পাসওয়ার্ড|கடவுச்சொல்|كلمة المرور|كلمة السر|رمز عبور|گذرواژه|پاس ورڈ|סיסמה|סיסמא' +
  '|(?:api|wlan|wifi|netzwerk|sicherheits|zugriffs|lizenz|geheimer|privater)[ -]?schlüssel|clé (?:api|wifi|secrète|privée|de sécurité)|schlüsselinhalt|contenu de la clé|(?:api|секретный|закрытый)[ -]ключ|ключ api|密钥|密鑰|金鑰|api ?キー|シークレットキー|秘密鍵|api ?키|비밀 ?키';
const foreignName = new RegExp(foreignNames, 'i');

/** Returns whether the text contains a word for a password with letters beyond ASCII, with any ending. */
export const isForeignName = (text: string): boolean => foreignName.test(text);

/** The beginnings of words for a password, to which languages add articles, cases and owners. */
export const passwordStems =
  'passw(?:or)?[dt]|pass ?phrase|pass-?code|pwd?|mdp|passord|kennwort|wachtwoord|senha|contrase(?:n|ñ|ny)|clave|mots? de passe|palavra-passe|parol|heslo?|hasł|haslo|adgangskode|kodeord|salasana|l(?:o|ö)senord|lozink|jelsz[oó]|jelszav|slaptažod|sifre|kata sandi|' +
  foreignNames;
