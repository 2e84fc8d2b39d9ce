const base64 = (text: string): string => Buffer.from(text).toString('base64').replace(/=+$/, '');

/** Logins in base64, without padding, that name what belongs in their places, as in `user:pass`. */
const namedLogins = ['user', 'username', 'login', 'email'].flatMap((user) =>
  ['pass', 'password', 'passwd', 'pwd'].map((password) => base64(`${user}:${password}`)),
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

/** The claims of tokens of jwt.io and PyJWT, and their signatures by the published keys. Other keys sign real tokens. */
const tokens: ReadonlySet<string> = new Set(
  [
    ['{"sub":"1234567890","name":"John Doe","iat":1516239022}', 'SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c'],
    ['{"sub":"1234567890","name":"John Doe","iat":1516239022}', 'XbPfbIHMI6arZ3Y922BhjWgQzWXcXNrz0ogtVhfEd2o'],
    ['{"sub":"1234567890","name":"John Doe","admin":true}', 'TJVA95OrM7E2cBab30RMHrHDcEfxjoYZgeFONFh7HgQ'],
    [
      '{"sub":"1234567890","name":"John Doe","admin":true,"iat":1516239022}',
      'KMUFsIDTnFmyG3nMiGM6H9FNFUROf3wh7SmqJp-QV30',
    ],
    ['{"some":"payload"}', '4twFt5NiznN84AWoo1d7KO1T_yoc0Z6XOpOVswacPZg'],
    ['{"some":"payload"}', 'Joh1R2dYzkRvDkqv3sygm5YyK8Gi4ShZqbhK2gxcs2U'],
  ].map(([claims = '', signature]) => `${base64(claims)}.${signature}`),
);

/** Returns whether a value is a credential or a token of an example in a standard or a manual. */
export const isPublished = (value: string): boolean =>
  value.length <= maxExample
    ? examples.has(value.replace(/=+$/, ''))
    : value.startsWith('eyJ') && tokens.has(value.slice(value.indexOf('.') + 1));
