import { describe, expect, it } from 'vitest';
import { createRedactor } from './create-redactor.js';

const { redact, stream } = createRedactor();
const r = '[redacted]';

/** Redacts a text in chunks of some lengths. */
const inChunks = (text: string): readonly string[] =>
  [1, 2, 3, 5, 7, 11, 16].map((length) => {
    const redaction = stream();
    let output = '';
    for (let index = 0; index < text.length; index += length) {
      output += redaction.push(text.slice(index, index + length));
    }
    return output + redaction.end();
  });

/** Expects that a text becomes another one, as a whole, in chunks, and when it is redacted twice. */
const expectRedacted = (text: string, expected: string): void => {
  expect(redact(text), text).toBe(expected);
  expect(redact(expected)).toBe(expected);
  expect(inChunks(text).filter((output) => output !== expected)).toEqual([]);
};

/** Expects that what is between `«` and `»` is replaced, and nothing else. */
const expectHidden = (marked: string): void => {
  expectRedacted(marked.replaceAll(/[«»]/g, ''), marked.replaceAll(/«[^»]*»/g, r));
};

describe('the key of an AWS id', () => {
  it.each([
    'ACCESSKEY\t«AKIAQ3EGRIN5T7XHUWZ4»\t2026-01-02T03:04:05+00:00\t«d8Kq2LmZ0vRt7YxWcN4bPfHs6GjEaU1oQiTkXw3C»\tActive\tjoe\n',
    "SELECT * FROM s3('https://b.s3.amazonaws.com/x.csv', '«AKIAQ3EGRIN5T7XHUWZ4»', '«d8Kq2LmZ0vRt7YxWcN4bPfHs6GjEaU1oQiTkXw3C»', 'CSV')\n",
  ])('is replaced apart from the id in %j', expectHidden);
});

describe('everyday texts', () => {
  it.each([
    '    secure: AAABAShpb2FkEgZfV6L6T72bpcv2uVSpW4tlixlTrgpotMlOnP6TtM7r1l1I8pN2/YkZi3hecvr==\n',
    '01K104JFD2NT6G3PCDPBJEQ4PR\n01K104JFD2YJ8T2Q4M6W7E9RZA\n',
    "sed -e 's#860B3EE9-6D7C-4296-9639-E6B998074A78#i18nuser#;' file\n",
    '3. **Verify secret is set**:\n   run it\n',
    '    checksum/secret: 301b767e6ecb1072f14cab59a883212a73366a54c15c87c70127031cd3c6fec3\n',
    '    password = weechat_string_eval_expression (weechat_config_string (relay_config_network_password),\n',
    '    GBytes         *egg_tpm2_generate_master_password (EggTpm2Context *,\n                                                  GError **error);\n',
    '#  undef XXH3_64bits_withSeed\n#  define XXH3_64bits_withSeed XXH_NAME2(XXH_NAMESPACE, XXH3_64bits_withSeed)\n#define XXH3_initCustomSecret XXH3_initCustomSecret_avx512\n',
    'file_magic_glob=`echo aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ | $SED -e "s/\\(..\\)/s\\/[[\\1]]\\/[[\\1]]\\/g;/g"`\n',
    '<code>DEFAULT:!EXP:!LOW:!MEDIUM:!kDH:!kECDH:!DSS:!PSK:!SRP:!kRSA</code> when\n',
    ' --initial-cluster-token etcd-cluster-1 \\\n',
    '  $ htpasswd lighttpd.user.htpasswd agent007\n',
    'Usage: mosquitto_sub {[-h host] [--unix path] [-p port] [-u username] [-P password] -t topic | -L URL [-t topic]}\n',
    "const POSTHOG_KEY = process.env.POSTHOG_KEY || 'phc_oUcDklFBX3wy8eksSyEC0pataKCgSadur1sio5hBHg4';\n",
    "const DSN = 'https://1c1637a93ea6fb81e3edae3d039bdae0@o42738.ingest.us.sentry.io/4511679145312256';\n",
    "            ['ANTHROPIC_API_KEY', 'anthropic'],\n            ['TOGETHER_API_KEY', 'together'],\n",
    "  config.ai_gateway ? 'anthropic-api-key' : 'infisical-machine-identity');\n",
    "    r'AKIA[0-9A-Z]{16}',  # AWS Access Key\n    r'ghp_[a-zA-Z0-9]{36}',  # GitHub Personal Access Token\n",
    '            token = "prime256v1";\n',
    'export STRIPE_SECRET_KEY=sk_test_xxx\nGITHUB_TOKEN=ghp_xxx\nOPENAI_API_KEY=sk-xxx npx run\n',
    '$ git rev-parse origin/fix-token\n4e0b21385c66e9e226bb066a8ca5a6fed0211228\n',
    '-----BEGIN PGP SIGNATURE-----\n\niQIzBAABCAAdFiEEx1pJBAYCNrVNrdp8hd8jKBRnB3kFAlv5yZQACgkQhd8jKBRn\nB3nKhBAAjQ6JDDBQ5pZLkKqWzT1yHg1yv0mTnGv8o9cJkVn2g2m1JpXk0Q9u3KJp\nIHj2hlGlr4hqLXUU1wE5\n=xE5d\n-----END PGP SIGNATURE-----\n',
    '$ md5 -q secrets.env\n4e0b21385c66e9e226bb066a8ca5a6fe\n',
    '[badge]: https://codecov.io/gh/a/b/branch/master/graph/badge.svg?token=6B6NxtsZc3\n',
  ])('are preserved: %j', (text) => {
    expectRedacted(text, text);
  });
});
