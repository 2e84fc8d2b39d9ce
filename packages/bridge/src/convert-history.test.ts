import { repairHistory, type Message } from '@h/turn';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toyFormat, type ToyMessage } from '../test/toy-host.js';
import { convertHistory } from './convert-history.js';

const message: fc.Arbitrary<ToyMessage> = fc.oneof(
  fc.record({ from: fc.constant('person' as const), text: fc.string({ minLength: 1 }) }),
  fc.record({
    from: fc.constant('model' as const),
    extra: fc.string(),
    parts: fc.array(
      fc.oneof(
        fc.record({ type: fc.constant('text' as const), text: fc.string({ minLength: 1 }) }),
        fc.record({
          type: fc.constant('tool-call' as const),
          toolCallId: fc.constantFrom('1', '2', '3'),
          toolName: fc.constant('read'),
          input: fc.dictionary(fc.string(), fc.string()),
        }),
      ),
      { minLength: 1 },
    ),
  }),
  fc.record({
    from: fc.constant('tool' as const),
    id: fc.constantFrom('1', '2', '3'),
    name: fc.constant('read'),
    output: fc.record({ type: fc.constant('text' as const), value: fc.string() }),
  }),
);

describe('convertHistory', () => {
  it('returns the same repairs as for the messages of a turn, and unchanged messages by identity', () => {
    fc.assert(
      fc.property(fc.array(message), (history) => {
        const own = history.map((one) => toyFormat.read(one));
        const { messages, repairs } = convertHistory(toyFormat, repairHistory)(history);
        const expected = repairHistory(own);
        expect(repairs).toEqual(expected.repairs);
        expect(messages.map((one) => toyFormat.read(one))).toEqual(
          expected.messages.flatMap((one) => toyFormat.write(one)).map((one) => toyFormat.read(one)),
        );
        for (const one of expected.messages) {
          const index = own.indexOf(one);
          if (index !== -1) expect(messages).toContain(history[index]);
        }
        if (repairs.length === 0) expect(messages.every((one, index) => one === history[index])).toBe(true);
      }),
    );
  });

  it('passes further arguments, and converts the result of an asynchronous function', async () => {
    const last = (history: readonly Message[], count: number) =>
      Promise.resolve({ messages: history.slice(-count), count });
    const history: readonly ToyMessage[] = ['a', 'b', 'c'].map((text) => ({ from: 'person', text }));
    const result = await convertHistory(toyFormat, last)(history, 2);
    expect(result).toEqual({ count: 2, messages: history.slice(1) });
    expect(result.messages[0]).toBe(history[1]);
  });

  it('names the index of a message that the format rejects', () => {
    const picky = {
      ...toyFormat,
      read: (one: ToyMessage) => {
        if (one.from === 'person') throw new TypeError('No people here.');
        return toyFormat.read(one);
      },
    };
    const history: readonly ToyMessage[] = [
      { from: 'model', parts: [] },
      { from: 'person', text: 'Hi' },
    ];
    expect(() => convertHistory(picky, repairHistory)(history)).toThrow(/index 1 .*No people here/);
  });
});
