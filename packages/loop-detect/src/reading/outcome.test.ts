import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { volatileSlots } from '../../test/generated-runs.js';
import { canonicalText } from './canonical.js';
import { keyOf } from './key.js';
import { fingerprintOf, isSameAnswer, isSamePage, PendingFingerprint } from './outcome.js';

const shuffled = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member]) => [key, shuffled(member)]),
  );
};

describe('canonicalText', () => {
  it('is the same for equal values, regardless of the order of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalText(shuffled(value))).toBe(canonicalText(value));
      }),
    );
  });

  it('differs for different values', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        expect(canonicalText(left) === canonicalText(right)).toBe(
          JSON.stringify(shuffledTwice(left)) === JSON.stringify(shuffledTwice(right)),
        );
      }),
    );
  });

  it('accepts any value and never throws', () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withSet: true,
          withTypedArray: true,
          withSparseArray: true,
          withNullPrototype: true,
        }),
        (value) => {
          expect(typeof canonicalText(value)).toBe('string');
        },
      ),
    );
  });

  const circular: Record<string, unknown> = { a: 1 };
  circular['self'] = circular;
  const shared = { x: 1 };

  it.each([
    ['a circle', circular, '{"a":1,"self":<circular>}'],
    ['one value in two places', [shared, shared], '[{"x":1},{"x":1}]'],
    ['a number and its text', [1, '1'], '[1,"1"]'],
    ['lists with commas in their items', ['1,b', 2], '["1,b",2]'],
    ['nothing', [null, undefined, false, 0, ''], '[null,undefined,false,0,""]'],
    [
      'a value that throws',
      {
        toJSON: () => {
          throw new Error('No.');
        },
      },
      '<unreadable>',
    ],
    ['a date', new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ['bytes', new Uint8Array([65, 66]), '<bytes "AB">'],
    ['a set', new Set([1]), '<set [1]>'],
    ['an error', new TypeError('No.'), '<error ["TypeError","No."]>'],
    ['a function', () => 1, '<function>'],
    ['a big number', 1n, '1n'],
  ])('serializes %s unambiguously', (_, value, text) => {
    expect(canonicalText(value)).toBe(text);
  });

  it('accepts deeply nested values', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 20_000; level += 1) deep = [deep];
    expect(canonicalText(deep)).toContain('<deep>');
  });
});

const shuffledTwice = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shuffledTwice);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, member]) => [key, shuffledTwice(member), 'member'])
    .concat([['object']]);
};

