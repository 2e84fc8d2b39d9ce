import { isPasswordLike } from '../values/chosen-value.js';
import { endingTest, tailOf, tailsOf } from '../names/key-name.js';
import { endOfQuoted, quoteAt } from '../text/quotes.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { skipWhiteSpace } from '../text/gaps.js';
import { isHash, isPlaceholder } from '../values/value.js';

const opening = 40;
const closing = 41;
const comma = 44;
const dot = 46;
/** Maximum length of the arguments before the key. */
const maxBefore = 240;
const maxKey = 512;

/** Functions that take a key or a password, with the position of that argument. */
interface KeyedCall {
  /** The last letters of the functions, in lower case and without digits at the end. */
  readonly endings: readonly string[];
  /** Matches the whole function, with its receiver, at the end of a text. */
  readonly callee: RegExp;
  readonly position: number;
}

const endings = (list: string): readonly string[] => list.split(' ');

/**
 * The functions of the standard libraries of Node, Python, Go, PHP, Java, .NET and Ruby, of PostgreSQL and MySQL, and
 * of the common libraries for JSON Web Tokens, passwords and ciphers, as documented in November 2026. The last entry is
 * any client that is created with an id and a secret.
 */
const keyedCalls: readonly KeyedCall[] = [
  {
    endings: endings('.sign .verify .encode .decode :encode :decode .signasync .verifyasync'),
    callee: /(?:jwt|jws|jsonwebtoken|jwtservice)(?:\.|::)(?:sign|verify|encode|decode)(?:Async)?$/i,
    position: 1,
  },
  {
    endings: endings('hmac cipheriv pgp_sym_encrypt pgp_sym_decrypt aes_encrypt aes_decrypt hmac.new .encrypt'),
    callee:
      /(?:createHmac|create(?:C|Dec)ipheriv|hmac\.New|AES\.(?:en|de)crypt|(?:pgp_sym|aes|PGP_SYM|AES)_(?:encrypt|decrypt|ENCRYPT|DECRYPT))$/,
    position: 1,
  },
  {
    endings: endings('hexdigest .digest hmacsha'),
    callee: /(?:HMAC\.(?:hex)?digest|CryptoJS\.HmacSHA(?:1|256|512))$/,
    position: 1,
  },
  {
    endings: endings('hmac openssl_encrypt openssl_decrypt'),
    callee: /(?:hash_hmac|openssl_(?:en|de)crypt)$/,
    position: 2,
  },
  {
    endings: endings('hmac fernet secretkeyspec securitykey scrypt scryptsync pbkdf pbkdf2sync'),
    callee: /(?:HMAC\d{3}|Fernet|SecretKeySpec|SymmetricSecurityKey|\b(?:scrypt|pbkdf2)(?:Sync)?)$/,
    position: 0,
  },
  {
    endings: endings('hmac.new hmacshakeyfor signedstring from_secret cookieparser createsecretkey aes.new crypt'),
    callee:
      /(?:(?:hmac|HMAC)\.new|hmacShaKeyFor|SignedString|Key::from_secret|cookieParser|createSecretKey|AES\.new|(?<![a-z])crypt)$/,
    position: 0,
  },
  {
    endings: endings('bcrypt.hash bcrypt.compare hashsync comparesync hashpw checkpw argon2.hash password_hash'),
    callee: /(?:(?:bcrypt(?:js)?|argon2)\.(?:hash|compare)|hashSync|compareSync|hashpw|checkpw|password_hash)$/,
    position: 0,
  },
  { endings: endings('sendline send_line'), callee: /\.(?:sendline|send_line)$/i, position: 0 },
  {
    endings: endings('client credentials credential .basic twilio basic_auth staticcredentials algoliasearch'),
    callee: /(?:Client|Credentials?|twilio|Credentials\.basic|basic_auth|algoliasearch)$/,
    position: 1,
  },
];

const allEndings = keyedCalls.flatMap((call) => call.endings);
const endsLikeKeyed = endingTest(allEndings, new Set());
/** 1 for the last three characters of the functions, five bits of each. Digits may follow some of them. */
const keyedTails = new Uint8Array(32_768);
for (const ending of [...allEndings, '256', '384', '512', 'df2', 'ha1']) {
  for (const tail of tailsOf(ending)) keyedTails[tail] = 1;
}

/** Returns quickly whether a function whose name ends before `end` may take a key. */
export const mayTakeKey = (text: string, end: number): boolean => keyedTails[tailOf(text, end - 1)] === 1;

/** Matches what may wrap or name an argument in quotes: `b"…"`, `[]byte("…")`, `Buffer.from("…")`, `key: "…"`. */
const beforeQuote = /^(?:(?:new )?[\w.:[\]]{1,32}\(|\w{1,16}(?:=|: )){0,2}b?(?=["'`])/;
const algorithm = /^(?:aes|des|rsa|sha|hmac|ecdsa|chacha|blake)/i;

/** Finds the key in `createHmac("sha256", "…")`. Called for the bracket that opens the arguments. */
export const findKeyedCall = (reader: Reader, index: number): Secret | undefined => {
  if (!endsLikeKeyed(reader.text, index)) return undefined;
  const near = reader.text.slice(Math.max(reader.barrier, index - 40), index);
  const lower = near.toLowerCase().replace(/[\d_]+$/, '');
  const call = keyedCalls.find((one) => one.endings.some((ending) => lower.endsWith(ending)) && one.callee.test(near));
  if (call === undefined) return undefined;
  let from: number | undefined = index + 1;
  for (let position = 0; position < call.position && from !== undefined; position += 1) from = afterComma(reader, from);
  if (from === undefined) return undefined;
  const start = skipWhiteSpace(reader, from);
  const wrapped = beforeQuote.exec(reader.slice(start, start + 80));
  const quote = wrapped === null ? undefined : quoteAt(reader, start + wrapped[0].length);
  const end = quote === undefined ? undefined : endOfQuoted(reader, quote.end, quote.literal, maxKey);
  if (quote === undefined || end === undefined) return undefined;
  const next = reader.code(skipWhiteSpace(reader, end + quote.literal.length));
  if (next !== closing && next !== comma && next !== dot) return undefined;
  if (!isKey(reader.text.slice(quote.end, end), reader.replacement)) return undefined;
  const secret: Secret = { kind: 'argument', start: quote.end, end };
  return { ...secret, more: [secret] };
};

const isKey = (value: string, replacement: string): boolean =>
  (isPasswordLike(value) || isHash(value)) &&
  !/\s|^[\w.+-]+@[\w.-]+\.[a-z]{2,}$/i.test(value) &&
  !algorithm.test(value) &&
  !isPlaceholder(value) &&
  !value.includes(replacement);

/** Returns the offset behind the comma that ends an argument; `undefined` if the arguments or the limit end first. */
const afterComma = (reader: Reader, from: number): number | undefined => {
  let depth = 0;
  for (let index = from; index < from + maxBefore; index += 1) {
    const code = reader.code(index);
    if (Number.isNaN(code)) return undefined;
    if (code === 34 || code === 39 || code === 96) {
      const end = endOfQuoted(reader, index + 1, reader.text.charAt(index), maxBefore);
      if (end === undefined) return undefined;
      index = end;
    } else if (code === opening || code === 91 || code === 123) depth += 1;
    else if (code === closing || code === 93 || code === 125) {
      if (depth === 0) return undefined;
      depth -= 1;
    } else if (code === comma && depth === 0) return index + 1;
  }
  return undefined;
};
