import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '@h/turn';
import type { FormatName } from '../calls/routes.js';
import { readRequest } from '../wire/wire-request.js';
import { formats, portableOf } from './convert.js';
import type { Answer } from './answer.js';
import { PartSequence } from './part-sequence.js';
import { readersByFormat } from '../calls/routes.js';
import { NotConvertible, type PortableRequest } from './portable-request.js';

const names = Object.keys(formats) as FormatName[];
const text = fc.string({ minLength: 1, unit: 'grapheme' }).filter((value) => value.trim() !== '');
const word = fc.stringMatching(/^[a-z][a-z0-9_]{0,11}$/);
const input = fc.dictionary(word, fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)), { maxKeys: 3 });
const image = fc
  .uint8Array({ minLength: 1, maxLength: 9 })
  .map((bytes) => ({ type: 'file' as const, data: Buffer.from(bytes).toString('base64'), mediaType: 'image/png' }));

/** A step of a conversation: a question, and perhaps calls with their results before the answer. */
const step = fc.record({
  question: fc.array(fc.oneof(text, image), { minLength: 1, maxLength: 3 }),
  calls: fc.array(fc.record({ name: word, input, result: fc.string() }), { maxLength: 3 }),
  answer: text,
});

const conversation = fc.array(step, { minLength: 1, maxLength: 3 }).map((steps): readonly Message[] =>
  steps.flatMap(({ question, calls, answer }, index): readonly Message[] => {
    const id = (call: number): string => `call_${index}_${call}`;
    const content = question.map((part) => (typeof part === 'string' ? { type: 'text' as const, text: part } : part));
    const made = calls.map((call, place) => ({
      type: 'tool-call' as const,
      toolCallId: id(place),
      toolName: call.name,
      input: call.input,
    }));
    const results = calls.map((call, place) => ({
      type: 'tool-result' as const,
      toolCallId: id(place),
      toolName: call.name,
      output: { type: 'text' as const, value: call.result },
    }));
    const isLast = index === steps.length - 1;
    return [
      { role: 'user', content },
      ...(calls.length > 0
        ? [
            { role: 'assistant' as const, content: [{ type: 'text' as const, text: answer }, ...made] },
            { role: 'tool' as const, content: results },
          ]
        : []),
      ...(isLast ? [] : [{ role: 'assistant' as const, content: [{ type: 'text' as const, text: answer }] }]),
    ];
  }),
);

const requests: fc.Arbitrary<PortableRequest> = fc.record({
  system: fc.array(text, { maxLength: 1 }),
  messages: conversation,
  tools: fc.array(
    fc.record({
      name: word,
      description: fc.option(text, { nil: undefined }),
      parameters: fc.constant({ type: 'object', properties: {} }),
      isStrict: fc.constant(false),
    }),
    { minLength: 1, maxLength: 2 },
  ),
  toolChoice: fc.constantFrom<PortableRequest['toolChoice'][]>('auto', 'none', 'required', { name: 'a' }),
  hasParallelCalls: fc.constantFrom(undefined, false),
  maxOutputTokens: fc.integer({ min: 1, max: 9_999 }),
  stop: fc.constant([]),
  output: fc.constantFrom<PortableRequest['output'][]>(undefined, { name: 'answer', schema: { type: 'object' } }),
  isStream: fc.boolean(),
});

const reread = (format: FormatName, request: PortableRequest): PortableRequest => {
  const body = formats[format].write(request, 'm');
  const wire = readRequest(format, JSON.stringify(body));
  if (!wire) throw new Error('The request is not JSON.');
  return portableOf(wire);
};

/** A text as one part, a string as a list of parts, and empty results as Anthropic writes them. */
const normal = ({ messages, ...request }: PortableRequest): unknown => ({
  ...request,
  messages: messages.map((message) =>
    typeof message.content === 'string'
      ? { ...message, content: [{ type: 'text', text: message.content }] }
      : message.role === 'tool'
        ? {
            ...message,
            content: message.content.map((part) =>
              part.type === 'tool-result' && part.output.type === 'text' && part.output.value.trim() === ''
                ? { ...part, output: { type: 'text', value: '' } }
                : part,
            ),
          }
        : message,
  ),
});

