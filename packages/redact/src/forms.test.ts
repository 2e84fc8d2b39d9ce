import { describe, expect, it } from 'vitest';
import { inChunks } from '../test/in-chunks.js';
import { createRedactor } from './create-redactor.js';

const { redact, stream } = createRedactor();
const r = '[redacted]';

const expectHidden = (form: string, secrets: readonly string[]): void => {
  for (const secret of secrets) {
    const text = form.replaceAll(/\bX\b/g, () => secret);
    const expected = form.replaceAll(/\bX\b/g, r);
    expect(redact(text), text).toBe(expected);
    expect(inChunks(stream, text).filter((output) => output !== expected)).toEqual([]);
  }
};

const expectPreserved = (text: string): void => {
  expect(redact(text)).toBe(text);
  expect(inChunks(stream, text).filter((output) => output !== text)).toEqual([]);
};

describe('passwords with signs', () => {
  it.each([
    '{"password": "X", "host": "db"}',
    "const password = 'X';",
    'DB_PASSWORD="X"',
    '[Service]\nEnvironment="DB_PASSWORD=X"\n',
    "ALTER USER joe PASSWORD 'X';",
  ])('are replaced in %j', (form) => {
    expectHidden(form, ['@Hammer42', '#Violet1987', '%u?b=aC$#D?VI:k7', '$n8!Kw=hc21', 'pilot718*', '5r;q&#hOxr0;j-8']);
  });

  it.each([
    'user: joe\npassword: X\n',
    'export DB_PASSWORD=X\n',
    'Password: X\n',
    '| password | X |\n',
    'passwd  | X\n',
    'set -e\nmysqldump -u backup -p X shop\n',
  ])('are replaced in %j', (form) => {
    expectHidden(form, ['nWbr,?PXZha8', 'czFm8R,0d-Azhd5', 'gs,*a2bretx7,Q!', 'harbor-maple-113']);
  });

  it.each([
    'password: @joe',
    'password: *dbPassword',
    'password = $DbPassword2',
    'password: %PASSWORD%',
    'char *password; const uint8_t* token = (uint8_t*) password;',
    'connect(password=config.Db2, user=x)',
    'password = Foo2(a, b)',
  ])('do not include %j', (text) => expectPreserved(text));
});

describe('values that are not beside their names', () => {
  const secrets = ['Hammer1987*', 'b7Kq2mZx', 'pilot718#'];

  it.each([
    'A temporary password is provided for this session: X\nChange it.\n',
    'Password of the root account on db1: X\n',
    '[sudo] Passwort für jdoe: X\n',
    'Mot de passe de la base : X\n',
    'Contraseña para el servidor de correo: X\n',
    'Пароль до бази: X\n',
    'I set the root password on db1 to X yesterday.\n',
    'The password is X until Monday.\n',
  ])('are replaced behind words: %j', (form) => expectHidden(form, secrets));

  it.each([
    '<p>Password: <b>X</b></p>',
    '<b>Password:</b> X<br>',
    '<strong>Password</strong>: X<br>',
    '<li>Contraseña: <code>X</code></li>',
    '<td>SMTP_PASSWORD</td><td class="code"><pre>&#x27;X&#x27;</pre></td>',
    '<tr><th scope="row">Password</th>\n<td class="x">X</td></tr>',
    '<p>Ihr Passwort lautet: <b>X</b></p>',
  ])('are replaced in elements: %j', (form) => expectHidden(form, secrets));

  it.each([
    'SENT: password "Auth" "X"\n',
    '1718188812.33 [0 10.2.0.14:51022] "AUTH" "worker" "X"\n',
    '{:user "joe" :pass "X"}',
    '(password . "X")',
    '$1 = {user = 0x55e0 "root", passwd = 0x55f0 "X", port = 3306}',
    '(gdb) print password\n$2 = 0x7ffd2c "X"\n',
    'In [4]: settings["password"]\nOut[4]: \'X\'\n',
    'scala> config.password\nval res0: String = "X"\n',
    '> db.auth("joe", "X")\n',
  ])('are replaced in quotes: %j', (form) => expectHidden(form, secrets));

  it.each([
    'password policy of the tenant: strict2b\n',
    'Password hash for the user: 0f3a5c7d9e1b\n',
    'The password must be changed for the account: Reports\n',
    '<b>Password:</b> <i>required</i>',
    '<td>Password:</td><td>&nbsp;</td>',
    'Cache restored from key: Linux-node-0f3a5c7d9e1b2a4c6d8e0f1a2b3c4d5e0f3a5c7d9e1b2a4c6d8e0f1a2b3c4d5e\n',
    'password: ENC[AES256_GCM,data:bK8sKz9dLq2mXv+/Zq,iv:gD8XIjG/Q9ipQg2LGGFFrLGN+/9QhZqAEv4B1fpjib3=,tag:mVSa/aRKSfiOjN4vXFpMu1==,type:str]',
  ])('do not include %j', (text) => expectPreserved(text));
});

