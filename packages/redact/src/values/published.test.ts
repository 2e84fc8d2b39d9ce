import { describe, it } from 'vitest';
import { expectHidden, expectPreserved } from '../../test/expect-hidden.js';

const inBase64 = (login: string): string => Buffer.from(login).toString('base64');

/** Examples, each with a value of the same form that is secret. */
const pairs: readonly (readonly [text: string, example: string, secret: string])[] = [
  ['{"access_token": "§"}\n', '2YotnFZFEjr1zCsicMWpAA', '2YotnFZFEjr1zCsicMWpAB'],
  ['Location: https://client.example.com/cb?code=§&state=xyz\n', 'SplxlOBeZQQYbYS6WxSbIA', 'SplxlOBeZQQYbYS6WxSbIB'],
  ['oauth_token="§",\n', 'ad180jjd733klru7', 'ad180jjd733klru8'],
  ['Authorization: Basic §\n', inBase64('user:password'), inBase64('user:passw0rd2x')],
  ['Authorization: Basic §\n', inBase64('username:pass'), inBase64('username:d8Kq2LmZ0v')],
  ['curl -H "Authorization: Basic §"\n', 'QWxhZGRpbjpvcGVuIHNlc2FtZQ==', inBase64('Aladdin:aB3dE9xQmN')],
  [
    'Authorization: Bearer §\n',
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c',
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkphbmUgRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c',
  ],
  [
    '>>> jwt.decode("§")\n',
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzb21lIjoicGF5bG9hZCJ9.4twFt5NiznN84AWoo1d7KO1T_yoc0Z6XOpOVswacPZg',
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzb21lIjoicGF5bG9hZDIifQ.4twFt5NiznN84AWoo1d7KO1T_yoc0Z6XOpOVswacPZg',
  ],
  // Another key has signed the same claims, and further ones.
  [
    'Authorization: Bearer §\n',
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.XbPfbIHMI6arZ3Y922BhjWgQzWXcXNrz0ogtVhfEd2o',
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.Zx9kQ2mW8rT4vLp0sDfGhJkLqWeRtYuIoP123456789',
  ],
  [
    'id_token: §\n',
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzb21lIjoicGF5bG9hZCJ9.4twFt5NiznN84AWoo1d7KO1T_yoc0Z6XOpOVswacPZg',
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwicm9sZSI6ImFkbWluIn0.Zx9kQ2mW8rT4vLp0sDfGhJkLqWeRtYuIoP123456789',
  ],
  ['keytool -list -keystore cacerts -storepass §\n', 'changeit', 'changeitNow7'],
];

describe('credentials of published examples', () => {
  it.each(pairs)('are preserved: %j with %s', (text, example) => expectPreserved(text.replace('§', example)));

  it.each(pairs)('are replaced if they differ: %j with %s and %s', (text, _, secret) =>
    expectHidden(text.replace('§', `«${secret}»`)),
  );
});

describe('names in code and standards near secrets', () => {
  it.each([
    '        SECKEYPrivateKeyInfo *pkcs8KeyBag;\n',
    ' * @GNUTLS_BAG_SECRET: PKCS-12 bag with secret PKCS-9 keys.\n',
    '#define OBJ_pkcs9_challengePassword             OBJ_pkcs9,7L\n',
    '   * Private key material: Base64urlUInt for RSA (RFC 7518, Section 6.3.2.1), base64url-encoded\n',
    '#define CKO_PRIVATE_KEY 0x00000003UL\n#define CKM_PASSWORD 0x10L\n',
    '                if isinstance(key, (Ed25519PrivateKey, Ed448PrivateKey)):\n',
    "If you're using a password manager such as 1Password, where the app adds an icon\n",
    '    password => "TextInput",\n',
    '      to store the unhashed passphrase they will pass to crypt_*.\n',
    "Password for 'https://joe@git.example.org': \nPassword for 'https://git.example.org': \n",
    "applicationServerKey: 'BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM'\n",
  ])('are preserved: %j', expectPreserved);

  it.each([
    "Password for 'joe@git.example.org': «d8Kq2LmZ0vRt»\n",
    'password: «1Passw0rdTree»\n',
    'password: «crypt_9*x!Q»\n',
    'password => "«TealHarborOtter»",\n',
    '#define DB_PASSWORD "«0x7Lq2mZ9v»"\n',
    'Private key material: «Base64urlUInt7Xq2LmZ0vRt9Yw»\n',
    "serverKey: '«BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA»'\n",
    '(JdbcPassword, «Ed4xQ8Zk8Lq2Wm7X»)\n',
  ])('differ from secrets: %j', expectHidden);
});
