/** Logins in base64, without padding, that name what belongs in their places, as in `user:pass`. */
const namedLogins = ['user', 'username', 'login', 'email'].flatMap((user) =>
  ['pass', 'password', 'passwd', 'pwd'].map((password) =>
    Buffer.from(`${user}:${password}`).toString('base64').replace(/=+$/, ''),
  ),
);

/**
 * Credentials of the examples in RFC 5849, 6749, 6750, 7617 and 7636, and in OpenID Connect.
 * They are in many manuals, tests and sources, and open nothing.
 */
const examples: ReadonlySet<string> = new Set([
  ...namedLogins,
  '2YotnFZFEjr1zCsicMWpAA',
  'tGzv3JOkF0XG5Qx2TlKWIA',
  'SplxlOBeZQQYbYS6WxSbIA',
  '7Fjfp0ZBr1KtDRbnfVdmIw',
  'gX1fBat3bV',
  'mF_9.B5f-4.1JqM',
  'SlAV32hkKG',
  '8xLOxBtZp8',
  'h480djs93hd8',
  'dpf43f3p2l4k3l03',
  'kd94hf93k423kf44',
  'hh5s93j4hdidpola',
  'hdhd0244k9j7ao03',
  'nnch734d00sl2jdk',
  'pfkkdhi9sl3r4s00',
  'hfdp7dh39dks9884',
  '0685bd9184jfhq22',
  'ad180jjd733klru7',
  'czZCaGRSa3F0MzpnWDFmQmF0M2JW',
  'QWxhZGRpbjpvcGVuIHNlc2FtZQ',
  'dGVzdDoxMjPCow',
  'dBjftJeZ4CVP-mBL92K9nMkh2rzqGNNrrJZxPdzKmDo',
  'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw',
]);
const maxExample = 48;

/**
 * Matches the claims of the JSON Web Tokens of jwt.io and of libraries for them, up to the dot behind them:
 * `{"sub":"1234567890","name":"John Doe", …`, `{"some":"payload"}`, `{"foo":"bar"}` and `{"hello":"world"}`.
 */
const claims =
  /^eyJ[\w-]{8,200}\.eyJ(?:zdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lI[\w-]{0,80}|zb21lIjoicGF5bG9hZCJ9|mb28iOiJiYXIifQ|oZWxsbyI6IndvcmxkIn0)\./;

/** Returns whether a value is a credential or a token of an example in a standard. */
export const isPublished = (value: string): boolean =>
  value.length <= maxExample ? examples.has(value.replace(/=+$/, '')) : value.startsWith('eyJ') && claims.test(value);