describe('requests', () => {
  it.each(names)('are the same after they were written and read as %s', (format) => {
    fc.assert(
      fc.property(requests, (request) => {
        expect(normal(reread(format, request))).toEqual(normal(request));
      }),
    );
  });

  it.each(names.flatMap((from) => names.map((to) => [from, to] as const)))(
    'keep their meaning from %s to %s and back',
    (from, to) => {
      fc.assert(
        fc.property(requests, (request) => {
          const given = reread(from, request);
          expect(normal(reread(from, reread(to, given)))).toEqual(normal(given));
        }),
        { numRuns: 30 },
      );
    },
  );

  it.each(names)('with an unknown member are not converted: %s', (format) => {
    fc.assert(
      fc.property(requests, word, (request, name) => {
        const body = { ...formats[format].write(request, 'm'), [`x_${name}`]: 1 };
        const wire = readRequest(format, JSON.stringify(body));
        expect(() => wire && portableOf(wire)).toThrow(NotConvertible);
      }),
      { numRuns: 20 },
    );
  });

  it.each([
    [
      'anthropic-messages',
      'messages',
      { role: 'assistant', content: [{ type: 'server_tool_use', id: 's', name: 'x' }] },
    ],
    [
      'anthropic-messages',
      'messages',
      { role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] },
    ],
    ['openai-chat', 'messages', { role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }],
    ['openai-chat', 'messages', { role: 'assistant', audio: { id: 'a' } }],
    ['openai-responses', 'input', { type: 'item_reference', id: 'i' }],
    ['openai-responses', 'input', { type: 'custom_tool_call', call_id: 'c', name: 'patch', input: '' }],
  ] as const)('with content that only %s has are not converted: %j', (format, member, entry) => {
    const wire = readRequest(
      format,
      JSON.stringify({ model: 'm', [member]: [entry, { role: 'user', content: 'Hi' }] }),
    );
    for (const to of names) {
      expect(() => wire && formats[to].write(portableOf(wire), 'm')).toThrow(NotConvertible);
    }
  });
});

const answers: fc.Arbitrary<Answer> = fc
  .record({
    text: fc.array(text, { maxLength: 1 }),
    calls: fc.array(fc.record({ name: word, input }), { maxLength: 3 }),
    input: fc.integer({ min: 0, max: 9_999 }),
    output: fc.integer({ min: 0, max: 999 }),
  })
  .map(({ text: texts, calls, input: tokens, output }) => ({
    usage: { input: tokens, cacheRead: 0, cacheWrite: 0, output, reasoning: 0 },
    model: 'm',
    id: 'x',
    content: [
      ...texts.map((value) => ({ type: 'text' as const, text: value })),
      ...calls.map((call, index) => ({
        type: 'tool-call' as const,
        toolCallId: `call_${index}`,
        toolName: call.name,
        input: call.input,
      })),
    ],
    finishReason: calls.length > 0 ? 'tool-calls' : 'stop',
    outputChars: 0,
    isComplete: true,
    error: undefined,
  }));

const essence = ({ content, finishReason, usage, isComplete }: Answer): unknown => ({
  content,
  finishReason,
  usage,
  isComplete,
});

describe('answers', () => {
  it.each(names)('are the same after they were written and read as %s', (format) => {
    fc.assert(
      fc.property(answers, (answer) => {
        const reader = readersByFormat[format]();
        reader.body(JSON.parse(JSON.stringify(formats[format].answers.body(answer))));
        expect(essence(reader.answer())).toEqual(essence(answer));
      }),
    );
  });

  it.each(names)('are the same after they were streamed as %s, however their parts arrive', (format) => {
    const order = fc.array(fc.nat({ max: 999 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(answers, order, (answer, choices) => {
        const reader = readersByFormat[format]();
        const head = { id: 'x', model: 'm', created: 0, wantsUsage: true };
        const stream = formats[format].answers.stream((event) => {
          if (event !== '[DONE]') reader.event(JSON.parse(JSON.stringify(event)));
        }, head);
        const parts = new PartSequence(stream);
        // The parts begin in order; their chunks are interleaved.
        const rest = answer.content.map((part, index) => {
          const isCall = part.type === 'tool-call';
          const open = isCall
            ? { type: part.type, id: part.toolCallId, name: part.toolName }
            : { type: 'text' as const, id: '', name: '' };
          const whole = isCall ? JSON.stringify(part.input) : part.type === 'text' ? part.text : '';
          parts.chunk(`${index}`, open, isCall ? '' : whole);
          return { key: `${index}`, open, chunks: isCall ? (whole.match(/[^]{1,3}/g) ?? []) : [] };
        });
        for (let turn = 0; rest.some(({ chunks }) => chunks.length > 0); turn += 1) {
          const open = rest.filter(({ chunks }) => chunks.length > 0);
          const next = open[(choices[turn % choices.length] ?? 0) % open.length];
          if (next) parts.chunk(next.key, next.open, next.chunks.shift() ?? '');
        }
        parts.end();
        stream.finish(answer);
        expect(essence(reader.answer())).toEqual(essence(answer));
      }),
    );
  });
});
