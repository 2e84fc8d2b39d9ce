import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MessageList } from './message-list.js';
import type { Message } from './messages.js';
import { user } from '../testing/index.js';

const message = fc.string().map((text): Message => user(text));
const messages = fc.array(message, { maxLength: 8 });
const index = fc.integer({ min: -12, max: 12 });

describe('MessageList', () => {
  it('reads like the array that it was created from', () => {
    fc.assert(
      fc.property(messages, index, fc.option(index, { nil: undefined }), (array, start, end) => {
        const list = MessageList.of(array);
        expect(list.length).toBe(array.length);
        expect([...list]).toEqual(array);
        expect(list.toArray()).toEqual(array);
        expect(list.at(start)).toBe(array.at(start));
        expect(list.slice(start, end)).toEqual(array.slice(start, end));
        expect(list.slice()).toEqual(array.slice());
        expect(JSON.stringify(list)).toBe(JSON.stringify(array));
      }),
    );
  });

  it('never changes when messages are added to it or to its copies', () => {
    const steps = fc.array(fc.record({ to: fc.nat(), added: messages, isSpread: fc.boolean() }), { maxLength: 20 });
    fc.assert(
      fc.property(messages, steps, (first, additions) => {
        const family: { list: MessageList; array: readonly Message[] }[] = [
          { list: MessageList.of(first), array: first },
          { list: MessageList.empty, array: [] },
        ];
        for (const { to, added, isSpread } of additions) {
          const parent = family[to % family.length];
          if (!parent) continue;
          const list = isSpread ? parent.list.append(...added) : parent.list.concat(added);
          family.push({ list, array: [...parent.array, ...added] });
        }
        for (const { list, array } of family) expect(list.toArray()).toEqual(array);
        for (const one of family) {
          for (const other of family) {
            const isPrefix = other.array.every((given, place) => one.array[place] === given);
            expect(one.list.startsWith(other.list)).toBe(isPrefix);
          }
        }
      }),
    );
  });

  it('returns the same list if nothing is added', () => {
    const list = MessageList.of([user('a')]);
    expect(MessageList.of(list)).toBe(list);
    expect(list.append()).toBe(list);
    expect(list.concat([])).toBe(list);
  });

  it('copies the array that it is created from', () => {
    const array = [user('a')];
    const list = MessageList.of(array);
    array.push(user('b'));
    const copy = list.toArray();
    copy.push(user('c'));
    expect(list.length).toBe(1);
  });

  it('never changes the empty list', () => {
    MessageList.empty.append(user('a'));
    MessageList.empty.concat([user('b')]);
    expect(MessageList.empty.length).toBe(0);
    expect(MessageList.empty.toArray()).toEqual([]);
  });

  it('copies nothing when the longest list of a family is extended', () => {
    const many = Array.from({ length: 200_000 }, () => user('x'));
    let list = MessageList.of([user('a')]);
    const before = list;
    list = list.concat(many);
    expect(list.length).toBe(200_001);
    for (let count = 0; count < 20_000; count += 1) list = list.append(user('y'));
    expect(list.length).toBe(220_001);
    expect(before.toArray()).toEqual([user('a')]);
    expect(list.startsWith(before)).toBe(true);
  });
});
