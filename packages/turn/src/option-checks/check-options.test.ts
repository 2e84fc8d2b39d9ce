import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { TurnError } from '../errors.js';
import {
  aFlag,
  aFunction,
  aList,
  anObject,
  anyText,
  anything,
  aText,
  checkOptions,
  checkValue,
  either,
  instanceOf,
  InvalidOptionError,
  listOf,
  numberFrom,
  objectOf,
  objectWith,
  oneOf,
  recordOf,
  required,
  secret,
  wholeFrom,
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
  const checks = { maxSteps: wholeFrom(1), onEnd: aFunction, path: required(aText) };

  it('lets pass what fits, and what is left out', () => {
    expect(messageOf({ path: 'a' }, checks)).toBe('');
    expect(messageOf({ path: 'a', maxSteps: undefined, onEnd: () => 1 }, checks)).toBe('');
  });

  it.each<[unknown, string]>([
    [
      { path: 'a', maxStep: 3 },
      'make() has no option "maxStep" (it was given 3); did you mean "maxSteps"? It knows maxSteps, onEnd, path.',
    ],
    [
      { path: 'a', max_steps: 3 },
      'make() has no option "max_steps" (it was given 3); did you mean "maxSteps"? It knows maxSteps, onEnd, path.',
    ],
    [
      { path: 'a', colour: 'red' },
      'make() has no option "colour" (it was given "red"); it knows maxSteps, onEnd, path.',
    ],
    [{ path: 'a', maxSteps: 0 }, 'make() takes a whole number from 1 as "maxSteps"; it was given 0.'],
    [{ path: 'a', maxSteps: null }, 'make() takes a whole number from 1 as "maxSteps"; it was given null.'],
    [{ maxSteps: 1 }, 'make() needs "path": a text that is not empty.'],
    [{ path: undefined }, 'make() needs "path": a text that is not empty.'],
    [{ path: '' }, 'make() takes a text that is not empty as "path"; it was given "".'],
    [undefined, 'make() takes an object of options; it was given undefined.'],
    [null, 'make() takes an object of options; it was given null.'],
    [['a'], 'make() takes an object of options; it was given ["a"].'],
    [
      JSON.parse('{ "path": "a", "__proto__": 1 }'),
      'make() has no option "__proto__" (it was given 1); it knows maxSteps, onEnd, path.',
    ],
    [{ path: 'a', toString: 1 }, 'make() has no option "toString" (it was given 1); it knows maxSteps, onEnd, path.'],
    [{ path: 'a', 'a b': 1 }, `make() has no option "['a b']" (it was given 1); it knows maxSteps, onEnd, path.`],
  ])('says of %j what is wrong', (options, message) => {
    expect(messageOf(options, checks)).toBe(message);
  });

  it('throws a typed error that names owner and option', () => {
    expect(() => checkOptions('make()', { path: 7 }, { path: aText })).toThrow(
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
    expect(new InvalidOptionError({ owner: 'make()', option: 'path', message: 'No.' })).toBeInstanceOf(TurnError);
  });

  it('throws the error of a package that has its own', () => {
    class OwnError extends Error {}
    const toError = ({ owner, option, message }: { owner: string; option: string; message: string }): Error =>
      new OwnError(`${owner}|${option}|${message}`);
    expect(() => checkOptions('make()', { a: 1 }, { a: aText }, toError)).toThrow(
      new OwnError('make()|a|make() takes a text that is not empty as "a"; it was given 1.'),
    );
    expect(() => checkOptions('make()', 7 as unknown as object, {}, toError)).toThrow(OwnError);
    expect(() => checkValue('make()', 'a', 1, aText, toError)).toThrow(OwnError);
  });

  it('wants a check for every option of the type', () => {
    interface Options {
      readonly a?: number | undefined;
      readonly b: string;
    }
    const options: Options = { b: 'x' };
    checkOptions('make()', options, { a: wholeFrom(0), b: aText });
    // @ts-expect-error -- b has no check
    expect(() => checkOptions('make()', options, { a: wholeFrom(0) })).toThrow('"b"');
    // @ts-expect-error -- there is no option c
    checkOptions('make()', options, { a: wholeFrom(0), b: aText, c: aText });
    expectTypeOf<OptionChecks<Options>>().toEqualTypeOf<{ readonly a: OptionCheck; readonly b: OptionCheck }>();
    checkOptions('make()', JSON.parse('{}') as unknown, {});
  });

  it('takes any table for options of no type', () => {
    const table: Readonly<Record<string, OptionCheck>> = { a: aText };
    expect(() => checkOptions<object>('make()', { zebra: 1 }, table)).toThrow('it knows a.');
  });
});

