import type { AssistantPart, Message, ToolResultOutput, ToolResultPart, UserPart } from '@h/turn';
import * as fc from 'fast-check';

/** The features that a format supports. */
export interface Room {
  readonly errors: boolean;
  readonly resultFiles: boolean;
  readonly system: boolean;
  readonly internal: boolean;
  /** Whether reasoning precedes the answer and text is one part. */
  readonly freeOrder: boolean;
}

const text = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .filter((given) => given.trim() !== '' && given.isWellFormed());
const image = fc
  .uint8Array({ minLength: 1, maxLength: 6 })
  .map((bytes) => ({ type: 'file', data: Buffer.from(bytes).toString('base64'), mediaType: 'image/png' }) as const);
const input = fc.dictionary(
  fc.string({ maxLength: 5 }).filter((key) => key !== '__proto__'),
  fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)),
  { maxKeys: 3 },
);

const userContent = fc.oneof(
  text,
  fc.tuple(text, image).map(([said, file]): readonly UserPart[] => [{ type: 'text', text: said }, file]),
);

const outputs = (room: Room): fc.Arbitrary<ToolResultOutput> =>
  fc.oneof(
    text.map((value): ToolResultOutput => ({ type: 'text', value })),
    ...(room.errors ? [text.map((value): ToolResultOutput => ({ type: 'error-text', value }))] : []),
    ...(room.resultFiles
      ? [
          fc.tuple(text, image).map(([value, file]): ToolResultOutput => ({
            type: 'content',
            value: [{ type: 'text', text: value }, file],
          })),
        ]
      : []),
  );

interface Step {
  readonly reasoning: string | undefined;
  readonly said: readonly string[];
  readonly calls: readonly { readonly input: unknown; readonly output: ToolResultOutput }[];
}

const stepOf = (room: Room): fc.Arbitrary<Step> =>
  fc.record({
    reasoning: fc.option(text, { nil: undefined }),
    said: fc.array(text, { maxLength: room.freeOrder ? 2 : 1 }),
    calls: fc.array(fc.record({ input, output: outputs(room) }), { minLength: 1, maxLength: 3 }),
  });

/** Generates valid conversations with the features of a format. */
export const conversations = (room: Room): fc.Arbitrary<readonly Message[]> =>
  fc
    .record({
      system: fc.option(text, { nil: undefined }),
      turns: fc.array(
        fc.record({
          input: userContent,
          aside: fc.option(text, { nil: undefined }),
          steps: fc.array(stepOf(room), { maxLength: 2 }),
          answer: text,
        }),
        { minLength: 1, maxLength: 3 },
      ),
    })
    .map(({ system, turns }) => {
      const messages: Message[] = room.system && system !== undefined ? [{ role: 'system', content: system }] : [];
      let number = 0;
      for (const turn of turns) {
        messages.push({ role: 'user', content: turn.input });
        if (room.internal && turn.aside !== undefined) {
          messages.push({ role: 'user', content: turn.aside, metadata: { internal: true } });
        }
        for (const { reasoning, said, calls } of turn.steps) {
          const ids = calls.map(() => `call-${(number += 1)}`);
          const parts: AssistantPart[] = [
            ...(reasoning === undefined ? [] : [{ type: 'reasoning', text: reasoning } as const]),
            ...said.map((each) => ({ type: 'text', text: each }) as const),
            ...calls.map(
              (call, index) =>
                ({
                  type: 'tool-call',
                  toolCallId: ids[index] ?? '',
                  toolName: `tool-${index}`,
                  input: call.input,
                }) as const,
            ),
          ];
          messages.push({ role: 'assistant', content: parts });
          messages.push({
            role: 'tool',
            content: calls.map(({ output }, index): ToolResultPart => ({
              type: 'tool-result',
              toolCallId: ids[index] ?? '',
              toolName: `tool-${index}`,
              output,
            })),
          });
        }
        messages.push({ role: 'assistant', content: [{ type: 'text', text: turn.answer }] });
      }
      return messages;
    });

/** Simplifies messages whose content is one text. */
export const normal = (messages: readonly Message[]): readonly unknown[] =>
  messages.map((message) =>
    typeof message.content === 'string' ? { ...message, content: [{ type: 'text', text: message.content }] } : message,
  );
