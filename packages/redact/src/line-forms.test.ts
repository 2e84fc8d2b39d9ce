import { describe, it } from 'vitest';
import { expectHidden, expectPreserved } from '../test/expect-hidden.js';

describe('codes that are valid once', () => {
  it.each([
    'Your PIN is: «482913»',
    'Your verification code is «482913». It expires in 10 minutes.',
    'Your verification code is:\n\n«482913»\n',
    '[DEBUG] OTP for joe@example.org is: «553363»',
    'Pairing PIN: «487385»',
    'Use «482913» as your login code.',
    'G-«759455» is your Google verification code.',
    'Your one-time password is «482913».',
  ])('are replaced in %j', expectHidden);

  it.each([
    'The exit code is 1234',
    'your pin code is valid for 2024 days',
    'access code 2024-05-01',
    'error code: 40001',
    'Your verification code is 6 digits long',
    'device code: 10.0.0.1:8443',
    'security code 1024.5 and 99%',
    '2024 is the year of your birth',
  ])('are no other numbers: %j', expectPreserved);
});

describe('passwords with signs in sentences', () => {
  it.each([
    'Nové heslo k VPN je «b=6nmQdNJf0H»',
    'La clave nueva del servidor de correo es «PzVg7H@cu2yci», no la compartas.',
    'รหัสผ่านใหม่คือ «NP%S6wRYr6CP»',
    'A senha provisória do seu usuário é «p=b31HHzREk4» e expira em 24h.',
    'hey, new root pw on web3 is «z3q=cQGx9GYY» - pls rotate after',
    'Новый пароль от сервера: «TigerPepper61!», никому не говори.',
    'Lösenordet till wifi är «Thunder-Orchid61?» på kontoret.',
    'I changed the admin password from «Ab3^xYz9Qw» to «cyA_f6fKvtQD» last night.',
  ])('are replaced as a whole in %j', expectHidden);

  it.each([
    'the password is passed as password=Config.Value2b in the file',
    'Passwords are set with `user.setPassword(v2Password)` by default',
    'The password policy is about Release-Candidate12 and later',
  ])('are no names with values, and no calls: %j', expectPreserved);
});

describe('logins on a line', () => {
  it.each([
    "*cmd* 'PASS «re6lAui81Yt5»'\n*resp* '230 Login successful.'",
    "*cmd* 'PASS «EK2PS^82OmkjJ»'",
    '  10:00.12 > b\'ABCD1 LOGIN joe@example.org "«m3Be4DsRQaGD=N»"\'',
    'Your AdGuard Home admin credentials: admin / «kW3Ewvm29Q6kYx»',
    "fyi I rotated the staging db creds, it's app / «bA4WFBM6x0IOS» now",
    'Default login: admin/«RS%5UIpjei»',
    'fly -t ci login -c https://ci.example.org -u admin -p «Hfp2k=rRer9Ka»',
    "run ['tool', '-u', 'm', '-p', '«F1Rjd1NnXeFRU»']",
    'set deviceconfig system snmp-setting access-setting version v2c snmp-community-string «UZ1l0jCkdvjorg»',
    'beeline> !connect jdbc:hive2://h1:10000/default joe «TaSx0kuT8ZtZp»',
    "Session.php - line 348: OC\\User\\Session->loginWithPassword('carol', '«kW3Ew!29Q6kYx»')",
    'StoredState { pkce_verifier: "«ZBJacGxLn6ZiqiLc77QO28iGFy9tzl2b»", created_at: 1741564800 }',
    '{"userName":"u_75524089","pwdInfo":"«I54ZYOyPwWbK09Uo8sK9cCUx»"}',
    'Access «KTy8u4TH2F4Z1YEjeCLh»  <- admin password',
    "sh -c smbclient -N -U 'CORP/u1234%«SaddleWinter35!»' -d 0",
  ])('are replaced in %j', expectHidden);

  it.each([
    "*cmd* 'PASS <password>'",
    'The login: admin/readwrite',
    "auth.loginWithRedirect('callback', 'state-parameter')",
    'tokenInfo: { type: "jwt", secretValue: getValue2() }',
    'open> connect https://docs.example.org/a b v1.2.3',
    'credentials: admin/ReadOnlyUser',
    "run ['ssh', '-u', 'm', '-p', '8022']",
    "run ['cp', '-u', 'a', '-p', 'name=value']",
  ])('are preserved without a password: %j', expectPreserved);
});

