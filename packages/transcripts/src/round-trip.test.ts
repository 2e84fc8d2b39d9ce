import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyConversations, conversations, normal, type Room } from '../test/conversations.js';
import { detectTranscript, formatTranscript, parseTranscript, type TranscriptFormat } from './index.js';

const all: Room = { errors: true, resultFiles: true, system: true, internal: true, freeOrder: true };
const rooms: readonly (readonly [TranscriptFormat, Room])[] = [
  ['claude-code', { ...all, system: false }],
  ['codex', { ...all, errors: false, internal: false }],
  ['pi', { ...all, system: false }],
  ['openai-chat', { ...all, errors: false, resultFiles: false, internal: false, freeOrder: false }],
  ['anthropic-messages', { ...all, internal: false, signed: true }],
  ['ai-sdk', { ...all, internal: false }],
];

describe.each(rooms)('a conversation in the format %s', (format, room) => {
  it('is restored unchanged without notes', () => {
    fc.assert(
      fc.property(conversations(room), (messages) => {
        const { text, notes } = formatTranscript(messages, { format, session: 'alice' });
        const back = parseTranscript(text, { format });
        expect(normal(back.turns.flatMap((turn) => turn.messages))).toEqual(normal(messages));
        expect([notes, back.notes]).toEqual([[], []]);
        expect(back.turns).toHaveLength(
          messages.filter((message) => message.role === 'user' && message.metadata?.internal !== true).length,
        );
      }),
      { numRuns: 60 },
    );
  });

  it('is restored unchanged, or the differences are noted', () => {
    fc.assert(
      fc.property(anyConversations, (messages) => {
        const { text, notes } = formatTranscript(messages, { format });
        const back = parseTranscript(text, { format });
        const noted = [...notes, ...back.notes];
        const restored = normal(back.turns.flatMap((turn) => turn.messages));
        if (noted.length === 0) expect(restored).toEqual(normal(messages));
      }),
      { numRuns: 60 },
    );
  });

  it('is stable when it is formatted again', () => {
    fc.assert(
      fc.property(conversations(room), (messages) => {
        const { text } = formatTranscript(messages, { format });
        const back = parseTranscript(text, { format });
        expect(
          formatTranscript(
            back.turns.flatMap((turn) => turn.messages),
            { format },
          ).text,
        ).toBe(text);
      }),
      { numRuns: 30 },
    );
  });

  it('is detected among the formats', () => {
    fc.assert(
      fc.property(conversations(room), (messages) => {
        const detected = detectTranscript(formatTranscript(messages, { format }).text);
        // Without calls and results, messages of these formats are the same.
        const isAlike =
          (format === 'openai-chat' || format === 'anthropic-messages') &&
          !messages.some(({ role }) => role === 'tool');
        expect(isAlike && detected === 'ai-sdk' ? format : detected).toBe(format);
      }),
      { numRuns: 30 },
    );
  });

  it('is rejected or noted for random input, without other errors', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.array(fc.json()).map((lines) => lines.join('\n')),
        ),
        (text) => {
          try {
            expect(parseTranscript(text, { format }).format).toBe(format);
          } catch (error) {
            expect(error).toMatchObject({ code: 'invalid-input' });
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
