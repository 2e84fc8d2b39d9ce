import { describe, it } from 'vitest';
import { expectHidden, expectPreserved } from '../test/expect-hidden.js';

describe('a value that is unlike a word, in a sentence about a password', () => {
  it.each([
    ['Danish', 'Adgangskoden til serveren er «hSAZo2N7lH8W», hilsen Bo'],
    ['Danish compound', 'Kodeordet er «BQxeSDCcUo7i»'],
    ['Norwegian', 'Passordet er «71qdeJR1LWjF»'],
    ['Dutch', 'Log in met gebruiker jan en wachtwoord «vK7nq2Tz9wLb».'],
    ['French', 'Votre mot de passe provisoire est : «3BC586snUWv7»'],
    ['Romanian', 'Parola pentru server este «XUhJm5wQmMRA»'],
    ['Croatian', 'Lozinka za server je «FRqBjWNIK1cX»'],
    ['Polish', 'Zaloguj się jako anna z hasłem «hB0QaAxzNwVY»'],
    ['Finnish', 'Uusi salasanasi on «okxAx2zN2qHM»'],
    ['Hungarian', 'Az új jelszavad «bnQNrSfgkhk1»'],
    ['Lithuanian', 'Slaptažodis yra «ejVuw7dsW8v9»'],
    ['Ukrainian', 'Пароль для сервера: «myXi8bAqCurg»'],
    ['Vietnamese', 'Mật khẩu là «mtu3vwivZKkM»'],
    ['Thai', 'รหัสผ่านคือ «pWthCBQR8Tve»'],
  ])('is replaced in %s', (_, text) => expectHidden(text));

  it.each([
    'The password policy of release v2Ab3Cd4Ef is in the wiki.',
    'Het wachtwoord moet minimaal 12 tekens bevatten.',
    'The password file was changed in commit aB3dE5fG7h.',
    'See the password section of https://example.org/aB3dE5fG7h',
  ])('is preserved if it is something else: %j', expectPreserved);
});

describe('a key in the path of an address', () => {
  it.each([
    'wss://sepolia.infura.io/ws/v3/«833c0cbbc687875e81bde030c9f41988»',
    'ALCHEMY_URL=https://polygon-mainnet.g.alchemy.com/v2/«f3tGUuogpI8pWOtVVWFTXrgxD8zRPEKi»',
    'provider: "https://dry-pond.ethereum-goerli.quiknode.pro/«5210e2fb2698aa0da6886a3c7d18be5f3a9219c7»/"',
    '[rpc] POST https://eth-mainnet.blastapi.io/«5b9fec1e-2d0b-4b7b-89f4-4e5e248be8b6» 200 34ms',
    'curl -fsS https://hc-ping.com/«80cddf7f-c815-4aa2-bcb8-fe79c7f91c8e»',
    'one-time login https://x/user/reset/1/1700000000/«L1KznZEz197CGHYa2gngPYd1WgaEd31x_HdiZ-oKlDj»/login',
    'microk8s join 10.1.2.3:25000/«35db879ed71457ab0aef26147853d61d/f494a7aa02f2» --worker',
  ])('is replaced in %j', expectHidden);

  it.each([
    'https://etherscan.io/tx/0x5210e2fb2698aa0da6886a3c7d18be5f3a9219c75210e2fb2698aa0da6886a3c',
    'https://explorer.solana.com/tx/5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW',
    'https://mainnet.infura.io/v3/YOUR-PROJECT-ID',
    'https://cdn.example.com/v3/833c0cbbc687875e81bde030c9f41988/main.css',
    'https://api.example.com/v2/objects/5b9fec1e-2d0b-4b7b-89f4-4e5e248be8b6',
  ])('is no hash, address or id: %j', expectPreserved);
});

