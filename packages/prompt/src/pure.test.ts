import { MessageList, type Message } from '@h/turn';
import { user } from '@h/turn/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { budgetMarks, messageMarkCounter } from './cache-marks.js';
import { normalizeCapabilities, normalizeText } from './normalize.js';
import { PromptMemo } from './prompt-memo.js';
import { shorten } from './shorten.js';

const words = fc.constantFrom('a', 'b c', ' ', '\t', '\n', '\r\n', '\r', '\uFEFF', 'é', '😀', 'x'.repeat(30));
const texts = fc.array(words, { maxLength: 30 }).map((parts) => parts.join(''));

describe('normalizeText', () => {
  it.each([
    ['a\r\nb\rc', 'a\nb\nc'],
    ['\uFEFFa', 'a'],
    ['a  \n\tb\t\n', 'a\n\tb'],
    ['\n \n  a\n\n\nb\n \n', '  a\n\n\nb'],
    [' \r\n\t', ''],
  ])('makes of %j the text %j', (text, expected) => {
    expect(normalizeText(text)).toBe(expected);
  });

  it('is idempotent and independent of line endings', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const once = normalizeText(text);
        expect(normalizeText(once)).toBe(once);
        expect(normalizeText(once.replaceAll('\n', ' \r\n'))).toBe(once);
      }),
    );
  });
});

describe('normalizeCapabilities', () => {
  it('sorts, trims, lower-cases and deduplicates', () => {
    expect(normalizeCapabilities([' Write', 'read', 'READ ', '', 'İ'])).toEqual(['i̇', 'read', 'write']);
  });

  it('does not depend on order, case or duplicates', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (list) => {
        expect(
          normalizeCapabilities([...list.toReversed(), ...list].map((item) => item.toUpperCase().toLowerCase())),
        ).toEqual(normalizeCapabilities(list.map((item) => item.toUpperCase().toLowerCase())));
      }),
    );
  });
});

describe('shorten', () => {
  it('returns a text that fits unchanged', () => {
    expect(shorten('abc', 3)).toBe('abc');
  });

  it('notes how much is omitted and where the rest is', () => {
    const text = 'x'.repeat(1000);
    const short = shorten(text, 200, 'read AGENTS.md');
    const [, omitted] = /\[Truncated: (\d+) of 1000 characters omitted; read AGENTS\.md\.\]$/.exec(short) ?? [];
    expect(short.indexOf('\n')).toBe(1000 - Number(omitted));
  });

  it('cuts at a nearby line end', () => {
    const text = `${'x'.repeat(130)}\n${'y'.repeat(500)}`;
    expect(shorten(text, 200).startsWith(`${'x'.repeat(130)}\n\n[Truncated`)).toBe(true);
  });

  it('never exceeds the limit and never splits a character', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 0, max: 300 }), (text, maxChars) => {
        const long = text.repeat(8);
        const short = shorten(long, maxChars);
        expect(short.length).toBeLessThanOrEqual(Math.max(maxChars, 0));
        expect(short.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('budgetMarks', () => {
  it('sets only wanted marks, and no more than are free', () => {
    const marks = fc.array(fc.record({ id: fc.string(), tokens: fc.nat(5000) }));
    fc.assert(
      fc.property(marks, fc.nat(6), fc.nat(6), (wanted, limit, taken) => {
        const granted = budgetMarks(wanted, { limit, taken, minTokens: 1024 });
        expect(granted.size).toBeLessThanOrEqual(Math.max(0, limit - taken));
        for (const id of granted) expect(wanted.map((mark) => mark.id)).toContain(id);
      }),
    );
  });
});

describe('messageMarkCounter', () => {
  const marked: Message = { ...user('Hi'), providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } };
  const inside: Message = {
    role: 'user',
    content: [{ type: 'text', text: 'x', providerOptions: { bedrock: { cachePoint: { type: 'default' } } } }],
  };

  it('counts marks of messages and parts, visiting each message once', () => {
    const count = messageMarkCounter();
    const first = MessageList.of([marked, user('x')]);
    expect(count(first)).toBe(1);
    expect(count(first)).toBe(1);
    expect(count(first.append(inside))).toBe(2);
    expect(count(MessageList.of([user('new'), inside]))).toBe(1);
    expect(count(MessageList.empty)).toBe(0);
  });

  it('does not count other provider options', () => {
    const other: Message = {
      ...user('Hi'),
      providerOptions: { openai: { store: true }, anthropic: { cacheControl: null } },
    };
    expect(messageMarkCounter()(MessageList.of([other]))).toBe(0);
  });
});

describe('PromptMemo', () => {
  it('returns the same tier for sections with equal content', () => {
    const cache = new PromptMemo();
    const first = cache.render([
      { id: 'a', text: 'A' },
      { id: 'b', text: 'B\r\n' },
    ]);
    expect(first.text).toBe('A\n\nB');
    expect(
      cache.render([
        { id: 'a', text: 'A ' },
        { id: 'none', text: '' },
        { id: 'b', text: 'B' },
      ]),
    ).toBe(first);
    expect(
      cache.render([
        { id: 'a', text: 'A' },
        { id: 'b', text: 'C' },
      ]),
    ).not.toBe(first);
  });

  it('hashes equal texts equally and different texts differently', () => {
    fc.assert(
      fc.property(fc.array(texts), fc.array(texts), (left, right) => {
        const cache = new PromptMemo();
        const [one, other] = [left, right].map((list) =>
          cache.render(list.map((text, index) => ({ id: String(index), text }))),
        );
        expect(one?.hash === other?.hash).toBe(one?.text === other?.text);
      }),
    );
  });

  it('evicts the least recently used entries', () => {
    const cache = new PromptMemo({ maxEntries: 2 });
    const first = cache.render([{ id: 'a', text: '0' }]);
    for (const text of ['1', '2', '3']) cache.render([{ id: 'a', text }]);
    expect(cache.size).toBe(2);
    expect(cache.render([{ id: 'a', text: '0' }])).not.toBe(first);
  });
});