describe('checkValue', () => {
  it.each<[unknown, OptionCheck, string]>([
    [undefined, aText, 'make() takes a text that is not empty as "path"; it was given undefined.'],
    [7, aText, 'make() takes a text that is not empty as "path"; it was given 7.'],
    [
      undefined,
      listOf(aText),
      'make() takes a list of which each is a text that is not empty as "path"; it was given undefined.',
    ],
    [['a', 7], listOf(aText), 'make() takes a text that is not empty as "path[1]"; it was given 7.'],
  ])('refuses %j', (value, check, message) => {
    expect(() => checkValue('make()', 'path', value, check)).toThrow(
      expect.objectContaining({ code: 'invalid-option', message }) as Error,
    );
  });

  it('lets pass what fits', () => {
    checkValue('make()', 'path', 'a', aText);
  });
});

describe('a check', () => {
  const passes = (check: OptionCheck, values: readonly unknown[]): readonly boolean[] =>
    values.map((value) => check.accepts(value));
  const nothings = [null, undefined, Number.NaN, '', [], {}];

  it.each<[string, OptionCheck, readonly unknown[], readonly unknown[]]>([
    ['a function', aFunction, [() => 1, Map], nothings],
    ['true or false', aFlag, [true, false], [...nothings, 'true', 1]],
    ['a text that is not empty', aText, ['a'], nothings],
    ['a text', anyText, ['a', ''], [null, 7, ['a']]],
    ['a list', aList, [[], [1]], [null, {}, 'a', { length: 0 }]],
    ['an object', anObject, [{}, new Map()], [null, [], 'a', () => 1]],
    ['anything', anything, nothings, []],
    ['a number from 0', numberFrom(0), [0, 0.5, 1e300], [-1, Infinity, Number.NaN, '1', 1n]],
    ['a number from 0 or Infinity', numberFrom(0, Infinity), [0, Infinity], [-1, Number.NaN, -Infinity]],
    ['a number from 0 to 1', numberFrom(0, 1), [0, 0.5, 1], [-0.1, 1.1, Infinity]],
    ['a whole number from 1', wholeFrom(1), [1, 2 ** 53 - 1], [0, 1.5, Infinity, 2 ** 53, Number.NaN, '1']],
    ['a whole number from 1 or Infinity', wholeFrom(1, Infinity), [1, Infinity], [0, 1.5, -Infinity, 2 ** 53]],
    ['a whole number from 1 to 3', wholeFrom(1, 3), [1, 3], [0, 4, 2.5, Infinity]],
    ['"a" or false or Infinity', oneOf('a', false, Infinity), ['a', false, Infinity], ['b', true, undefined, null]],
    ['an object with get() and set()', objectWith('get', 'set'), [new Map()], [{}, { get: 1, set: 2 }, null, []]],
    ['an object of the class Map', instanceOf(Map), [new Map()], [{}, null, new Set()]],
    ['what createMap() makes', instanceOf(Map, 'what createMap() makes'), [new Map()], [new Set()]],
    ['a list of which each is a list', listOf(aList), [[], [[]]], [[1], {}, null]],
    [
      'an object with a, b',
      objectOf({ a: aText, b: required(aFlag) }),
      [{ b: true }, { a: 'x', b: true }, { a: undefined, b: true }],
      [{}, { a: 'x' }, { b: true, c: 1 }, { b: 1 }, [], null],
    ],
    [
      'an object of which each value is true or false',
      recordOf(aFlag),
      [{}, { a: true, b: undefined }],
      [{ a: 1 }, [], null],
    ],
    ['a function or a text', either(aFunction, anyText), ['', () => 1], [null, 7, {}]],
    ['a text', secret(anyText), [''], [7]],
    ['a text', required(anyText), [''], [7, undefined]],
  ])('takes %s', (takes, check, right, wrong) => {
    expect(check.takes).toBe(takes);
    expect(passes(check, right)).toEqual(right.map(() => true));
    expect(passes(check, wrong)).toEqual(wrong.map(() => false));
  });

  it.each<[OptionCheck, unknown, string, string]>([
    [listOf(wholeFrom(1)), [1, 0], 'a[1]', 'make() takes a whole number from 1 as "a[1]"; it was given 0.'],
    [
      listOf(wholeFrom(1)),
      7,
      'a',
      'make() takes a list of which each is a whole number from 1 as "a"; it was given 7.',
    ],
    [objectOf({ retry: aFlag }), { retry: 1 }, 'a.retry', 'make() takes true or false as "a.retry"; it was given 1.'],
    [
      objectOf({ retry: aFlag }),
      { retri: true },
      'a.retri',
      'make() has no option "a.retri" (it was given true); did you mean "retry"? It knows retry.',
    ],
    [objectOf({ retry: required(aFlag) }), {}, 'a.retry', 'make() needs "a.retry": true or false.'],
    [objectOf({ retry: aFlag }), false, 'a', 'make() takes an object with retry as "a"; it was given false.'],
    [
      recordOf(listOf(aText)),
      { 'x-y': ['a', ''] },
      'a.x-y[1]',
      'make() takes a text that is not empty as "a.x-y[1]"; it was given "".',
    ],
    [recordOf(aFlag), { 'x y': 1 }, `a['x y']`, `make() takes true or false as "a['x y']"; it was given 1.`],
    [
      either(oneOf(false), objectOf({ rounds: wholeFrom(2) })),
      { rounds: 1 },
      'a.rounds',
      'make() takes a whole number from 2 as "a.rounds"; it was given 1.',
    ],
    [
      either(oneOf(false), objectOf({ rounds: wholeFrom(2) })),
      true,
      'a',
      'make() takes false or an object with rounds as "a"; it was given true.',
    ],
    [either(aText, listOf(aText)), [7], 'a[0]', 'make() takes a text that is not empty as "a[0]"; it was given 7.'],
  ])('finds the part that is wrong', (check, value, option, message) => {
    expect(() => checkOptions('make()', { a: value }, { a: check })).toThrow(
      expect.objectContaining({ option, message }) as Error,
    );
  });

  it('may be anybody’s', () => {
    const even: OptionCheck = {
      takes: 'an even number',
      accepts: (value) => typeof value === 'number' && value % 2 === 0,
    };
    expect(messageOf({ a: 3 }, { a: even })).toBe('make() takes an even number as "a"; it was given 3.');
    expect(messageOf({ a: 2 }, { a: even })).toBe('');
  });
});

