import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { InvalidInputError } from './errors.js';
import { isJSONValue, jsonObjectSchema, jsonValueSchema } from './json.js';
import { messageSchema, textOf, toolCallsOf, type Message } from './messages.js';
import { call } from './testing/index.js';
import { toolOutcomeSchema, type ToolOutcome } from './tool.js';
import { addUsage, noUsage, usageSchema } from './usage.js';
import { checked } from './validation.js';

describe('checked', () => {
  const schema = z.strictObject({
    list: z.array(z.object({ id: z.string() })).optional(),
    either: z.union([z.string(), z.object({ deep: z.object({ n: z.number() }) })]).optional(),
  });

  it('hands back the value itself', () => {
    const value = { list: [{ id: 'a', more: 1 }] };
    expect(checked(schema, value, 'It')).toBe(value);
  });

  it.each<[unknown, RegExp]>([
    [{ list: [{ id: 'a' }, { id: 7 }] }, /^It is not valid: at list\[1\]\.id, found 7: .*expected string/],
    [{ list: [{}] }, /at list\[0\]\.id, found nothing/],
    [{ extra: 1 }, /at the top, found \{"extra":1\}: .*extra/],
    [{ either: { deep: { n: 'x' } } }, /at either\.deep\.n, found "x": .*expected number/],
    [{ either: 7 }, /at either, found 7/],
    [{ list: 'x'.repeat(200) }, /found "x{79}…/],
    [{ list: 7n }, /found \[object BigInt\]/],
  ])('names the path, the value and what was expected: %#', (value, message) => {
    expect(() => checked(schema, value, 'It')).toThrow(InvalidInputError);
    expect(() => checked(schema, value, 'It')).toThrow(message);
  });
});

describe('JSON', () => {
  it.each<[unknown, boolean]>([
    [{ a: [1, 'x', null, true, { b: undefined }] }, true],
    [Object.create(null), true],
    [[undefined], false],
    [Number.NaN, false],
    [Infinity, false],
    [new Date(), false],
    [new Map(), false],
    [() => 1, false],
    [7n, false],
    [undefined, false],
  ])('can say or not: %#', (value, expected) => {
    expect(isJSONValue(value)).toBe(expected);
    expect(jsonValueSchema.safeParse(value).success).toBe(expected);
  });

  it('is no circle and has an end', () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    expect(isJSONValue(circle)).toBe(false);
    expect([
      jsonObjectSchema.safeParse({}).success,
      jsonObjectSchema.safeParse([]).success,
      jsonObjectSchema.safeParse(null).success,
    ]).toEqual([true, false, false]);
  });
});

describe('a message', () => {
  const parts = [
    { type: 'text', text: 'a', providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } },
    { type: 'reasoning', text: 'hm', providerOptions: { anthropic: { signature: 'x' } } },
    { type: 'file', data: new Uint8Array([1]), mediaType: 'image/png', filename: 'a.png' },
    { type: 'file', data: { type: 'url', url: new URL('https://example.com') }, mediaType: 'image/png' },
    { type: 'reasoning-file', data: 'aGk=', mediaType: 'image/png' },
    { type: 'custom', kind: 'openai.compaction' },
    call('1'),
    { type: 'tool-result', toolCallId: '1', toolName: 'noop', output: { type: 'json', value: { a: 1 } } },
    { type: 'tool-approval-request', approvalId: '1', toolCallId: '1' },
  ];
  it.each<[string, unknown, boolean]>([
    ['a system prompt', { role: 'system', content: 'Be brief.' }, true],
    [
      'a text of the user',
      { role: 'user', content: 'Hi', metadata: { internal: true, kind: 'summary', mine: 1 } },
      true,
    ],
    [
      'an image of the user',
      { role: 'user', content: [{ type: 'image', image: new URL('https://example.com/a.png') }] },
      true,
    ],
    ['all parts of an assistant', { role: 'assistant', content: parts }, true],
    [
      'results of tools',
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: '1',
            toolName: 'ls',
            output: {
              type: 'content',
              value: [
                { type: 'text', text: 'a' },
                { type: 'image-data', data: 'x', mediaType: 'image/png' },
              ],
            },
          },
        ],
      },
      true,
    ],
    [
      'an answer to an approval',
      { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: '1', approved: true }] },
      true,
    ],
    ['a role that there is not', { role: 'function', content: 'x' }, false],
    ['parts of a system prompt', { role: 'system', content: [] }, false],
    ['text of a tool', { role: 'tool', content: 'x' }, false],
    ['a call by the user', { role: 'user', content: [call('1')] }, false],
    [
      'a custom part without a provider',
      { role: 'assistant', content: [{ type: 'custom', kind: 'compaction' }] },
      false,
    ],
    [
      'an output that there is not',
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: '1', toolName: 'ls', output: { type: 'html', value: '' } }],
      },
      false,
    ],
  ])('may be %s: %#', (_, message, expected) => {
    expect(messageSchema.safeParse(message).success).toBe(expected);
  });

  it('has a text and calls that this side answers', () => {
    const message: Message = {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'a' },
        call('1'),
        { ...call('2'), providerExecuted: true },
        { type: 'text', text: 'b' },
      ],
    };
    expect(textOf(message)).toBe('ab');
    expect(textOf({ role: 'user', content: 'Hi' })).toBe('Hi');
    expect(toolCallsOf(message)).toEqual([call('1')]);
    expect(toolCallsOf({ role: 'assistant', content: 'x' })).toEqual([]);
    expect(toolCallsOf({ role: 'user', content: 'x' })).toEqual([]);
  });
});