describe('the password of a client', () => {
  it.each([
    "api = RouterOsApi('192.168.88.1', 'admin', '«fXRG5XgHifP8»')",
    '$api = new RouterClient("192.168.1.1", "root", "«qj^#EUmZl0ZB»");',
    "ssh = Net::SSH.start('10.1.1.1', 'root', '«H47pQVCASyHP»')",
    "c = Unifi('10.0.0.2', 'admin', '«djL2lP2cXV0B»', 8443)",
    "child.sendline('«Be25dGpXTr8T»')",
    "mysqlsh --import 'joe:«cMObiuuN6K1V»'",
    'Set for the current user (/home/joe/.bundle/config): "joe:«C5Hcxxf1Wib1»"',
    'register => 2345:«2acG4Z2b1paJ»@sip.provider.de/1234',
    'schtasks /Create /TN Backup /RU svc /RP «KgwPpQop9NCU» /F',
    'tool upload --key «bc3919b7-e3cb-4074-94cb-40c3417f31d5» file.bin',
  ])('is replaced behind its user in %j', expectHidden);

  it.each([
    'Client = Service("host-a", "web-frontend", 8080, "v2.14.0")',
    'client = new ElasticClient("https://es1:9200", "logs-2026.11", "5b9fec1e-2d0b-4b7b-89f4-4e5e248be8b6")',
    "cache.get('session:aB3dE5fG7hJ9')",
  ])('is no other argument: %j', expectPreserved);
});

describe('values whose notation or neighbor says that they are secret', () => {
  it.each([
    [
      'bytes of Qt',
      '[Auth]\ntoken=@ByteArray(«9ac833df81a7417f823f3cb906e0c787»)\npassword=@ByteArray(«tO_qwar!E08F»)',
    ],
    ['Rust', '    password: Some(\n        "«5JhHjhTCLqPV»",\n    ),'],
    ['a type of the registry', '    Password    REG_BINARY    «51B88C007CADECE3»'],
    ['a name below', '- value: «7xHbk6294K4z»\n  name: SMTP_PASSWORD'],
    [
      'an element with the name behind',
      '<stringProp name="Argument.value">«tv4EQbYYSclY»</stringProp>\n<stringProp name="Argument.name">password</stringProp>',
    ],
    ['a name in an element', '<tr><td><b>Passwort:</b></td>\n<td>«v9pc3bFR32kj»</td></tr>'],
    ['a name in a subscript', '<tr><td class="e">$_ENV[\'DB_PASS\']</td><td class="v">«snAe5d6xU6CD»</td></tr>'],
    ['an id and a key', '"encoded" : "«ckJmMm5wak5uUjk4ZHNzaXFPZ3A6Y1NlS2t5SVhzdzJwRkFpUG5qR1NtUQ==»"'],
    [
      'the digest of a cluster',
      'K100ffaf4a85812a17b5a15e13589bf45dda9e9c5c17f67cb95db2c288777fcad7b::server:«93ea4569692a8bfc8635dc401ce45ca8»',
    ],
    ['a host', '024 web-07 any «88a608f125dee70c5db09df71b9c395986266356c733b4c719e2b8b86d73104d»\n'],
    ['a type of key', '1 SHA1 «dacfb002c940f0f0a290b51ce0f3a7068eeb05dc»\n2 M «2o8kr1th4reb»\n'],
    [
      'an invalid input',
      "Settings\ndb_password\n  String is too long [type=string_too_long, input_value='«aunydFZ8BLLr»', input_type=str]",
    ],
    ['attributes behind', '"result": "«qwc#Po1vu!s»",\n  "special": true\n'],
    ['a number in quotes', "\toption password '«45095721»'"],
    [
      'a sign at its beginning',
      "define( 'AUTH_KEY', '«*#_0tVtr5~h:%[~f[p{I6^I[G!HD;j20i~a0Yxqnv*yA{jZuM[OuD6:cs)WH0Kd,»' );",
    ],
    ['a command', '$ consul keygen\n«lIfzPuO3t+nncbYxoSJKeyRDvxDQKahC/KADaSBYrPY=»'],
    ['German', '    Schlüsselinhalt            : «4daKs2uZ9GpM»'],
    [
      'a table',
      'KeyName    Permissions    Value\n---------  -------------  ------------\nkey1       FULL           «gLPOJ1RemdDxZzcQD6oiJdK1uJBr98bPeKHHmCIudFBv055N743GqiZKVxak0Vg9fK6ttgxdN1pxSeEClmNrw==»\n',
    ],
  ])('are replaced: %s', (_, text) => expectHidden(text));
});

