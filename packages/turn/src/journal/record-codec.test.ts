import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TurnError } from '../contract/errors.js';
import type { TurnEvent } from '../contract/events.js';
import { MessageList } from '../contract/message-list.js';
import { stored } from '../checks/message-checks.js';
import { decodeRecord, encodeRecord } from './record-codec.js';
import type { JournalRecord } from '../contract/session-store.js';
import { event, ok, request, sampleTurn, user } from '../testing/index.js';

const record = (given: TurnEvent, derived = false): JournalRecord => ({ v: 1, seq: 0, event: given, derived });
const throughLine = (given: TurnEvent, derived = false): TurnEvent =>
  decodeRecord(encodeRecord(record(given, derived))).event;

/** Keys that are easily lost or mistaken. */
const key = fc.oneof(
  fc.string(),
  fc.constantFrom('__proto__', 'constructor', 'toJSON', '$h', '$h$h', '$hurl', 'value', 'type', 'then'),
);

const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, tie('leaf'), fc.array(tie('value'), { maxLength: 4 }), tie('object')),
  object: fc.array(fc.tuple(key, tie('value')), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
  leaf: fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\ud800', 'a\udfffb', '\u2028', '$h'),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    fc.boolean(),
    fc.constant(null),
    fc.uint8Array({ maxLength: 20 }),
    fc.webUrl().map((url) => new URL(url)),
  ),
}));

