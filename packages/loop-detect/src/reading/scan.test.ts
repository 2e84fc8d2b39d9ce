import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fingerprintOf } from './outcome.js';
import { scan } from './scan.js';

const number = (min: number, max: number): fc.Arbitrary<string> => fc.integer({ min, max }).map(String);
const two = (max: number): fc.Arbitrary<string> =>
  fc.integer({ min: 0, max }).map((value) => String(value).padStart(2, '0'));
const clock = fc.tuple(two(23), two(59), two(59)).map((parts) => parts.join(':'));
const hex = (length: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...Array.from('0123456789abcdef')), minLength: length, maxLength: length });

/** Generators of volatile parts, one per form. */
const kinds = {
  time: clock,
  'ISO time': clock.map((time) => `2026-11-21T${time}.123Z`),
  'date and time': clock.map((time) => `2026-11-21 ${time}`),
  'milliseconds since 1970': number(1_600_000_000_000, 1_899_999_999_999),
  milliseconds: number(0, 99_999).map((value) => `${value}ms`),
  seconds: fc.tuple(number(0, 999), number(0, 99)).map(([whole, part]) => `${whole}.${part}s`),
  minutes: fc.tuple(number(0, 59), number(0, 59)).map(([minutes, seconds]) => `${minutes}m ${seconds}s`),
  'seconds in words': number(2, 900).map((value) => `${value} seconds`),
  'labelled duration': number(2, 900).map((value) => `"elapsedMs": ${value}`),
  pid: number(2, 99_999).map((value) => `pid ${value}`),
  'assigned pid': number(2, 99_999).map((value) => `PID=${value}`),
  'pid in JSON': number(2, 99_999).map((value) => `"pid": ${value}`),
  UUID: fc.uuid(),
  'id of a wrapper': hex(16).map((value) => `<<<EXTERNAL id="${value}">>>`),
  nonce: hex(12).map((value) => `nonce=a${value}`),
  'request id': hex(12).map((value) => `request_id: r-${value}`),
  attempt: number(1, 99).map((value) => `attempt ${value}`),
  'attempt of many': fc.tuple(number(1, 9), number(1, 9)).map(([now, all]) => `attempt ${now}/${all}`),
  retry: number(1, 99).map((value) => `retry #${value}`),
  'port of localhost': number(1024, 65_535).map((port) => `http://localhost:${port}/`),
  'port of an address': number(1024, 65_535).map((port) => `127.0.0.1:${port}`),
  address: hex(12).map((value) => `0x${value}`),
} satisfies Record<string, fc.Arbitrary<string>>;

type Kind = keyof typeof kinds;
const kind = fc.constantFrom(...(Object.keys(kinds) as Kind[]));
/** Words that are never volatile, in any combination. */
const word = fc.constantFrom(
  'FAIL',
  'ok',
  'src/cart.ts:12:34',
  'expected',
  '12 passed',
  '45%',
  '3d6db70',
  'v1.2.3',
  'port 3000',
  '(no output)',
  'Error:',
  '100 MB',
  'x = 7;',
  'naïve',
  '\u{1f600}',
);

/** A template with two different sets of volatile parts. */
const twice = fc
  .array(
    fc.oneof(
      word.map((text) => ({ text })),
      kind.map((gap) => ({ gap })),
    ),
    { minLength: 1, maxLength: 20 },
  )
  .chain((pieces) =>
    fc.tuple(
      ...[0, 1].map(() =>
        fc
          .tuple(...pieces.map((piece) => ('text' in piece ? fc.constant(piece.text) : kinds[piece.gap])))
          .map((filled) => filled.join(' | ')),
      ),
    ),
  ) as fc.Arbitrary<[string, string]>;

const call = { id: '1', name: 'bash', input: { command: 'npm test' } };
const outcomeOf = (output: unknown): number => fingerprintOf(call, { status: 'failed', output }).outcome;