describe('values in lists, hooks and types', () => {
  it.each([
    ['a hook', 'https://rocket.example.org/hooks/«Ougt6fjpTaSa8F8Lx/VrwPVHTxMpdynVkugu53KT1ammzCjCwaaNAscBV1HS9»'],
    ['a constructor', "Mysql2::Client.new('db1', 'app', '«CP5fFsd3eRlM»')"],
    ['a distinguished name', 'ldap_bind($ds, "cn=admin,dc=x", "«lXuubyA125GK»");'],
    ['a connection', "wlan.connect('home', '«HzyrA5eO4ena»')"],
    ['a tuple', "{'auth': ('joe', '«kUgf4qKqXSdB»'),\n 'timeout': 5}"],
    ['a network', '{"wifi_sta":{"ssid":"x","key":"«doCnK0FiKRMy»"}}'],
    ['an address of a peer', '10.0.0.2\t«ckBJaMOGZ5x9Q»\n'],
    [
      'Werkzeug',
      "VALUES(1,'joe','«pbkdf2:sha256:600000$TKUB8smRjipJFe27$41b7e19d18e1929cb743626e6c988b063e83708dea8a33b0177eff14cd5d564b»');",
    ],
    [
      'two keys',
      '$ az batch account keys list -o tsv\n«p+sdh6bk9daY9veM0QGEU7mMwfqO0m6kvY1PPAIG8dWhA56Yt/5H/w==»\n«MI56hi5AcHorACwGG+D7Dyxnf7teXMq1zIfMaZBKhsYUQNPTxm5b60Bc==»\n',
    ],
    ['a capital within a word', '<Login><userName>joe</userName><passWord>«ziYHzrfnTGA8»</passWord></Login>'],
    ['a type behind', '"value": "«6XrujyuFczz2»", "type": "static-secret"'],
    ['words', 'Created new API key for admin: «l8ono6p6yj8znu3vnyzsirilmmczhbpfy0xse00p2fwof5kwjjsua7»\n'],
    ['a pair', '[(user,joe), (password,«UGZq7luR4ugt»)]'],
    ['an option of Scala', 'password=Some(«6RRtsXvVdJJo»)'],
    ['a rule', 'password:\n----\n«VOhAdePkrGX4»\n'],
    ['a cluster', 'kubeadm init --certificate-key «cdf73c60a7be70c2ceb5cc951b73376c513e1f525937b92351a8e94218bd42d1»'],
    ['bytes of Python', ">>> password\nOut[3]: b'«z8IBuHs2J90E»'"],
    ['columns', 'id,login,api_token\n1,joe,«8a56947cf2b9f33b39bc889dc6a4372ce50d07cd»\n'],
  ])('are replaced: %s', (_, text) => expectHidden(text));
});

describe('an id that is all of a text', () => {
  it.each([
    '2xynxGZ7rnd30yNdSZlIIaFkFiF',
    'fKZ7TOUxDMDWjos26OvaHgnoBY5P7xBV\n',
    'rahG7gKxe7dir70RWjl4icA8aGG\nwKIYq8YImMCj1boz5eCyQU5eo3U\n',
  ])('is preserved: %j', expectPreserved);
});

describe('two words with a number and a sign', () => {
  const words = ['Orchid.Lantern91!', 'Falcon.Marble72*', 'Bramble.Cedar43?'];
  it.each(words.flatMap((word) => [`password=«${word}»`, `wpa_key_mgmt=WPA-PSK\nwpa_passphrase=«${word}»\n`]))(
    'are a password in a file of settings: %s',
    (text) => expectHidden(text),
  );

  it.each(['  password = Config.Password1!;', 'const token = Settings.Token2!.value;', 'kpasswd\t\t464/tcp\n'])(
    'are code, and a port is no secret: %s',
    expectPreserved,
  );
});

describe('two words with a sign between them and two digits', () => {
  it.each(
    ['Orchid.Lantern91', 'Falcon_Marble72', 'Bramble-Cedar43'].flatMap((word) => [
      `[nexus]\nusername = svc\npassword = «${word}»\n`,
      `DB_PASSWORD=«${word}»`,
      `Account      : admin\nPassword     : «${word}»\n`,
      `DataSource(url=jdbc:postgresql://db/shop, username=shop, password=«${word}»)`,
      `$ pass show web/nas\n«${word}»\nlogin: admin\n`,
    ]),
  )('are a password: %j', expectHidden);

  it.each([
    'password = Schema.String32',
    'password: Types.Varchar64',
    'const password = Config.Password12;',
    'image: Alpine_Linux20',
  ])('are preserved if they name a type, a field or a release: %j', expectPreserved);
});