describe('names in other languages', () => {
  it.each([
    'Initialpasswort',
    'Tijdelijk wachtwoord',
    'Contraseña temporal',
    'Senha provisória',
    'Mot de passe provisoire ',
    'Şifreniz',
    'Kata sandi',
    'Συνθηματικό',
    'Құпия сөз',
    'Գաղտնաբառ',
    'پاس ورڈ',
    'கடவுச்சொல்',
    '合言葉',
    'Parol',
    'Clave API',
    'Chave de API',
    'Clé API ',
    'API-Schlüssel',
    'Geheimer Schlüssel',
    'API-ключ',
    'APIキー',
    'API密钥',
  ])('precede secrets: %s', (name) => {
    expectHidden(`${name}: X\n`, ['qT9#vLm2!xRz', 'nK3vXr8PqW5tZy2LmB7d']);
  });

  it.each([
    'MDP_BDD=X\n',
    'SENHA_BD=X\n',
    'PASSWORD_DB=X\n',
    'haslo_db = "X"\n',
    'DB_CLAVE=X\n',
    'Zugangsdaten: joe / X\n',
    '账号: joe / X\n',
    'パスワードは X です\n',
    '默认密码是X，请修改\n',
    'Ваш пароль X\n',
    'Das Kennwort wurde auf X geändert.\n',
    'Le mot de passe a été changé en X hier.\n',
    'password → X\n',
  ])('are read in %j', (form) => expectHidden(form, ['qT9#vLm2!xRz', 'Hammer1987']));

  it.each([
    'Clave primaria: usuario\n',
    'Schlüssel: Wert\n',
    'la clave: comprender el problema\n',
    '密码长度必须至少为12个字符\n',
    'パスワードは12文字以上で入力してください。\n',
    'Длина пароля: 12\n',
    'Contraseña: obligatoria\n',
  ])('do not make %j a secret', (text) => expectPreserved(text));
});

describe('commands and configurations', () => {
  it.each([
    'snmp-server user mon grp v3 auth sha X priv aes 128 X\n',
    ' snmp-agent community read cipher X\n',
    ' ospf authentication-mode md5 1 plain X\n',
    ' ip ospf message-digest-key 1 md5 X\n',
    ' standby 1 authentication X\n',
    'radtest joe X localhost 0 X\n',
    'createUser mon SHA "X" AES "X"\n',
    'com2sec readonly default X\n',
    'tacacs server s\n address ipv4 10.9.9.9\n key 7 X\n',
    'set psksecret ENC X\n',
    'DETAIL:  Key (password)=(X) already exists.\n',
    'key chain k\n key 1\n  key-string 7 X\n',
    ' enable password level 15 X\n',
    ' super password level 3 simple X\n',
    ' security wpa psk set-key ascii 0 X\n',
    '<sharedKey><keyMaterial>X</keyMaterial></sharedKey>',
    'db2 => connect to SAMPLE user joe using X\n',
    '.LOGON server/joe,X;\n',
    'sqlplus -s joe/X @report.sql\n',
    'SQL> conn joe/X@db\n',
    'osql -Usa -PX\n',
    'kinit joe <<< X\n',
    'sudo rabbitmqctl authenticate_user joe X\n',
    'SMB 10.0.0.5 445 DC01 [+] ACME\\joe:X\n',
    '------a\nContent-Disposition: form-data; name="password"\n\nX\n------a--\n',
  ])('have secrets in %j', (form) => expectHidden(form, ['qT9vLm2!xRz', 'Hammer1987']));

  it.each([
    'snmp-server community public RO\n',
    ' authentication text is shown below\n',
    'Read the catalog of/by using connect to the server.\n',
    'Passwort: erforderlich\n',
    'Mot de passe : obligatoire\n',
  ])('have none in %j', (text) => expectPreserved(text));
});