describe('a secret', () => {
  const value = 'sk-abcdefghijklmnopqrstuvwxyz0123456789';

  it.each<[string, unknown, OptionChecks]>([
    ['is what its check says', { id: { value } }, { id: secret(aText) }],
    ['is what its check says, in a list', { id: [value] }, { id: listOf(secret(wholeFrom(1))) }],
    ['is what its check says, one of two', { id: value }, { id: either(aFunction, secret(wholeFrom(1))) }],
    ['is what its name says', { apiKey: value }, { apiKey: aFunction }],
    ['is what its name says, of no option', { api_token: value }, {}],
    ['is what its name says, deep within', { a: { list: [{ password: value.slice(0, 20) }] } }, { a: aFunction }],
    ['is any long text', { a: value }, { a: aFunction }],
    ['is any long text within', { a: [{ b: [value] }] }, { a: aFunction }],
    ['is any long text in the place of options', value, {}],
  ])('%s', (_, options, checks) => {
    const message = messageOf(options, checks);
    expect(message).not.toBe('');
    expect(message).not.toContain(value.slice(0, 20));
  });
});

describe('a message', () => {
  it('is short and in one line, whatever was given', () => {
    fc.assert(
      fc.property(
        fc.anything({
          maxDepth: 5,
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

  it('is made of values that cannot be shown, too', () => {
    const hostile = {
      get a(): never {
        throw new Error('No.');
      },
    };
    expect(messageOf({ a: hostile }, { a: aText })).toContain('it was given something that cannot be shown.');
    expect(messageOf({ a: Object.create({}) as object }, { a: aText })).toContain('it was given ');
    expect(messageOf({ ['x'.repeat(10_000)]: 1 }, {}).length).toBeLessThan(300);
  });

  it('takes no longer for a great value', () => {
    const great = Array.from({ length: 100_000 }, () => ({ a: 'b' }));
    expect(messageOf({ a: great }, { a: aText })).toContain('… 99990 more');
  });
});
