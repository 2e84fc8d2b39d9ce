import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  CodedError,
  anyBoolean,
  anyFunction,
  anyArray,
  anyObject,
  anyString,
  anyValue,
  nonEmptyString,
  checkOptions,
  checkValue,
  anyOf,
  instanceOf,
  InvalidOptionError,
  arrayOf,
  numberFrom,
  objectOf,
  objectWithMethods,
  oneOf,
  recordOf,
  required,
  secret,
  integerFrom,
  type OptionCheck,
  type OptionChecks,
} from './index.js';

const messageOf = (options: unknown, checks: OptionChecks): string => {
  try {
    checkOptions('make()', options as object, checks);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidOptionError);
    return (error as Error).message;
  }
  return '';
};

describe('checkOptions', () => {
  const checks = { maxSteps: integerFrom(1), onEnd: anyFunction, path: required(nonEmptyString) };

  it('accepts valid values and omitted options', () => {
    expect(messageOf({ path: 'a' }, checks)).toBe('');
    expect(messageOf({ path: 'a', maxSteps: undefined, onEnd: () => 1 }, checks)).toBe('');
  });

  it.each<[unknown, string]>([
    [
      { path: 'a', maxStep: 3 },
      'make(): unknown option "maxStep" (received 3). Did you mean "maxSteps"? Known options: maxSteps, onEnd, path.',
    ],
    [
      { path: 'a', max_steps: 3 },
      'make(): unknown option "max_steps" (received 3). Did you mean "maxSteps"? Known options: maxSteps, onEnd, path.',
    ],
    [
      { path: 'a', colour: 'red' },
      'make(): unknown option "colour" (received "red"). Known options: maxSteps, onEnd, path.',
    ],
    [{ path: 'a', maxSteps: 0 }, 'make(): "maxSteps" must be an integer from 1; received 0.'],
    [{ path: 'a', maxSteps: null }, 'make(): "maxSteps" must be an integer from 1; received null.'],
    [{ maxSteps: 1 }, 'make(): "path" is required; it must be a non-empty string.'],
    [{ path: undefined }, 'make(): "path" is required; it must be a non-empty string.'],
    [{ path: '' }, 'make(): "path" must be a non-empty string; received "".'],
    [undefined, 'make(): options must be an object; received undefined.'],
    [null, 'make(): options must be an object; received null.'],
    [['a'], 'make(): options must be an object; received ["a"].'],
    [Promise.resolve({ path: 'a' }), 'make(): options must be an object; received a promise, which must be awaited.'],
    [new Map([['path', 'a']]), 'make(): options must be an object; received an instance of Map.'],
    [new Set(), 'make(): options must be an object; received an instance of Set.'],
    [
      JSON.parse('{ "path": "a", "__proto__": 1 }'),
      'make(): unknown option "__proto__" (received 1). Known options: maxSteps, onEnd, path.',
    ],
    [
      { path: 'a', toString: 1 },
      'make(): unknown option "toString" (received 1). Known options: maxSteps, onEnd, path.',
    ],
    [{ path: 'a', 'a b': 1 }, `make(): unknown option "['a b']" (received 1). Known options: maxSteps, onEnd, path.`],
  ])('reports what is wrong with %j', (options, message) => {
    expect(messageOf(options, checks)).toBe(message);
  });

  it('throws a typed error with the owner and the option', () => {
    expect(() => checkOptions('make()', { path: 7 }, { path: nonEmptyString })).toThrow(
      expect.objectContaining({
        name: 'InvalidOptionError',
        code: 'invalid-option',
        owner: 'make()',
        option: 'path',
      }) as Error,
    );
    expect(new InvalidOptionError({ owner: 'make()', option: 'path', message: 'No.' }, { cause: 1 })).toMatchObject({
      cause: 1,
    });
    expect(new InvalidOptionError({ owner: 'make()', option: 'path', message: 'No.' })).toBeInstanceOf(CodedError);
  });

  it('throws the error that toError() creates', () => {
    class OwnError extends Error {}
    const toError = ({ owner, option, message }: { owner: string; option: string; message: string }): Error =>
      new OwnError(`${owner}|${option}|${message}`);
    expect(() => checkOptions('make()', { a: 1 }, { a: nonEmptyString }, toError)).toThrow(
      new OwnError('make()|a|make(): "a" must be a non-empty string; received 1.'),
    );
    expect(() => checkOptions('make()', 7 as unknown as object, {}, toError)).toThrow(OwnError);
    expect(() => checkValue('make()', 'a', 1, nonEmptyString, toError)).toThrow(OwnError);
  });

  it('requires a check for every option of the type', () => {
    interface Options {
      readonly a?: number | undefined;
      readonly b: string;
    }
    const options: Options = { b: 'x' };
    checkOptions('make()', options, { a: integerFrom(0), b: nonEmptyString });
    // @ts-expect-error -- b has no check
    expect(() => checkOptions('make()', options, { a: integerFrom(0) })).toThrow('"b"');
    // @ts-expect-error -- there is no option c
    checkOptions('make()', options, { a: integerFrom(0), b: nonEmptyString, c: nonEmptyString });
    expectTypeOf<OptionChecks<Options>>().toEqualTypeOf<{ readonly a: OptionCheck; readonly b: OptionCheck }>();
    checkOptions('make()', JSON.parse('{}') as unknown, {});
  });

  it('accepts any table of checks for options without a type', () => {
    const table: Readonly<Record<string, OptionCheck>> = { a: nonEmptyString };
    expect(() => checkOptions<object>('make()', { zebra: 1 }, table)).toThrow('Known options: a.');
  });
});

