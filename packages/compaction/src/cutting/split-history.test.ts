import { MessageList, type Message } from '@h/turn';
import { call, user } from '@h/turn/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSafeCut, pairedHistories } from '../../test/histories.js';
import { groupMessages } from './groups.js';
import { splitHistory } from './split-history.js';

const one = (): number => 1;
const assistant = (...ids: readonly string[]): Message => ({ role: 'assistant', content: ids.map((id) => call(id)) });
const results = (...ids: readonly string[]): Message => ({
  role: 'tool',
  content: ids.map((id) => ({
    type: 'tool-result',
    toolCallId: id,
    toolName: 'noop',
    output: { type: 'text', value: 'done' },
  })),
});
const boundsOf = (messages: readonly Message[]): readonly (readonly [number, number])[] =>
  groupMessages(messages).map(({ start, end }) => [start, end]);

describe('groupMessages', () => {
  it('holds calls and their results together', () => {
    expect(boundsOf([user('a'), assistant('1', '2'), results('1'), results('2'), user('b')])).toEqual([
      [0, 1],
      [1, 4],
      [4, 5],
    ]);
  });

  it('holds a result in a user’s message with its call', () => {
    const answer = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: '1', content: 'done' }],
    } as unknown as Message;
    expect(boundsOf([assistant('1'), answer, user('b')])).toEqual([
      [0, 2],
      [2, 3],
    ]);
  });

  it('reads calls in the shapes of Anthropic and OpenAI', () => {
    const anthropic = {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'a', name: 'ls', input: {} }],
    } as unknown as Message;
    const openai = {
      role: 'assistant',
      content: null,
      tool_calls: [{ type: 'function', id: 'b', function: { name: 'ls' } }],
    } as unknown as Message;
    const answer = { role: 'tool', tool_call_id: 'b', content: 'done' } as unknown as Message;
    expect(boundsOf([anthropic, results('a'), openai, user('wait'), answer])).toEqual([
      [0, 2],
      [2, 5],
    ]);
  });

  it('finds a late result, and what lies between with it', () => {
    expect(boundsOf([assistant('1'), user('Are you done?'), results('1'), user('b')])).toEqual([
      [0, 3],
      [3, 4],
    ]);
  });

  it('lets an aborted call bind nothing', () => {
    expect(boundsOf([assistant('1'), user('a'), assistant('2'), results('2'), user('b')])).toEqual([
      [0, 1],
      [1, 2],
      [2, 4],
      [4, 5],
    ]);
  });

  it('pairs a reused id by occurrence', () => {
    expect(boundsOf([assistant('1'), user('a'), assistant('1'), results('1'), assistant('1'), results('1')])).toEqual([
      [0, 1],
      [1, 2],
      [2, 4],
      [4, 6],
    ]);
  });

  it('assigns a result without a known id to the latest calls', () => {
    expect(boundsOf([assistant(''), user('a'), results(''), user('b')])).toEqual([
      [0, 3],
      [3, 4],
    ]);
    expect(boundsOf([assistant('1'), user('a'), results('x'), user('b')])).toEqual([
      [0, 3],
      [3, 4],
    ]);
  });

  it('begins no group with an orphan result', () => {
    expect(boundsOf([user('a'), results('x'), user('b')])).toEqual([
      [0, 2],
      [2, 3],
    ]);
    expect(boundsOf([results('x'), user('b')])).toEqual([
      [0, 1],
      [1, 2],
    ]);
  });

  it('leaves a second result for an answered call with what is before it', () => {
    const text: Message = { role: 'assistant', content: 'Done.' };
    expect(boundsOf([assistant('1'), results('1'), text, results('1'), user('b')])).toEqual([
      [0, 2],
      [2, 4],
      [4, 5],
    ]);
  });

  it('begins no group with an answer to a request for approval', () => {
    const approval: Message = {
      role: 'tool',
      content: [{ type: 'tool-approval-response', approvalId: 'a', approved: true }],
    };
    expect(boundsOf([assistant('1'), approval, user('b')])).toEqual([
      [0, 2],
      [2, 3],
    ]);
  });

  it('keeps parallel calls in separate messages together', () => {
    expect(boundsOf([assistant('1'), assistant('2'), results('1'), results('2'), user('b')])).toEqual([
      [0, 4],
      [4, 5],
    ]);
  });

  it('keeps everything, in order, in groups that separate no pair, for every history', () => {
    fc.assert(
      fc.property(pairedHistories(60), (history) => {
        const groups = groupMessages(history.messages);
        expect(groups.flatMap(({ start, end }) => history.messages.slice(start, end))).toEqual(history.messages);
        for (const { start } of groups) expect(isSafeCut(history, start)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe('splitHistory', () => {
  it('cuts where a chunk is full', () => {
    const messages = Array.from({ length: 7 }, (_, index) => user(String(index)));
    const { chunks, tail } = splitHistory(messages, { chunkTokens: 3, count: one });
    expect(chunks.map((chunk) => chunk.messages.length)).toEqual([3, 3, 1]);
    expect(chunks.map(({ tokens }) => tokens)).toEqual([3, 3, 1]);
    expect(tail).toEqual([]);
  });

  it('protects a tail of whole groups, and one group at least', () => {
    const messages = [user('a'), user('b'), assistant('1', '2'), results('1', '2')];
    expect(splitHistory(messages, { protectTokens: 3, count: one }).tail).toEqual(messages.slice(1));
    expect(splitHistory(messages, { protectTokens: 1, count: one }).tail).toEqual(messages.slice(2));
    expect(splitHistory(messages, { protectTokens: 99, count: one })).toMatchObject({ chunks: [], tail: messages });
  });

  it('sizes chunks for the summarizer’s window', () => {
    const messages = Array.from({ length: 100 }, (_, index) => user(`${index} ${'word '.repeat(1000)}`));
    const large = splitHistory(messages, { summarizerWindow: 200_000 });
    const small = splitHistory(messages, { summarizerWindow: 16_000 });
    expect(large.chunks.length).toBeLessThan(small.chunks.length);
    for (const { tokens } of small.chunks) expect(tokens).toBeLessThan(16_000 / 2);
    for (const { tokens } of large.chunks) expect(tokens).toBeLessThan(200_000 / 2);
  });

  it('notes messages that are too large for a chunk', () => {
    const messages = [user('a'), user('word '.repeat(2000)), user('b')];
    const { chunks } = splitHistory(messages, { chunkTokens: 1000 });
    expect(chunks.map(({ oversized }) => oversized)).toEqual([[], [1], []]);
  });

  it('never separates a call from its result, loses nothing, and keeps to its sizes, for every history', () => {
    const options = fc.record({ chunkTokens: fc.integer({ min: 1, max: 12 }), protectTokens: fc.nat(12) });
    fc.assert(
      fc.property(pairedHistories(60), options, (history, sizes) => {
        const { chunks, tail } = splitHistory(history.messages, { ...sizes, count: one });
        expect([...chunks.flatMap(({ messages }) => messages), ...tail]).toEqual(history.messages);
        let place = 0;
        for (const chunk of chunks) {
          expect(isSafeCut(history, place)).toBe(true);
          expect(chunk.tokens <= sizes.chunkTokens || groupMessages(chunk.messages).length === 1).toBe(true);
          place += chunk.messages.length;
        }
        expect(isSafeCut(history, place)).toBe(true);
        expect(sizes.protectTokens === 0 ? tail.length === 0 : tail.length > 0).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('cuts nothing out of nothing', () => {
    expect(splitHistory(MessageList.empty.toArray(), { protectTokens: 10 })).toEqual({ chunks: [], tail: [] });
  });

  it.each([
    [
      { protectToken: 1 },
      'splitHistory(): unknown option "protectToken" (received 1). Did you mean "protectTokens"? Known options: protectTokens, summarizerWindow, chunkTokens, count.',
    ],
    [{ chunkTokens: 0 }, 'splitHistory(): "chunkTokens" must be a number from 1 or Infinity; received 0.'],
  ])('refuses %j', (options, message) => {
    expect(() => splitHistory([], options as never)).toThrow(
      expect.objectContaining({ code: 'invalid-option', message }),
    );
  });
});
