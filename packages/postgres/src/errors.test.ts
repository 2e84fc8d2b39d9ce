import { expect, it } from 'vitest';
import { toPostgresError } from './errors.js';

it.each([
  ['40001', 'database-conflict'],
  ['57014', 'database-timeout'],
  // A server that limits transactions ends the connection; the statement may succeed at the next attempt.
  ['25P03', 'database-timeout'],
  ['25P04', 'database-timeout'],
  ['25006', 'database-unavailable'],
  ['57P01', 'database-unavailable'],
])('retries a statement after %s', (sqlState, code) => {
  const thrown = Object.assign(new Error('Terminating connection.'), { code: sqlState });
  expect(toPostgresError(thrown)).toMatchObject({ code, sqlState, isRetryable: true });
});

it.each([
  ['42501', 'database-denied'],
  ['42883', 'database-schema'],
  ['22021', 'database-failed'],
])('does not retry a statement after %s', (sqlState, code) => {
  const thrown = Object.assign(new Error('No.'), { code: sqlState });
  expect(toPostgresError(thrown)).toMatchObject({ code, isRetryable: false });
});

it('names the pooler that does not allow transactions, instead of trying again', () => {
  const message = 'transaction blocks not allowed in statement pooling mode';
  expect(toPostgresError(Object.assign(new Error(message), { code: '08P01' }))).toMatchObject({
    code: 'database-pooler',
    isRetryable: false,
  });
  const transient = Object.assign(new Error('query_wait_timeout'), { code: '08P01' });
  expect(toPostgresError(transient)).toMatchObject({ code: 'database-unavailable', isRetryable: true });
});