describe('checkValue', () => {
  it.each<[unknown, OptionCheck, string]>([
    [undefined, nonEmptyString, 'make(): "path" must be a non-empty string; received undefined.'],
    [7, nonEmptyString, 'make(): "path" must be a non-empty string; received 7.'],
    [
      undefined,
      arrayOf(nonEmptyString),
      'make(): "path" must be an array in which each item is a non-empty string; received undefined.',
    ],
    [['a', 7], arrayOf(nonEmptyString), 'make(): "path[1]" must be a non-empty string; received 7.'],
  ])('refuses %j', (value, check, message) => {
    expect(() => checkValue('make()', 'path', value, check)).toThrow(
      expect.objectContaining({ code: 'invalid-option', message }) as Error,
    );
  });

  it('accepts a valid value', () => {
    checkValue('make()', 'path', 'a', nonEmptyString);
  });
});

describe('a check', () => {
  const passes = (check: OptionCheck, values: readonly unknown[]): readonly boolean[] =>
    values.map((value) => check.accepts(value));
  const nothings = [null, undefined, Number.NaN, '', [], {}];

  it.each<[string, OptionCheck, readonly unknown[], readonly unknown[]]>([
    ['a function', anyFunction, [() => 1, Map], nothings],
    ['a boolean', anyBoolean, [true, false], [...nothings, 'true', 1]],
    ['a non-empty string', nonEmptyString, ['a'], nothings],
    ['a string', anyString, ['a', ''], [null, 7, ['a']]],
    ['an array', anyArray, [[], [1]], [null, {}, 'a', { length: 0 }]],
    ['an object', anyObject, [{}, new Map()], [null, [], 'a', () => 1]],
    ['any value', anyValue, nothings, []],
    ['a number from 0', numberFrom(0), [0, 0.5, 1e300], [-1, Infinity, Number.NaN, '1', 1n]],
    ['a number from 0 or Infinity', numberFrom(0, Infinity), [0, Infinity], [-1, Number.NaN, -Infinity]],
    ['a number from 0 to 1', numberFrom(0, 1), [0, 0.5, 1], [-0.1, 1.1, Infinity]],
    ['an integer from 1', integerFrom(1), [1, 2 ** 53 - 1], [0, 1.5, Infinity, 2 ** 53, Number.NaN, '1']],
    ['an integer from 1 or Infinity', integerFrom(1, Infinity), [1, Infinity], [0, 1.5, -Infinity, 2 ** 53]],
    ['an integer from 1 to 3', integerFrom(1, 3), [1, 3], [0, 4, 2.5, Infinity]],
    ['"a" or false or Infinity', oneOf('a', false, Infinity), ['a', false, Infinity], ['b', true, undefined, null]],
    [
      'an object with get() and set()',
      objectWithMethods('get', 'set'),
      [new Map()],
      [{}, { get: 1, set: 2 }, null, []],
    ],
    ['an instance of Map', instanceOf(Map), [new Map()], [{}, null, new Set()]],
    ['what createMap() makes', instanceOf(Map, 'what createMap() makes'), [new Map()], [new Set()]],
    ['an array in which each item is an array', arrayOf(anyArray), [[], [[]]], [[1], {}, null]],
    [
      'an object with the keys a, b',
      objectOf({ a: nonEmptyString, b: required(anyBoolean) }),
      [{ b: true }, { a: 'x', b: true }, { a: undefined, b: true }],
      [{}, { a: 'x' }, { b: true, c: 1 }, { b: 1 }, [], null],
    ],
    [
      'an object in which each value is a boolean',
      recordOf(anyBoolean),
      [{}, { a: true, b: undefined }],
      [{ a: 1 }, [], null],
    ],
    ['a function or a string', anyOf(anyFunction, anyString), ['', () => 1], [null, 7, {}]],
    ['a string', secret(anyString), [''], [7]],
    ['a string', required(anyString), [''], [7, undefined]],
  ])('takes %s', (takes, check, right, wrong) => {
    expect(check.expected).toBe(takes);
    expect(passes(check, right)).toEqual(right.map(() => true));
    expect(passes(check, wrong)).toEqual(wrong.map(() => false));
  });

  it.each<[OptionCheck, unknown, string, string]>([
    [arrayOf(integerFrom(1)), [1, 0], 'a[1]', 'make(): "a[1]" must be an integer from 1; received 0.'],
    [
      arrayOf(integerFrom(1)),
      7,
      'a',
      'make(): "a" must be an array in which each item is an integer from 1; received 7.',
    ],
    [objectOf({ retry: anyBoolean }), { retry: 1 }, 'a.retry', 'make(): "a.retry" must be a boolean; received 1.'],
    [
      objectOf({ retry: anyBoolean }),
      { retri: true },
      'a.retri',
      'make(): unknown option "a.retri" (received true). Did you mean "retry"? Known options: retry.',
    ],
    [objectOf({ retry: required(anyBoolean) }), {}, 'a.retry', 'make(): "a.retry" is required; it must be a boolean.'],
    [objectOf({ retry: anyBoolean }), false, 'a', 'make(): "a" must be an object with the keys retry; received false.'],
    [
      recordOf(arrayOf(nonEmptyString)),
      { 'x-y': ['a', ''] },
      'a.x-y[1]',
      'make(): "a.x-y[1]" must be a non-empty string; received "".',
    ],
    [
      recordOf(anyBoolean),
      new Map([['x', true]]),
      'a',
      'make(): "a" must be an object in which each value is a boolean; received an instance of Map.',
    ],
    [recordOf(anyBoolean), { 'x y': 1 }, `a['x y']`, `make(): "a['x y']" must be a boolean; received 1.`],
    [
      anyOf(oneOf(false), objectOf({ rounds: integerFrom(2) })),
      { rounds: 1 },
      'a.rounds',
      'make(): "a.rounds" must be an integer from 2; received 1.',
    ],
    [
      anyOf(oneOf(false), objectOf({ rounds: integerFrom(2) })),
      true,
      'a',
      'make(): "a" must be false or an object with the keys rounds; received true.',
    ],
    [
      anyOf(nonEmptyString, arrayOf(nonEmptyString)),
      [7],
      'a[0]',
      'make(): "a[0]" must be a non-empty string; received 7.',
    ],
  ])('names the invalid part of an option', (check, value, option, message) => {
    expect(() => checkOptions('make()', { a: value }, { a: check })).toThrow(
      expect.objectContaining({ option, message }) as Error,
    );
  });

  it('can be defined outside of the package', () => {
    const even: OptionCheck = {
      expected: 'an even number',
      accepts: (value) => typeof value === 'number' && value % 2 === 0,
    };
    expect(messageOf({ a: 3 }, { a: even })).toBe('make(): "a" must be an even number; received 3.');
    expect(messageOf({ a: 2 }, { a: even })).toBe('');
  });
});