describe('keys of accounts', () => {
  it.each([
    '{"accountName": "b", "primary": "«ERR68j7/y5g5LddWE3as+VTKnIIYr8fiGIXWpxmQMgYhbFWvMvE6KHUOkYB56o6c9bhj6vIQM5lUv9h/cqpUTA==»"}',
    '{"key1": "«0C+41fQjsLetdzcq1fjxy1QC0s1dr5MmgjrOAC1jFEc=»", "key2": "«0CNcnqHqOWKdkbPrxem0nCnaE+ZvA+xBA9WcncGxYFk=»"}',
    '{"tokenName": "ci", "tokenValue": "«114b60423c363026cb5aaaccd1eb64ad7e»"}',
    "<QueryDict: {'username': ['joe'], 'password': ['«16a_QgrZVMd9»']}>",
  ])('are replaced in %j', expectHidden);

  it.each([
    '{"primary": "db1.internal", "secondary": "db2.internal:5432"}',
    '{"primary": "4d466e00a348ba426130664d795e8afa"}',
    '{"key1": "value1", "key2": "AAAAB3NzaC1yc2E="}',
    '{"password": ["This field is required."], "email": ["invalid2"]}',
  ])('are preserved without a key: %j', expectPreserved);
});

describe('passwords below and beside their users', () => {
  it.each([
    'host ftp.example.com\nuser webmaster\npass «Copper-barley845»\n',
    '{"username":"rsol","key":"«97fed92c77d9d9dfdbd2ecc215edf8c1»"}',
    'DATA_SOURCE_NAME=exporter:«Timberpaddle2217»@(localhost:3306)/',
    "client.login('«MTkyMjU0NzY4MjMwMTUxODY0NA.FPfJ4k.WaSmdfNwvisZ0PziTus-bGUTJJVfor9Z9uXqwC»')",
  ])('are replaced in %j', expectHidden);

  it.each([
    'user guide\npass through',
    '{"username":"rsol","key":"first_name"}',
    '{"file":"a.txt","key":"97fed92c77d9d9dfdbd2ecc215edf8c1"}',
  ])('are nothing else: %j', expectPreserved);
});

describe('code and figures behind a name', () => {
  it.each([
    "CLOUDSTACK_SECRET=config['secret'],",
    'API_SECRET=env["secret"]',
    "API_SECRET=settings.get('secret')",
    '  withCredentials: defaultToConfig2,\n  timeout: 1,',
    '"DEBUG=agenda:**,-agenda:internal:** vitest run"',
    '✓ security redacts a secret  301ms\n ✓ packages',
    '{cookie:`authorization=${encodeURIComponent(`Bearer ${token}`)}; isLoggedIn=1`}',
    'serial=4CAAF9CADB636FE01FF74ED85B03869D',
    'X-Amzn-Trace-Id: Root=1-e9308229-c2b9592d818c01aa67d655b1',
    'password: a-password',
    'password=my-password',
  ])('are preserved: %j', expectPreserved);

  it.each([
    "X_SECRET=«abcd1234[»'",
    'password: «Summer2024»,\nx: y',
    'password: «sunnyDay7x»,\nx: y',
    'user:joe,password:«sunnyDay7»,host:x',
    'password=«sunnyDay7»,user=joe',
    'password  «x301ms9»',
    'curl -u admin:«Internal:9x**» https://example.org',
    'Cookie: «authorization=kfj3kf93kfk39fkk3; x=1»',
    'Cookie: «sid=${x}; session=kfj3kf93kfk39fkk3»',
    'password: «A-C1gHNSD!XVQCK~g»',
    'password=«my-p4ssW0rd!x»',
  ])('are no passwords that look like them: %j', expectHidden);
});

describe('what resembles a secret', () => {
  it.each([
    ' /etc/pam.d/chpasswd 9900720564cb4ee98b7da29e2d183cb2\n',
    '{"o":"a\\nf37a618c1076c36474a8befa6a466cd9  bin/pwd\\n61b8680dc559f48c6fba7e7b363feb6f  bin/readlink\\n"}',
    'require at least N non-alpha characters for a new passphrase:3:3:N:1::\n',
    'Passphrase policy:1:1:Options enforcing a passphrase policy:0:0::::\n',
    'Found a cache from build 42 at v1-dependencies-Oe_kcT4vpOKTR51NLWBi_R83Lr1HWEaV-SPvfCCiuRF=',
    'X-Gm-Message-State: AOJu0Yunw6tBgS4YS2qke3xNVG6eG1_POLJastEDx8jY4d\n',
    '{"o":"  private key: (hidden)\\npeer: ERXDoB9tTBDmAaqj7P50lnMtmjCqCqduwbN2N5nHY9g=\\n  endpoint: x"}',
    'await EmailPassword.signIn("public", "asdf@asdf.asfd", "testpw", { x: true });',
  ])('is preserved: %j', expectPreserved);

  it.each([
    'vault kv get secret/password\npassword «9900720564cb4ee98b7da29e2d183cb2x»\n',
    'passphrase:«3:3:N:1:x9Qw»\n',
    'at «v1-secret-Oe_kcT4vpOKTR51NLWBi_R83Lr1HWEaV»',
    'DEPLOY_TOKEN=«v1-dependencies-Oe_kcT4vpOKTR51NLWBi_R83Lr1HWEaV»\n',
    'peer password: «Oe_kcT4vpOKTR51NL»\n',
    'message-state-token: «AOJu0Yunw6tBgS4YS2qke3xNVG6eG1»\n',
    'await EmailPassword.signIn("joe", "«Tr0ub@dor.x9Z»");',
  ])('is replaced if it only looks like that: %j', expectHidden);
});

