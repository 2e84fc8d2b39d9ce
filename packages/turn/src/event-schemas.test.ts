import { describe, expect, it } from 'vitest';
import { eventSchemas } from './event-schemas.js';
import { decodeRecord, encodeRecord } from './record-codec.js';
import { event, sampleTurn, user } from './testing/index.js';

describe('eventSchemas', () => {
  it('accept every event of an ordinary turn', () => {
    for (const made of sampleTurn()) {
      const schema = eventSchemas[made.type as keyof typeof eventSchemas] as
        | (typeof eventSchemas)['turn.end']
        | undefined;
      if (schema) expect(schema.safeParse(made).error, made.type).toBeUndefined();
    }
  });

  it('know every event of the loop, notices apart', () => {
    const known = new Set(Object.keys(eventSchemas));
    const types = new Set(sampleTurn().map(({ type }) => type as string));
    const notices = new Set(['weather.changed', 'tide.turned']);
    for (const type of types) expect(known.has(type) || notices.has(type), type).toBe(true);
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

  it('takes what encodeRecord wrote', () => {
    for (const [seq, made] of sampleTurn().entries()) {
      expect(
        () => decodeRecord(encodeRecord({ v: 1, seq, event: made, derived: made.type === 'tool.result' })),
        made.type,
      ).not.toThrow();
    }
  });

  it.each([
    ['a message with an unknown role', { messages: [{ role: 'wizard', content: 'Hi' }] }, /record 3.*messages\[0\]/s],
    ['a time that is no number', { at: 'noon' }, /at at, found "noon"/],
    ['no turn', { turn: undefined }, /turn/],
  ])('refuses %s, and says where', (_, changes, message) => {
    expect(() => decodeRecord(line(changes))).toThrow(message);
    expect(() => decodeRecord(line(changes))).toThrow(expect.objectContaining({ code: 'invalid-record' }));
  });
});
