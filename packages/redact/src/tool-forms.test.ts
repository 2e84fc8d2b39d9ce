import { describe, expect, it } from 'vitest';
import { expectHidden, expectPreserved, expectRedacted } from '../test/expect-hidden.js';
import { createRedactor } from './create-redactor.js';

const { redactData } = createRedactor();
const r = '[redacted]';

describe('the key of an AWS id', () => {
  it.each([
    'ACCESSKEY\t«AKIAQ3EGRIN5T7XHUWZ4»\t2026-01-02T03:04:05+00:00\t«d8Kq2LmZ0vRt7YxWcN4bPfHs6GjEaU1oQiTkXw3C»\tActive\tjoe\n',
    "SELECT * FROM s3('https://b.s3.amazonaws.com/x.csv', '«AKIAQ3EGRIN5T7XHUWZ4»', '«d8Kq2LmZ0vRt7YxWcN4bPfHs6GjEaU1oQiTkXw3C»', 'CSV')\n",
  ])('is replaced apart from the id in %j', expectHidden);
});

describe('secrets in the forms of tools', () => {
  it.each([
    ['nomad gossip', 'server {\n  enabled = true\n  encrypt = "«GcO5Lmzm3E43Gl69jiRBB1PX9Efqgfoy8FTR4/hP02k=»"\n}'],
    ['serf', '{"encrypt_key": "«lqVTykgKmiy4fQCeD1jtCA==»", "node_name": "a"}'],
    ['bundle yaml', '---\nBUNDLE_RUBYGEMS__PKG__GITHUB__COM: "octocat:«oQu2R03gEYqNf1»"'],
    ['composer', '$ composer config http-basic.repo.acme.io build «IUrTTYhl87sXfgZT»'],
    ['composer github', '$ composer config -g github-oauth.github.com «e3d0e6aa48814ffd0b2c40157bc15cd9f7f2f430»'],
    ['poetry', '$ poetry config http-basic.acme ci «XsTTwSe7fAJKe3k»'],
    ['shodan', '$ shodan init «CwWkl4SigZoukpeLheHNTzhtgErXD8pK»'],
    [
      'pptp chap',
      '# Secrets for authentication using CHAP\n# client\tserver\tsecret\t\t\tIP addresses\njoe\t\tpptpd\t«7OdbhRE2DQELG5»\t\t*',
    ],
    ['chap inline', '"joe" * "«3IrrJL3LTAl7qO»" 10.0.0.5'],
    ['xl2tpd', 'vpnuser l2tpd «2nzFZk4M8HC3LT» *'],
    [
      'secretsdump aes',
      'ACME\\krbtgt:aes256-cts-hmac-sha1-96:«997dde35e6def8d608c1b7375af6bce1e56d9374bede557f2901601206f3be67»',
    ],
    ['evil-winrm hash', 'evil-winrm -i 10.0.0.7 -u joe -H «060d5198c79253c57375b60d538ba91a»'],
    ['netdom2', 'netdom resetpwd /s:dc1 /ud:acme\\joe /pd:«LlYOMLsryr6cV»'],
    ['clickhouse remote', "SELECT * FROM remote('ch1:9000', db.t, 'joe', '«0psPZJivU4ZxQmL1»')"],
    ['clickhouse postgresql', "SELECT * FROM postgresql('db:5432', 'x', 't', 'joe', '«1g6yLR2XKCtSyb»')"],
    [
      'clickhouse s3',
      "INSERT INTO FUNCTION s3('https://b.s3.amazonaws.com/x.csv', 'YUHYAGHJMBRQ7F6266ZD', '«MZWFK1tNhi3GtP6PTFefnMRsfuzoIva2ZFNqLRQM»', 'CSV') SELECT 1",
    ],
    ['clickhouse mongo', "SELECT * FROM mongodb('m:27017', 'db', 'c', 'joe', '«qTdXRTRCO6NayqF»', 'id Int')"],
    ['sentinel', 'sentinel auth-pass mymaster «sQIO5hsjdozfWz»'],
    ['couchdb', '[admins]\nadmin = «3DpNCUzLnKsl0W»'],
    [
      'influx token',
      'influx auth create --all-access\nID\t\t\tDescription\tToken\t\t\t\t\t\t\t\t\t\t\t\tUser Name\n0b1c2d3e4f5a6b7c\tx\t«llbIlATU9kHCFyA7BbrbQPW3FR55hRhkfyKWSe19I/6sbe3bMeSp/L81kqAr6V8inF25bp9Immuh3XSRg4EYmg==»\tjoe',
    ],
    ['erlang setcookie', 'erl -name a@b -setcookie «YTM459J5PTOQIUIKN3A5»'],
    [
      'aws ssm',
      '$ aws ssm get-parameter --name /prod/db --with-decryption --query Parameter.Value --output text\n«IW6fcxzeVtqbKmU»',
    ],
    [
      'gcp redis auth',
      '$ gcloud redis instances get-auth-string r\nauthString: «21037340-bb4d-4c5e-afd2-e50714f78ae5»',
    ],
    [
      'hadoop azure',
      'spark.conf.set("fs.azure.account.key.acme.blob.core.windows.net", "«N6bBFrskWQ48gGoVm4eeAWyi5d+OV4748XRaBBohT50wwlYUyFc5/WdHsc52vv6xW0mtGQSVNK5IbBckh0SlTw==»")',
    ],
    [
      'hadoop wasb xml',
      '<name>fs.azure.account.key.acme.blob.core.windows.net</name>\n<value>«bXX/gljT1inW6Nq8yz29sGryL9o41QYRHw6BqmXd/5+0Qi2Zmbdr8hMVCZVRlfGD2rhCevgWum929IkB5rmJ/Q==»</value>',
    ],
    [
      'proxmox token',
      '┌──────────────┬──────────────────────────────────────┐\n│ key          │ value                                │\n╞══════════════╪══════════════════════════════════════╡\n│ full-tokenid │ root@pam!ci                          │\n├──────────────┼──────────────────────────────────────┤\n│ info         │ {"privsep":"1"}                      │\n├──────────────┼──────────────────────────────────────┤\n│ value        │ «70865552-f845-4d3c-a0e4-cae266a9b3e4» │\n└──────────────┴──────────────────────────────────────┘',
    ],
    ['consul keygen out', '$ consul keygen\n«Gdk2t78z02qtZsittwppo5BlPC0bTlgUw08vLNZCJEM=»'],
    ['pass', '$ pass db/prod\n«jFfKKiiCoph80YPH»'],
    ['berglas', '$ berglas access acme/db\n«v5YV5mEXjQs8Ts5»'],
    [
      'openssl enc -P',
      'salt=682B9D69B1FAACA0\nkey=«A06AE3FA2A36E5B6AD21EBD0DEC1061E9EC4E3CDC9374C26DF1DB62563FA1A2A»\niv =1235F6B710E8ED106B057450A00D8894',
    ],
    ['steamcmd', 'steamcmd +login joe «bZHC3GiV59hkt» +quit'],
    ['electrum', '    "seed": "«olive filter olive volume female filter north female system canyon stay fold»",'],
    [
      'lnd macaroon',
      'Grpc-Metadata-macaroon: «92fc6753c1dfcf8f4ec9f5c6628a411db4f5a0c3547658c32af428c54637535d7c36d43eeea262ea0952e6b82a025a6b86fbff5ed005e067e3b29036204ac8a2f24314f37888665c51465943e7657321ea2da2004804c3db8ce21528564c2a4043a09505»',
    ],
    ['davfs', 'https://dav.acme.io/x joe «u5ARxlQrxwDyER»'],
    ['proxychains', 'socks5 10.0.0.1 1080 joe «KYy8MYTE4wFx4»\nhttp 10.0.0.2 8080 bob «P8YUxqlbAepSGdk5»'],
    ['cntlm', 'PassNTLMv2      «B5F6F9318101B797E5C3EFA2FD4CD63B»\nPassLM          «C973226A270CB541C65338FECF97EE85»'],
    [
      'saml idp',
      'SAMLResponse=«IGxocA6l3xJlzdL3zDvBC8BkB8ETrbIGNIvXW5YM7pHkrZUsh52TU+kL0t3QJi8HiPDX185DEd1F4/7+5zmzWik/T9Ra4rLuxy7i4IJJNVyPMUqAxdcR9HIjqHrWoOSyNSmhhlhuCbuh/uaKJ5/73tPyXNhpnMsSJwVTXe7axNVkw1/6wgY7Yk63twaF1mO7rljmfOMqHlwsIrl5/lDgpztOFtFfCV4eexT79OsXZ+AK7gGV6+lv6yVis/aaos0+jrhuYg2Uvh0=»',
    ],
    [
      'gitlab rails',
      'production:\n  secret_key_base: «90a92f4e363420d650d8bd0e965bbc093d81819cf341771178c332e770aef152f32e85ac51067298c3c33d0353dc26ca7a0fd2faaa7da4553fd80d7f886b209a»\n  otp_key_base: «5e60ecf8f368fcfa52007c74611d8a1a53e0c9e9e4018dcf0df8612f3a90dc4017e7371a044d16b966292ac81b379683396be77b9526aaa57e08d2cfd2ef0091»\n  db_key_base: «794b0c66da56f382bcb67d398b5452b6a7e1ffa7ef53a9536962c5093a952f8cdde82e6a0941e676f4897341e8d1bc4e2bcc181557886e1bbcf585f2a3bdcde9»',
    ],
    ['concourse', 'CONCOURSE_ADD_LOCAL_USER=joe:«UPGTd812oNkC6cY5»'],
    ['pagerduty routing', '"routing_key": "«e8c4347283d13f755652ca0e43d488a5»"'],
    ['rails', '$ cat config/master.key\n«eba718b05eea6dace33e03b10ffbd4f7»'],
    ['nifi', 'nifi.sensitive.props.key=«7EyqEv8no2uMb8mB5RZtaTukMm7RN/ft»'],
    ['deluge', 'localclient:«8ba20ed81704bdca5b08ea6daab16722366040f0»:10\njoe:«mZjME6G1ewnpdx9n»:10'],
    ['sabnzbd', 'api_key = «cc93da8baa0e0f5c3907199baa4a1075»\nnzb_key = «1ea0e1981fdaade39e171831d2bba246»'],
    ['sendmail', 'AuthInfo:smtp.acme.io "U:joe" "I:joe@acme.io" "P:«6v3SyslKYaPiE»" "M:PLAIN"'],
    ['unifi adopt', 'set-inform http://u:8080/inform; mca-cli-op set-default\nubnt / «wmczQb4KAAqvZmgH»'],
    ['hp procurve', 'password manager user-name joe plaintext «CuL1TaYXFMwN3c»'],
    ['dnsmasq ddns', 'ddns-key: «6yafDZVQ6pdMK/ETbyFERhsd+sATaM0WxqneVhKxz+c=»'],
    [
      'az kv',
      '"value": "«Qlhh9o19VvFFOZJ»", "id": "https://kv.vault.azure.net/secrets/db-password/9eb0d50508e42558f1fed4dbc3a8a05e"',
    ],
    [
      'consul agent',
      '  "acl": {"tokens": {"agent": "«40e0a8c8-85e5-49e6-ac41-63376bf48ba9»", "default": "«d779cde5-e166-4056-a251-f65a9d4d3c75»"}}',
    ],
    ['cyberark', '  "Content": "«CXNOeZPRlgn3t»", "UserName": "joe"'],
    ['thycotic', '"itemValue": "«n805xRj9BeIyR»", "fieldName": "Password"'],
    ['codepush', 'deployment key | «3P34ofKWF2ddqBRfSTnHfHSbUuTsrJJMJuVBl»'],
    ['yarn v1', '"//npm.acme.io/:_authToken" "«aa6ac502-ba54-4dd0-aad5-8a368bb55527»"'],
    ['rebar', '{repos_key, "«74f3fd2bc6ff0e0962d22c57ed06ebb2»"}.'],
    ['chat', "here's the wifi: Guest / «hIX9UE97O0RXQL»"],
    ['jira', 'h3. Credentials\njoe / «0t8o14PhMNhuKHDD»'],
    ['john', '«YdNbYQDFfgD2i8OT»           (joe)'],
    ['rubeus', 'Rubeus.exe asktgt /user:joe /rc4:«C6D34048D8F05CE6A5A8C773E7A16346»'],
    ['vicidial', 'VARDB_pass => «r29X09QNB54Ha»'],
    ['pocketbase', '$ ./pocketbase superuser upsert a@acme.io «hrhgvuDXx7CqaK3t»'],
    ['freshdesk', 'curl -u «BzZWe9koCX0t85z1KLXs»:X https://acme.freshdesk.com/api/v2/tickets'],
    [
      'juju reg',
      'juju register «XcCERvJrErhhUtxihT+G+3sNICLSBdKB4VIFwoCWUy64I1fZ9ppO3zprnzkXPPg5R7O8Q5XkOJvmu+ZO4qZj1GGrMZ6wlX9vhRx70DynAytSjnUwZhV2uBKH»',
    ],
    ['rsyncd', 'joe:«aX7CrwgsjeyVnIV»'],
    ['thehive', '  key = "«aq6shbFvJyzJrNG8J70fYW4Q0LfjbnNw»"'],
    ['vless', 'vless://«743ca151-9087-4007-a5f4-8b7677742391»@h:443?encryption=none#x'],
    ['tuya', 'local_key: «HSEgoHAW8yTIbNXR»'],
    ['mattermost', 'https://mm.acme.io/hooks/«ueit6zdh60d0hs5n7ho3av784y»'],
  ])('are replaced: %s', (_, marked) => {
    expectHidden(marked);
  });

  it.each([
    [
      'wolfram',
      'http://api.wolframalpha.com/v2/query?appid=LV0MFC-J4F46OVXGR&input=pi',
      'http://api.wolframalpha.com/v2/query?appid=[redacted]&input=pi',
    ],
    [
      'bundle env 2',
      'export BUNDLE_ENTERPRISE__CONTRIBSYS__COM="76de84e3:3f62012c"',
      'export BUNDLE_ENTERPRISE__CONTRIBSYS__COM="[redacted]"',
    ],
    ['ubuntu pro', '$ sudo pro attach C1CjUXoZxIkQcLqbUmxg1cWdHjI7qU', '$ sudo pro attach [redacted]'],
    [
      'huawei',
      ' local-user joe password irreversible-cipher $1a$W7RBrinTpX$HnGMmQkBnGXLAs2TNA7UNboUA1lHPOxJRmEZW7MdgRA7$',
      ' local-user joe password irreversible-cipher [redacted]$',
    ],
    [
      'responder',
      '[SMB] NTLMv2-SSP Hash     : joe::ACME:3e053eb12d6e8292:02862A408AD2EE08AD9A9B2BF374ABBC:AE42C948D63E7FD210DDDEF656D5B7464A114DF7BA727E209F31348453048BAB9E4E1596E5F6990C',
      '[SMB] NTLMv2-SSP Hash     : joe::ACME:3e053eb12d6e8292:[redacted]',
    ],
    [
      'pgbouncer',
      '"joe" "Zi6Fid8YC9Dpm"\n"bob" "md5cc235bc8d1134d4fbdf4a4c414f74d5b"',
      '"joe" "[redacted]"\n"bob" "[redacted]"',
    ],
    [
      'couchdb hash',
      '[admins]\nadmin = -pbkdf2-ff4235b2631bbacdc7c8b24d520bfcfdc4a40f51,ed88822fdf5e1dbcd240772413bd4694,10',
      '[admins]\nadmin = [redacted]',
    ],
    [
      'aws iam smtp',
      'SMTP user,SMTP password\nAKIAK5UU432R6HUKV7W2,BN4idFYGRmv3VKbj24uV9K84n24E6ifUazm3cU7cBVIU=',
      'SMTP user,SMTP password\n[redacted],[redacted]',
    ],
    [
      'git-crypt',
      '$ base64 git-crypt.key\nAEdJVENSWVBUS0VZikNRlGHfaxD55wovcy7S8cqntHhG70oKq2hp3OQTeffiwWR6KlIxXc6ZoR3XwoqZS4eCxXP6uHuUccl5EdPYpqCC0A6jQmnwvPv9SFlCvfKWK58Lomo0VKYm',
      '$ base64 git-crypt.key\n[redacted]',
    ],
    [
      'dumpprivkey',
      '$ bitcoin-cli dumpprivkey bc1qxy\nKcyyzG4tiMn21tiJmrkMfQV3e2dYqD6vuQjrZT1ZNqRBhNxohviH',
      '$ bitcoin-cli dumpprivkey bc1qxy\n[redacted]',
    ],
    [
      'anvil',
      'Private Keys\n==================\n\n(0) 0x27e848606e1de8bd493c05736c115885f2559d91102602da4c0fdb7527994dfc\n(1) 0x411faa5acbf700b083ef5fac0f957e5e9d252c03890cca65287dba3684d4657d',
      'Private Keys\n==================\n\n(0) [redacted]\n(1) [redacted]',
    ],
    [
      'solana',
      'Save this seed phrase and your BIP39 passphrase to recover your new keypair:\ngravity defense attitude fold gravity volume stay canyon system ribbon female stay',
      'Save this seed phrase and your BIP39 passphrase to recover your new keypair:\n[redacted] [redacted] [redacted] [redacted] [redacted] [redacted] [redacted] [redacted] [redacted] [redacted] [redacted] [redacted]',
    ],
    [
      'conda',
      'https://conda.anaconda.org/t/9h-978ed666-c83e-4340-a24b-3a0ab3a2cf50/acme',
      'https://conda.anaconda.org/t/[redacted]/acme',
    ],
    ['wp app password', 'Password: NRdn XOs2 D6J7 d0tZ d1SD t5t8', 'Password: [redacted]'],
    ['plex claim', 'PLEX_CLAIM=claim-yVMfTRlF9Frd0mbKWYRu', 'PLEX_CLAIM=[redacted]'],
    [
      'grub',
      'password_pbkdf2 root grub.pbkdf2.sha512.10000.2038CF298830A59D3D28BE86F0EB2A0AE361FAC1F3E4EDC30F28342CB7569FB8C0330E5C0B93B4148972510E7486E282F8904ED20B0ACAA2DC4CCF5DFB820439.6B5B5A31B291E353342FF2392D6F503B50045DC31789A8C495919E10AB26567EC839320D50DA256C9E4DD0488854BEC9CD78E7AFD0D8D016BAD56B824DEB82FD',
      'password_pbkdf2 root [redacted]',
    ],
  ])('are replaced as a whole: %s', (_, text, expected) => {
    expectRedacted(text, expected);
  });
});

