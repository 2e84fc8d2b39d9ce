import type { Message } from '@h/turn';
import { call, user } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { openUserRequests, firstUserRequest } from './user-requests.js';

const answer: Message = { role: 'assistant', content: 'Here it is.' };
const work: Message = { role: 'assistant', content: [call('1')] };
const internal: Message = { ...user('Continue where you stopped.'), metadata: { internal: true } };

describe('openUserRequests', () => {
  it.each<readonly [string, readonly Message[], readonly number[]]>([
    ['the last request', [user('a'), answer, user('b'), work], [2]],
    ['all that came in since the last answer', [user('a'), answer, user('b'), work, user('c'), work], [2, 4]],
    ['nothing when all is answered', [user('a'), work, answer], []],
    ['nothing of the harness', [user('a'), work, internal, work], [0]],
    ['the request whose truncated answer continues', [user('a'), answer, internal, work], [0]],
    ['nothing in nothing', [], []],
  ])('finds %s', (_, messages, places) => {
    expect(openUserRequests(messages)).toEqual(places);
  });
});

describe('firstUserRequest', () => {
  it('returns the first message of a person', () => {
    expect(firstUserRequest([internal, user('a'), user('b')])).toBe('a');
    expect(firstUserRequest([answer])).toBeUndefined();
  });
});