describe('ids and keys', () => {
  const id = '8f3a2c1d-1a2b-4c3d-8e9f-0a1b2c3d4e5f';

  it.each(['[http://hec]\ntoken = X\n', 'SecretID         X\n', 'x-consul-token: X\n'])('are replaced in %j', (form) =>
    expectHidden(form, [id]),
  );

  it.each([
    '#define PASS "X"\n',
    'set -gx PASS X\n',
    '<env name="PASS" value="X"/>',
    'AWS Secret Access Key [None]: X\n',
    '{"ParameterValue": "X", "ParameterKey": "Password"}',
    '$ head -c 32 /dev/urandom | base64\nX\n',
  ])('are found by their names in %j', (form) => expectHidden(form, ['qT9vLm2!xRz']));

  it.each([
    `partition key: user#${id}\n`,
    'x5t#S256: dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk\n',
    'MessageSid: SM0f3a5c7d9e1b2a4c6d8e0f1a2b3c4d5e\n',
    'token: "{cipher}682bc583f4641835fa2db009355293665d2647dade3375c0ee201de2a49f7bda"\n',
    'password: ENC(G6N718UuyPE5bHyWKyuLQSm02auQPUtm)\n',
    '#3  0x00007f3c2a1b4d90 in check_password (user=0x55d0c8a2e2a0, pw=0x7ffd2c3a1b40) at auth.c:112\n',
    'token = uuid4\nsecret = random.randint(1, 100)\n',
  ])('are public in %j', (text) => expectPreserved(text));
});

describe('values with signs between them and their names', () => {
  const random = 'kq7RzW2vXb9LmT4c';
  const key = 'aB3/dE9xQ+k7RzW2vXb9LmT4cPq8sT1uVw5yZ0aC2eF4gH6iJ8kL0mN2oP4qR6sT8uV0wX2yZ4aB6/cD8+fE0==';

  it.each([
    'static const std::string AzureAccountKey{\n    "X"};',
    'public static final String DEFAULT_ACCOUNT_KEY\n            = "X";',
    "assert.equal(parsed['AccountKey'], 'X');",
    'export const key =\n  process.env.ACCOUNT_KEY ||\n  "X";',
    'cleanup.exe \n    -storagekey X\n    -container backup',
    '--conf spark.copydata.storageaccountkey=X \\',
    'string backend_pass = "X";',
  ])('are replaced in %j', (form) => {
    expectHidden(form, [random, key]);
  });

  it.each([
    'if password == f"X":',
    '    Ldap password               ----   X\n',
    '"password" : {"X"}',
    'config.rootPass = "X";',
    'Administrator initial password (without quotes): X\n',
    'mc alias set e2e http://127.0.0.1:9000 app X >/dev/null',
    '기본 사용자: neo4j, 비밀번호: X)',
    'new DirectoryEntry("LDAP://dc1",\n          "CORP\\\\joe",\n          "X");',
  ])('are replaced in %j', (form) => {
    expectHidden(form, ['Violet1987@', 'rt7JkW2pXb']);
  });

  it.each([
    'hash("password")\n"5f4dcc3b5aa765d61d8327deb882cf99"',
    '"AWS::ApiGateway::ApiKey": "48205d4ffd7feba3",',
    'self, private_key: ed25519.Ed25519PrivateKey, f_priv: _FragList',
    "['crc-16-buypass', 'Crc16Buypass', 0x18005]",
    `--key-material='{ "Tr34KeyBlock": {" \\\n`,
    'private _identityAuth?: WorkloadIdentityAuth | X509WorkloadIdentityAuth;',
    'SECStatus PK11_CheckUserPassword(PK11SlotInfo *slot, const char *pw);',
    '{"arn": "arn:aws:secretsmanager:us-east-1:123456789012:secret:factory1-auth-3QNDmM"}',
    'if (password) {\n  md5hash2 = "x"\n}',
    '"password": "&lt;YOUR2PASSWROD&gt;"',
    "write_key: 's3://{bucket}/v2/events/dt={date}'",
    'Check demo credentials: admin@example.org / guest',
    "window.open('https://example.org/a1', 'popup1', 'width=640');",
  ])('are preserved in %j', (text) => {
    expectPreserved(text);
  });
});

