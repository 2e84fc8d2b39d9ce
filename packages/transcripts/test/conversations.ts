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
  /** Whether reasoning has a signature of Anthropic. */
  readonly signed?: boolean;
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
            ...(reasoning === undefined ? [] : [reasoningPart(reasoning, room.signed)]),
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

const reasoningPart = (thought: string, isSigned = false): AssistantPart => ({
  type: 'reasoning',
  text: thought,
  ...(isSigned && { providerOptions: { anthropic: { signature: `signed ${thought}` } } }),
});

const anyText = fc.oneof(text, fc.constantFrom('', ' '));
const anyFile = fc.oneof(
  image,
  fc.constantFrom(
    { type: 'file', data: 'AAEC', mediaType: 'application/pdf', filename: 'a.pdf' } as const,
    { type: 'file', data: 'dGV4dA==', mediaType: 'text/csv' } as const,
    { type: 'file', data: 'AAEC', mediaType: 'audio/mp3' } as const,
    { type: 'file', data: new URL('https://example.com/a'), mediaType: 'image/*' } as const,
    { type: 'file', data: new URL('https://example.com/b.pdf'), mediaType: 'application/pdf' } as const,
    { type: 'file', data: { type: 'reference', reference: { openai: 'f' } }, mediaType: 'image/png' } as const,
  ),
);
const anyUserPart: fc.Arbitrary<UserPart> = fc.oneof(
  anyText.map((value): UserPart => ({ type: 'text', text: value })),
  anyFile,
);
const anyOutput: fc.Arbitrary<ToolResultOutput> = fc.oneof(
  anyText.map((value): ToolResultOutput => ({ type: 'text', value })),
  anyText.map((value): ToolResultOutput => ({ type: 'error-text', value })),
  input.map((value): ToolResultOutput => ({ type: 'json', value })),
  fc.constant<ToolResultOutput>({ type: 'execution-denied', reason: 'No.' }),
  fc
    .array(
      fc.oneof(
        anyText.map((value) => ({ type: 'text', text: value }) as const),
        image,
      ),
      { maxLength: 3 },
    )
    .map((value): ToolResultOutput => ({ type: 'content', value })),
);
const anySaid: fc.Arbitrary<AssistantPart> = fc.oneof(
  anyText.map((value): AssistantPart => ({ type: 'text', text: value })),
  fc.tuple(anyText, fc.boolean()).map(([thought, isSigned]) => reasoningPart(thought, isSigned)),
  fc.constant<AssistantPart>({
    type: 'reasoning',
    text: '',
    providerOptions: { anthropic: { redactedData: 'sealed' } },
  }),
);
const anyCall = fc.record({
  id: fc.constantFrom('', ':', '.x', '#1'),
  input: fc.oneof(input, anyText, fc.integer(), fc.constant(null), fc.array(text, { maxLength: 2 })),
  output: anyOutput,
  isEarly: fc.boolean(),
});

/** Generates valid conversations with content in any order, including content that some formats do not have. */
export const anyConversations: fc.Arbitrary<readonly Message[]> = fc
  .array(
    fc.record({
      system: fc.option(text, { nil: undefined }),
      input: fc.oneof(anyText, fc.array(anyUserPart, { minLength: 1, maxLength: 3 })),
      said: fc.array(anySaid, { maxLength: 4 }),
      calls: fc.array(anyCall, { maxLength: 3 }),
      answer: text,
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((turns) =>
    turns.flatMap(({ system, input: content, said, calls, answer }, turn): readonly Message[] => {
      const named = calls.map((call, index) => ({ ...call, id: `call-${turn}-${index}${call.id}` }));
      const callPart = (call: (typeof named)[number]): AssistantPart => ({
        type: 'tool-call',
        toolCallId: call.id,
        toolName: 'tool',
        input: call.input,
      });
      const parts = [
        ...named.filter(({ isEarly }) => isEarly).map(callPart),
        ...said,
        ...named.filter(({ isEarly }) => !isEarly).map(callPart),
      ];
      const order = parts.flatMap((part) => (part.type === 'tool-call' ? part.toolCallId : []));
      const results = order.flatMap((id) =>
        named
          .filter((call) => call.id === id)
          .map(({ output }): ToolResultPart => ({ type: 'tool-result', toolCallId: id, toolName: 'tool', output })),
      );
      return [
        ...(system === undefined ? [] : [{ role: 'system', content: system } as const]),
        { role: 'user', content },
        ...(parts.length > 0 ? [{ role: 'assistant', content: parts } as const] : []),
        ...(results.length > 0 ? [{ role: 'tool', content: results } as const] : []),
        { role: 'assistant', content: answer },
      ];
    }),
  );

/** Simplifies equivalent forms: content, results that are one text, and missing input. */
export const normal = (messages: readonly Message[]): readonly unknown[] =>
  messages.map((message) => {
    if (typeof message.content === 'string') return { ...message, content: [{ type: 'text', text: message.content }] };
    return { ...message, content: message.content.map((part: object) => normalPart(part)) };
  });

const normalPart = (part: object): object => {
  if ('input' in part && part.input === null) return { ...part, input: {} };
  const { output } = part as Partial<ToolResultPart>;
  const [first, ...more] = output?.type === 'content' ? output.value : [];
  return first?.type === 'text' && more.length === 0 ? { ...part, output: { type: 'text', value: first.text } } : part;
};
