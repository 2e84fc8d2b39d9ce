import { describe, expect, it } from 'vitest';
import { driverError } from '../checks/event-checks.js';
import {
  InvalidInputError,
  OperatorError,
  SessionBusyError,
  toErrorInfo,
  TurnError,
  UnknownTurnError,
} from './errors.js';

describe('the errors that @h/turn throws', () => {
  it.each([
    [new InvalidInputError('No.'), 'InvalidInputError', 'invalid-input', {}],
    [new SessionBusyError('alice'), 'SessionBusyError', 'session-busy', { session: 'alice' }],
    [new UnknownTurnError('turn-1'), 'UnknownTurnError', 'unknown-turn', { turn: 'turn-1' }],
    [new OperatorError('guard', 'threw'), 'OperatorError', 'operator-failed', { operator: 'guard' }],
    [new TurnError('mine', 'No.'), 'TurnError', 'mine', {}],
  ])('%s has a name, a stable code and its details', (error, name, code, more) => {
    expect(error).toBeInstanceOf(TurnError);
    expect(error).toMatchObject({ name, code, ...more });
  });

  it('name the fix', () => {
    expect(new SessionBusyError('alice').message).toBe(
      'Session "alice" is already running a turn. Wait for its end, steer it, or add queue() to the pipe.',
    );
    expect(new UnknownTurnError('t').message).toMatch(/it never began, or a later turn of its session replaced it/);
    expect(new OperatorError('guard', 'threw on tool.call').message).toBe('The operator "guard" threw on tool.call');
  });
});

describe('toErrorInfo', () => {
  const circular: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  circular['self'] = circular;
  it.each<[string, unknown, object]>([
    ['an error', new TypeError('No.'), { name: 'TypeError', message: 'No.' }],
    [
      'an error with a code',
      Object.assign(new Error('No.'), { code: 'ENOENT' }),
      { name: 'Error', message: 'No.', code: 'ENOENT' },
    ],
    [
      'an error whose code is a number',
      new DOMException('Stopped.', 'AbortError'),
      { name: 'AbortError', message: 'Stopped.' },
    ],
    [
      'an error of an operator',
      new OperatorError('guard', 'threw'),
      { name: 'OperatorError', message: 'The operator "guard" threw', code: 'operator-failed', operator: 'guard' },
    ],
    ['a string', 'No.', { name: 'Error', message: 'No.' }],
    ['an object', { reason: 'No.' }, { name: 'Error', message: '{"reason":"No."}' }],
    ['nothing', undefined, { name: 'Error', message: 'undefined' }],
    ['null', null, { name: 'Error', message: 'null' }],
    ['a number', 7, { name: 'Error', message: '7' }],
    ['something that JSON cannot say', 7n, { name: 'Error', message: '7' }],
    ['something that cannot be said at all', circular, { name: 'Error', message: '[object Object]' }],
  ])('converts %s to plain data', (_, thrown, expected) => {
    expect(toErrorInfo(thrown)).toEqual(expected);
    expect(driverError.accepts({ error: toErrorInfo(thrown) })).toBe(true);
  });

  it('follows causes five levels deep, so that cycles end', () => {
    const error = new Error('a');
    error.cause = error;
    let depth = 0;
    for (let info = toErrorInfo(error); info.cause; info = info.cause) depth += 1;
    expect(depth).toBe(5);
    expect(toErrorInfo(new Error('outer', { cause: new Error('inner', { cause: 'why' }) }))).toEqual({
      name: 'Error',
      message: 'outer',
      cause: { name: 'Error', message: 'inner', cause: { name: 'Error', message: 'why' } },
    });
  });
});

describe('toErrorInfo of a hostile value', () => {
  it.each<[string, () => unknown]>([
    ['an error whose message is an object', () => Object.assign(new Error('x'), { message: { status: 500 } })],
    ['an error whose name is a number', () => Object.assign(new Error('x'), { name: 7 })],
    [
      'an error whose message throws',
      () =>
        Object.defineProperty(new Error('x'), 'message', {
          get: () => {
            throw new Error('No.');
          },
        }),
    ],
    [
      'a revoked proxy',
      () => {
        const { proxy, revoke } = Proxy.revocable({}, {});
        revoke();
        return proxy;
      },
    ],
    ['a symbol', () => Symbol('x')],
  ])('describes %s as text', (_, make) => {
    const { name, message } = toErrorInfo(make());
    expect([typeof name, typeof message]).toEqual(['string', 'string']);
  });
});