describe('letters of both cases', () => {
  it.each([
    '[pihole] Your new password is: «QrZTewZM»\n',
    'Username:    postgres\nPassword:    «zuzEajqGfoqewdJ»\n',
    'Initial admin password: «taVnvYcP»\n',
  ])('are a password if they are random: %j', expectHidden);

  it.each([
    'password: newDbPwd',
    'password: getXPath',
    'Password: InputField',
    'password = userHTTPPwd;',
    'password: String',
  ])('are preserved if they are names: %j', expectPreserved);
});

describe('other forms', () => {
  it.each([
    'npmRegistryServer: "https://npm.example.org"\nnpmAuthIdent: "mia:«saw!tfb.u6_M»"\n',
    'RABBITMQ_ERLANG_COOKIE: «QCGAIPSQMSDDJAWDVTVZ»\n',
    'export RABBITMQ_ERLANG_COOKIE="«k3-mQ_zP82wx»"\n',
    'wandb: Appending key for api.wandb.ai to your netrc file: «9b018ae012ba030d2b84bd96905ec1fb2741f7f2»\n',
    'url = "https://mcp.example.org/api/mcp/s/«9qhwPcB7prEaBuLKy3RnoA47TqmrN7XW3bocZTVmEn»/mcp"',
    'basic_auth: { lena: "«lpgWt6-SprKcI-OaTlVn»" }',
    'ERROR failed to auth: basic auth (svc / «p9I!uIE=dl%2») rejected by upstream',
    '<a href="https://example.org/login?magic=«-onIy53-krPREkfpHf7LlZWrx1iwAISnp0CagQfU5-D»">Sign in</a>',
    'https://example.org/cas?ticket=«QX8aK2mZp0LrT5vYw9Bn3Cd7Ef1Gh6»',
    'Trigger a deploy: https://api.example.org/deploy/srv-cq1a2b3c4d5e6f?key=«ifL-nUGFrsN»',
    'bot = Bot(token="«7178514148:AADmelvgbLExcN6-_xaCyb-cDgShzll_2-D»")',
    'https://example.org/?token;clid=«Zq7Lr2XvT9mKc4WbN8yHs3JdG6fP»',
    "password: '«.+/Zq7Lr2XvT9mKc4WbN8yHs3JdG6fP»'",
    'DB_PASSWORD=«.*#kX9#mQ2vLp»\n',
    '$ pass show db\n«{"Zq7Lr2XvT9mKc4WbN8yHs3JdG6fP»\n',
    '$ pass show db\n«{"mia":"9b018ae012ba030d2b84bd96905ec1fb"}»\n',
    '"key to your netrc file: «9b018ae012ba030d2b84bd96905ec1fb2741f7f2»\\n+$ exit"',
  ])('are replaced: %j', expectHidden);

  it.each([
    "sed -i 's/^DB_PASSWORD=.*/DB_PASSWORD=/' .env",
    "grep -E 'TOKEN=.+$' .env",
    'https://example.org/?gclid=z-BqC2bAc4ttiaKKPSwGYDfUd3yjxx4rf9UBU7WnyQlPtJkwHk5IWiLbDcLX',
    'webauthn credential id: k4_xjNKxlY2IMIpnV6dibhcJSuaT4CK4A0cn9vd9obD',
    'https://example.org/deploy/main?key=region',
    'https://example.org/hooks/useQuery?key=description',
    'https://example.org/hooks/list?key=sort-order',
    'https://example.org/hooks/list?key=2026-11-28',
    'WiFi (2.4GHz / 5GHz-band2)',
    'account (dev / us-east-1a)',
    'erlang_cookie = getCookie',
    "sed 's|^TOKEN=.*|TOKEN=|; s/^PASSWORD=.*/\\1/' .env",
    '$ skopeo inspect --creds=$CREDS docker://example.org/busybox\n{"Tag":"latest","Digest":"sha256:473bb2189d7b913ed7187a33d11e743fdc2f88931122a44d91a301b64419f092","Cmd":["/bin/sh","-c","exit 0"]}\n',
    'web-1  | -----BEGIN CERTIFICATE-----\nweb-1  | MIIDdzCCAl+gAwIBAgIExNhEYTqM4yaLlA+JJuXfOTiONc/Y9X/H1LuWo9W2jNSg\nweb-1  | eJZIFKF/HiOzLjpDy9yqYj3AKjTJWL2biMBjg0PaR+CAm2VfCOW8tgTLZGBS3t3K\nweb-1  | -----END CERTIFICATE-----\n',
  ])('are preserved: %j', expectPreserved);
});
