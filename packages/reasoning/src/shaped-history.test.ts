import { MessageList, type AssistantPart, type Message } from '@h/turn';
import { call, user } from '@h/turn/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reasoningModelOf } from './providers.js';
import { hasThoughtBeforeResults, prefixHasher, ShapedHistory } from './shaped-history.js';

const thought = (provider?: string): AssistantPart => ({
  type: 'reasoning',
  text: `Thought of ${provider ?? 'an unnamed one'}.`,
  ...(provider !== undefined && { providerOptions: { [provider]: { signature: 'c2ln' } } }),
});
const said = (text: string): AssistantPart => ({ type: 'text', text });
const answer = (...content: readonly AssistantPart[]): Message => ({ role: 'assistant', content });
const result = (id: string): Message => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId: id, toolName: 'noop', output: { type: 'text', value: 'ok' } }],
});
const bound = (prefix: string, ...content: readonly AssistantPart[]): Message => ({
  role: 'assistant',
  content,
  metadata: { reasoning: prefix },
});
const shape = (name: string, messages: readonly Message[], prefix?: string): readonly Message[] =>
  new ShapedHistory(reasoningModelOf(name), prefix).for(MessageList.of(messages)).toArray();
const thoughts = (messages: readonly Message[]): readonly string[] =>
  messages.flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])),
  );

describe('ShapedHistory', () => {
  it.each([
    ['anthropic/claude-opus-5', ['anthropic']],
    ['openai/gpt-5', ['openai']],
    ['google/gemini-3-flash', ['google']],
    ['xai/grok-4', ['xai']],
    ['deepseek/deepseek-v4-pro', ['an unnamed one']],
    ['ollama/llama3.2', []],
  ])('sends to %s only the reasoning that it understands', (name, kept) => {
    const providers = ['anthropic', 'openai', 'google', 'xai', undefined];
    const messages = [user('Go.'), ...providers.map((one, at) => answer(thought(one), call(`${at}`)))];
    expect(thoughts(shape(name, messages))).toEqual(kept.map((one) => `Thought of ${one}.`));
  });

  it('returns the same list if no part is dropped', () => {
    const list = MessageList.of([user('Go.'), answer(thought('anthropic'), call('1')), result('1')]);
    expect(new ShapedHistory(reasoningModelOf('claude-opus-5'), undefined).for(list)).toBe(list);
  });

  it('sends bound reasoning only after the prefix that it is bound to', () => {
    const messages = [
      user('Go.'),
      bound('a', thought('anthropic'), said('One.')),
      bound('b', thought('anthropic'), said('Two.')),
      answer(thought('anthropic'), said('Three.')),
    ];
    const counts = (prefix: string) => shape('claude-opus-5-5', messages, prefix).map((one) => thoughts([one]).length);
    expect(counts('a')).toEqual([0, 1, 0, 0]);
    expect(counts('b')).toEqual([0, 0, 1, 0]);
    expect(counts('c')).toEqual([0, 0, 0, 0]);
  });

  it('sends plain reasoning back in exchanges with tool calls only', () => {
    const messages = [
      user('Hi.'),
      answer(thought(), said('Hello.')),
      user('Go.'),
      answer(thought(), call('1')),
      result('1'),
      answer(thought(), said('Done.')),
      user('Thanks.'),
    ];
    expect(shape('deepseek-v4-pro', messages).map((one) => thoughts([one]).length)).toEqual([0, 0, 0, 1, 0, 1, 0]);
  });

  it('removes thought signatures of Google from the calls that another provider reads', () => {
    const signed: AssistantPart = { ...call('1'), providerOptions: { google: { thoughtSignature: 'c2ln', other: 1 } } };
    const messages = [user('Go.'), answer(signed), result('1')];
    expect(shape('google/gemini-3-pro', messages)[1]).toBe(messages[1]);
    expect(shape('openai/gpt-5', messages)[1]?.content).toEqual([
      { ...signed, providerOptions: { google: { other: 1 } } },
    ]);
    expect(JSON.stringify(messages)).toContain('c2ln');
  });

  it('keeps what it has sent as the history grows, in any steps', () => {
    const part = fc.constantFrom(thought('anthropic'), thought('openai'), thought(), said('Yes.'), call('1'));
    const message = fc.oneof(
      fc.constant(user('Go.')),
      fc.constant(result('1')),
      fc.array(part, { maxLength: 4 }).map((parts) => answer(...parts)),
      fc.tuple(fc.constantFrom('a', 'b'), fc.array(part, { maxLength: 3 })).map(([at, parts]) => bound(at, ...parts)),
    );
    const names = fc.constantFrom('claude-opus-5', 'claude-opus-5-5', 'gpt-5', 'deepseek-v4', 'llama');
    fc.assert(
      fc.property(names, fc.array(fc.array(message, { maxLength: 3 }), { maxLength: 6 }), (name, steps) => {
        const reader = new ShapedHistory(reasoningModelOf(name), 'a');
        let list = MessageList.empty;
        let before = MessageList.empty;
        for (const step of steps) {
          list = list.concat(step);
          const shaped = reader.for(list);
          expect(shaped.startsWith(before)).toBe(true);
          expect(shaped.toArray()).toEqual(shape(name, list.toArray(), 'a'));
          before = shaped;
        }
      }),
    );
  });

  it('starts again with a history that does not continue the last one', () => {
    const reader = new ShapedHistory(reasoningModelOf('gpt-5'), undefined);
    reader.for(MessageList.of([user('One.'), answer(thought('anthropic'), said('Two.'))]));
    const other = MessageList.of([user('A summary.'), answer(thought('openai'), said('Three.'))]);
    expect(reader.for(other)).toBe(other);
  });
});

describe('hasThoughtBeforeResults', () => {
  it.each<[string, readonly Message[], boolean]>([
    ['an empty history', [], true],
    ['a new question', [user('Go.')], true],
    ['a loop that began with a thought', [user('Go.'), answer(thought('anthropic'), call('1')), result('1')], true],
    ['a loop that began without one', [user('Go.'), answer(said('Well.'), call('1')), result('1')], false],
    ['results in several messages', [answer(call('1'), call('2')), result('1'), result('2')], false],
  ])('judges %s', (_, messages, expected) => {
    expect(hasThoughtBeforeResults(MessageList.of(messages))).toBe(expected);
  });
});

describe('prefixHasher', () => {
  const tool = { name: 'ls', description: 'Lists files.', inputSchema: {} };
  const of = prefixHasher();
  const base = { system: [{ text: 'You are careful.' }], tools: [tool] };

  it('is equal for equal prefixes, wherever cache marks are', () => {
    expect(of({ system: [{ text: 'You are careful.', cache: {} }], tools: [{ ...tool }] })).toBe(of(base));
  });

  it.each([
    ['another system prompt', { ...base, system: [{ text: 'You are quick.' }] }],
    ['another cut of the system prompt', { ...base, system: [{ text: 'You are ' }, { text: 'careful.' }] }],
    ['other tools', { ...base, tools: [] }],
    ['another account', { ...base, credential: 'a2' }],
  ])('differs for %s', (_, other) => {
    expect(of(other)).not.toBe(of(base));
    expect(of(base)).toBe(prefixHasher()(base));
  });
});
