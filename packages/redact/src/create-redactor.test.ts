import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '@h/options';
import { chosen, frames } from '../test/printed.js';
import { alphanumeric, drawn, privateKey, randomValue, tokenMakers, urlSafe } from '../test/secrets.js';
import { createRedactor } from './create-redactor.js';

const { redact, inspect, redactData, stream } = createRedactor();
const seeds = Array.from({ length: 40 }, (_, index) => index + 1);
const r = '[redacted]';

describe('redact', () => {
  it.each(tokenMakers)('replaces tokens of the kind %s in any surroundings', (kind, make) => {
    const frames: readonly ((token: string) => string)[] = [
      (token) => token,
      (token) => `key ${token} end`,
      (token) => `"${token}",`,
      (token) => `see \`${token}\`.`,
      (token) => `https://example.org/?k=${token}&x=1`,
      (token) => `(${token})\nnext`,
    ];
    const missed = seeds.flatMap((seed) =>
      frames.filter((frame) => redact(frame(make(seed))) !== frame(r)).map((frame) => frame(make(seed))),
    );
    expect(missed.length / (seeds.length * frames.length), missed[0]).toBeLessThanOrEqual(0.01);
    expect(Object.keys(inspect(`: ${make(3)}`).found)).toEqual([kind]);
  });

  const value = (seed: number): string => randomValue(seed);
  it.each<[string, (secret: string) => string]>([
    ['environment', (secret) => `export AWS_SECRET_ACCESS_KEY=${secret}\nPATH=/bin`],
    ['environment in quotes', (secret) => `API_TOKEN="${secret}"`],
    ['JSON', (secret) => `{"api_key": "${secret}", "n": 1}`],
    ['JSON in JSON', (secret) => `{"body": "{\\"client_secret\\":\\"${secret}\\"}"}`],
    ['YAML', (secret) => `db:\n  password: ${secret}\n  port: 5432`],
    ['code', (secret) => `const clientSecret = '${secret}';`],
    ['a header', (secret) => `x-api-key: ${secret}\r\naccept: */*`],
    ['a query', (secret) => `GET /v1?access_token=${secret}&page=2`],
    ['PHP', (secret) => `'secret_key' => '${secret}',`],
    ['Go', (secret) => `apiKey := "${secret}"`],
    ['an escaped line', (secret) => `"env": "A=1\\nDB_PASSWORD=${secret}\\nB=2"`],
    ['a flag', (secret) => `deploy --api-key=${secret} --verbose`],
    ['npmrc', (secret) => `//registry.example.org/:_authToken=${secret}`],
  ])('replaces the value assigned in %s', (_, frame) => {
    const missed = seeds.filter((seed) => redact(frame(value(seed))) !== frame(r));
    expect(missed.map((seed) => frame(value(seed)))).toEqual([]);
  });

  it.each([
    ['DB_PASSWORD=hunter2', `DB_PASSWORD=${r}`],
    ['password: hunter2x', `password: ${r}`],
    ['{"password":"correct9horse"}', `{"password":"${r}"}`],
    ['Server=db;Password=Tr0ub4dor&3;', `Server=db;Password=${r};`],
    ['postgres://app:hunter2@db:5432/x', `postgres://app:${r}@db:5432/x`],
    ['https://IKjxZVKDIvfcCoe3yey6:@pypi.example/x', `https://${r}:@pypi.example/x`],
    ['aws_sec_key g/kvFYQZOcKAID8rOVvR3nrViEkTqwjvAMONN+nj', `aws_sec_key ${r}`],
    ['pass4SymmKey = WUG5VuRHkw8uLsYm', `pass4SymmKey = ${r}`],
    ['redis://:s3cr3tpw@cache', `redis://:${r}@cache`],
    ['Authorization: Bearer abc123def456ghi789jkl', `Authorization: Bearer ${r}`],
    ['authorization: Basic YWxhZGRpbjpvcGVuc2VzYW1l', `authorization: Basic ${r}`],
    ['"Authorization": "Bearer abc123def456ghi789jkl"', `"Authorization": "Bearer ${r}"`],
    ['Cookie: sid=abc123def456; theme=dark\nx: y', `Cookie: ${r}\nx: y`],
    [
      `https://${['hooks', 'slack'].join('.')}.com/services/T024BE7LD/B024BE7LE/${drawn(alphanumeric, 24, 9)}`,
      `https://hooks.slack.com/services/${r}`,
    ],
  ])('turns %s into %s', (text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  it.each(['RSA PRIVATE KEY', 'PRIVATE KEY', 'EC PRIVATE KEY', 'OPENSSH PRIVATE KEY', 'PGP PRIVATE KEY BLOCK'])(
    'replaces the body of a %s',
    (label) => {
      expect(redact(`a\n${privateKey(1, label)}\nb`)).toBe(`a\n-----BEGIN ${label}-----${r}-----END ${label}-----\nb`);
      expect(redact(JSON.stringify({ k: privateKey(2, label) }))).toBe(
        `{"k":"-----BEGIN ${label}-----${r}-----END ${label}-----"}`,
      );
      expect(redact(privateKey(3, label).slice(0, 400))).toBe(`-----BEGIN ${label}-----${r}`);
    },
  );

  it.each<[string, (line: string, number: number) => string]>([
    ['numbers', (line, number) => `${`${number}`.padStart(6)}\t${line}`],
    ['numbers and arrows', (line, number) => `${`${number}`.padStart(6)}→${line}`],
    ['times in brackets', (line) => `[2026-11-28 10:00:00] [info] ${line}`],
    ['the head of a log', (line) => `Nov 28 10:00:00 host app[123]: ${line}`],
    ['the name of a service', (line) => `web-1  | ${line}`],
    ['the sides of a box', (line) => `│ ${line.padEnd(70)} │`],
    ['signs of a change', (line) => `+${line}`],
    ['breaks of a page', (line) => `${line}<br>`],
  ])('replaces a private key whose lines have %s', (_, around) => {
    for (const label of ['RSA PRIVATE KEY', 'OPENSSH PRIVATE KEY', 'EC PRIVATE KEY']) {
      const lines = `a\n${privateKey(5, label)}\nb`.split('\n');
      for (const text of [lines.map(around).join('\n'), JSON.stringify({ output: lines.map(around).join('\n') })]) {
        for (const line of lines.slice(2, -2)) expect(redact(text)).not.toContain(line);
      }
    }
  });

  it.each(['RSA PRIVATE KEY', 'OPENSSH PRIVATE KEY'])('replaces the last lines of a %s', (label) => {
    const tail = privateKey(4, label).split('\n').slice(-4).join('\n');
    expect(redact(`$ tail -4 key.pem\n${tail}\n$ `)).toBe(`$ tail -4 key.pem\n${r}\n-----END ${label}-----\n$ `);
    const certificate = tail.replace(label, 'CERTIFICATE');
    expect(redact(certificate)).toBe(certificate);
  });

  it.each([
    'claude-opus-4-1-20250805-thinking',
    'model: claude-sonnet-4-5-20250929',
    'token: claude-opus-4-1-20250805',
    'risk-adjusted returns, task-oriented-programming-interface, disk-based-storage-engine-2024',
    'sk-learn-compatible-estimator, .sk-circle-fade-dot-animation-12',
    'commit 3d6db70a1f0c9e8b7a6d5c4b3a2918070605f4e3',
    'id: 550e8400-e29b-41d4-a716-446655440000',
    'token: 550e8400-e29b-41d4-a716-446655440000',
    'integrity: sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==',
    'resolved "https://registry.yarnpkg.com/rxjs/-/rxjs-7.8.2.tgz#955bc473ed8af11a002a2be52071bf640638607b"',
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'const token = await getToken(request);',
    'password: string;\n  secret?: string | undefined;\n  apiKey: options.apiKey,',
    'apiKey: process.env.OPENAI_API_KEY ?? env["KEY"],',
    'OPENAI_API_KEY=your-key-here',
    'API_KEY=<your key>',
    'export TOKEN=$(gh auth token)',
    'OPENAI_API_KEY=sk-...',
    'password=$DB_PASSWORD',
    '"password": "Forgot your password?"',
    'max_tokens: 4096, tokenCount: 12345678, next_page_token: null',
    'secretKeyRef: { name: db-secret-2, key: password }',
    'public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGx8',
    'postgres://postgres:postgres@localhost:5432/app',
    'https://user:${PASSWORD}@host',
    'git@github.com:owner/repository.git',
    'if (text.includes("-----BEGIN PRIVATE KEY-----")) return key + "-----END PRIVATE KEY-----";',
    'Use Bearer authentication with your token',
    'Authorization: Bearer $TOKEN',
    'Authorization: Bearer YOUR_ACCESS_TOKEN_GOES_HERE',
    '-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n-----END CERTIFICATE-----',
    'ghp_ is how they begin; AKIAIOSFODNN7EXAMPLE is the one of the documentation',
    'passwordHash2: sha256-of-it',
    "credential = 'anthropic-1', signature: 'c2lnbmF0dXJl'",
    'const env = { ANTHROPIC_API_KEY: anthropicKey };',
    'pip/version.py,sha256=qaN-fw_htIgKUVXoAuAEVgKxQu3tZ9qE2eiKkWIS7LA,160',
    "const UNEXPECTED_TOKEN = /^Unexpected token '?(.)'?(,)? /i",
    'Problems identified by Coverity in the code have been fixed.',
    'Failed to set PSK identity hint. Hint may be too long.',
    '  --password string   Password to use\n  --token TOKEN       the token\n  -p, --port 8080',
    'docker run -u 1000:1000 -p 8080:80 -v /a:/b app',
    'docker run -u root:root app; chown -R app:app /srv',
    'src/a.c:1234:56:78: error: expected token',
    'The password is required and must have 8 characters.',
    'The password for this service is required.',
    'Password for user: ',
    'Enter the password for admin: must have 8 characters',
    'token for line: 12',
    'The token for this step is step-2.',
    '| password | string | yes |\n| token | the token |',
    '<Password>Enter it</Password> <password>${PASSWORD}</password>',
    'E2B_API_KEY=e2b_***',
    'name: password\nvalue: string',
    '{"name": "token", "value": "abc", "type": "string"}',
    'type: Int64, password: Base64, secret: Opaque',
    'const secret = base64Decode(value); let key = md5hex;',
    'toolu_01A09q90qw90lq917835lq9, call_abc123DEF456ghi789JKL012, msg_01XFDUDYJgAACzvnptvVoYEL',
    'date -u +%Y-%m-%d 2>/dev/null || date -u -I',
    'jwt.verify(token, secret); jwt.sign(payload, "a-test-secret", { algorithm: "RS256" })',
    'createHmac("sha256", secretKey).update("v1:1700000000"); createHash("sha512", "x1y2z3a4")',
    'new HttpClient("https://example.org", "v2-beta1"); Object.assign(target, "abc123de")',
    'credentials:\n  provider: google-oauth2\n  secretName: db-credentials-2\nport: 5432',
    '"tokens": {"primary": "blue-500", "border": "zinc-900x", "index": "a1b2c3d4e5f60718293a4b5c6d7e8f90"}',
    'secrets:\n  db_password:\n    file: ./db_password2.txt\n  backend: vault2x',
    'args:\n  - --token-file\n  - /run/secrets/token2\n  - --token\n  - --verbose2x',
    "if (token.kind === 'Identifier2' || password === 'confirm') return;",
    'NAME          TYPE     TOKEN\nlogin-page    string   identifier2\n',
    '.option("--token <token>", "token of version2"); add_argument("--password", default="", help="hunter2x")',
    'CREATE TABLE users (password VARCHAR(30) DEFAULT NULL, token VARCHAR2(40));',
  ])('leaves %s', (text) => {
    expect(redact(text)).toBe(text);
  });

  it('returns text without secrets unchanged, including the empty string', () => {
    expect(redact('')).toBe('');
    expect(inspect('nothing here')).toEqual({ text: 'nothing here', found: {} });
  });
});

const drawnValues = Array.from({ length: 6 }, (_, index) => drawn(alphanumeric, 24 + index * 4, index + 1));

/** Returns whether five consecutive characters of the secret remain. */
const leaks = (text: string, frame: (secret: string) => string, secret: string): boolean =>
  Array.from({ length: secret.length - 4 }, (_, index) => secret.slice(index, index + 5)).some(
    (part) => text.includes(part) && !frame('').includes(part),
  );

describe('values that describe a secret', () => {
  const plain = fc.constantFrom('sk', 'worker', 'admin', 'user', 'backup', 'service', '1', '12', '1234', '7890');
  const noun = fc.constantFrom('token', 'secret', 'key', 'password', 'value');
  const description = fc
    .tuple(fc.array(plain, { minLength: 1, maxLength: 3 }), noun, fc.array(plain, { maxLength: 2 }))
    .chain(([before, kind, after]) => fc.constantFrom('-', '_').map((sign) => [...before, kind, ...after].join(sign)));
  const places: readonly ((value: string) => string)[] = [
    (value) => `WORKER_AUTH_TOKEN=${value}`,
    (value) => `{ "apiKey": "${value}" }`,
    (value) => `curl -H "Authorization: Bearer ${value}" https://a.example`,
    (value) => `postgres://app:${value}@db/x`,
    (value) => `password: ${value}`,
  ];

  it('preserves them, and replaces the same text with a random part', () => {
    fc.assert(
      fc.property(fc.constantFrom(...places), description, fc.nat(), (place, value, seed) => {
        const random = Array.from(drawn(alphanumeric, 12, seed), (character, index) => `${character}x${index}`).join(
          '',
        );
        expect(redact(place(value))).toBe(place(value));
        expect(redact(place(`${random}-${value}`))).not.toContain(random);
      }),
    );
  });

  it.each([
    'DOTENV_PRIVATE_KEY_PRODUCTION=value',
    "value: 'accessToken', name: 'x-api-key'",
    'https://anonymous:anything7@ftp.example.org/pub',
    'vercel env add SLACK_BOT_TOKEN\nvercel env add SLACK_SIGNING_SECRET vercel env add REDIS_URL',
  ])('preserves %j', (text) => {
    expect(redact(text)).toBe(text);
  });
});

/** Returns the share of texts in which the middle of the secret remains. */
const shareLeft = (texts: readonly (readonly [text: string, secret: string])[]): number =>
  texts.filter(([text, secret]) => redact(text).includes(secret.slice(12, 20))).length / texts.length;

describe('tokens of unknown providers', () => {
  const vendors = ['acme', 'zeta9', 'my_vendor', 'io'];
  const kinds = ['sk', 'live', 'pat', 'api_key', 'secret', 'token', 'prod', 'oat', 'v1'];
  const alphabets = [alphanumeric, '0123456789abcdef', urlSafe];

  it('replaces random characters behind a prefix that names a secret', () => {
    const texts = vendors.flatMap((vendor) =>
      kinds.flatMap((kind, index) =>
        ['_', '-'].flatMap((joint) =>
          alphabets.flatMap((alphabet, place) =>
            seeds.slice(0, 8).map((seed): readonly [string, string] => {
              const secret = drawn(alphabet, 41 + ((index + seed) % 14), seed * 100 + index * 10 + place);
              const token = [...vendor.split('_'), ...kind.split('_'), secret].join(joint);
              const places = [`key ${token} end`, `x = "${token}",`, `see ${token}.\n`, `?k=${token}&a=1`];
              return [places[seed % places.length] ?? '', secret];
            }),
          ),
        ),
      ),
    );
    expect(shareLeft(texts)).toBeLessThanOrEqual(0.02);
  });

  it('replaces long random characters behind any prefix', () => {
    const missed = seeds.filter((seed) => redact(`key acme_${drawn(alphanumeric, 40, seed)} end`) !== `key ${r} end`);
    expect(missed.length).toBeLessThanOrEqual(2);
  });

  it.each([
    'toolu_01A09q90qw90lq917835lq9 apikey_01Rj2N8SVvo6BePZj99NhmiT',
    'chatcmpl-9u4Mpu44CbPjwYFkTbeoZgvzB00Tz',
    'resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b',
    ['pk', 'live', '51Hxq2eKlo9f8GhT3yQpZr4bN7'].join('_'),
    ['cs', 'test', 'a1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0'].join('_'),
    'api-d41d8cd98f00b204e9800998ecf8427e.tar.gz',
    'test_d41d8cd98f00b204e9800998ecf8427e prod-da39a3ee5e6b4b0d3255bfef95601890afd80709',
    'SEC_PKCS12DecoderSetTargetTokenCAs(SEC_PKCS12PKCS8ShroudedKeyBag)',
    'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2',
    'test_parse_http2_header_with_continuation_and_padding',
    'my-api-prod-handler-7d9f8b6c5d-x2x4z',
  ])('preserves %s', (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe('names of providers', () => {
  const providers =
    'acme adafruit airtable algolia anthropic auth0 cohere datadog deepgram fastly finnhub hetzner linode mistral okta pagerduty postmark sendbird serpapi twitch vultr'.split(
      ' ',
    );
  const names: readonly ((provider: string, secret: string) => string)[] = [
    (provider, secret) => `${provider.toUpperCase()}_API_KEY=${secret}`,
    (provider, secret) => `${provider.toUpperCase()}_TOKEN=${secret}`,
    (provider, secret) => `${provider.toUpperCase()}_SECRET=${secret}`,
    (provider, secret) => `${provider}_access_token: ${secret}`,
    (provider, secret) => `"${provider}": {"token": "${secret}"}`,
    (provider, secret) => `const ${provider}ApiKey = '${secret}';`,
    (provider, secret) => `X-${provider}-Api-Key: ${secret}`,
  ];

  it.each(providers)('makes values of %s secret in each form', (provider) => {
    const texts = names.flatMap((name) =>
      seeds.map((seed): readonly [string, string] => {
        const secret = drawn(alphanumeric, 32, seed);
        return [name(provider, secret), secret];
      }),
    );
    expect(shareLeft(texts)).toBeLessThanOrEqual(0.01);
  });
});

describe('text that resembles secrets', () => {
  it.each([
    'traceparent: 00-d4beacd1599e4d614f906d50173b86fd-3e5a92d689cc111f-01',
    '"GET /reset-password?lang=de HTTP/1.1" 200 5672 "-" rid=f638671abdba47724acb4a7ce7471a85',
    `{"type":"reasoning","encrypted_content":"gAAAAABn${drawn(alphanumeric, 120, 7)}"}`,
    '| `anthropic` | `ANTHROPIC_API_KEY` | `claude-sonnet-4-5` |',
    'private _workloadIdentityAuth?: WorkloadIdentityAuth | X509WorkloadIdentityAuth;',
    'fontname = "-adobe-utopia-medium-r-normal--%d-*-*-*-*-*-iso8859-1";',
    'U_UNEXPECTED_TOKEN=0x10100,',
    "const TOKEN_ADDRESS = '0xa1F72459dfA10BAD200Ac160eCd78C6b77a747be';",
    'debug1: Server host key: ssh-ed25519 SHA256:c7fX5VkaXjk4aOlLb2C3RErfsOWTC42jjeLX0uYFBQW',
    'https://admin:@db.example/x',
    ' * crmfEncryptedPrivateKey           CRMFEncryptedKey*\n',
    "paths: ['users.*.password', 'users.*.profile.preferences.*']",
    "'Set-Cookie: fig=newton\\r\\nSet-Cookie: sugar=wafer'",
    'vercel env add API_KEY production',
    'cargo test -p hyper2 --no-default-features; mkdir -p build/x86; cp -p file1 file2',
    'ls -l /usr/lib /p /rp /tmp',
    'echo "some words 12 of text" | less; echo SGVsbG8gV29ybGQgMTIz | base64 -d',
    'mailto:joe2024x@example.org and npm:react2x@18.0.0',
    'https://example.org/?key=settings&code=en-US',
    'GPG keys: --recv-keys C0D6248439F1D5604AAFFB4021D900FFDB233756 # Antoine',
    '  * Add new upstream signing key 19882D92DDA4C400C22C0D56CC2AF4472167BE03',
    '    "AWS::ApiGateway::ApiKey": "48205d4ffd7feba3",',
    'arn:aws:secretsmanager:ap-south-1:111122223333:secret:snowflake-XHb67j',
    'arn:aws:license-manager:us-west-2:123456789012:license-configuration:lic-6eb6586f508a786a2ba4f56c1AB90CDE7f',
    'describe-attachment --attachment-id "attachment-KBnjRNrePd9D6Jx0Mm00xZuDEaL2JAj0gJv9"',
    'aws wafv2 delete-ip-set --lock-token 46851772-db6f-459d-9385-49428812e357',
    'X-Amz-Credential=ABCDEXAMPLE123456789%2F20210621%2Fus-west-2%2Fs3%2Faws4_request&X-Amz-Expires=900',
    '["unlock-keychain", "-p", keychainPassword, keychainFile]',
    'type Message = CleartextPassword | CleartextMD5Password | Other',
    'fixes a typo added in 2021-11-01T05:30:28Z!joe@cs.example.edu.',
    'const signingKey = !header.alg || header.kid',
    'enable the **Secure password change** option',
    '<pre>ProxyPass "/ws2/"  "ws://echo.example.org/"',
    'the passphrase [RFC4880] may be empty, see the password [policy2](https://a.example/policy2)',
    'the most severe problem is identified by CVE-2022-35737.',
    'rows in the table identified by sqlite_stat1.tbl.',
    "$ printf '1.0\n0.9\n' | LC_ALL=fr_FR.utf8 sort -s",
    'secret:"unicode/3299.png?v8", see: "unicode/1f648.png?v8"',
    'GOOGLE_APPLICATION_CREDENTIALS="secrets/production2/key.json"',
    '"Password": {\n  "shape":"XmlStringMaxLen256",\n  "location":"x" }',
    '[cov](https://codecov.io/gh/a/b/branch/main/graph/badge.svg?token=SN0UqcRlnq)',
    "headers = ['Set-Cookie: pll_lang=en; Max-Age=31536000; path=/']",
  ])('preserves %s', (text) => {
    expect(redact(text)).toBe(text);
  });

  it('replaces the values of a name that repeats', () => {
    const secret = (seed: number): string => `${drawn(alphanumeric, 10, seed)}7qX`;
    const row = (seed: number): string => `{"u":"a${seed}","pw":"${secret(seed)}"}`;
    const text = `[${seeds.map((seed) => row(seed)).join(',')}]`;
    const left = seeds.filter((seed) => redact(text).includes(secret(seed)));
    expect(left).toEqual([]);
  });

  it.each(['password: null\n', 'password: ""\n', 'DB_PASSWORD=\n', '"password": null, ', 'psk '])(
    'replaces the value of a name that occurs without one many times before: %j',
    (empty) => {
      const name = /^\W*\w+\W?:?/.exec(empty)?.[0] ?? '';
      expect(redact(`${empty.repeat(20)}${name} hunter2Horse9!x\n`)).not.toContain('hunter2Horse9');
    },
  );
});

describe('passwords as they are stored', () => {
  const salted = (seed: number, length: number): string => `7b${drawn(`${alphanumeric}./`, length - 3, seed)}X`;
  it.each([
    ['yescrypt', `root:$y$j9T$${salted(1, 22)}$`, 43, ':19812:0:99999:7:::'],
    ['SHA-512 with rounds', `root:$6$rounds=5000$${salted(2, 16)}$`, 86, ':19812:0'],
    ['MD5', 'enable secret 5 $1$aB3d$', 22, '\n'],
    ['bcrypt', 'joe:$2y$05$', 53, '\n'],
    ['Apache', '"joe:$apr1$aB3dEf7h$', 22, '"'],
    ['a file of Compose', '- "users=joe:$$2y$$05$$', 53, '"'],
    ['phpass', "(1, 'joe', '$P$B", 30, "')"],
    ['Argon2', "'$argon2id$v=19$m=65536,t=4,p=1$c29tZXNhbHQ$", 43, "'"],
    ['Django', '| pbkdf2_sha256$600000$aB3dEf7hIj$', 43, '= |'],
    ['PostgreSQL', '| SCRAM-SHA-256$4096:aB3dEf7hIj/w4ZqYl0aa7A==$', 43, '=:abc |'],
  ])('replaces a hash of %s in any chunks', (_, before, length, after) => {
    const hash = salted(length, length);
    const text = `${before}${hash}${after}\n`;
    expect(redact(text)).not.toContain(hash.slice(8, 16));
    for (let cut = 1; cut < text.length; cut += 1) {
      const open = stream();
      expect(open.push(text.slice(0, cut)) + open.push(text.slice(cut)) + open.end()).toBe(redact(text));
    }
  });

  it.each([
    "hash: '$argon2id$v=19$m=65536,t=2,p=1$fixture$fixture'",
    'echo "$1$2$3" "$HOME$PATH" ${a}$b cost$100 $5$10 $6$ $2y$',
    'fmt.Sprintf("$argon2id$v=19$m=65536,t=2,p=1$%s$%s", salt, hash)',
    'const id$ = source$; a$1$b$2 = "US$5$ClassNameOfSomethingLong"',
  ])('preserves %s', (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe('a key that is a list of its bytes', () => {
  const bytes = Array.from({ length: 32 }, (_, index) => (index * 89 + 41) % 256);
  const hex = bytes.map((byte) => `0x${byte.toString(16).padStart(2, '0')}`);
  const forms = [
    (list: readonly (string | number)[]) => `{"secretKey": [${list.join(',')}]}`,
    (list: readonly (string | number)[]) => `{\n  "private_key": [\n    ${list.join(',\n    ')}\n  ]\n}`,
    (list: readonly (string | number)[]) => `api_key = [${list.join(', ')}]`,
  ];

  it.each(forms)('is replaced in %s', (form) => {
    for (const list of [bytes, hex]) {
      const text = form(list);
      expect(redact(text)).not.toContain(list.slice(3, 6).join(', '));
      expect(redact(text)).toContain('[redacted]');
      expect(redact(redact(text))).toBe(redact(text));
      for (let cut = 1; cut < text.length; cut += 1) {
        const parts = stream();
        expect(parts.push(text.slice(0, cut)) + parts.push(text.slice(cut)) + parts.end()).toBe(redact(text));
      }
    }
  });

  it.each([
    '{"secretKey": []}',
    '{"secretKey": [1, 2, 3]}',
    `{"secretKey": [${Array.from({ length: 64 }, (_, index) => index * 4).join(', ')}]}`,
    `{"secretKey": [${Array.from({ length: 64 }, () => 0).join(', ')}]}`,
    `{"secretKey": [${bytes.map((byte) => byte + 200).join(', ')}]}`,
    `{"bytes": [${bytes.join(', ')}]}`,
  ])('is not %s', (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe('passwords with signs', () => {
  const values = ['kJ8(mQ2!zR', 'aB3(kd9)Zq', 'x7K[q2R!w', 'pw(1)abcXY9', '9f8(a)7d6e5c4b'];
  const forms = ['password: X', 'password = "X"', 'export DB_PASSWORD=X', 'DB_PASSWORD="X"', '{"password": "X"}'];
  it.each(forms.flatMap((form) => values.map((value) => form.replace('X', value))))('are replaced in %s', (text) => {
    const value = values.find((one) => text.includes(one)) ?? '';
    expect(redact(`${text}\n`)).not.toContain(value.slice(-3));
  });

  const signs = Array.from('!#$%&()*+,-/:;<=>?@[]^_{|}~', (sign) => `aB3x${sign}dE9xQ2`);
  const lines = ['db:\n  password: X\n  host: db\n', '[db]\npassword = X\n', 'user=app password=X host=db\n'];
  it.each(lines.flatMap((line) => signs.map((value) => [line, value] as const)))(
    'are replaced in %j: %s',
    (line, value) => {
      expect(redact(line.replace('X', () => value))).not.toContain('dE9xQ2');
    },
  );

  const quoted = ['password = "X"', "password: 'X'", '{"password": "X"}', "--password='X'"];
  it.each(quoted.flatMap((form) => Array.from('!#%&(*+,-/:;<=>?@[^_{|}~', (sign) => [form, sign] as const)))(
    'are replaced in %s if they begin with %s',
    (form, sign) => {
      expect(redact(form.replace('X', () => `${sign}kD9sEm2xQw4`))).not.toContain('m2xQw4');
    },
  );

  it.each([
    '#{user1Name}',
    '%(dbPass1X)s',
    '@dbPass',
    '~/keys/id1X',
    '*args',
    '?param1',
    '$dbPass1X',
    '[none]',
    '<Pass1X>',
  ])('variables, formats, colors and paths are not passwords: %s', (value) => {
    expect(redact(`password = "${value}"`)).toBe(`password = "${value}"`);
  });

  it.each([
    'password: Array1<T2x>\n',
    'password: string1|null2x\n',
    'connect(password=user,host=db2x)\n',
    '{password: user,host: db2x}\n',
    'password: a1b{0}c2d\n',
    '<b>password:</b> see1x</b2y>\n',
  ])('code, templates and markup are not passwords: %j', (text) => {
    expect(redact(text)).toBe(text);
  });

  it.each([
    'password = getPass2(config)',
    'password: loadSecret2(a, b)',
    'secret = hash2(name)[0]',
    'password: decrypt2(\n  key,\n)',
    'token = tokens2[index + 1]',
    'password: str2(a + b)',
    'password=prefix2$(openssl rand -hex 8)',
    'passwords: a1(b) c',
  ])('calls and subscripts are not passwords: %s', (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe('commands in a history', () => {
  it.each(['rabbitmqctl add_user joe X', 'net user joe X /add', 'mc alias set shop http://minio:9000 admin X'])(
    'have a number before: %s',
    (command) => {
      const password = drawn(alphanumeric, 15, 7);
      const lines = `  263  ls\n  264  ${command.replace('X', password)}\n 1265* cd ..\n`;
      expect(redact(lines)).toBe(lines.replace(password, '[redacted]'));
    },
  );
});

describe('the secret key of AWS', () => {
  it('is replaced in a table whose row has its name at the beginning', () => {
    const id = ['AK', 'IA', drawn('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16, 3)].join('');
    const key = drawn(alphanumeric, 40, 4);
    const row = `ACCESSKEY\t${id}\t2026-11-02T10:11:12+00:00\t${key}\tActive\tdeployer\n`;
    expect(redact(row)).toBe('ACCESSKEY\t[redacted]\t2026-11-02T10:11:12+00:00\t[redacted]\tActive\tdeployer\n');
  });
});

describe('passwords of letters only', () => {
  it.each([
    'rabbitmqctl add_user app X\n',
    'define("DB_PASSWORD", "X");',
    'os.Setenv("DB_PASSWORD", "X")',
    'monkeypatch.setenv("DB_PASSWORD", "X")',
    '{"DB_PASSWORD", "X"},',
    'token = "X"',
    'Password (as chosen): X\n',
    'mc admin user add local joe X\n',
  ])('are replaced in %j if the letters are random', (frame) => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), (seed) => {
        const value = drawn('bjkqvwz', 14, seed);
        expect(redact(frame.replace('X', value))).not.toContain(value);
      }),
    );
  });

  it.each([
    'setenv("DB_PASSWORD", "X", 1);',
    'define("DB_PASSWORD", "X");',
    '<add name="a" connectionString="Server=db;User ID=erp;Password=X;Encrypt=True" />',
    "CONNECTION 'host=db1 user=repl password=X' PUBLICATION p",
    '    [username] => erp\n    [password] => X\n',
    'DB_PASSWORD ?= X\n',
    'DB_PASSWORD := X\n',
    'PASS="${DB_PASSWORD:-X}"',
    "terraform apply -var 'db_password=X'",
    'ansible-playbook site.yml -e "db_password=X"',
    'echo X | docker login --password-stdin',
    'echo "X" | sudo -S ls',
    'gh secret set DB_PASSWORD -b X',
    'gh secret set DB_PASSWORD --body "X"',
    "SET PASSWORD FOR 'app' = PASSWORD('X');",
    'smbclient //server/share -U joe%X',
  ])('are replaced in %j if they are words', (frame) => {
    expect(redact(frame.replace('X', 'canyonhorse'))).not.toContain('canyonhorse');
  });

  it.each([
    'this.username=nickname;this.password=cleartext;',
    'a.login=b;a.password=cleartext;c()',
    'Passwort fehlerhaft, Hilfswerkzeuge suchen\n',
    'password = PASSWORD(passcolumn)',
    'echo deployment | gh secret list',
    'os.getenv("DB_PASSWORD", "")',
    't("password", "verplichtveld")',
    'passwords[index] => horseplanet',
  ])('are no words, variables and texts in %j', (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe('passwords with words that name a secret', () => {
  it.each(['hunter2secret', 'MySecret123!', 'SuperSecret2024!', 'SecretPass42', 'topsecret99', 'Tok3nForUs!'])(
    'are replaced: %s',
    (value) => {
      for (const form of ['password: X', 'password = "X"', '{"password": "X"}', 'Password: X', "'password' => 'X',"]) {
        expect(redact(form.replace('X', () => value))).not.toContain(value);
      }
    },
  );

  it.each([
    'password: userPassword1',
    'oauthAccessToken: !envAuthSet2,',
    'signIn(credentials: Web3Credentials): void',
    'a.prototype.baseToken=function(e){if(!this.token2)return null}',
    'password: "password123"',
    'token: authToken2,',
  ])('are no variables, types and examples: %s', (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe('lines that are not plain', () => {
  const texts = [
    'user\tpassword\napp\tX\n',
    'id,user,password,role\n1,app,X,admin\n',
    ' id | password \n----+----------\n  1 | X\n(1 row)\n',
    '- name: DB_PASSWORD\n  value: "X"\n',
    'machine h\n  login a\n  password X\n',
    '$ pass show db\nX\n$ exit\n',
    'client.setPassword("X")\n',
    'echo "X" | sudo -S ls\n',
    '<property name="password">X</property>\n',
    'login("admin", "X")\n',
    'USER joe\n+OK\nPASS X\n',
  ];
  const inJson = (text: string, times: number): string =>
    times === 0 ? text : JSON.stringify({ output: inJson(text, times - 1) });

  it.each(texts)('are read as lines in JSON: %j', (text) => {
    for (const times of [0, 1]) {
      expect(redact(inJson(text.replace('X', 'hunter2xy'), times))).not.toContain('hunter2xy');
    }
  });

  it('are read as lines in JSON within JSON', () => {
    for (const text of texts.filter((one) => /DB_|login|sudo|set|row/.test(one))) {
      expect(redact(inJson(text.replace('X', 'hunter2xy'), 2))).not.toContain('hunter2xy');
    }
  });

  it.each(texts)('are the same for any two chunks: %j', (text) => {
    for (const times of [1, 2]) {
      const whole = `${'x "y" '.repeat(40)}${inJson(text.replace('X', 'hunter2xy'), times)}\n`;
      for (let cut = 1; cut < whole.length; cut += 1) {
        const open = stream();
        expect(open.push(whole.slice(0, cut)) + open.push(whole.slice(cut)) + open.end()).toBe(redact(whole));
      }
    }
  });

  const prefixes: readonly (readonly [string, (line: string, number: number) => string])[] = [
    ['numbers', (line, number) => `${`${number}`.padStart(6)}\t${line}`],
    ['numbers and arrows', (line, number) => `${number}→${line}`],
    ['numbers and colons', (line, number) => `${number}:${line}`],
    ['times', (line) => `2026-11-28T10:00:00.123Z ${line}`],
    ['times in brackets', (line) => `[2026-11-28 10:00:00] ${line}`],
    ['names of services', (line) => `web-1  | ${line}`],
    ['signs of quotations', (line) => `> ${line}`],
    ['signs of quotations of quotations', (line) => `>> ${line}`],
    ['signs of added lines', (line) => `+${line}`],
  ];
  it.each(prefixes)('are read without %s before them, whatever the chunks', (_, around) => {
    for (const text of texts) {
      const lines = text.replace('X', 'hunter2xy').split('\n').map(around).join('\n');
      for (const whole of [lines, JSON.stringify({ output: lines })]) {
        expect(redact(whole)).not.toContain('hunter2xy');
        for (let cut = 1; cut < whole.length; cut += 3) {
          const open = stream();
          expect(open.push(whole.slice(0, cut)) + open.push(whole.slice(cut)) + open.end()).toBe(redact(whole));
        }
      }
    }
  });

  it('are read alike in whole texts and streams if an escape ends a value and more words follow', () => {
    const text = 'key to your netrc file: 9b018ae012ba030d2b84bd96905ec1fb2741f7f2\\n+$ exit now\n';
    for (let cut = 1; cut < text.length; cut += 1) {
      const open = stream();
      expect(open.push(text.slice(0, cut)) + open.push(text.slice(cut)) + open.end()).toBe(redact(text));
    }
  });

  it.each(['  ', '        ', '\t'])('are read without a margin before a prompt, whatever the chunks: %j', (margin) => {
    for (const prompt of ['$', 'PS C:\\Users\\joe>']) {
      const lines = `x = 1\n${margin}${prompt} pass show db\n${margin}hunter2xy\n${margin}${prompt} exit\n`;
      expect(redact(lines)).not.toContain('hunter2xy');
      for (let cut = 1; cut < lines.length; cut += 1) {
        const open = stream();
        expect(open.push(lines.slice(0, cut)) + open.push(lines.slice(cut)) + open.end()).toBe(redact(lines));
      }
    }
  });

  const entities: readonly (readonly [string, string])[] = [
    ['&', '&amp;'],
    ['<', '&lt;'],
    ['>', '&#62;'],
    ['"', '&quot;'],
    ["'", '&#x27;'],
  ];
  it.each([...texts, "user => 'joe', password => 'X',\n"])(
    'are read without entities, whatever the chunks: %j',
    (text) => {
      const plain = text.replace('X', 'hunter2xy');
      const encoded = entities.reduce((rest, [sign, entity]) => rest.replaceAll(sign, entity), plain);
      const whole = `<pre title="a">x\n\n${encoded}</pre>\n`;
      expect(redact(whole)).not.toContain('hunter2xy');
      for (let cut = 1; cut < whole.length; cut += 1) {
        const open = stream();
        expect(open.push(whole.slice(0, cut)) + open.push(whole.slice(cut)) + open.end()).toBe(redact(whole));
      }
    },
  );

  it('are the same for any chunks if an entity begins the line below a name', () => {
    const name = fc.constantFrom('secret', 'password', 'my_token');
    const value = fc
      .tuple(fc.integer({ min: 4, max: 20 }), fc.integer({ min: 30, max: 90 }), fc.nat(1e6))
      .map(([first, length, seed]) => `${drawn(alphanumeric, first, seed)}-${drawn(alphanumeric, length, seed + 1)}`);
    fc.assert(
      fc.property(name, value, fc.integer({ min: 1, max: 40 }), (key, secret, length) => {
        const whole = `${key}\n&quot;${secret}`;
        const open = stream();
        let out = '';
        for (let at = 0; at < whole.length; at += length) out += open.push(whole.slice(at, at + length));
        expect(out + open.end()).toBe(redact(whole));
      }),
      { numRuns: 300 },
    );
  });

  it('are read without the signs of a change before them', () => {
    const change = '@@ -1,3 +1,4 @@\n env:\n+- name: DB_PASSWORD\n+  value: hunter2xy\n other: 1\n';
    expect(redact(change)).not.toContain('hunter2xy');
  });

  it('are the same for any chunks of random escapes, entities and prefixes', () => {
    const escapes = [
      '\\',
      '\\'.repeat(30),
      '\\n',
      '\\t',
      '\\"',
      '"',
      '\n',
      ' ',
      ',',
      '\n  12\t',
      '\n3:',
      '\n2026-11-28T10:00:00Z ',
      '\n+',
      '&',
      '&quot;',
      '&lt;',
      '&#39;',
      '&#',
      'amp;',
    ];
    const part = fc.constantFrom(...escapes, 'password', ': ', '=', 'hunter2xy', 'x', '{', '7');
    const cuts = fc.array(fc.nat(400), { maxLength: 4 });
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60 }), cuts, (parts, at) => {
        const whole = parts.join('');
        const open = stream();
        const bounds = [0, ...at.filter((cut) => cut < whole.length).toSorted((one, other) => one - other)];
        const pieces = bounds.map((start, index) => open.push(whole.slice(start, bounds[index + 1])));
        expect(pieces.join('') + open.end()).toBe(redact(whole));
      }),
      { numRuns: 500 },
    );
  });
});

describe('values in other quotes and elements', () => {
  it.each([
    '1,"password = ""X""",2',
    '<pre>DB_PASSWORD=X</pre>',
    '<td><code>password=X</code></td>',
    "VALUES ('password = ''X''')",
  ])('are replaced in %s', (form) => {
    expect(redact(form.replace('X', 'hunter2xy'))).not.toContain('hunter2xy');
  });
});

describe('codes for a second factor', () => {
  const codes = ['4f7a2-9c1b8', 'x3k9-p2m7-qa41', '32160599'];
  it.each([
    ['below a heading', `Your emergency scratch codes are:\n  ${codes.join('\n  ')}\n`],
    [
      'in a numbered list',
      `Save these recovery codes in a safe place:\n1. ${codes[0]}\n2. ${codes[1]}\n3. ${codes[2]}\n`,
    ],
    ['on a line', `Backup codes: ${codes.join(', ')}\n`],
    ['in an array', `{"recovery_codes": [\n  "${codes.join('",\n  "')}"\n]}`],
  ])('replaces them %s, in any chunks', (_, text) => {
    for (const code of codes) expect(redact(text)).not.toContain(code);
    for (let cut = 1; cut < text.length; cut += 1) {
      const open = stream();
      expect(open.push(text.slice(0, cut)) + open.push(text.slice(cut)) + open.end()).toBe(redact(text));
    }
  });

  it.each([
    'Status codes: 200, 4041, 5003',
    'Recovery codes: 7 of 10 remaining',
    'Recovery codes:\n  never shown again',
  ])('preserves %j', (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe('signatures of URLs', () => {
  it.each(['X-Amz-Signature', 'X-Goog-Signature', 'sig', 'code', 'key'])('replaces the value of %s', (name) => {
    const random = drawn('0123456789abcdef', 64, 7);
    expect(redact(`https://files.example.org/a?x=1&${name}=${random}`)).not.toContain(random.slice(0, 12));
  });
});

describe('secrets as tools print them', () => {
  it.each(frames)('replaces them in the form: %s', (_, frame) => {
    const left = [...chosen, ...drawnValues].filter((secret) => leaks(redact(frame(secret)), frame, secret));
    // A word followed by a year may be a name in code.
    expect(left.filter((secret) => secret !== 'Winter2024')).toEqual([]);
  });

  it.each(['DB_PASSWORD=X', 'password: "X?"', '--password X', 'postgres://app:X@db/x', 'PWD=X;', "PASSWORD 'X'"])(
    'replaces a passphrase of three words in the form %s',
    (frame) => {
      const text = frame.replace('X', 'velvet-canyon-horse');
      expect(redact(text)).not.toContain('canyon');
    },
  );

  it.each([
    'password: X\n',
    '{"user": "joe", "password": "X", "port": 1}',
    'DB_PASSWORD=X\n',
    'login(user=joe, password=X)',
    'host=db user=app password=X dbname=x',
    'map[user:app password:X host:db]',
    'tool login --password X --verbose',
    '<password>X</password>',
    '| User | Password |\n|---|---|\n| joe | X |\n',
    '"api_key": "X",',
    "> process.env.DB_PASSWORD\n'X'\n",
    'wget --user=joe --password=X https://example.org',
    'grant_type=password&password=X&client_id=web',
    "ALTER ROLE joe WITH PASSWORD 'X';",
    'login    | joe\npassword | X\n',
  ])('replaces a password of letters only in the form %j', (frame) => {
    for (const word of ['copperlantern', 'kdnvqhwtzrbm']) expect(redact(frame.replace('X', word))).not.toContain(word);
  });

  it.each([
    'password: authentication\n',
    '"password": "required"',
    '"password": "Kennwort", "user": "Benutzer"',
    '"password": "must-be-confirmed"',
    'password: generatedpassword\n',
    'password = generated',
    'const password = readline();',
    'connect({ user: name, password: encrypted })',
    'password  something follows here',
    'the password whatever it is',
    'secret: `identifier`',
    "'autocomplete'-pass: 'verdien'-word",
    'use --password instead of it',
    "Credentials.fromGeneratedSecret('clusteradmin')",
  ])('leaves the word behind a name in %j', (text) => {
    expect(redact(text)).toBe(text);
  });

  it.each([
    '[10:14] ann: what is the root pw on db01?\n[10:15] ben: X',
    'admin password of the switch, as we agreed: joe X',
    'curl --digest-login joe X https://a.org',
  ])('replaces a value that looks like a secret at its place in %j', (frame) => {
    for (const value of ['T7onnvXgM4Bw6lh', 'Qz8vK2mWx4Lp9rTn']) {
      expect(redact(frame.replace('X', value))).not.toContain(value);
    }
  });

  it.each([
    'OPER requires two parameters',
    'AUTH command sent to server2\nOK 1',
    'a001 LOGIN failed for user2 now',
    'PASS src/app2.test.ts\nPASS src/b.test.ts',
    'NickServ identify yourself again',
    'snmp-server community public RO',
    'rocommunity public',
    'radius-server key-wrap enable',
    'community standards2024 apply',
    "os.environ['DB_PASSWORD']\nprint('done2x')",
    'hash("password")\n"5f4dcc3b5aa765d61d8327deb882cf99"',
    '1) "user"\n2) "hunter2x"',
    'COPY t (id, name) FROM stdin;\n1\thunter2x\n\\.',
    'data:\n  smtp: hunter2x\nkind: ConfigMap\n',
    'src/a.ts:12 lena:hunter2x\n',
    'C:\\Users\\joe:12',
    'user a > b2cdefg',
    'run 500:aad3b435b51404eeaad3b435b51404ee:1',
    '{MD5} and {SHA} are schemes; {ID}hunter2x',
    'NAME   TOKEN   KIND\na      identifier   b\n',
    '"keyName": "key1", "value": "enabled"',
    'Set-Cookie: CUSTOMER=WILE_E_COYOTE; path=/',
    'ChangeToken: 12cs345a-67cd-890b-1cd2-c3a4567d89f1',
    '"password", "db.example.org:5432"',
    'Le mot de passe est obligatoire.',
    'aws waf update-ip-set --ip-set-id a123fae4-5ab67ac8ca90 --change-token 12cs345-67cd-890b-1cd2-c3a4567d89f1',
    '"ClientToken": "5236cffc-ee13-4a32-bb5b-388d9da09d96"',
    'Set-Cookie: PART_NUMBER=ROCKET_LAUNCHER_0001; path=/',
    "smtp.password = 'doesnotexist'",
    'password:\n  required\nother: 1',
    '"hello" "world2world"x\n"the first" "Winter2024"\n',
    'WIFI:T:nopass;S:guest;P:;;',
    'PASS command2 sent\nRequest: PASS required',
    'les mots de passe diff&eacute;rents\nun mot de passe sp&eacute;cifi&eacute;',
    'password of joe2024@example.org\nthe password for sshd_config2',
    '? What is the admin password? required',
    '[password]\nvalue = deprecated\n',
    '"override_special": null,\n"count": 1 }\n{ "result": "build" }',
    '5d41402abc4b2a76b9719d911017c592:hello2.txt\nda39a3ee5e6b4b0d3255bfef95601890afd80709:12',
    'a.org\tFALSE\t/\tTRUE\t1790000000\ttheme\tdark',
    "curl -b 'theme=dark' https://a.org",
    'Name       Value\n----       -----\nhost       db2server9x\n',
    'Set-Cookie2: Part_Number="Rocket_Launcher_0001"; Version="1"; Path="/acme"',
    '-----BEGIN RSA PRIVATE KEY-----\\nMIIEowIABAKCAQEAqKpRgnn6yq26U3yt5YFZ...fvY4+te\\n-----END RSA PRIVATE KEY-----',
    'login: see build-7f3a9c2e1 of 2024-11-02T10:00 in /var/log/x1y2/z3w4.log',
    'the password was set in v1.2.3-14-g3f9c2ab1 by commit 9f8e7d6c5b4a39281706f5e4d3c2b1a098765432',
    'SHA256:uNiVztksCsDhcc0u9e8BrctL5LbGY4nXdVq1mXyXb5E joe@host (ED25519)',
    'echo SGVsbG8gV29ybGQgMTIz | base64 -d # the password of nobody',
    'token budget of Float32Array2 and sha256sum4 in utf8mb4',
  ])('leaves what only looks like the output of a tool in %j', (text) => {
    expect(redact(text)).toBe(text);
  });

  it('replaces both hashes of an account, but not the one of an empty password', () => {
    const [lm, nt] = [drawn('0123456789abcdef', 32, 1), drawn('0123456789abcdef', 32, 2)];
    expect(redact(`joe:1001:${lm}:${nt}:::`)).toBe(`joe:1001:${r}:${r}:::`);
    expect(redact(`joe:500:aad3b435b51404eeaad3b435b51404ee:${nt}:::`)).toContain(`eeaad3b435b51404ee:${r}:::`);
  });

  it.each(['hunter2xy', 'Winter2024!', 'CanyonHorse39'])('replaces a guessed hash and its password %s', (password) => {
    expect(redact(`1b754e1a962845430ed9878541723777:${password}\n`)).toBe('[redacted]:[redacted]\n');
  });

  it('replaces the words of a recovery phrase and a stored password of MySQL', () => {
    const words = Array.from({ length: 12 }, (_, index) => `${index + 1}. ${drawn('abcdefgh', 6, index)}`);
    expect(redact(`Recovery phrase:\n${words.join('\n')}\n`).match(/\d\. \[redacted\]/g)).toHaveLength(12);
    expect(redact(`stored: *${drawn('0123456789ABCDEF', 40, 4)}`)).toBe(`stored: ${r}`);
  });

  it.each(frames)('is idempotent in the form: %s', (_, frame) => {
    for (const secret of chosen) expect(redact(redact(frame(secret)))).toBe(redact(frame(secret)));
  });

  it('is idempotent for several forms on successive lines', () => {
    for (const [index, [, frame]] of frames.entries()) {
      const others = [1, 7].map((step) => frames[(index + step) % frames.length]?.[1]('hunter2x') ?? '');
      const once = redact([frame('Winter2024'), ...others].join('\n'));
      expect(redact(once)).toBe(once);
    }
  });

  it.each(frames)('returns the same for any two chunks in the form: %s', (_, frame) => {
    const wrong = [chosen[1] ?? '', drawnValues[0] ?? ''].flatMap((secret) => {
      const text = `${frame(secret)}\n`;
      return Array.from({ length: text.length - 1 }, (__, index) => index + 1).filter((cut) => {
        const open = stream();
        return open.push(text.slice(0, cut)) + open.push(text.slice(cut)) + open.end() !== redact(text);
      });
    });
    expect(wrong).toEqual([]);
  });

  it.each(tokenMakers)('returns the same for any two chunks of a token of %s', (_, make) => {
    const text = `a ${make(1)} "${make(2)}",`;
    for (let cut = 1; cut < text.length; cut += 1) {
      const open = stream();
      expect(open.push(text.slice(0, cut)) + open.push(text.slice(cut)) + open.end()).toBe(redact(text));
    }
  });

  it('replaces a secret access key beside its id', () => {
    const pair = `${tokenMakers.find(([kind]) => kind === 'aws-access-key')?.[1](4) ?? ''},${randomValue(8)}`;
    expect(redact(`id,secret\n${pair}\n`)).toBe(`id,secret\n${r},${r}\n`);
  });

  it('keeps control sequences', () => {
    expect(redact('\u001b[1mpassword\u001b[0m: \u001b[33mhunter2x\u001b[0m, ok')).toBe(
      `\u001b[1mpassword\u001b[0m: \u001b[33m${r}\u001b[0m, ok`,
    );
  });

  it('preserves ids and signatures of reasoning', () => {
    const signature = `EqoB${randomValue(3, 200)}`;
    const data = {
      type: 'reasoning',
      text: 'Hm.',
      providerOptions: { anthropic: { signature } },
      id: `am_${drawn(alphanumeric, 32, 1)}`,
    };
    expect(redactData(data)).toBe(data);
    expect(redact(JSON.stringify({ signature }))).toBe(JSON.stringify({ signature }));
  });

  it('replaces a value whose name is in another member', () => {
    expect(
      redactData({
        env: [
          { name: 'DB_PASSWORD', value: 'letmein' },
          { name: 'PORT', value: '8080' },
        ],
      }),
    ).toEqual({
      env: [
        { name: 'DB_PASSWORD', value: r },
        { name: 'PORT', value: '8080' },
      ],
    });
    expect(
      redactData([
        ['X-Api-Key', 'letmein'],
        ['Accept', 'text/html'],
      ]),
    ).toEqual([
      ['X-Api-Key', r],
      ['Accept', 'text/html'],
    ]);
  });
});

describe('secrets of one form only', () => {
  const hex = '0d30e3ec0c089fcaaf6f43df5e98ef92';
  it.each([
    ['a cookie of an § server', 'host/unix:0  MIT-MAGIC-COOKIE-1  X', hex],
    ['a key of Kerberos', '   1    2 host/x@EXAMPLE.ORG (aes256-cts-hmac-sha1-96)  (§)', `0x${hex}${hex}`],
    ['a hash of Redis', '1) "user joe on #§ ~* +@all"', `${hex}${hex}`],
    ['a hash of Windows', '\t * NTLM     : §', hex],
    ['a token in a flag', 'consul kv get -token=§ name', 'cd8549ff-92f3-4da1-98f6-861694b29366'],
    ['a code of a device', '{"device_code":"§","user_code":"ABCD-EFGH"}', `${hex}52c23eb4`],
    ['a key to unseal', 'vault operator unseal §', 'larj5YwRZNXVVnjdz8gc5c7KYZBjACb5LhRadlv2uhK='],
    ['a key in a URL', 'git clone https://aws:§@git.example.org/a.git', '9LVN8GsKN3/xUKJWb4e+eqVgeNwb'],
    ['a password in base64', "upload -u bob -p '§'", '+aCMC1/dxdLt7wnPK5//TfQXCdcN'],
    ['a key of a stream', 'rtmp://live.example.org/app/§', 'live_658622473_KxvaBT0P9XUiaORKwZohWz7cdoRiQc'],
    ['bytes of a key', 'var key = []byte("§")', 'mNv7Kq2Zx9Lp4Wr8Tb3Yc6Hd'],
    ['a link', 'Sign in: https://example.org/magic/§ (10 minutes)', 'DhA54MOhaAQmq5Ckdreyyl8tnF6ZTJF9'],
    ['a password that was guessed', 'joe:§:1001:1001::/home/joe:/bin/sh', 'iuhrbzanuufi'],
    ['a password file without a domain', 'db1:5432:shop:app:§', 'x9Kd02mQ7'],
    [
      'a key in a signed update',
      'nsupdate -y hmac-sha256:ddns:§ a.txt',
      'XLAA0Q1rrnFPGrOIhsDZTQq7NlED90ziUWz/pZS9Ln6=',
    ],
    ['a key below its heading', 'Private Key:\n§\n', 'O7cKbVpGyO_lpQbyVXH0DKNC2duFqElS6b'],
    ['letters of both cases', 'password = §\n', 'dHoCsqP6'],
    ['the key of an application', 'base64:§', '4jNF6+BmueIEx5GhmTFPU8sysT4vE2WqwaGcMIji2jQ='],
  ])('replaces %s', (_, form, secret) => {
    expect(redact(form.replace('§', secret))).not.toContain(secret.slice(2, 20));
  });

  it.each([
    'rate(http_requests_total[5m]) > 3 and x[10m]',
    'const first = list[0]; // the key\n',
    'const path = "src/index-2.ts"; // where the token\n',
    'sed "s/password/passphrase/g" a.txt; sed "s/TOKEN/$TOKEN/" b',
    'cp packages/a2b3c4d5e6 s/password/x1',
    'git commit -m "fix #12" # no password\n',
    'new StringReader("0123456789abcdef".toCharArray())',
    '"first" "second2x"',
    'gauge.auth("basic")',
    '{"apiVersion":"v1","data":{"mode":"fast12"},"kind":"ConfigMap"}',
    'public string Password { get; set; } = "";',
    'docker network create web2024blue',
    'unlock the door2024x',
    "Pydantic: {'loc': ('name',), 'input': 'Copper2022x'}",
    'import { live_reload } from "./live_2024_reload.js"',
    'crypto isakmp policy 10',
    'root:x:0:0:root:/root:/bin/sh',
    'GET /users/verify/pending-approvals/2024 and /reset/all',
    'password = getCurrentUser2\n',
    'token = myHTTPServer2\n',
  ])('leaves %j', (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe('known values', () => {
  const secret = 'Tk/9+x y"ü{}';
  const known = createRedactor({ values: [secret, 'hunter22'] });

  it.each([
    ['as they are', `a ${secret} b`],
    ['in a URL', `https://x.org/?q=${encodeURIComponent(secret)}`],
    ['in JSON', JSON.stringify({ q: secret })],
    ['in base64', Buffer.from(secret).toString('base64')],
    ['in the middle of base64', Buffer.from(`user:${secret}:x`).toString('base64')],
    ['in the middle of URL-safe base64', Buffer.from(`us:${secret}:x`).toString('base64url')],
  ])('finds them %s', (_, text) => {
    expect(known.redact(text)).toContain(r);
    expect(known.redact(text)).not.toContain(secret);
    expect(known.inspect(text).found['known']).toBe(1);
  });

  it('prefers the longer of two values with a common prefix', () => {
    expect(createRedactor({ values: ['abcdef', 'abcdefgh'] }).redact('abcdefgh abcdefg')).toBe(`${r} ${r}g`);
  });

  it('rejects options without effect', () => {
    expect(() => createRedactor({ values: ['short'] })).toThrow(InvalidOptionError);
    expect(() => createRedactor({ replacement: '' })).toThrow(/replacement/);
    expect(() => createRedactor({ replacement: 'hunter22!', values: ['hunter22'] })).toThrow(/looks like a secret/);
    expect(() => createRedactor({ value: ['x'] } as object)).toThrow(/unknown option "value"/);
    expect(createRedactor({ replacement: '***' }).redact('DB_PASSWORD=hunter2')).toBe('DB_PASSWORD=***');
  });
});

describe('redactData', () => {
  it('uses the names of members and the format of strings', () => {
    const [, make] = tokenMakers[0] ?? [];
    const data = {
      password: 'plain words',
      nested: [{ apiKey: 'abcd', model: 'gpt-5', password: '', secret: null }],
      note: `key ${make?.(1)}`,
      pin: 1,
    };
    expect(redactData(data)).toEqual({
      password: r,
      nested: [{ apiKey: r, model: 'gpt-5', password: '', secret: null }],
      note: `key ${r}`,
      pin: 1,
    });
  });

  it('replaces random values of ambiguous names, and each item of a list', () => {
    const random = randomValue(5, 32).replaceAll('/', 'x');
    expect(
      redactData({ token: random, auth: 'github', 'set-cookie': ['sid=abcdefgh', 'b=12345678'], tokens: 12_345 }),
    ).toEqual({ token: r, auth: 'github', 'set-cookie': [r, r], tokens: 12_345 });
  });

  it('returns the same object if it has no secrets', () => {
    const data = { a: [1, { b: 'c' }], d: null, max_tokens: 5 };
    expect(redactData(data)).toBe(data);
  });

  it('handles cycles, depth, unusual objects and names', () => {
    const circle: Record<string, unknown> = { password: 'abcdefgh1', at: new Date(0) };
    circle['self'] = circle;
    expect(redactData(circle)['password']).toBe(r);
    let deep: unknown = 'x';
    for (let level = 0; level < 10_000; level += 1) deep = [deep];
    expect(() => redactData(deep)).not.toThrow();
    const odd = JSON.parse('{"__proto__": {"password": "abcdefgh1"}}') as object;
    expect(JSON.stringify(redactData(odd))).toBe(`{"__proto__":{"password":"${r}"}}`);
  });
});

/** Texts with parts of secrets in every position. */
const pieces = fc.oneof(
  fc.constantFrom(
    'sk-',
    'ant-',
    'proj-',
    'ghp_',
    'AKIA',
    'eyJ',
    '.',
    'Bearer ',
    'Basic ',
    'password',
    'API_KEY',
    'token',
    '=',
    ':',
    ': ',
    '"',
    "'",
    '\\"',
    '\\',
    '://',
    'user:',
    '@',
    '\n',
    ' ',
    '-----BEGIN PRIVATE KEY-----',
    '-----END PRIVATE KEY-----',
    '-----BEGIN',
    'Cookie: ',
    'a=b1b2b3b4;',
    'xoxb-',
    'hooks.slack.com/services/',
    r,
    'ü',
    '漢',
    '=>',
    'BEGIN ',
    'https',
    '\u001b[0m',
    '\u001b[',
    '\\u001b[33m',
    '\\u00',
    '%22',
    '%3A',
    '&quot;',
    '$2y$05$',
    'recovery codes:\n',
    '密码：',
    'password [',
    ']',
    '--password ',
    '-u ',
    'curl ',
    'name: DB_PASSWORD\n value: ',
    '<password>',
    '</password>',
    'Authorization: ',
    ' | ',
    '&',
    ',',
    '-',
    '_',
  ),
  fc.integer({ min: 1, max: 500 }).map((seed) => drawn(alphanumeric, (seed % 50) + 1, seed)),
  fc.integer({ min: 1, max: 500 }).map((seed) => tokenMakers[seed % tokenMakers.length]?.[1](seed) ?? ''),
  fc.string({ maxLength: 6 }),
);
const textsOf = (maxLength: number) => fc.array(pieces, { maxLength }).map((parts) => parts.join(''));
const texts = textsOf(40);

describe('for any text', () => {
  const known = createRedactor({ values: ['xoxb-a', 'geheim nis'] });

  it('is idempotent', () => {
    fc.assert(
      fc.property(textsOf(10), (text) => {
        // A word, a key and a bracket without spaces between them are read as a call, and a value behind a hash sign as
        // a comment, until a part of them is replaced.
        fc.pre(!/\w[([]|: #/.test(text));
        const once = redact(text);
        expect(redact(once)).toBe(once);
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    '--password X@T#(2,',
    '-al%7Euser:T',
    'sshpass -p XXT(x',
    'password [X-X@T',
    'name: DB_PASSWORD\n value: $gNvr0P!XTBasic ',
    'name: DB_PASSWORD\n value: %3Ajli=X+T',
    '密码：%3AtokenX-7.T#O|U?',
    'API_KEY3<4XX漢T',
    '-----BEGIN PRIVATE KEY-----T.XX.XT\nXX\n-----END PRIVATE KEY-----',
  ])('is idempotent for values with a token of another form in them: %j', (form) => {
    for (const [index, [, make]] of tokenMakers.entries()) {
      const value = drawn(alphanumeric, 48, index + 1);
      const once = redact(form.replaceAll('X', () => value).replaceAll('T', () => make(index + 1)));
      expect(redact(once)).toBe(once);
    }
  });

  it.each([
    'https://T:hunter2x@example.org/',
    'mysql://T:hunter2x@db/shop',
    'ID/PW: T/hunter2x9Q',
    'rabbitmqctl add_user T hunter2x9',
    'htpasswd -b users T hunter2x9',
    '"auth" "T" "hunter2x9"',
    'net user T hunter2x9 /add',
  ])('replaces a token in place of the user in %j, whatever the chunks', (form) => {
    for (const [index, [, make]] of tokenMakers.entries()) {
      const token = make(index + 1);
      if (!/^[\w.-]{1,48}$/.test(token)) continue;
      const text = form.replace('T', () => token);
      expect(redact(text)).not.toContain(token.slice(-8));
      expect(redact(text)).not.toContain('hunter2x');
      const open = stream();
      const out = Array.from({ length: Math.ceil(text.length / 7) }, (__, part) =>
        open.push(text.slice(part * 7, part * 7 + 7)),
      );
      expect(out.join('') + open.end()).toBe(redact(text));
    }
  });

  it('ends for private keys without a body between others', () => {
    const text = '-----BEGIN PRIVATE KEY-----'.repeat(2) + '-----END PRIVATE KEY-----'.repeat(2);
    for (const tail of ['', ' ant-ghp_user:', `${'aB3dE5fG7'.repeat(9)}"\\"--password --`]) {
      expect(redact(`a=b1b2b3b4; ${text}${tail}`)).toContain('-----END PRIVATE KEY-----');
    }
  });

  it.each(tokenMakers)('replaces a token of %s in place of a user before a quoted password', (_, make) => {
    const token = make(3);
    expect(redact(`curl -u ${token}:'hunter2x' https://example.org`)).not.toContain(token.slice(-12));
  });

  it('decides repeated text as it decides the same text in small chunks', () => {
    const repeated = fc.tuple(fc.array(pieces, { minLength: 1, maxLength: 3 }), fc.integer({ min: 100, max: 2000 }));
    fc.assert(
      fc.property(repeated, pieces, fc.integer({ min: 1, max: 300 }), ([parts, times], last, seed) => {
        // The line of `_` ends the body of a private key.
        const text = `${parts.join('').repeat(times)}${last}\n_\nAPI_KEY=${randomValue(seed)}\n`;
        const open = stream();
        let out = '';
        for (let place = 0; place < text.length; place += 97) out += open.push(text.slice(place, place + 97));
        expect(out + open.end()).toBe(redact(text));
        expect(redact(text)).toContain(`API_KEY=${r}`);
      }),
      { numRuns: 60 },
    );
  });

  it('replaces all values of a column and the tokens between them', () => {
    const [, make] = tokenMakers[7] ?? [];
    const rows = seeds.map((seed) => [make?.(seed) ?? '', `Blue${seed}moon${seed}`] as const);
    const table = (cells: readonly (readonly string[])[]): string =>
      ['| name | password |', '|---|---|', ...cells.map((row) => `| ${row.join(' | ')} |`)].join('\n');
    expect(redact(table(rows))).toBe(table(rows.map(() => [r, r])));
    const open = stream();
    const out = Array.from(table(rows), (character) => open.push(character)).join('') + open.end();
    expect(out).toBe(table(rows.map(() => [r, r])));
  });

  it('replaces a value behind thousands of repeated names', () => {
    for (const name of ['token:', 'pw: ', '--token ', '"name":"password","value":']) {
      expect(redact(`${name.repeat(5000)}\nDB_PASSWORD=hunter2x`)).toMatch(/\nDB_PASSWORD=\[redacted\]$/);
    }
  });

  it.each([
    ['~ secret_string = "', '" -> "', '"'],
    ['~ password  = "', '" -> "', '"'],
    ['~ "db_password": "', '" => "', '"'],
    ['password: ', ' -> ', ''],
    ['~ password = ', ' => ', ''],
    ['snmpwalk -v3 -u joe -A ', ' -X ', ' -l authPriv h'],
    ['ssh-keygen -p -P ', ' -N ', ' -f k'],
  ])('replaces both secrets in %s…%s…, whole and in chunks, and once', (head, between, tail) => {
    const text = `${head}MeadowHarbor838${between}Ex8goW9bjUrkcS${tail}\n`;
    const expected = `${head}[redacted]${between}[redacted]${tail}\n`;
    expect(redact(text)).toBe(expected);
    expect(redact(expected)).toBe(expected);
    for (let cut = 1; cut < text.length; cut += 1) {
      const stream = createRedactor().stream();
      expect(stream.push(text.slice(0, cut)) + stream.push(text.slice(cut)) + stream.end()).toBe(expected);
    }
  });

  it('replaces the whole of a long argument', () => {
    const secret = drawn(alphanumeric, 1_800, 3);
    expect(redact(`docker login -u AWS -p ${secret} registry.example.org`)).toBe(
      'docker login -u AWS -p [redacted] registry.example.org',
    );
  });

  it('replaces the value of a variable whose name ends in PASS', () => {
    expect(redact('ENV DB_PASS x9Kd02mQ')).toBe('ENV DB_PASS [redacted]');
  });

  it('replaces a new value behind one that is not shown', () => {
    expect(redact('~ password = (sensitive value) -> "hunter2x"')).toBe(
      '~ password = (sensitive value) -> "[redacted]"',
    );
  });

  it.each([
    '| Name | Password |\n|---|---|\n| joe | see the vault |',
    'id,key,name\n1,alpha2beta,joe',
    '-[ RECORD 1 ]-\nid | 1',
    'git auth 9c7c85cb',
    'docker run -u root -p 8080:80 web',
    '{"d":"M12 2C6.48 2 2 6.48 2 12s4.48 10 10 10"}',
    'pass: 12, fail: 0',
    'setPassword(password)',
    'connect("host", "user", options)',
    'cat <<< "hello world 123"',
    '#define GL_STENCIL_PASS 0x8801',
    'PASS src/load2.test.ts\n--- PASS: TestLoad2 (0.00s)',
    'uses the secret key secp256k1 and the password argon2id',
    'syn keyword auth hostbased password forced-commands-only',
    'kind: ConfigMap\ndata:\n  smtp: mail1.example.net\n',
    'the user login2 logged in as user joe version2 today',
    "INSERT INTO t (id, name) VALUES (1, 'alpha2beta');",
    'client.webhooks.rotateSecret("whtok_1b2c")',
    'echo "some text 123" | grep -i token',
    'echo version2 | tee secrets.txt',
    '$ git rev-parse HEAD\n3d6db70a1f0c9e8b7a6d5c4b3a2918070605f4e3\n',
    '$ npm run token:check\nok12345: done\n',
    '"pass": "alle Bilder haben alt=\'\' oder aria-label1"',
    'pass: 2 warnings1',
    'secretName: my-tls-cert',
    'secrets:\n  - db_password\n  - source: site2\n',
  ])('preserves %j', (text) => {
    expect(redact(text)).toBe(text);
  });

  it('treats the end of a secret as a word boundary in the first pass', () => {
    const [, make] = tokenMakers[0] ?? [];
    const token = make?.(1) ?? '';
    expect(redact(token.slice(0, 7) + drawn(alphanumeric, 512, 3) + token)).toBe(r + r);
  });

  it('returns the same for chunks as for the whole text', () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(texts, cuts, fc.boolean(), (text, lengths, isKnown) => {
        const redactor = isKnown ? known : { redact, stream };
        const open = redactor.stream();
        let out = '';
        for (let place = 0, turn = 0; place < text.length; turn += 1) {
          const length = lengths[turn % lengths.length] ?? 1;
          out += open.push(text.slice(place, place + length));
          place += length;
        }
        expect(out + open.end()).toBe(redactor.redact(text));
      }),
      { numRuns: 800 },
    );
  });

  it('returns the same for chunks of tables as for the whole tables', () => {
    const lines = fc.constantFrom(
      'id,password',
      '1,Ab12xyZ9q',
      '| password | b |',
      '|---|---|',
      '| Ab12xyZ9q | Wx34uvT8p |',
      'a\tsecret',
      '1\tAb12xyZ9q',
      '+---+---+',
      'user  password',
      '----  ---------',
      'joe   Ab12xyZ9q',
      '',
      'x '.repeat(90),
    );
    const tables = fc.array(lines, { maxLength: 30 }).map((parts) => `${parts.join('\n')}\n`);
    fc.assert(
      fc.property(tables, fc.integer({ min: 1, max: 200 }), (text, length) => {
        const open = stream();
        let out = '';
        for (let place = 0; place < text.length; place += length) out += open.push(text.slice(place, place + length));
        expect(out + open.end()).toBe(redact(text));
      }),
      { numRuns: 400 },
    );
  });

  it('holds back only text that may become a secret', () => {
    const open = stream();
    expect(open.push('Hello there, ')).toBe('Hello there, ');
    expect(open.push('my key is sk-')).toBe('my key is ');
    expect(open.push('learn. ')).toBe('sk-learn. ');
    expect(open.push('password: hun')).toBe('');
    expect(open.push('ter2x\nand')).toBe(`password: ${r}\n`);
    expect(open.end()).toBe('and');
    expect(open.push('again')).toBe('');
    expect(open.end()).toBe('again');
  });

  it.each([
    'sk-',
    'password=',
    'password="',
    'eyJa.',
    'a://',
    'a://xxxxx:',
    'Bearer ',
    'bearer a~',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN',
    'token : ',
    'cookie: ',
    'cookie:a=b;',
    'secret="\\',
    "password='\n",
    'A',
    'ghp_',
    '=',
    'QWxhZGRpbjpvcGVu',
    'docker -p ',
    'zip -P x ',
    'pw:',
    '-pkey ',
    '"--token"',
  ])('takes linear time for repetitions of %s', (piece) => {
    const work = (length: number): number => {
      const text = piece.repeat(Math.ceil(length / piece.length));
      const before = process.cpuUsage();
      redact(text);
      const { user } = process.cpuUsage(before);
      return user;
    };
    work(20_000);
    // The text is 16 times as long: quadratic work would take 256 times as long.
    const short = Math.max(2_000, work(10_000));
    const long = Math.min(work(160_000), work(160_000), work(160_000));
    expect(long / short).toBeLessThan(40);
  });

  it.each([
    'a,password\n',
    'password\tb\tsecret\n',
    '| password | b |\n|---|---|\n',
    'id,password\n1,Ab12xyZ9q\n',
    'a,secret,',
  ])('reads the rows of a table once for repetitions of %j', (piece) => {
    const work = (text: string): number => {
      const before = process.cpuUsage();
      redact(text);
      return process.cpuUsage(before).user;
    };
    const least = (text: string): number => Math.min(work(text), work(text), work(text));
    const ordinary = least('The table has names, and rows. '.repeat(10_000));
    // Reading up to 8 kB of rows for each line would take more than 300 times as long.
    expect(least(piece.repeat(Math.ceil(310_000 / piece.length))) / Math.max(2_000, ordinary)).toBeLessThan(100);
  });
});
