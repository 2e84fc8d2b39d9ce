import { createHash, randomBytes } from 'node:crypto';
import { describe, it } from 'vitest';
import { expectHidden, expectPreserved } from '../test/expect-hidden.js';

describe('text that resembles a secret', () => {
  it.each([
    ['a report of tests', 'PASS: liblto-18b.a\nPASS: cxxfilt: demangling _Z1fIvJiELb0EEvPDOT1_EFT_DpT0_E\n'],
    ['a name in a list', "allowHeaders: ['Content-Type', 'Authorization', 'A2A-Version']"],
    ['an algorithm in a list', "choices=['none', 'gce-vm', 'access-token', 'scram-sha-256'],"],
    ['a type of a union', 'SecuritySchemeOauth2Password | SecuritySchemeOauth2Application;'],
    ['a type of a secret', "'secret': 'V1SecretVolumeSource',"],
    ['what a function returns', 'def check(self, secret: str) -> k8s_min.EnvVarSource:'],
    ['a value that begins like its name', "SERVER_SIDE_ENCRYPTION_KEY = 'server-side-encryption-header'"],
    ['a call that continues on the next line', 'domainSecrets: zod_v4.z.array(zod_v4.z.object({'],
    ['a constant', 'F_CLIENT_MASTER_KEY                     OP_SSLEAY_080_CLIENT_DH_BUG'],
    ['an object of OpenSSL', '#define OBJ_userPassword                OBJ_X509,35L'],
    [
      'a marker of Node.js',
      'postject hello BLOB a.blob --sentinel-fuse NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2',
    ],
    ['a function in a sentence', 'private key. Use PK11CertListCAUnique'],
    ['a member in a sentence', "LOG('guessed container type (pass `asn1Spec` to guide the decoder)')"],
    ['a message about a flag', "ArgumentTypeError('--shared-secret requires a non-empty argument.')"],
    ['the path of a secret', 'requires secret `projects/my-project/secrets/my-secret/versions/2` to exist'],
    ['the name of a secret of AWS', 'aws secretsmanager get-secret-value --secret-id prod/db2'],
    ['an object of Kubernetes', 'secret "api-token-4k2lp" deleted'],
    ['a technique of attackers', 'PRIVATE_KEYS: T1552.004'],
    ['the position in a list', 'Next page token: eav1OzQB0OM8rLdGXOEsyQWSG'],
    ['an address with words for a login', 'http://utilisateur:motdepasse@serveur:port/'],
    ['the second part of an address', 'https://git.example/c9b9a5f273c94c73\nf0ca97a8c/curl-m32.sh#L53-L58'],
  ])('is preserved if it is %s', (_, text) => expectPreserved(text));

  it('is preserved if it is the digest of a file, whatever its characters', () => {
    for (const algorithm of ['sha256', 'sha384', 'sha512']) {
      for (let round = 0; round < 300; round += 1) {
        const digest = createHash(algorithm).update(randomBytes(8)).digest('base64url');
        expectPreserved(`pip/lexer.py,${algorithm}=${digest},32005`);
      }
    }
  });

  it.each([
    ['a list', "['db', 'password', '«Hunter2xq»']"],
    ['a list with words for it', '["host", "password", "«Blue7Horse»"]'],
    ['words like its name', 'production_db_password: «production-db-pa55w0rd»'],
    ['its whole name', 'database_password: «database-password-7KqxZrTb»'],
    ['the word for a manager', 'manager_key: «zk9XqTbLmW7rXyZ1»'],
    ['a name in it', "AcmePortalPassword: '«AcmePortalWinter»'"],
    ['the word for it in it', "secret = '«P4SecretDragon»'"],
    ['a report of tests', 'USER: joe\nPASS: «hunter2x»\n'],
    ['a table with bars', '| AdministratorPassword | «Administrator-X9k2» |'],
    ['a number sign', 'The key: «Ab12xyZ9q#L53»'],
    ['brackets', 'password = «kJ8.mQ2([»'],
    ['constants', 'db_password    «XK9_LQ2_ZZ8»'],
    ['a request', 'page token: «kJ8mQ2zR9xWv4Lp0aB»'],
    ['a plural', 'tokens_values => «ab12xyz9qlm4kq8z»'],
    ['what was done with it', 'secret "«Ab12xyZ9q»" deleted'],
    ['an arrow', 'пароль → «Ab12xyZ9q»'],
  ])('is replaced if it is a password beside or within %s', (_, text) => expectHidden(text));
});

describe('secrets that were missed', () => {
  const statements = [
    ['INSERT INTO users (name, password) VALUES ($1, $2)', "$1 = 'joe', $2 = '«Hunter2xq»'"],
    ['UPDATE users SET password = $1 WHERE id = $2', "$1 = '«Hunter2xq»', $2 = '7'"],
    ['select * from users where email = $1 and password = $2', "$1 = 'a@b.de', $2 = '«Hunter2xq»'"],
  ];
  it.each(statements)('are replaced in the parameters of a statement: %s', (statement, values) => {
    expectHidden(`LOG:  execute <unnamed>: ${statement}\nDETAIL:  parameters: ${values}\n`);
    expectHidden(`1 UTC [12] LOG:  execute s1: ${statement}\n1 UTC [12] DETAIL:  Parameters: ${values}\nLOG:  x\n`);
  });

  it.each([
    "LOG:  execute a: UPDATE users SET password = $1\nLOG:  x\nDETAIL:  parameters: $1 = 'Hunter2xq'\n",
    "LOG:  execute a: UPDATE users SET name = $1\nDETAIL:  parameters: $1 = 'Hunter2xq'\n",
    'password=$1\nuser=$2\n',
  ])('are not those of other statements: %j', expectPreserved);

  it.each([
    '1|db_password|«Hunter2xq»|2026\n2|db_host|10.0.0.1|2026\n',
    "(3, 'smtp_password', '«Hunter2xq»', NULL),\n",
    '3,smtp_password,«Hunter2xq»,yes\n',
    '3;smtp_password;«Hunter2xq»;yes\n',
  ])('are replaced in rows with a number and a name: %j', (text) => expectHidden(text));

  it.each([
    "\toption network 'lan'\n\toption key '«correcthorse»'\n",
    'password: «true9ZxK4m»\n',
    'DB_PASSWORD=«false7Kq2Lm»\n',
    '{"password": "«nullX9k2Lq»"}',
  ])('are replaced in settings: %j', (text) => expectHidden(text));

  it.each(['password: true\n', 'password: nullable\n', 'secret: none,', 'token: undefined2', "option key '1'\n"])(
    'are no literals and numbers: %j',
    expectPreserved,
  );
});
