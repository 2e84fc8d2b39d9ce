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
    ['colors', (message) => `\u001B[31m${message.replaceAll(' ', ' \u001B[1m')}\u001B[39m`],
    ['blanks of other kinds', (message) => message.replaceAll(' ', '\u00A0 ')],
  ])('finds the same reasons in %s', (_, wrap) => {
    const missed = messages.filter(([reason, message]) => reasonOf(wrap(message)) !== reason);
    expect(missed).toEqual([]);
  });

  it.each<[string, (message: string) => string]>([
    [
      'an object that Python has printed',
      (message) => `Error - {'error': {'message': '${message.replaceAll("'", '')}'}}`,
    ],
    [
      'a paragraph of a page',
      (message) => `<html><head><title>Error</title></head><p>${message.replaceAll('<', '&lt;')}</p>`,
    ],
    ['the error of a stream', (message) => `stream disconnected before completion: ${message}; retrying 1/5 in 200ms…`],
    ['a log line', (message) => `2026-11-28T07:44:29.123Z [ERROR] provider: ${message}`],
    ['the error of gRPC', (message) => `13 INTERNAL: ${message}`],
  ])('finds nearly all reasons in %s', (_, wrap) => {
    const wrapped = messages.filter(([reason]) => reason !== 'aborted' && reason !== 'unknown');
    const missed = wrapped.filter(([reason, message]) => reasonOf(wrap(message)) !== reason);
    expect(missed.length / wrapped.length).toBeLessThan(0.02);
  });
});

/** What a message is about, and what is wrong with it: every pair is a sentence that some provider may write. */
const pairs: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  [
    'quota',
    ['credits', 'account balance', 'funds', 'token quota', 'usage allowance', 'budget', 'spending limit', 'free trial'],
    [
      'Your … has been exhausted.',
      '… depleted',
      'Not enough … to run this request.',
      'You have run out of ….',
      'You have no … left.',
      'You have used all of your ….',
      'Your … was fully consumed.',
      'You have reached your ….',
    ],
  ],
  [
    'auth',
    ['API key', 'access token', 'credentials', 'authorization header', 'refresh token', 'service account key'],
    [
      'The … you provided is incorrect.',
      'No … was provided.',
      '… could not be verified',
      'Please check your ….',
      'Unknown …',
      '… was not accepted',
      '… is not active',
    ],
  ],
  [
    'context-overflow',
    ['prompt', 'input', 'conversation', 'message history', 'transcript', 'request'],
    [
      'The … does not fit into the context window of the model.',
      '… length 210000 is greater than the model maximum 200000',
      '… has 210000 tokens but the model only supports 200000',
      '… tokens 210000 > 200000',
      'Token limit for … exceeded',
    ],
  ],
];

describe('classifyError, given general words', () => {
  it.each(pairs)('finds %s in every combination', (reason, nouns, sentences) => {
    const all = sentences.flatMap((sentence) => nouns.map((noun) => sentence.replace('…', noun)));
    expect(all.filter((message) => reasonOf(new Error(message)) !== reason)).toEqual([]);
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