describe('keyOf', () => {
  it('considers the whole value, not only its beginning', () => {
    const text = 'a'.repeat(500);
    expect(keyOf({ name: 'write', input: { content: `${text}1` } })).not.toBe(
      keyOf({ name: 'write', input: { content: `${text}2` } }),
    );
  });

  it('ignores the stated reason of a call, except in tools about reasons', () => {
    const run = (description: string): string =>
      keyOf({ name: 'Bash', input: { command: 'go build ./...', description } });
    const issue = (description: string): string => keyOf({ name: 'create_issue', input: { title: 'x', description } });
    const read = (explanation: string): string => keyOf({ name: 'read_file', input: { path: 'a', explanation } });
    expect([
      run('Build') === run('Build again'),
      read('To see') === read('To look'),
      issue('a') === issue('b'),
    ]).toEqual([true, true, false]);
  });

  it.each([';', '> /tmp/a', '2>/tmp/', 'a ', '| tee ', 'time ', 'echo "a', '; echo a', '\\u001B]'])(
    'takes linear time for many %j',
    (part) => {
      const work = (length: number): number => {
        const command = `ls ${part.repeat(length / part.length)}x`;
        const before = process.cpuUsage();
        keyOf({ name: 'bash', input: { command } });
        return process.cpuUsage(before).user;
      };
      work(20_000);
      // The command is 20 times as long: quadratic work would take 400 times as long.
      const short = Math.max(2_000, work(20_000));
      expect(Math.min(work(400_000), work(400_000)) / short).toBeLessThan(80);
    },
  );

  it('distinguishes tools, and inputs that are not objects', () => {
    const keys = [{}, undefined, null, '', 'x', ['x'], 0]
      .map((input) => keyOf({ name: 'a', input }))
      .concat(keyOf({ name: 'b', input: {} }));
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe('a report of a state', () => {
  it.each([
    ['status: in_progress', true],
    ['{"phase":"deploying"}', true],
    ['{"StackStatus":"CREATE_IN_PROGRESS"}', true],
    ['status  ● Building', true],
    ['{"building":true}', true],
    ['The transcript is being processed.', true],
    ['{"completed":false,"status":{"created":1000,"total":9000}}', true],
    ['{"id": "op-3", "isDone": false}', true],
    // An entry of a list of tasks.
    ['{"userId":1,"id":1,"title":"buy milk","completed":false}', undefined],
    ['[{"done":false},{"done":true}]', undefined],
    ['{"completed":true}', undefined],
    ['3 tests are still failing', undefined],
    ['status: ready', undefined],
    // A schema, not a state.
    ['status: string', undefined],
    ['state: missing', undefined],
  ])('of %s is running: %s', (output, isRunning) => {
    const call = { id: '1', name: 'get_job', input: {} };
    expect(fingerprintOf(call, { status: 'ok', output }).isRunning).toBe(isRunning);
  });

  it.each([
    ['connect ECONNREFUSED 127.0.0.1:5432', true],
    ['E: Could not get lock /var/lib/dpkg/lock. It is held by process 812 (apt)', true],
    ['The result is not available yet', true],
    ['Permission denied', undefined],
    ['Property lock does not exist', undefined],
  ])('that fails with %s may be repeated: %s', (output, isRunning) => {
    const call = { id: '1', name: 'run', input: {} };
    expect(fingerprintOf(call, { status: 'failed', output }).isRunning).toBe(isRunning);
  });
});

describe('a result with the status ok', () => {
  const isFailure = (output: unknown): boolean =>
    fingerprintOf({ id: '1', name: 'mcp__x__run_step', input: { a: 'v1' } }, { status: 'ok', output }).failure !==
    undefined;

  it.each<[unknown]>([
    ["The term 'Get-Foo' is not recognized as the name of a cmdlet"],
    ['You do not have permission to access this resource.'],
    ['Your session has expired. Please log in again.'],
    ['API rate limit exceeded for user 3'],
    ["thread 'main' panicked at src/main.rs:3:5"],
    ['Transaction reverted: 0xdaa66d13'],
    ['Input should be a valid integer'],
    ['Expected 3 arguments but got 2'],
    ['Wrong password'],
    ['Insufficient funds'],
    ['Aborting: working tree is dirty'],
    ['1 validation error for Input\nname\n  Field required'],
    ['net::ERR_CONNECTION_REFUSED at http://localhost:3000/'],
    ['### Result\nTimeoutError: locator.click: Timeout 5000ms exceeded.'],
    ['<html><head><title>502 Bad Gateway</title></head><body></body></html>'],
    ['<?xml version="1.0"?>\n<Error><Code>NoSuchKey</Code></Error>'],
    [{ status: 'OVER_QUERY_LIMIT', error_message: 'Quota exceeded', results: [] }],
    [{ errcode: 40001, errmsg: 'invalid credential' }],
    [{ Fault: { Code: 'Client' } }],
    [{ success: 'false', message: 'denied' }],
    [{ failed: true, changed: false }],
    [{ statusCode: 500, body: 'oops' }],
    [{ code: 'InvalidParameter', message: 'Region' }],
    [{ error: {} }],
    [{ code: 1009, message: 'balance is not enough', request_id: 'a1' }],
  ])('is a failure if it says %j', (output) => {
    expect(isFailure(output)).toBe(true);
  });

  it.each<[unknown]>([
    ['APP-1 is blocked by APP-2'],
    ['Not affected: version 2.1 has the fix'],
    ['Not changed: already formatted'],
    ['Crashed cars: 3'],
    ['Expected 3 guests, 4 came'],
    ['Wrong way signs: 3'],
    ['Token a1b2 expires in 3 days'],
    ['### Error budget\n3 % left'],
    ['<html><head><title>Welcome</title></head></html>'],
    ['<errata>3</errata>'],
    [{ errcode: 0, errmsg: 'ok' }],
    [{ error: 'none', text: 'a' }],
    [{ errors: [], warnings: 2 }],
    [{ failed: 0, passed: 12 }],
    [{ status: 200 }],
    [{ url: '/a', status: 404 }],
    [{ status: 'available' }],
    [{ sku: 'a1', status: 'unavailable' }],
    [{ result: 'invalid', file: 'a' }],
    [{ code: 'DE', name: 'Germany' }],
    [{ code: 404, name: 'a' }],
    [{ code: 0, message: 'ok', data: null }],
    [{ code: 200, message: 'success', data: null }],
    [{ code: 482913, message: 'Your code' }],
    [{ code: 500, message: 'five hundred', data: { a: 1 } }],
  ])('is no failure if it says %j', (output) => {
    expect(isFailure(output)).toBe(false);
  });
});

describe('fingerprintOf', () => {
  const edit = (text: string) => ({ id: '1', name: 'Edit', input: { old_string: text } });
  const failureOf = (name: string, input: unknown, output: string): number | undefined =>
    fingerprintOf({ id: '1', name, input }, { status: 'failed', output }).failure;

  it('distinguishes outcomes by status, and treats all missing outputs as equal', () => {
    const outcomes = [
      ['ok', ''],
      ['ok', null],
      ['ok', 0],
      ['ok', false],
      ['ok', []],
      ['failed', ''],
    ].map(([status, output]) => fingerprintOf(edit('a'), { status: status as 'ok', output }).outcome);
    expect(new Set(outcomes).size).toBe(outcomes.length);
  });

  it('treats strings that resemble results as strings', () => {
    expect(fingerprintOf(edit('a'), { status: 'ok', output: { type: 'text', value: 'x' } })).toEqual(
      fingerprintOf(edit('a'), { status: 'ok', output: 'x' }),
    );
  });

  it('treats failures that only quote a different input as equal', () => {
    const said = (text: string): string => `String to replace not found in file.\nString: ${text}`;
    expect(failureOf('Edit', { old_string: 'case a:\n  b' }, said('case a:\n  b'))).toBe(
      failureOf('Edit', { old_string: 'if (x)' }, said('if (x)')),
    );
  });

  it('distinguishes failures with different messages', () => {
    expect(failureOf('Edit', { old_string: 'abc' }, 'File has not been read yet.')).not.toBe(
      failureOf('Edit', { old_string: 'abc' }, 'String to replace not found.'),
    );
  });

  it('compares the whole output of a command', () => {
    const log = (end: string): string => `> shop@1.0.0 test\n> vitest run\n\n RUN v4\n${end}`;
    expect(failureOf('bash', { command: 'npm test a' }, log('a is broken'))).not.toBe(
      failureOf('bash', { command: 'npm test b' }, log('b is broken')),
    );
  });

  it.each(['', '(no output)', 'Exit code: 1', '(no output)\nExit code: 127'])(
    'extracts no failure from %j',
    (output) => {
      expect(failureOf('bash', { command: 'grep x' }, output)).toBeUndefined();
    },
  );

  it('extracts no failure from calls that succeeded, were denied or did not run', () => {
    for (const status of ['ok', 'stored', 'denied', 'skipped', 'cancelled', 'interrupted'] as const) {
      expect(fingerprintOf(edit('a'), { status, output: 'A long explanation.' }).failure).toBeUndefined();
    }
  });

  it('uses the selected part, and everything if the selection fails', () => {
    const pick = (output: unknown): unknown => (output as { state: string }).state.slice(0);
    const run = (output: unknown) => fingerprintOf(edit('a'), { status: 'ok', output }, pick).outcome;
    expect(run({ state: 'on', seen: 'abc' })).toBe(run({ state: 'on', seen: 'xyz' }));
    expect(run({ seen: 'abc' })).not.toBe(run({ seen: 'xyz' }));
  });
});

describe('PendingFingerprint', () => {
  const pending = (output: unknown): PendingFingerprint =>
    new PendingFingerprint({ id: '1', name: 'read', input: {} }, { status: 'ok', output });
  const slots = Object.values(volatileSlots);
  const drawn = fc
    .record({
      head: fc.string(),
      slot: fc.nat(slots.length - 1),
      filler: fc.nat(3),
      end: fc.string(),
      draws: fc.infiniteStream(fc.nat(2 ** 30)),
    })
    .map(({ head, slot, filler, end, draws }) => {
      const random = (below: number): number => (draws.next().value as number) % below;
      const write = (round: number): string =>
        `${head} ${slots[slot]?.(random, round) ?? ''} ${'one more line. '.repeat(filler * 300)}${end}`;
      return [write(1), write(2)] as const;
    });
  const pairs = fc.oneof(drawn, fc.tuple(fc.string(), fc.string()));

  it('gives the same answer exactly if the outcomes are equal', () => {
    fc.assert(
      fc.property(pairs, ([one, other]) => {
        const [first, second] = [pending(one), pending(other)];
        const isSame = isSameAnswer(first, second);
        if (first.isEmpty !== true && second.isEmpty !== true) expect(isSame).toBe(first.outcome === second.outcome);
      }),
    );
  });

  it('is the same page as its finished fingerprint, whatever the blanks', () => {
    const page = Array.from({ length: 40 }, (_, index) => ({ ['abcdefghijk'.slice(index % 11)]: index }));
    const [one, other] = [JSON.stringify(page), JSON.stringify(page, null, 4)].map(pending) as [
      PendingFingerprint,
      PendingFingerprint,
    ];
    expect(isSamePage(one, other)).toBe(true);
    expect(isSamePage(one, other.finish())).toBe(true);
  });

  it('equals its finished fingerprint, and releases the output', () => {
    const print = pending('12 of 214 files, no errors');
    const { chars, ...finished } = { ...print.finish(), chars: print.chars };
    expect(chars).toBe(0);
    expect(print).toMatchObject(finished);
    expect(finished).toMatchObject({ isRatio: true });
  });
});