describe('a tool outcome', () => {
  const output = { type: 'text', value: 'x' } as const;
  const outcomes: { readonly [Status in ToolOutcome['status']]: Extract<ToolOutcome, { status: Status }> } = {
    ok: { status: 'ok', output, durationMs: 3, details: { exitCode: 0 } },
    stored: { status: 'stored', output, artifact: { id: 'a', size: 100_000 } },
    failed: { status: 'failed', output, error: { name: 'Error', message: 'x' } },
    'timed-out': { status: 'timed-out', output, timeoutMs: 1_000 },
    denied: { status: 'denied', output: { type: 'execution-denied', reason: 'No.' }, reason: 'No.', by: 'guard' },
    'invalid-input': { status: 'invalid-input', output, issues: ['path is missing'] },
    'unknown-tool': { status: 'unknown-tool', output, suggestion: 'ls' },
    skipped: { status: 'skipped', output, reason: 'x' },
    cancelled: { status: 'cancelled', output, reason: 'x' },
    interrupted: { status: 'interrupted', output, reason: 'x' },
  };
  it.each(Object.entries(outcomes))('is one of ten: %s', (_, outcome) => {
    expect(toolOutcomeSchema.safeParse(outcome).success).toBe(true);
    const { output: _output, ...rest } = outcome;
    expect(toolOutcomeSchema.safeParse(rest).success, 'the model has to read something').toBe(false);
  });

  it('says what an observer needs to know of it', () => {
    for (const status of [
      'stored',
      'failed',
      'timed-out',
      'denied',
      'invalid-input',
      'skipped',
      'cancelled',
      'interrupted',
    ]) {
      expect(toolOutcomeSchema.safeParse({ status, output }).success, status).toBe(false);
    }
    expect(toolOutcomeSchema.safeParse({ status: 'fine', output }).success).toBe(false);
    expect(toolOutcomeSchema.safeParse({ status: 'ok', output, durationMs: -1 }).success).toBe(false);
  });
});

describe('usage', () => {
  it('adds up, and begins with nothing', () => {
    const usage = { input: 10, cacheRead: 4, cacheWrite: 2, output: 5, reasoning: 3 };
    expect(addUsage(noUsage, usage)).toEqual(usage);
    expect(addUsage(usage, usage)).toEqual({ input: 20, cacheRead: 8, cacheWrite: 4, output: 10, reasoning: 6 });
    expect(Object.isFrozen(noUsage)).toBe(true);
  });

  it('is a number of tokens', () => {
    for (const input of [-1, Number.NaN, Infinity, '7', undefined]) {
      expect(usageSchema.safeParse({ ...noUsage, input }).success).toBe(false);
    }
  });
});
