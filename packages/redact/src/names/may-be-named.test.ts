import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findAssignment } from '../named/assignment.js';
import { mayBeAtColon } from '../commands/at-colon.js';
import { mayBeNamed } from './may-be-named.js';
import { mayEndOwner } from './name-before.js';
import { Reader } from '../text/reader.js';

const value = 'aB3dE5fG7hJ9kL1mN3pQ5rS7tU9';
const names = [
  ['password', 'api_key', 'pass', 'PW', 'token', 'secret_id', 'Key', 'k', 'qi', 'auth', 'cookie', 'credentials'],
  ['value', 'content', 'default', 'input', 'result', 'name', 'login', 'user', 'code', 'sig', 'x-signature'],
  ['Recovery codes', 'seed phrase', 'Private-Lines', '密码', 'contraseña', 'mot de passe', 'password is', 'secret 1'],
  ['password for joe', 'password for user joe', "SET PASSWORD FOR 'joe'@'host'", 'password: string', 'pw As String'],
  ['Password { get; set; }', 'The password for this session', 'password provided', 'PASSWORD_2', 'pw%22', 'id', 'x'],
].flat();
const pieces = [
  [
    '"',
    "'",
    '\\"',
    '`',
    ' ',
    '\n',
    ', ',
    '{',
    '}',
    '(',
    ')',
    '[',
    ']',
    '?',
    '&',
    '-',
    '--',
    '.',
    '_',
    '7',
    '22',
    '%27',
  ],
  ['"name":"password",', '{"kty":"oct",', 'New password', value, `"${value}"`, '{ "a": 1 }', '- ', 'ß', ...names],
].flat();
const piece = fc.constantFrom(...pieces);
const sign = fc.constantFrom(
  ':',
  '=',
  ': ',
  ' = ',
  '":',
  '" : ',
  '":"',
  "='",
  '": "',
  '=>',
  ':\n',
  ' := ',
  '?: ',
  ')=(',
);
const text = fc
  .tuple(fc.array(piece, { maxLength: 5 }), fc.constantFrom(...names), sign, fc.array(piece, { maxLength: 4 }))
  .map(([before, name, middle, behind]) => `${before.join('')}${name}${middle}${behind.join('')}`);

describe('mayBeNamed', () => {
  it('excludes no sign behind which a secret is found', () => {
    fc.assert(
      fc.property(text, (whole) => {
        for (let index = 0; index < whole.length; index += 1) {
          if (whole[index] !== ':' && whole[index] !== '=') continue;
          const isExcluded = !mayBeNamed(whole, index) || (whole[index] === ':' && !mayBeAtColon(whole, index));
          if (!isExcluded) continue;
          const place = { from: 0, isWhole: true, isBeginning: true, barrier: 0, ahead: [] };
          expect(findAssignment(new Reader(whole, { replacement: '[redacted]' }, place), index)).toBeUndefined();
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('excludes the signs of usual names', () => {
    const json = '{"item":1,"time":"12:30:45","message":"done","numbers":[1,2],"usage":{"model":"x"}}';
    const others = `${json}\nconst item = read(path); index=0\n2026-11-29T12:30:45Z id=7 took=3 path=/a`;
    const signs = Array.from(others.matchAll(/[:=]/g), ({ index }) => index);
    expect(signs.filter((index) => mayBeNamed(others, index))).toEqual([]);
  });
});

describe('mayEndOwner', () => {
  it.each(['for', 'für', 'voor', 'pour', 'para', 'per', 'för', 'dla', 'для', 'user'])(
    'accepts a word behind %s',
    (word) => {
      const text = `password ${word} joe`;
      expect(mayEndOwner(text, text.length - 3)).toBe(true);
    },
  );

  it.each(['error TS2345', 'prefor joe', 'for\njoe', 'server 1'])('excludes the last word of %j', (words) => {
    const start = words.search(/\S+$/);
    expect(mayEndOwner(`const ${words}`, 'const '.length + start)).toBe(false);
  });
});

describe('signs that are no names', () => {
  it.each([
    "src/a.ts(3,9): error TS2345: Argument of type 'A'",
    '{ enumerable: true, get: function () {} }',
    'has feet: 2 ft',
  ])('are excluded in %j', (text) => {
    const signs = Array.from(text.matchAll(/:/g), ({ index }) => index);
    expect(signs.filter((index) => mayBeNamed(text, index))).toEqual([]);
  });
});