describe('logins and manifests', () => {
  it.each([
    'ID/PW:joe/X',
    'username/password: joe/X',
    'user, password = joe, X',
    'IP/ID/PW 192.168.0.1/joe/X',
    'ID/PWD: joe / X (valid until May)',
    '아이디/PW:joe/X',
    '비번: X',
    '패스워드(X)',
  ])('are replaced in %j', (form) => {
    expectHidden(form, ['IhqSb1Gg', 'kq7RzW2vXb9L']);
  });

  it.each([
    'apiVersion: v1\ndata:\n  .dockercfg: |\n    X\nkind: Secret\n',
    'apiVersion: v1\nkind: Secret\ndata:\n  # the main entry\n  extra: X\n',
    'apiVersion: v1\nkind: Secret\ndata:\n\textra: X\n\tother: >-\n\t\tX\n',
  ])('are replaced in %j', (form) => {
    expectHidden(form, ['UyFCXCpkJHpEc2I9', 'hunter2xy']);
  });

  it.each([
    'user/password: see docs/setup/auth',
    'id/pass: unknown, retry 2',
    'username/password login/oauth2',
    'kind: ConfigMap\ndata:\n  a: |\n    aGVsbG8gd29ybGQ\n',
    '비번은 설정에서 변경',
  ])('are preserved in %j', (text) => {
    expectPreserved(text);
  });
});

describe('text beside the names of secrets', () => {
  it.each([
    'by shape: `--password=`, `sshpass -p`, SQL `IDENTIFIED BY`, and parameters',
    'echo "<li>Mot de passe : ".$_POST[\'mdp2\']."</li>";',
    '    decryption_key: Base64-encoded decryption key for the source, if any.',
    '    credentials: :class:`oauth2client.Credentials`',
    'class SHA224Password(Password):\n    hashfunc=hashlib.sha224\n',
    'def test_LineOver1DRangeSeries_complex_range():\n    pass\n',
    "credentials.Credentials(source, target_principal='impersonated-account@_project_.iam.gserviceaccount.com')",
    'SJsMC8tJP33st/3LjWeJGqvtux6jAAgIFyqCXDFdRootD4abdNlF+9RAsXqqaC2G\nspki4cErx5z481+oghLrGREt\n-----END CERTIFICATE-----\n',
  ])('is preserved in %j', (text) => {
    expectPreserved(text);
  });
});

describe('the key of a wireless network', () => {
  it('may consist of words with a digit', () => {
    expectPreserved('network={\n\tssid="Home 2"\n\tpsk="Wifi password"\n}');
    expect(redact('network={\n\tssid="Home 2"\n\tpsk="brown kettle 42"\n}')).toContain(`psk="${r}"`);
  });
});

describe('names, digests and placeholders', () => {
  it.each([
    'github.com/Azure/go-autorest/autorest/azure/auth v0.5.11 h1:P6bYXFoao05z5uhOQzbC3Qd8JqF3jUoocoTeIxkp2cA=\n',
    'golang.org/x/crypto v0.1.0/go.mod h1:6dJC0mAP4ikYIbvyc7fijjWJddQyLn8Ig3JB5CqoB9Q=\n',
    '#define DER_OID_SZ_id_X25519 5\nextern const unsigned char ossl_der_oid_id_X25519[DER_OID_SZ_id_X25519];\n',
    '/* Password based encryption V2 structures */\ntypedef struct PBE2PARAM_st {\n',
    'oauth2JwtBearer: Oauth2JwtBearer.\n',
    'private_key: PKCS7PrivateKeyTypes,\n',
    "('OAUTH2_CLIENT_SECRET', 'oauth2ClientSecret'),\n",
    'disableS3ExpressSessionAuth: config?.disableS3ExpressSessionAuth ?? false,\n',
    'keyPair.fromSecretKey=function(r){if(cr(r),32!==r.length)throw new Error("bad")}',
    '{"Statement": [{ "Sid": "Route53LogsToCloudWatchLogs", "Effect": "Allow" }]}',
    '"pass": {\n  "default": "必須のARIA子ロール2が存在します"\n}',
    "'sodium_crypto_kx_server_session_keys',\n'sodium_crypto_pwhash_scryptsalsa208sha256_str_verify')",
    'keyVaultToStoreSecrets: cmp2-qat-1208358310\n',
    'foreignKey=SIH6MH3jHEjn6cR69GiUmEIaLiMc_B\n',
    'curl --user user:pass https://example.org',
    'dsn: "user:password@tcp(host:port)/data?charset=utf8mb4"',
    'export http_proxy="http://proxyuser:proxypass@proxyhost:80"\n',
    'curl -H "Authorization: basic {base64(email:password[\\n])}" https://example.org',
  ])('are preserved: %j', (text) => expectPreserved(text));
});

