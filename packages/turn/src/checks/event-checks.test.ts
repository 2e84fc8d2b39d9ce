import { describe, expect, it } from 'vitest';
import { checkEvent } from '../journal/record-checks.js';
import { isNotice } from './event-types.js';
import { decodeRecord, encodeRecord } from '../journal/record-codec.js';
import { event, sampleTurn, user } from '../testing/index.js';

describe('checkEvent', () => {
  it('accepts every event of an ordinary turn', () => {
    for (const made of sampleTurn()) expect(() => checkEvent(made, 0), made.type).not.toThrow();
  });

  it('rejects every event of the loop without its payload, and accepts any notice', () => {
    for (const { type } of sampleTurn()) {
      const check = (): void => checkEvent({ type }, 0);
      if (isNotice(type)) expect(check, type).not.toThrow();
      else expect(check, type).toThrow(expect.objectContaining({ code: 'invalid-input' }));
    }
  });
});

describe('decodeRecord', () => {
  const line = (changes: object): string =>
    JSON.stringify({
      v: 1,
      seq: 3,
      derived: false,
      event: { ...event('history.append', { origin: 'input', messages: [user('Hi')] }), ...changes },
    });

  it('reads what encodeRecord wrote', () => {
    for (const [seq, made] of sampleTurn().entries()) {
      expect(
        () => decodeRecord(encodeRecord({ v: 1, seq, event: made, derived: made.type === 'tool.result' })),
        made.type,
      ).not.toThrow();
    }
  });

  it.each([
    [
      'a message with an unknown role',
      { messages: [{ role: 'wizard', content: 'Hi' }] },
      /record 3: "event\.messages\[0\]\.role"/,
    ],
    ['a time that is not a number', { at: 'noon' }, /"event\.at" must be a number .*; received "noon"/],
    ['a missing turn', { turn: undefined }, /turn/],
  ])('rejects %s and names the place', (_, changes, message) => {
    expect(() => decodeRecord(line(changes))).toThrow(message);
    expect(() => decodeRecord(line(changes))).toThrow(expect.objectContaining({ code: 'invalid-record' }));
  });
});
