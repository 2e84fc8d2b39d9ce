import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { extractIdentifiers, missingIdentifiers, type IdentifierKind } from './identifiers.js';

const found = (text: string): readonly (readonly [IdentifierKind, string])[] =>
  extractIdentifiers(text).map(({ kind, value }) => [kind, value]);

describe('extractIdentifiers', () => {
  it.each<readonly [string, IdentifierKind, string]>([
    ['order a3f8b2c1-4e7d-4b1a-9c0d-0123456789ab failed', 'uuid', 'a3f8b2c1-4e7d-4b1a-9c0d-0123456789ab'],
    ['commit 9fceb02 broke it.', 'hash', '9fceb02'],
    ['at d670460b4b4aece5915caf5c68d12f560a9fe3e4, later', 'hash', 'd670460b4b4aece5915caf5c68d12f560a9fe3e4'],
    [
      'image sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b',
      'hash',
      'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b',
    ],
    ['bind 10.0.12.7:8443 (TLS)', 'ip', '10.0.12.7:8443'],
    ['from 192.168.0.0/16', 'ip', '192.168.0.0/16'],
    ['listens on 2001:db8::8a2e', 'ip', '2001:db8::8a2e'],
    ['ask db-3.internal.example.com:5432.', 'host', 'db-3.internal.example.com:5432'],
    ['open localhost:3000!', 'host', 'localhost:3000'],
    ['mail to api.example.com', 'host', 'api.example.com'],
    ['see (https://example.com/a/b?c=1#d).', 'url', 'https://example.com/a/b?c=1#d'],
    ['DSN postgres://db.local/app', 'url', 'postgres://db.local/app'],
    ['in `src/summary/entry.ts`', 'path', 'src/summary/entry.ts'],
    ['in /etc/hosts', 'path', '/etc/hosts'],
    ['at ./run.sh:12', 'path', './run.sh:12'],
    ['"C:\\Users\\me\\a.txt"', 'path', 'C:\\Users\\me\\a.txt'],
    ['edit package.json', 'path', 'package.json'],
    ['export NODE_ENV=production', 'env', 'NODE_ENV=production'],
    ['fixes PROJ-1234', 'id', 'PROJ-1234'],
    ['issue #4711', 'id', '#4711'],
    ['toolu_01A09q90qw90lq', 'id', 'toolu_01A09q90qw90lq'],
    ['customer 4711088', 'number', '4711088'],
    ['17 of 43 files are done', 'progress', '17 of 43'],
    ['done 17/43', 'progress', '17/43'],
  ])('finds in %j a %s', (text, kind, value) => {
    expect(found(text)).toContainEqual([kind, value]);
  });

  it.each([
    'We looked at it again and believe that the parser is wrong, i.e. slow.',
    'That is 3.5 times as much, or 20 %, at 14:36:02 on the 3rd.',
    'const { retries = 3 } = options; await send(request.url);',
    'and/or, yes/no',
  ])('finds nothing in %j', (text) => {
    expect(found(text)).toEqual([]);
  });

  it('finds the value of an argument', () => {
    expect(found('--out=/tmp/x.json path:/var/log/a.log')).toEqual([
      ['path', '/tmp/x.json'],
      ['path', '/var/log/a.log'],
    ]);
  });

  it('finds each once, and of a batch the last count', () => {
    expect(found('1 of 43, then 2 of 43 in /tmp/a.txt, 3 of 43 in /tmp/a.txt, and 5 of 7')).toEqual([
      ['path', '/tmp/a.txt'],
      ['progress', '3 of 43'],
      ['progress', '5 of 7'],
    ]);
  });

  it('ignores runs that are data and no names', () => {
    expect(found('x'.repeat(10_000) + '9'.repeat(10_000))).toEqual([]);
  });

  it('finds only what the text contains', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), (text) => {
        expect(missingIdentifiers(extractIdentifiers(text), text)).toEqual([]);
      }),
    );
  });

  it.each(['a/', 'a-', 'a.', '1:', 'a=', 'A_', '1 of ', '.', '::', 'http://', '(', ' '])(
    'reads a megabyte of %j in one go',
    (unit) => {
      expect(extractIdentifiers(unit.repeat(2 ** 20 / unit.length)).length).toBeLessThan(3);
    },
  );
});

describe('missingIdentifiers', () => {
  const missing = (value: string, text: string): boolean =>
    missingIdentifiers([{ kind: 'path', value }], text).length > 0;

  it('compares letter by letter', () => {
    expect(missing('src/a.ts', 'In src/a.ts it is.')).toBe(false);
    expect(missing('src/a.ts', 'In src/A.ts it is.')).toBe(true);
    expect(missing('src/a.ts', 'src/a.ts has it.')).toBe(false);
  });

  it('does not accept a part of a longer identifier', () => {
    expect(missing('/a/b', 'It is /a/bc.')).toBe(true);
    expect(missing('17 of 43', 'It was 117 of 430.')).toBe(true);
    expect(missing('17 of 43', 'It was 117 of 430, then 17 of 43.')).toBe(false);
    expect(missing('9fceb02', 'x9fceb02')).toBe(true);
  });
});