describe('scan', () => {
  it.each([
    ['FAIL in 1.24s (attempt 2/5, pid 4711)', 'FAIL in 312ms (attempt 3/5, pid 12)'],
    [
      '   Start at  18:40:16\n   Duration  312ms (transform 20ms)',
      '   Start at  09:01:59\n   Duration  1.2s (transform 7ms)',
    ],
    ['{"durationMs":123,"exitCode":1}', '{"durationMs":9,"exitCode":1}'],
    ['sshd[4711]: closed', 'sshd[12]: closed'],
    ['==4711==ERROR: AddressSanitizer', '==99==ERROR: AddressSanitizer'],
    ['(node:4711) Warning', '(node:1) Warning'],
    ['/tmp/tmp.Ab3dEf12gH/x', '/tmp/tmp.xY7zQw34kL/x'],
    ['retrying in 4s, 2 minutes left', 'retrying in 12s, 1 minute left'],
    ['"idle_for_seconds": 5', '"idle_for_seconds": 71'],
    ['"ageMs": 12', '"ageMs": 7'],
    ['(12 lines shown · read 2× this session)', '(12 lines shown · read 3× this session)'],
    ['called 2 times', 'called 3 times'],
    ['took 5 seconds', 'took 1 second'],
    ['took 1m 5s', 'took 45s'],
    ['listening on port 3000', 'listening on port 41873'],
    ['request_id: r-cfbfdbfbbbcf', 'request_id: r-000000000000'],
    ['request_id: 12-34-56-x1', 'request_id: 98-76-54-y2'],
    ['Chunk ID: abcdef', 'Chunk ID: 1b2c3d'],
    ['/tmp/build-1f2e3d/out', '/tmp/build-9a8b7c/out'],
    ['2026-11-28 11:40:02,123 INFO idle', '2026-11-28 11:41:09,888 INFO idle'],
    ['- - [28/Nov/2026:11:40:02 +0000] "GET /"', '- - [28/Nov/2026:11:41:09 +0000] "GET /"'],
    ['[ 1234.567890] usb 1-1: reset', '[ 9399.100001] usb 1-1: reset'],
    ['11:40:02.123 UTC [4711] LOG:  idle', '11:41:09.888 UTC [12] LOG:  idle'],
    ['20261128T114002Z idle', '20261128T114109Z idle'],
    ['/proc/4711/task/4712/fd: denied', '/proc/12/task/13/fd: denied'],
    ['poll 3/20: idle', 'poll 4/20: idle'],
  ])('ignores the volatile parts of %j', (text, again) => {
    expect(scan(text).exact).toBe(scan(again).exact);
  });

  it.each([
    ['Exit code: 1', 'Exit code: 2'],
    ['src/a.ts:12:34 error TS2345', 'src/a.ts:13:34 error TS2345'],
    ['5 MB of 12 files, 45%', '5 MB of 12 files, 46%'],
    ['commit 3d6db70', 'commit 4e7ec81'],
    ['v1.2.3', 'v1.2.4'],
    ['10 passed (10)', '11 passed (11)'],
    ['items[12] = 7', 'items[13] = 7'],
    ['timeout: 30', 'timeout: 60'],
    ['[12] Step: link', '[13] Step: link'],
    ['11:40:02, 123 users', '11:40:02, 124 users'],
    ['[12.50] load', '[13.25] load'],
  ])('includes the numbers of %j in the hash, but not in the shape', (text, other) => {
    expect(scan(text).exact).not.toBe(scan(other).exact);
    expect(scan(text).shape).toBe(scan(other).shape);
  });

  it.each([
    ['12 of 214 built', '13 of 214 built'],
    ['[3/5] linking', '[4/5] linking'],
    ['done: 45%', 'done: 46.5%'],
    ['45 % of 3.1 GB, 40 MB/s', '46 % of 3.1 GB, 12 MB/s'],
    ['1200 lines', '1240 lines'],
    ['{"done":3,"total":9}', '{"done":4,"total":9}'],
    ['Epoch 3/60 loss 1.5', 'Epoch 4/60 loss 1.2'],
    ['iteration 3 of 200', 'iteration 4 of 200'],
    ['epoch 3 loss 0.5', 'epoch 4 loss 0.5'],
  ])('detects that the numbers of %j grow', (text, next) => {
    const [before, after] = [scan(text), scan(next)];
    expect(after.level).toBeGreaterThan(before.level ?? NaN);
    expect(after.isRatio).toBe(before.isRatio);
  });

  it('treats outcomes that differ only in volatile parts as equal', () => {
    fc.assert(
      fc.property(twice, ([first, second]) => {
        expect(scan(first).exact).toBe(scan(second).exact);
        expect(outcomeOf({ type: 'error-text', value: first })).toBe(outcomeOf({ type: 'error-text', value: second }));
        expect(outcomeOf({ type: 'json', value: { text: first } })).toBe(
          outcomeOf({ type: 'json', value: { text: second } }),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('distinguishes outcomes that differ in other parts', () => {
    const different = fc.tuple(twice, word, word).filter(([, left, right]) => left !== right);
    fc.assert(
      fc.property(different, fc.nat(20), ([[first, second], left, right], at) => {
        const insert = (text: string, addition: string): string =>
          text.split(' | ').toSpliced(at, 0, addition).join(' | ');
        expect(outcomeOf(insert(first, left))).not.toBe(outcomeOf(insert(second, right)));
      }),
      { numRuns: 500 },
    );
  });

  it('distinguishes figures of this machine, which are no ports', () => {
    expect(outcomeOf('localhost: 120')).not.toBe(outcomeOf('localhost: 164'));
    expect(outcomeOf('localhost 120')).not.toBe(outcomeOf('localhost 164'));
  });

  it('distinguishes any two texts without volatile parts, except for blanks', () => {
    const plain = fc.string({ unit: fc.constantFrom(...Array.from('abcdefxyz ,.(){}\n\u{1f600}é')), maxLength: 40 });
    const blanks = (text: string): string => text.replaceAll(/ +/g, ' ');
    fc.assert(
      fc.property(plain, plain, (left, right) => {
        expect(outcomeOf(left) === outcomeOf(right)).toBe(blanks(left) === blanks(right));
      }),
      { numRuns: 1000 },
    );
  });

  it('takes linear time for any text', () => {
    const pieces = [
      '1',
      '1 ',
      '1m ',
      '1:',
      '1.1s, ',
      'pid ',
      'attempt',
      'tmp',
      '0x',
      'id=',
      '2026-11-21 ',
      'request id ',
      ' ',
      '12345678-',
      'a1',
      '/tmp/1',
      '1 of ',
      '"',
      "'x' ",
      'Error: ',
    ];
    const cost = (text: string): number => {
      const before = process.cpuUsage();
      fingerprintOf({ ...call, input: { command: text.slice(0, 3_000) } }, { status: 'failed', output: text });
      return process.cpuUsage(before).user;
    };
    for (const piece of pieces) {
      const text = piece.repeat(Math.ceil(400_000 / piece.length));
      cost(text.slice(0, 50_000));
      expect(cost(text), JSON.stringify(piece)).toBeLessThan(Math.max(40 * cost(text.slice(0, 50_000)), 400_000));
    }
  });
});