it('replaces a key in place of the scheme of an authorization', () => {
  expect(redact('Authorization: AKIAQ3Y5WD4R2M72WE4F-u q7!Rw2!zK9\n')).toBe('Authorization: [redacted]\n');
});

describe('a password that people make of its name', () => {
  it.each(['{"databasePassword": "databasePassword42"}', 'clientSecret: "myClientSecret42",\n'])(
    'is replaced: %j',
    (text) => {
      expect(redact(text)).not.toContain('42');
    },
  );
});

describe('names and values with brackets, signs and particles between them', () => {
  it.each([
    'PW(X)',
    '(PW)X',
    'secret)X',
    'Password (X)',
    'password(default:X)',
    'Passwort (aktuell: X)',
    'PASS - X',
    'password | X',
    'password → X',
    'password설정은X',
    'PW는X',
    '비번 (X)',
    'パスワード → X',
    '<acmeSecret>\n    X\n</acmeSecret>',
    '<entry>\n  <name="acmeSecret" />\n  <value="X" />\n</entry>',
    '${acmeSecret} .= "X"',
  ])('are replaced: %j', (form) => expectHidden(form, ['UcyQd7Ry', 'Hk7vRq2Zw', 'qT9vLm2xRz4k']));

  it.each([
    'getPrivateKey(encoding: HexBase64Latin1Encoding): string;',
    'PK11_ChangePW(PK11SlotInfo *slot, const char *oldpw)',
    'decryptPassword(buf2Str)',
    'password (RFC2617)',
    'see the section on passwords (chapter3Part2)',
    'token(AppleID2FA)',
    '토큰 word2vec 모델',
  ])('are not found in %j', (text) => expectPreserved(text));
});

describe('values that names of a login or a sentence state', () => {
  it.each([
    'ID/PWD-joe/X',
    'ID/PW(joe/X)',
    'ID/PW -> joe / X',
    '(ID & PWD): joe/X',
    'id pw joe // X',
    'IP ID PW 192.168.0.1 joe X',
    'ID/Pass:web1:joe/X',
    'id/pw/port:joe/X/8080',
    'login/password - joe:X',
    'user and password: joe | X',
    '계정,비번-joe:X',
    'логин / пароль: joe / X',
    'X is the password',
    '// X is the new password',
    '#X is the api key',
    'X was our admin password.',
  ])('are replaced: %j', (form) => {
    expectHidden(form, ['UcyQd7Ry', 'Hk7vRq2Zw']);
    expectHidden(`{"stdout":"${form}","exitCode":0}`, ['UcyQd7Ry']);
  });

  it.each([
    'see src/user/password/Vec3Length.ts',
    'id/password/OAuth2Client',
    'BaseX64Url is the token format',
    'IPv6Addr is the key of the map',
    'user and password: joe | (none)',
    'login/password - see docs/Setup2Guide',
    'X509v3 is the password hash',
  ])('are not found in %j', (text) => expectPreserved(text));
});

describe('random letters in parts', () => {
  it.each([
    'password = X\n',
    'Server=db,1433;User ID=joe;Password=X;Encrypt=True',
    'rabbitmqctl add_user joe X',
    '{"stdout":"password joe2/X","exitCode":0}',
    '{"stdout":"the pwd of joe is X","exitCode":0}',
  ])('are replaced: %j', (form) => {
    for (const secret of ['sgrb_gbcwtd3', 'nssulz_aahy_au6hjh36', 'qwzkv_mtplx7']) {
      expect(redact(form.replace('X', secret))).not.toContain(secret);
    }
  });

  it.each(['Password=lqwi9j5*;', "resetUrlPassword: 'qfehgytwx0'"])('are replaced: %j', (text) => {
    expect(redact(`a=b;${text}`)).toContain(r);
  });

  it.each([
    'password = test_case_2',
    'token = read_utf8_token',
    'secret = load_pkcs1_secret',
    'password: sha256_crypt',
    'uint8_t* secret; vec3_t* token; mpz2* privateKey;',
  ])('are not found in %j', (text) => expectPreserved(text));
});

