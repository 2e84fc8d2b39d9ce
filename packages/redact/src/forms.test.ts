import { describe, expect, it } from 'vitest';
import { createRedactor } from './create-redactor.js';

const { redact, stream } = createRedactor();
const r = '[redacted]';

/** Redacts a text in chunks of each of these lengths. */
const inChunks = (text: string): readonly string[] =>
  [1, 2, 3, 5, 7, 11, 16].map((length) => {
    const redaction = stream();
    let output = '';
    for (let index = 0; index < text.length; index += length)
      output += redaction.push(text.slice(index, index + length));
    return output + redaction.end();
  });

const expectHidden = (form: string, secrets: readonly string[]): void => {
  for (const secret of secrets) {
    const text = form.replaceAll('X', () => secret);
    const expected = form.replaceAll('X', r);
    expect(redact(text)).toBe(expected);
    expect(inChunks(text).filter((output) => output !== expected)).toEqual([]);
  }
};

const expectPreserved = (text: string): void => {
  expect(redact(text)).toBe(text);
  expect(inChunks(text).filter((output) => output !== text)).toEqual([]);
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
