import { textOf, type Message } from '@h/turn';
import { call, user } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { openUserRequestsBefore, protectedTraffic } from './kept.js';

const count = (message: Message): number => textOf(message).length;
const work: Message = { role: 'assistant', content: [call('1')] };

describe('openUserRequestsBefore', () => {
  const messages = [user('a'.repeat(300)), work, user('b'.repeat(300)), work, user('c'.repeat(300)), work];

  it('keeps the latest, and those before it while they fit', () => {
    expect([...openUserRequestsBefore(messages, 6, 700, count).keys()]).toEqual([2, 4]);
    expect([...openUserRequestsBefore(messages, 6, 900, count).keys()]).toEqual([0, 2, 4]);
    expect([...openUserRequestsBefore(messages, 3, 700, count).keys()]).toEqual([2]);
  });

  it('shortens the latest when it fills everything by itself', () => {
    const long = [user(`begin ${'x'.repeat(5000)} end`), work];
    const kept = openUserRequestsBefore(long, 2, 500, count).get(0) as Message;
    expect(textOf(kept)).toMatch(/^begin x+\n\[… \d+ characters left out …\]\nx+ end$/);
    expect(count(kept)).toBeLessThanOrEqual(500);
  });
});

describe('protectedTraffic', () => {
  const skill = (id: string, name: string): readonly Message[] => [
    { role: 'assistant', content: [call(id, 'skill', { name }), call(`${id}-ls`, 'ls')] },
    {
      role: 'tool',
      content: [
        { type: 'tool-result', toolCallId: id, toolName: 'skill', output: { type: 'text', value: `How to ${name}` } },
        { type: 'tool-result', toolCallId: `${id}-ls`, toolName: 'ls', output: { type: 'text', value: 'a.txt' } },
      ],
    },
  ];
  const idsOf = (messages: readonly Message[]): readonly string[] =>
    messages.flatMap(({ role, content }) =>
      role === 'assistant' && typeof content !== 'string'
        ? content.map((part) => ('toolCallId' in part ? part.toolCallId : ''))
        : [],
    );

  it('keeps calls and results of these tools only, and of the same call the latest', () => {
    const messages = [...skill('1', 'deploy'), ...skill('2', 'test'), ...skill('3', 'deploy')];
    const kept = protectedTraffic(messages, 6, ['skill'], 1000, () => 1);
    expect(idsOf(kept)).toEqual(['2', '3']);
    expect(kept.map(({ content }) => content.length)).toEqual([1, 1, 1, 1]);
    expect(idsOf(protectedTraffic(messages, 4, ['skill'], 1000, () => 1))).toEqual(['1', '2']);
    expect(idsOf(protectedTraffic(messages, 6, ['skill'], 2, () => 1))).toEqual(['3']);
    expect(protectedTraffic(messages, 6, [], 1000, () => 1)).toEqual([]);
  });

  it('keeps no call without its result', () => {
    expect(protectedTraffic(skill('1', 'deploy').slice(0, 1), 1, ['skill'], 1000, () => 1)).toEqual([]);
  });
});