describe('a secret', () => {
  const value = 'sk-abcdefghijklmnopqrstuvwxyz0123456789';

  it.each<[string, unknown, OptionChecks]>([
    ['is hidden if its check is secret()', { id: { value } }, { id: secret(nonEmptyString) }],
    ['is hidden if the check of the array item is secret()', { id: [value] }, { id: arrayOf(secret(integerFrom(1))) }],
    ['is hidden if one of two checks is secret()', { id: value }, { id: anyOf(anyFunction, secret(integerFrom(1))) }],
    ['is hidden if the name of the option looks secret', { apiKey: value }, { apiKey: anyFunction }],
    ['is hidden if the name of an unknown option looks secret', { api_token: value }, {}],
    [
      'is hidden if the name of a nested member looks secret',
      { a: { list: [{ password: value.slice(0, 20) }] } },
      { a: anyFunction },
    ],
    ['is hidden if it is a long string', { a: value }, { a: anyFunction }],
    ['is hidden if it is a long nested string', { a: [{ b: [value] }] }, { a: anyFunction }],
    ['is hidden if a long string is passed instead of options', value, {}],
  ])('%s', (_, options, checks) => {
    const message = messageOf(options, checks);
    expect(message).not.toBe('');
    expect(message).not.toContain(value.slice(0, 20));
  });
});

describe('a message', () => {
  it('is short and fits on one line for any value', () => {
    fc.assert(
      fc.property(
        fc.anything({
          maxDepth: 5,
          size: 'small',
          withBigInt: true,
          withDate: true,
          withMap: true,
          withNullPrototype: true,
          withSparseArray: true,
          withTypedArray: true,
        }),
        fc.string({ unit: 'binary' }),
        (value, name) => {
          for (const options of [value, { [name]: value }, { a: value }]) {
            const message = messageOf(options, { a: oneOf('never') });
            expect(message.length).toBeLessThan(600);
            expect(message).not.toContain('\n');
            expect(message.isWellFormed()).toBe(true);
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  it('describes values whose getters throw', () => {
    const hostile = {
      get a(): never {
        throw new Error('No.');
      },
    };
    expect(messageOf({ a: hostile }, { a: nonEmptyString })).toContain('received something that cannot be shown.');
    expect(messageOf({ a: Object.create({}) as object }, { a: nonEmptyString })).toContain('received ');
    expect(messageOf({ ['x'.repeat(10_000)]: 1 }, {}).length).toBeLessThan(300);
  });

  it('shows only the start of a large value', () => {
    const great = Array.from({ length: 100_000 }, () => ({ a: 'b' }));
    expect(messageOf({ a: great }, { a: nonEmptyString })).toContain('… 99990 more');
  });
});
