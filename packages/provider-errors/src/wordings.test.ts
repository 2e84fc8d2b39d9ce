import { describe, expect, it } from 'vitest';
import { reportedErrors } from '../test/reported-errors.js';
import { wordings } from '../test/wordings.js';
import { classifyError, isContextOverflow } from './classify-error.js';

const messages = Object.entries(wordings).flatMap(([reason, list]) =>
  list.map((message) => [reason, message] as const),
);
const reasonOf = (error: unknown): string => classifyError(error, { now: 0 }).reason;

describe('classifyError, given a message without a status', () => {
  it.each(messages)('finds %s in %j', (reason, message) => {
    expect(reasonOf(new Error(message))).toBe(reason);
    expect(isContextOverflow(new Error(message))).toBe(reason === 'context-overflow');
  });

  it.each<[string, (message: string) => unknown]>([
    ['a body', (message) => ({ error: { message, param: null } })],
    ['a body of FastAPI', (message) => ({ detail: message })],
    ['JSON inside a sentence', (message) => new Error(`Request failed: ${JSON.stringify({ error: { message } })}`)],
    ['a cause', (message) => new Error('The call failed.', { cause: new Error(message) })],
    ['the last of several attempts', (message) => ({ message: 'Failed.', lastError: { message } })],
    ['typographic apostrophes', (message) => message.replaceAll("'", '\u2019')],
    ['lower case', (message) => message.toLowerCase()],
  ])('finds the same reasons in %s', (_, wrap) => {
    const missed = messages.filter(([reason, message]) => reasonOf(wrap(message)) !== reason);
    expect(missed).toEqual([]);
  });

  it('finds reasons in objects that Python has printed', () => {
    const wrapped = messages.filter(([reason]) => reason !== 'aborted');
    const missed = wrapped.filter(
      ([reason, message]) => reasonOf(`Error - {'error': {'message': '${message.replaceAll("'", '')}'}}`) !== reason,
    );
    expect(missed.length / wrapped.length).toBeLessThan(0.02);
  });
});

describe('classifyError, given a reported error', () => {
  it.each(
    reportedErrors.map(
      ([reason, error]) =>
        [reason, error instanceof Error ? error : typeof error === 'string' ? new Error(error) : error] as const,
    ),
  )('finds %s in %o', (reason, error) => {
    expect(reasonOf(error)).toBe(reason);
  });
});