describe('a journal record', () => {
  it('survives the round trip through one line of JSON, with bytes, URLs and any keys', () => {
    fc.assert(
      fc.property(value, (input) => {
        const given = event('tool.call', { step: 1, index: 0, call: { id: '1', name: 'ls', input } });
        const line = encodeRecord(record(given));
        expect(line).not.toContain('\n');
        expect(decodeRecord(line)).toEqual({ v: 1, seq: 0, event: given, derived: false });
      }),
      { numRuns: 500 },
    );
  });

  it('survives it for every event of a turn that is journaled', () => {
    for (const given of sampleTurn().filter(({ type }) => !type.includes('weather') && !type.includes('tide'))) {
      const { messages: _history, ...rest } = given as TurnEvent & { readonly messages?: unknown };
      const isHistory = given.type === 'model.request' || given.type === 'session.loaded';
      expect(throughLine(given)).toEqual(isHistory ? rest : given);
    }
  });

  it('keeps an own key named __proto__ and gives nothing another prototype', () => {
    const input: unknown = JSON.parse('{"__proto__":{"admin":true},"a":1}');
    const decoded = throughLine(event('tool.call', { step: 1, index: 0, call: { id: '1', name: 'ls', input } }));
    const back = (decoded.type === 'tool.call' ? decoded.call.input : undefined) as object;
    expect(Object.keys(back)).toEqual(['__proto__', 'a']);
    expect(Object.getPrototypeOf(back)).toBe(Object.prototype);
    expect('admin' in back).toBe(false);
  });

  it('keeps a part of a larger buffer, and no more of it', () => {
    const bytes = new Uint8Array([1, 2, 3, 4, 5]).subarray(1, 3);
    const message = { role: 'user', content: [{ type: 'file', data: bytes, mediaType: 'image/png' }] } as const;
    const given = event('input.received', { id: '1', message });
    expect(throughLine(given)).toEqual(given);
    const buffer = event('input.received', {
      id: '1',
      message: { role: 'user', content: [{ type: 'file', data: new Uint8Array([7]).buffer, mediaType: 'a/b' }] },
    });
    expect(throughLine(buffer)).toMatchObject({ message: { content: [{ data: new Uint8Array([7]) }] } });
  });

  it.each([String.raw`\u0024h`, String.raw`$\u0068`])(
    'decodes a mark that another program has written as %s',
    (key) => {
      const line = `{"v":1,"seq":0,"event":{"type":"x","a":{"${key}":"url","value":"https://a.example/"}},"derived":false}`;
      expect(decodeRecord(line).event).toEqual({ type: 'x', a: new URL('https://a.example/') });
    },
  );

  it('leaves out what the records before it say', () => {
    const messages = MessageList.of([user('A long history.')]);
    const asked = event('model.request', { step: 1, attempt: 1, ...request(), messages });
    const appended = event('history.append', { origin: 'response', messages: [user('An answer.')] });
    const result = event('tool.result', {
      step: 1,
      call: { id: '1', name: 'ls', input: { path: 'A long input.' } },
      ...ok('a'),
    });
    expect(encodeRecord(record(asked))).not.toContain('A long history.');
    expect(encodeRecord(record(appended, true))).not.toContain('An answer.');
    expect(encodeRecord(record(appended, false))).toContain('An answer.');
    expect(encodeRecord(record(result, true))).not.toContain('A long input.');
    expect(encodeRecord(record(result, false))).toContain('A long input.');
  });

  it.each<[string, unknown]>([
    ['a bigint', 1n],
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['a date', new Date(0)],
    ['a map', new Map()],
    ['a set', new Set()],
    ['an error', new Error('x')],
    ['a regular expression', /x/],
    ['an object of a class', new URLSearchParams('a=1')],
    ['NaN', Number.NaN],
    ['Infinity', Infinity],
    ['a list with a hole', [1, undefined, 2]],
    ['floats', new Float32Array([1.5])],
  ])('is not written with %s, which would be lost', (_, input) => {
    const given = event('tool.call', { step: 1, index: 0, call: { id: '1', name: 'ls', input } });
    expect(() => encodeRecord(record(given))).toThrow(TurnError);
    expect(() => encodeRecord(record(given))).toThrow(/^A journal record contains /);
  });

  it.each<[string, string, RegExp]>([
    ['torn', '{"v":1,"seq":0,"ev', /not valid JSON: it was truncated or modified/],
    ['of another version', '{"v":2,"seq":0,"event":{"type":"turn.start"},"derived":false}', /not of version 1/],
    ['without an event', '{"v":1,"seq":0,"event":null,"derived":false}', /not of version 1/],
    ['no object', '7', /not of version 1/],
    [
      'a URL that is none',
      '{"v":1,"seq":0,"event":{"type":"x","a":{"$h":"url","value":"no"}},"derived":false}',
      /truncated or modified/,
    ],
    [
      'an event with a field of the wrong type',
      '{"v":1,"seq":4,"event":{"type":"turn.stop","turn":"t","at":0,"outcome":"happy"},"derived":false}',
      /record 4: "event\.outcome" must be/,
    ],
  ])('is rejected if it is %s', (_, line, message) => {
    expect(() => decodeRecord(line)).toThrow(message);
    expect(() => decodeRecord(line)).toThrow(expect.objectContaining({ code: 'invalid-record' }));
  });

  it('takes notices of any kind', () => {
    const notice = { type: 'weather.changed', turn: 't', at: 0, sky: 'blue' } as unknown as TurnEvent;
    expect(throughLine(notice)).toEqual(notice);
  });

  it.each([
    { type: 'text' },
    { type: 'image-data', data: 'AAAA' },
    { type: 'image-url', url: new URL('https://example.org/a.png') },
    { type: 'file-data', data: new Uint8Array(3), mediaType: 'image/png' },
  ])('opens with an incomplete part of a result, as earlier releases wrote it: %j', (part) => {
    const outcome = { status: 'ok', output: { type: 'content', value: [part] } };
    const given = event('tool.result', { step: 1, call: { id: '1', name: 'ls' }, ...outcome } as never);
    expect(throughLine(given)).toEqual(given);
    const result = { type: 'tool-result', toolCallId: '1', toolName: 'ls', output: outcome.output };
    const message = { role: 'tool', content: [result] } as never;
    const appended = event('history.append', { origin: 'results', messages: [message] });
    expect(throughLine(appended)).toEqual(appended);
    expect(stored.message.accepts(message)).toBe(true);
  });
});