describe('the end of a string in JSON', () => {
  it.each([
    String.raw`{"stdout":"username,password\nadmin,«UD2bfVrjyvvzvX»","exitCode":0}`,
    String.raw`{"stdout":"[ProxyList]\nsocks5 10.0.0.1 1080 joe «HYG61qG6EQRPyW»","exitCode":0}`,
    '{"stdout":"https://dav.acme.io/files jl «7GGTfsRUfhV07d»","exitCode":0}',
    String.raw`["[admins]\nadmin = «tbGL0hYm149exrcB»"]`,
    String.raw`{"stdout":"$ bin/rails secret\n«bff71f82696e2bc556698d5e2fcdb967»"}`,
  ])('ends a line in %j', (marked) => {
    expectHidden(marked);
  });
});

describe('everyday texts', () => {
  it.each([
    // Lists of secrets with the times of their changes, as `gh secret list` prints them.
    'NAME                   UPDATED AT\nNPM_TOKEN              2026-01-11T08:12:44Z\nAWS_SECRET_ACCESS_KEY  2025-11-20T09:41:27Z',
    '- **Server host key**: `rsa-sha2-512`, `rsa-sha2-256` (RFC 8332)',
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
    'Certificate ID key : 303b300906052b0e03021a050004148a83e0060faff709ca7e9b95522a2e81635fda0a0414f652b0e435d5ea92385150\n',
    '    $ gpg --keyserver pgp.mit.edu --recv-key 992A96E075056E79CD8214F9873DB37572A37B36\n',
    'Signature by key 15866BAFD9BCC4F3C1E0DFC7D69548E1C17EAB57 uses\n',
    'Sec-WebSocket-Key: OAq9rjiSboGkeahcgDZ3rU==\n',
    '{"cacheKey": "aB3dE9xQmN7pR2sT5uVw", "groupKey": "Zk8Lq2Wm7Xr4Ty6Bv9Nc", "s3Key": "Qw7Er5Ty3Ui9Op1As2Df"}\n',
    '[users]\njoe = admin, editor\nsvc-1 = readonly\n',
    'Public Keys\n===========\n1. d8Kq2LmZ0vRt7YxWcN4bPfHs6GjEaU1o\n',
    'Keys\n----\ndb\nsmtp2\n',
    'docker attach 4f1c2e7a9b3d5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8\n',
    'npm init vite@latest my-app2 -- --template react-ts\n',
    '$ git config user.signingkey\n3AA5C34371567BD2\n',
    '"libfoo.so.2" "GLIBCXX_3.4.30"\n',
    'https://github.com/acme/web 10.0.0.7 main-2024Q3\n',
    'std::vector<std::string> a::b:c\n',
    'const seed = "a fixed seed for the random numbers of the tests below";\nseed: 42\n',
    'export ADD_USER=joe:users\nAPP_IMAGE_USER=1000:1000\n',
    'encrypt: true\nencrypt = "aes-256-gcm"\n',
    'src/a.ts / src/b2.ts\nmain / Release2024\n',
    '  "value": "eu-west-1", "username": "joe"\n',
    'GET /v1/config?appid=com.acme.shop2&lang=de\n',
    'password_hash=None, password_hash: str, passwordHash := hash(password)\n',
    '[users]\n  theme = Dark2\n',
    'user,last login,count\njoe,2026-01-02,7\n',
    'ENV FOO_USER=app2:app2\n',
    String.raw`{"stdout":"{\"error\":\"limit of 40,000 input tokens per minute\"},\"request_id\":\"req_011Ct7lDTxVZFDrGHKMr7Sbp\"}"}` +
      '\n',
    String.raw`{"stdout":"arn:aws:secretsmanager:eu-west-1:872256877151:secret:prod/db-iaDjE6\narn:aws:secretsmanager:eu-west-1:744117849992:secret:prod/db-0w5qkv"}` +
      '\n',
    String.raw`{"stdout":"BEGIN:VEVENT\nUID:b971f831-47bd-4e5d-aea0-b93790efa194@acme.io\nmailto:rsnapshot-discuss-request@lists.sf.net"}` +
      '\n',
    '    50\ttO5j6MbA3k0sDdcTAC96CDeQ8VlM2jqsfU4xWvChqzuFS46NrcjvT9AvGTKl5WJV\n    51\tqsfU4xWvChqzuFS46/NrcjvT9AvGTKl5WJVTo0oxgZcxoWf3TZyLArKNebKxhz81\n',
    'The reason is that cleartext passwords have to be known.\n',
    'python:3.11-slim\napp:Release2024\nnginx:stable\n',
    'etag:W5bXqLm7Rt\nid:aB3dE9xQmK7\n',
    'Author: Joe <joe@acme.io> 4b0f1c2\njoe@acme.io 2026-01-02\nMerged by joe@acme.io v2.10.3\n',
    'curl -u octocat:x https://api.github.com\n',
    'https://github.com/acme/web/hooks/useLocalStorageWithExpiryAndVersion\n',
    'key = "translations.title"\nkey = node-cache-linux-x64-d41d8cd98f00b204e9800998ecf8427e\n',
    'const key = "selectedWorkspaceIdentifier";\n',
    'see mailto:joe@acme.io and xmpp:joe@acme.io\n',
    '[badge]: https://codecov.io/gh/a/b/branch/master/graph/badge.svg?token=6B6NxtsZc3\n',
  ])('are preserved: %j', (text) => {
    expectRedacted(text, text);
  });
});

