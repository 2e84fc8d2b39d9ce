import type { AssistantPart, FileData, JSONValue } from '@h/turn';
import type { AgentInputItem } from '@openai/agents';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerItems, answerParts, groupItems, inputOf, itemFormat, outputOf } from './items.js';

const text = fc.string({ maxLength: 12 });
const id = fc.string({ minLength: 1, maxLength: 6 });
const item = fc.oneof(
  fc.record({ type: fc.constant('message'), role: fc.constant('user'), content: text }),
  fc.record({
    type: fc.constant('message'),
    role: fc.constant('user'),
    content: fc.array(fc.record({ type: fc.constant('input_text'), text }), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ type: fc.constant('message'), role: fc.constant('system'), content: text }),
  fc.record({
    type: fc.constant('message'),
    role: fc.constant('assistant'),
    status: fc.constant('completed'),
    content: fc.tuple(fc.record({ type: fc.constant('output_text'), text })),
  }),
  fc.record({
    type: fc.constant('function_call'),
    status: fc.constant('completed'),
    callId: id,
    name: id,
    arguments: fc.jsonValue().map((value) => JSON.stringify({ value })),
  }),
  fc.record({ type: fc.constant('reasoning'), id, content: fc.constant([]), providerData: fc.dictionary(id, text) }),
  fc.record({ type: fc.constant('hosted_tool_call'), id, name: id, status: fc.constant('completed') }),
  fc.record({
    type: fc.constant('function_call_result'),
    callId: id,
    name: id,
    status: fc.constant('completed'),
    output: fc.record({ type: fc.constant('text'), text }),
  }),
) as fc.Arbitrary<AgentInputItem>;
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('items', () => {
  it('groups items without a change of their order', () => {
    fc.assert(
      fc.property(fc.array(item), (items) => {
        const groups = groupItems(items);
        expect(groups.flat()).toEqual(items);
        // Each message of a turn stands for one group.
        for (const group of groups) {
          expect(group.length === 1 || itemFormat.read(group).role === 'assistant').toBe(true);
        }
      }),
    );
  });

  it('writes what it reads', () => {
    fc.assert(
      fc.property(fc.array(item), (items) => {
        const written = groupItems(items).flatMap((group) => itemFormat.write(itemFormat.read(group)).flat());
        expect(plain(written)).toEqual(plain(items));
      }),
    );
  });

  it('reads the parts of an answer that it writes', () => {
    const part = fc.oneof(
      fc.record({ type: fc.constant('text'), text }),
      fc.record({ type: fc.constant('tool-call'), toolCallId: id, toolName: id, input: fc.dictionary(id, text) }),
    ) as fc.Arbitrary<AssistantPart>;
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        expect(plain(answerParts(answerItems(parts)))).toEqual(plain(parts));
      }),
    );
  });

  it('reads the input of a call from any text', () => {
    fc.assert(
      fc.property(fc.oneof(text, fc.json()), (given) => {
        const { input, error } = inputOf(given);
        expect(error === undefined || input === given).toBe(true);
      }),
    );
    expect(inputOf('')).toEqual({ input: {} });
    expect(inputOf('{"path":')).toMatchObject({
      input: '{"path":',
      error: expect.stringMatching(/not valid JSON/) as string,
    });
  });

  it.each<readonly [string, unknown, { readonly type: string; readonly value: JSONValue }]>([
    ['text', 'a', { type: 'text', value: 'a' }],
    ['a text object', { type: 'text', text: 'a' }, { type: 'text', value: 'a' }],
    [
      'several texts',
      [
        { type: 'input_text', text: 'a' },
        { type: 'input_text', text: 'b' },
      ],
      { type: 'text', value: 'ab' },
    ],
    ['an object', { a: 1, b: undefined }, { type: 'json', value: { a: 1 } }],
    ['an empty list', [], { type: 'json', value: [] }],
    ['nothing', undefined, { type: 'text', value: 'undefined' }],
  ])('reads %s as an output', (_, given, output) => {
    expect(outputOf(given)).toEqual(output);
  });
});

it.each<[FileData, string]>([
  [{ type: 'data', data: new Uint8Array([104, 105]) }, 'data:image/png;base64,aGk='],
  ['https://example.com/a.png', 'https://example.com/a.png'],
])('writes the file %j of an operator', (data, image) => {
  const content = [{ type: 'file' as const, data, mediaType: 'image/png' }];
  expect(itemFormat.write({ role: 'user', content })).toEqual([
    [{ type: 'message', role: 'user', content: [{ type: 'input_image', image }] }],
  ]);
});

it('refuses the id of a file at a provider', () => {
  const content = [{ type: 'file' as const, data: { openai: 'file-1' }, mediaType: 'image/png' }];
  expect(() => itemFormat.write({ role: 'user', content })).toThrow('neither bytes, base64 nor a URL');
});

it('reads values that are no JSON, such as those with cycles and bigints', () => {
  const cyclic: Record<string, unknown> = { count: 10n };
  cyclic['self'] = cyclic;
  expect(outputOf(cyclic)).toEqual({ type: 'json', value: { count: '10', self: '[Circular]' } });
});