describe('random values of names that mention a secret', () => {
  it.each([
    'some_api_token_123 = "X"',
    'todo_secret_do_not_commit = X',
    '{"secretValueOfTheApp": "X"}',
    'fooapikeyfoo "X";',
    'old_password_from_vault: "X"',
  ])('are replaced: %j', (form) => expectHidden(form, ['lkUAz4KPSHRsZyWGLYjdktDyX8m4E7']));

  it.each([
    'secret_name = "lkUAz4KPSHRsZyWGLYjdktDyX8m4E7"',
    'token_hash: "lkUAz4KPSHRsZyWGLYjdktDyX8m4E7"',
    'csrf_token_field = "lkUAz4KPSHRsZyWGLYjdktDyX8m4E7"',
    'nextPageTokenForList: "lkUAz4KPSHRsZyWGLYjdktDyX8m4E7"',
    'secret_commit: "0f3a5c7d9e1b2a4c6d8e0f1a2b3c4d5e0f3a5c7d"',
    'convertUsage?: (usage: z.infer<ReturnType<typeof tokenUsageSchema>>) => LanguageModelV4Usage;',
    'tokenizer_for_model: "bert-base-uncased-L12-H768-A12"',
  ])('are not found in %j', (text) => expectPreserved(text));
});

describe('literals whose context makes them secrets', () => {
  it.each([
    'DB_PASSWORD = os.getenv("DB_PASSWORD", "X")\n',
    "'password': os.environ.get('MYSQL_ROOT_PASSWORD', 'X'),\n",
    "password: ENV.fetch('DB_PASSWORD', 'X')\n",
    'String pw = System.getenv().getOrDefault("DB_PASSWORD", "X");\n',
    '"create(getenv(\\"SECRET\\", \\"X\\"))"',
    "ALTER USER postgres PASSWORD 'X';\n",
    'psql -c "CREATE ROLE app WITH LOGIN ENCRYPTED PASSWORD \'X\'"\n',
  ])('are replaced in %j, also if they are words or numbers', (form) => {
    expectHidden(form, ['20042010', 'harborlight', 'pg123', 'Falcon', 'r3dCandle!77']);
  });

  it.each(['curl -u ":X" https://dev.azure.com/a\n', "curl --user ':X' https://dev.azure.com/a\n"])(
    'are replaced in %j, where the user has no name',
    (form) => expectHidden(form, ['harborlight', 'Falcon', 'r3dCandle!77']),
  );

  it.each([
    'DB_PASSWORD = os.getenv("DB_PASSWORD", "changeme")',
    'os.getenv("PASSWORD_FILE", "/run/secrets/db"), os.getenv("SECRET_BACKEND", "vault")',
    'os.getenv("DB_PASSWORD", "{{ password }}"), os.getenv("API_TOKEN", "https://auth.example.org/token")',
    'setenv("DB_PASSWORD", "harborlight_name_of_variable", other)',
    't("password", "Passwort"); cache.get("token", "default"); label = get("PASSWORD", "Kennwort")',
    "ALTER USER postgres PASSWORD '${password}'; ALTER USER joe PASSWORD '%PW%'; ALTER USER joe PASSWORD ' || pw || '",
    'curl -u ":$TOKEN" https://a.b/c; curl -u ":<PAT>" https://a.b/c\ntar -u ":name.txt" x',
    "os.system(\"sshpass -p '{0}' ssh {1}@{2}\".format(password, user, host)); sshpass -p '{password}' ssh a",
    'sql.Open("mysql", "root:password@tcp(127.0.0.1:3306)/shop")',
    "gpg --export-secret-key '547CF247!' > key; gpg --delete-secret-keys 'ABCD1234EF567890!' joe@acme.org",
    'gh api --list-api-keys team42x --show-secret payments2db',
  ])('are preserved in %j', (text) => expectPreserved(text));
});