describe('tables of wikis without a rule below the names', () => {
  it.each([
    '| Environment | User | Password |\n| staging | admin | «Pepper_4823?» |\n| demo | demo | «nf3ik1d8ql» |\n',
    '|| Environment || User || Password ||\n| staging | admin | «Pepper_4823?» |\n',
  ])('have values below: %j', expectHidden);

  it.each([
    '| Name | Key | Type |\n| host | primary | string |\n| size | foreign12 | int |\n',
    '| Parameter | Token | Meaning |\n| a1b2c3 | NUMBER_1 | x |\n',
  ])('are preserved without secrets: %j', expectPreserved);
});

describe('values that are more than words', () => {
  it.each([
    'token: «dadyko.bz4xfon1xlngz8s2»\n',
    'const resend = new Resend("«re_XDtwJ99q_8xlumIFEJPEZZdgAazXZVPuu»");\n',
    'Sua nova senha é: «19st8m1xzc»\n',
    'Su nueva contraseña es: «19st8m1xzc»\n',
    'La tua nuova password è: «19st8m1xzc»\n',
    'curl --user myname:«password1» http://x.example\n',
  ])('are replaced: %j', expectHidden);

  it.each([
    'token: config.primarykeylookup\n',
    'curl --user name:password http://x.example\n',
    'const re_compiled_forEachElementOfTheMatcher = 1;\n',
    'La password è: obbligatoria\n',
  ])('are preserved without them: %j', expectPreserved);
});

describe('ids with a short prefix', () => {
  it.each([
    'payment_intent.succeeded pi_38gIPtpP4GFqr8a4ld5c89oD\n',
    'retried req_3rW4VzBHW6Z4pP4xttKVQfGX after 2 s\n',
  ])('are preserved: %j', expectPreserved);

  it.each([
    'token «sec_38gIPtpP4GFqr8a4ld5c89oD»\n',
    'Authorization «lic_38gIPtpP4GFqr8a4ld5c89oD»\n',
    'credential «cus_38gIPtpP4GFqr8a4ld5c89oD»\n',
    'auth «pi_38gIPtpP4GFqr8a4ld5c89oD»\n',
    'login: joe «req_38gIPtpP4GFqr8a4ld5c89oD»\n',
    'admin / «pi_38gIPtpP4GFqr8a4ld5c89oD»\n',
  ])('are replaced where a secret may be: %j', expectHidden);
});

describe('shares of the key of a vault', () => {
  const hex = '8ca3f1e0b7d24695a1c3e5f70918273645546372819fadbecd0e1f2a3b4c5d6e7f';
  const base64 = '9J2kQ7rV0bX3mZ5tW8yA1cE4gI6nP+sUdFhLoKjTvRzq';

  it.each([
    `{"keys":["«${hex}»"],"root_token":"x"}`,
    `{\n  "root_token": "x",\n  "keys": [\n    "«${hex}»"\n  ]\n}`,
    `{"keys_base64":["«${base64}»"]}`,
    `{"unseal_keys_b64":["«${base64}»"],"unseal_shares":5}`,
    `recovery_keys_hex: ["«${hex}»"]`,
    `«SWMTKN-1-49nj1cmql0jkz5s954yi3oex3nedyz0fb0xx14ie39trti4wxv-8vxv8rssmk743ojnwacrr2e7c»`,
    'enable secret 5 «$1$wKWN$JiIJIRkUOoUWoAJzGGpOue»',
  ])('are replaced in %j', expectHidden);

  it('are replaced together', () => {
    expectHidden(`{"keys":["«${hex}",  "${hex.replace('8c', '7d')}»"]}`);
    expectHidden(`{"keys":["«${hex}", "${hex.replace('8c', '02')}»"]}`);
    expectHidden(`{"keys":["«${hex.replace('8c', 'ed')}", "${hex}»"]}`);
  });

  it.each([
    `{"keys":["02${hex.slice(2)}"]}`,
    `{"keys":["${hex.slice(2)}"]}`,
    `{"keys":["4Nd1mBQtrMJVYVfKf2PJy9NZUZdAsTp7D4xWLWmWRS5o"]}`,
    `{"keys":["name","other"],"unseal_keys_b64":[]}`,
    `{"unseal_keys_b64":["${'A'.repeat(44)}"]}`,
    'text.replace(pattern, "$1$FirstNameOfThePersonInCharge")',
    '"$1$/src/HTMLElementXMLParser.ts"',
  ])('are no other values: %j', expectPreserved);
});