describe('keys as bytes in data', () => {
  const bytes = [88, 181, 105, 136, 252, 25, 235, 10, 220, 214, 62, 60, 128, 51, 104, 153];

  it('are replaced below the name of a secret', () => {
    const data = { network_key: bytes, secretKey: Uint8Array.from(bytes), privateKey: { type: 'Buffer', data: bytes } };
    expect(redactData(data)).toEqual({ network_key: r, secretKey: r, privateKey: r });
  });

  it('are preserved below other names, and numbers that are counted', () => {
    const data = { pixels: bytes, secretKey: bytes.map((_, index) => index) };
    expect(redactData(data)).toBe(data);
  });
});

describe('names and values in other notations of tools', () => {
  it.each([
    [
      'a name above a key',
      '[upload-certs] Using certificate key:\n«af97daf2ffeae82f176cd99217122b3730e69b545f1241084d0e9891b14fb32f»\n',
    ],
    ['sections with colons', 'Jwt:Key = «YLMJjE7PJ5ELEEA1U2TBJTIPtbPuknHnxoXBTxImHghMVe7eKhoxjedVJ4VnMr8I»\n'],
    ['the number of a version', '_APP_OPENSSL_KEY_V1=«rYrgXszE8YcGuOViAe5GftFBfjXyhkoF»\n'],
    ['variables of Terraform', 'TF_VAR_pagerduty_token=«uXdbnwZMRhe9oBqihzZe» terraform apply\n'],
    [
      'a key with signs behind its id',
      'ACCESSKEY\t«AKIACEKTO1DXKQEODNVI»\t2026-11-20T10:00:00+00:00\t«jgNqj/5n4qVTWlkFQ1j5EVBMs49c/C0MrZJfzB+n»\tActive\n',
    ],
    ['a PIN in groups', ' * Debugger is active!\n * Debugger PIN: «817-985-569»\n'],
    ['binaries of Erlang', '{amqp_params_network,<<"svc">>,{plaintext,<<"«QNJ14hNEotqUUfUN»">>},<<"/">>}\n'],
    ['a method that logs in', "OC\\User\\Session->loginWithPassword('carol', '«Tiger-Kettle18?»')\n"],
    ['a private method', "at SSH2->_login('deploy', '«datiZopo2196»') in SFTP.php line 390\n"],
    [
      'a token in place of a user',
      'https://«5c344079fc004ee760b0d3c229b288fd36d80c5a»:x-oauth-basic@github.com/acme/tools.git\n',
    ],
    ['a login of SASL', 'client in: AUTH 1 PLAIN service=imap resp=«AGpvZUBleGFtcGxlLm9yZwBIVVFrWXdaIVN4UDRt»\n'],
    ['an attribute', '<credential-reference clear-text="«L96YpIatVjewRaE9t»"/>\n'],
    ['a short name', '(auth = "«ee5quhr5qtbmo1»", host = "127.0.0.1")\n'],
    [
      'a hash and its salt',
      '"credentials":{"solr":"«1SwpjU/NYKlt0xv4nLiBKvYRkfi1YVs+/lfEOK+SA3k= PJ8P2+jp9STPfl7ASZNqzTJN+RfjMkFgxwSxgzyk1pU=»"}\n',
    ],
    [
      'a password guessed from its hash',
      '«bf364b7177989bea8b1f3b8174ddb5d9»:«Indigo-5200»\n\nSession..........: hashcat\n',
    ],
    ['an address and a login', 'beeline> !connect jdbc:hive2://h1:10000/default joe «T^Sx0kuT8ZtZp»\n'],
    [
      'a name in quotes',
      "Found key 'app.jwt.secret' in PropertySource 'systemEnvironment' with value of type String: «aoQB2SEErGmC+kkcAbV+MDTX9EhasqDBwFH/tg445TzzsOVx5ixNeRB2qldg2n/I»\n",
    ],
    ['a slash behind a comma', 'the staging box is 10.0.4.2, root / «ac7PZIswCgByamxQ6»\n'],
    ['a selector', "await page.type('input[name=password]', '«Rocket#6730»', { delay: 20 });\n"],
    ['brackets', 'Application key [«base64:IkZV/kooG8/LUUnylKHlYdMDprgMnKdowS+XX4FaXOo=»] set successfully.\n'],
    [
      'a file of a shell',
      'rsync -av --password-file=<(echo «Tangocoral47») /srv/www/ mirror@rsync.example.org::www/\n',
    ],
    ['a part of a path', 'https://conda.example.com/t/«ac-b4162c15-c73e-4395-8f34-f6b0d7bf3d05»/main\n'],
    [
      'a table of reStructuredText',
      '=========  ==================\nuser       password\n=========  ==================\njoe        «Pepper_Cedar37*»\n=========  ==================\n',
    ],
    [
      'a UUID in a table',
      '┌───────┬──────────────────────────────────────┐\n│ token │ «7fb1c0d5-3f3a-4364-a881-6a8e525da582» │\n└───────┴──────────────────────────────────────┘\n',
    ],
    ['calls in calls', 'Github { credentials: Some(Token("«dfb1a2a1b453d8d0d5f617899199bb663fc46116»")) }\n'],
    [
      'wide columns',
      '$ tool keys list -n a -o table\nPrimaryMasterKey                                                                          SecondaryMasterKey\n----------------------------------------------------------------------------------------  ------------------\n«6HnsjiRsjQxXr3aZopI6af9Az73uW6W7X1MAQCFhf9DoZDYUhK8Ch7d+MfEfti5j/CtqtdGO3GrQac6TdYkM+g==»  «eqGDOCu3caUcX9PMG26E3vj6K5Yl»\n',
    ],
    [
      'a password of Terraform',
      '"name": "admin",\n  "instances": [{"attributes": {"bcrypt_hash": "«$2y$10$kbz4n7oRBgqBAWzDhbWOXuNXk0yMhC2jkDh4NwJOH1NKqPdqDUJbS»", "length": 20,\n  "result": "«Tvu!F?bnR3*0vVTXw»"}}]\n',
    ],
    [
      'a second secret of a command',
      'virsh secret-set-value --secret «32cd5675-fa4e-4034-9aad-499773c60577» --base64 «AQu3Q7aJ3xncheajp0Ld6vr3bgJ27LsWNl72UY==»\n',
    ],
    [
      'a key below its comment',
      'untrusted comment: minisign encrypted secret key\n«RWRTY0IyLMMXwlMeb0NDJdIgB+3imRwSAROExD67uDDS75m5P6qj3r9ErjesVVjkF1XUlQ44hUMDUU0Qbl70kVjhcbyGIqQQp9AtdhXH»\n',
    ],
    ['sensitive outputs', '{"db":{"sensitive":true,"type":"string","value":"«BGetxxfnQQd3bgA»"}}\n'],
    ['a command that prints', 'export BORG_PASSCOMMAND="printf %s «5CErywmiv8Tn6KdEyp»"\n'],
    ['quoted logins', "ssh: 'root' '«CL4B7VRVdjk9»'\n"],
    ['labels in brackets', '[Recovery Key] «jjzyijDrawIamYgKVpCggBX8PpV6ZHfvupNwFHFzG/U=»\n'],
    ['codes in data', '{"otp": "«482913»", "pin": "«5748»", "x": 1}\n'],
    ['codes in addresses', 'curl -d "user=a&otp=«482913»" https://x.example.org/\n'],
    ['a prompt of zsh', 'joe@mac app % pulumi config get dbPassword\n«esxbauxfo23»\n'],
    [
      'passwords like ids',
      'db password: «pi_38gIPtpP4GFqr8a4ld5c89oD»\n{"clientSecret": "«req_3rW4VzBHW6Z4pP4xttKVQfGX»"}\n',
    ],
    ['passwords like versions', 'password=«15+248+deb12u1»\n'],
    ['columns with numbers in their rows', 'user\tid\tpassword\njoe\t100010\t«b6nmQdNJf0H»\n'],
  ])('are replaced: %s', (_, text) => expectHidden(text));

  it.each([
    'payment_intent.succeeded pi_38gIPtpP4GFqr8a4ld5c89oD\n',
    'ii  postgresql-contrib    15+248+deb12u1    all    additional\n',
    'yppasswdd\t100009\typpasswd\netherstatd\t100010\tetherstat\n',
    '[token] refreshed-at-startup-2024\n',
    '{"pinned": "482913", "option": "482913", "pin": 1234}\n',
    "echo: 'root' 'application'\n",
    '* Debugger PID: 817-985-569\nphone 555-817-9855\n',
    '{<<"content-type">>,<<"application/json">>},{<<"v">>,<<"version-2">>}\n',
    'https://forum.example.org/t/how-to-use-the-new-editor-2023/1234\n',
    '====  ====\nname  key\n====  ====\nabcd  efgh\n====  ====\n',
    'Cache key [linux-node-20-abcdef] restored\n',
    'this._login("joe", user.name)\n',
    "page.click('input[name=token]', 'left-button1', { delay: 20 })\n",
    '{"items": {"sensitive": false, "value": "eu-west-1a"}}\n',
  ])('are preserved without them: %j', expectPreserved);
});
