import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { expectHidden, expectPreserved } from '../test/expect-hidden.js';

describe('text that resembles a secret', () => {
  it.each([
    ['a report of tests', 'PASS: nm\nPASS: liblto-18b.a\nPASS: cxxfilt: demangling _Z1fIvJiELb0EEvPDOT1_EFT_DpT0_E\n'],
    ['a name in a list', "allowHeaders: ['Content-Type', 'Authorization', 'A2A-Version']"],
    ['an algorithm in a list', "choices=['none', 'gce-vm', 'access-token', 'scram-sha-256'],"],
    ['a type of a union', 'SecuritySchemeOauth2Password | SecuritySchemeOauth2Application;'],
    ['a type of a secret', "'secret': 'V1SecretVolumeSource',"],
    ['what a function returns', 'def check(self, secret: str) -> k8s_min.EnvVarSource:'],
    ['the beginning of its name', "SERVER_SIDE_ENCRYPTION_KEY = 'server-side-encryption'"],
    ['a call that continues on the next line', 'domainSecrets: zod_v4.z.array(zod_v4.z.object({'],
    ['an object of OpenSSL', '#define OBJ_userPassword                OBJ_X509,35L'],
    [
      'a marker of Node.js',
      'postject hello BLOB a.blob --sentinel-fuse NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2',
    ],
    ['a function in a sentence', 'private key. Use PK11CertListCAUnique'],
    ['a message about a flag', "ArgumentTypeError('--shared-secret requires a non-empty argument.')"],
    ['the path of a secret', 'requires secret `projects/my-project/secrets/my-secret/versions/2` to exist'],
    ['the name of a secret of AWS', 'aws secretsmanager get-secret-value --secret-id prod/db2'],
    ['an object of Kubernetes', 'secret "api-token-4k2lp" deleted'],
    ['a technique of attackers', 'PRIVATE_KEYS: T1552.004'],
    ['the position in a list', 'Next page token: eav1OzQB0OM8rLdGXOEsyQWSG'],
    ['an address with words for a login', 'http://utilisateur:motdepasse@serveur:port/'],
    ['a line of a file in a commit', 'token ab0ca97a8c12bd3f9/curlX.sh#L53'],
  ])('is preserved if it is %s', (_, text) => expectPreserved(text));

  it.each(['sha256', 'sha384', 'sha512'])('is preserved if it is the digest of a file: %s', (algorithm) => {
    const digests = fc.nat().map((seed) => createHash(algorithm).update(String(seed)).digest('base64url'));
    fc.assert(
      fc.property(digests, (digest) => expectPreserved(`pip/lexer.py,${algorithm}=${digest},32005`)),
      { numRuns: 300 },
    );
  });

  it.each([
    ['a list', "['db', 'password', '«Hunter2xq»']"],
    ['a list of words', '["host", "password", "«A1Tiger»"]'],
    ['a list, with the word for it', "['db', 'password', '«P4Dragonfly»']"],
    ['a list of settings', '["host", "api_key", "«A1B-Tiger»"]'],
    ['the beginning of its name', 'staging_database_password: «staging-database-dragon»'],
    ['words like its name', 'production_db_password: «production-db-pa55w0rd»'],
    ['its whole name', 'database_password: «database-password-7KqxZrTb»'],
    ['a name in it', "AcmePortalPassword: '«AcmePortalWinter»'"],
    ['a report of tests', 'USER: joe\nPASS: «hunter2x»\n'],
    ['an extension', 'pass: «Xk9-2qLm.d»'],
    ['an extension of tests', 'USER: joe\nPASS: «Xk9-2qLm.so»\n'],
    ['a sentence', 'pass `«blue7Horse»` to the login'],
    ['a table with bars and the same number', '| CompanyPortal2Password | «CompanyPortal2Dragon» |'],
    ['a table with bars', '| AdministratorPassword | «AdministratorX9Dragon» |'],
    ['a number sign', 'token «qlm4kq8zab12xyz9#L53»'],
    ['the number of a line', 'key «f0ca97a8c12bd3f9#L53-L58»'],
    ['the brackets of a call', 'password = «xK9.mQ([»'],
    ['the brackets of two calls', 'password = «xK9.mQ(aB.cD([»'],
    ['constants', 'DB_PASSWORD     «SUMMER_BLUE_HORSE42X»'],
    ['parts of constants', 'api_key  «QXK_ZRT_8K2PLM9Q»'],
    ['the number of an object', 'db_password    «XK_9q2Lm,35L»'],
    ['what goes in', 'input_key=«zk9XqTbLmW7rXyZ1»'],
    ['what comes out', 'output-key=«zk9XqTbLmW7rXyZ1»'],
    ['a result', 'resultKey = "«zk9XqTbLmW7rXyZ1»"'],
    ['a marker', 'curl -H "X-Api: «ACME_KEY_fce680ab2cc467b6e072b8b5df1996b2»"'],
    ['the name of an option of AWS', 'vault write auth/approle/login --secret-id «ab12xyz9/qlm4kq8z»'],
    ['words for a login', 'postgres://usuario:«minhasenha»@db.example.com/app'],
    ['a request', 'page token: «kJ8mQ2zR9xWv4Lp0aB»'],
    ['a plural', 'tokens_values => «ab12xyz9qlm4kq8z»'],
    ['what was done with it', 'secret "«Ab12xyZ9q»" deleted'],
    ['when something was done with it', 'the secret "«hunter2xq9»" created yesterday'],
    ['what kubectl does', 'secret "«hunter2xq9»" created by joe'],
    ['a technique of attackers', 'DB_PASSWORD=«T1552»'],
    ['an arrow', 'пароль → «Ab12xyZ9q»'],
  ])('is replaced if it is a password beside or within %s', (_, text) => expectHidden(text));
});

describe('secrets that were missed', () => {
  const statements = [
    ['INSERT INTO users (name, password) VALUES ($1, $2)', "$1 = 'joe', $2 = '«Hunter2xq»'"],
    ['UPDATE users SET password = $1 WHERE id = $2', "$1 = '«Hunter2xq»', $2 = '7'"],
    ['select * from users where email = $1 and password = $2', "$1 = 'a@b.de', $2 = '«Hunter2xq»'"],
    ['UPDATE users SET note = $1, password = $2', "$1 = 'it''s $2 = x, $2 = y', $2 = '«Hunter2xq»'"],
    ['UPDATE users SET note = $1, password = $2', "$1 = 'one\ntwo', $2 = '«Hunter2xq»'"],
    ['UPDATE users SET note = $1, password = $2', "$1 = NULL, $2 = '«Hunter2xq»'"],
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
