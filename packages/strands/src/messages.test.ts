import type { Message as TurnMessage } from '@h/turn';
import {
  CachePointBlock,
  JsonBlock,
  Message,
  ReasoningBlock,
  TextBlock,
  ToolResultBlock,
  ToolUseBlock,
  type ContentBlock,
} from '@strands-agents/sdk';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alternating, messageFormat, outputOf, systemBlocks, toResultBlock, toSystemPrompt } from './messages.js';

const text = fc.string({ minLength: 1 });
const block: fc.Arbitrary<ContentBlock> = fc.oneof(
  text.map((value) => new TextBlock(value)),
  fc.record({ text, signature: text }).map((data) => new ReasoningBlock(data)),
  fc.uint8Array({ minLength: 1 }).map((redactedContent) => new ReasoningBlock({ redactedContent })),
  fc
    .record({ toolUseId: text, name: text, input: fc.dictionary(text, text), reasoningSignature: text })
    .map((data) => new ToolUseBlock(data)),
  fc.constant(new CachePointBlock({ cacheType: 'default', ttl: '1h' })),
);
const contentOf = (messages: readonly Message[]): unknown => messages.map((message) => message.toJSON().content);

describe('messageFormat', () => {
  it('restores every block of an answer', () => {
    fc.assert(
      fc.property(fc.array(block), (content) => {
        const message = new Message({ role: 'assistant', content });
        const read = messageFormat.read(message);
        // What operators receive is plain JSON, which a journal can store.
        const stored = JSON.parse(JSON.stringify(read)) as TurnMessage;
        expect(contentOf(messageFormat.write(stored))).toEqual(contentOf([message]));
      }),
    );
  });

  it('reads a message with results as a tool message', () => {
    const results = ['1', '2'].map(
      (toolUseId) => new ToolResultBlock({ toolUseId, status: 'success', content: [new TextBlock('ok')] }),
    );
    const message = new Message({ role: 'user', content: results });
    const read = messageFormat.read(message);
    expect(read).toMatchObject({ role: 'tool', content: [{ toolCallId: '1' }, { toolCallId: '2' }] });
    expect(contentOf(messageFormat.write(read))).toEqual(contentOf([message]));
  });
});

describe('toResultBlock', () => {
  it.each([
    { type: 'text', value: 'ok' },
    { type: 'json', value: { rows: [1, 2] } },
    { type: 'error-text', value: 'The disk is full.' },
  ] as const)('is read back as the same output: $type', (output) => {
    expect(outputOf(toResultBlock('1', output))).toEqual(output);
  });

  it('tells the model why a call was denied', () => {
    const result = toResultBlock('1', { type: 'execution-denied', reason: 'Not here.' });
    expect(result).toMatchObject({ status: 'error', content: [{ text: 'Denied: Not here.' }] });
  });

  it('reads several blocks as JSON', () => {
    const content = [new TextBlock('rows'), new JsonBlock({ json: [1] })];
    const output = outputOf(new ToolResultBlock({ toolUseId: '1', status: 'success', content }));
    expect(output).toMatchObject({ type: 'json', value: [{ text: 'rows' }, { json: [1] }] });
  });
});

describe('alternating', () => {
  it('joins messages of operators with neighbors of the same role, and nothing else', () => {
    const roles = fc.constantFrom('user' as const, 'assistant' as const);
    fc.assert(
      fc.property(fc.array(fc.tuple(roles, fc.boolean())), (given) => {
        const own = new Set<Message>();
        const messages = given.map(([role, isOwn], index) => {
          const message = new Message({ role, content: [new TextBlock(String(index))] });
          if (isOwn) own.add(message);
          return message;
        });
        const joined = alternating(messages, (message) => own.has(message));
        expect(joined.flatMap(({ content }) => content)).toEqual(messages.flatMap(({ content }) => content));
        let end = 0;
        for (const [index, message] of joined.entries()) {
          // Two messages of Strands stay apart.
          const isApart = [end - 1, end].every((at) => given[at]?.[1]);
          if (joined[index - 1]?.role === message.role) expect(isApart).toBe(true);
          end += message.content.length;
        }
      }),
    );
  });
});

describe('systemBlocks', () => {
  it('reads cache points as marks of the block before, and writes them back', () => {
    const prompt = [new TextBlock('a'), new CachePointBlock({ cacheType: 'default', ttl: '1h' }), new TextBlock('b')];
    const blocks = systemBlocks(prompt);
    expect(blocks).toEqual([{ text: 'a', cache: { ttl: '1h' } }, { text: 'b' }]);
    expect(toSystemPrompt(blocks)).toEqual(prompt);
    expect(toSystemPrompt(systemBlocks('Be brief.'))).toBe('Be brief.');
  });
});
