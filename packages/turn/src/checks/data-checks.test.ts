import { anyOf, anyString, arrayOf, numberFrom, oneOf } from '@h/options';
import { describe, expect, it } from 'vitest';
import { checked, shapeOf, variantOf } from './data-checks.js';
import { InvalidInputError } from '../contract/errors.js';
import { modelResponse, toolOutcome } from './event-checks.js';
import { isJSONObject, isJSONValue } from '../contract/json.js';
import { isMessage } from './message-checks.js';
import { textOf, toolCallsOf, type Message } from '../contract/messages.js';
import { call } from '../testing/index.js';
import type { ToolOutcome } from '../contract/tool.js';
import { addUsage, noUsage } from '../contract/usage.js';

describe('checked', () => {
  const circle = shapeOf({ radius: numberFrom(0) });
  const square = shapeOf({ side: shapeOf({ value: numberFrom(0) }, { unit: oneOf('mm', 'cm') }) });
  const check = shapeOf(
    {},
    { list: arrayOf(shapeOf({ id: anyString })), either: anyOf(anyString, variantOf('kind', { circle, square })) },
  );

  it('returns the value itself, with its unknown members', () => {
    const value = { list: [{ id: 'a', more: 1 }], other: 1 };
    expect(checked(check, value, 'The driver', 'output')).toBe(value);
    expect(checked(check, { either: { kind: 'circle', radius: 1 } }, 'The driver', 'output')).toBeDefined();
  });

  it.each<[unknown, string]>([
    [{ list: [{ id: 'a' }, { id: 7 }] }, '"output.list[1].id" must be a string; received 7.'],
    [{ list: [{}] }, '"output.list[0].id" is required; it must be a string.'],
    [{ either: { kind: 'circle', radius: -1 } }, '"output.either.radius" must be a number from 0; received -1.'],
    [{ either: { kind: 'square', side: {} } }, '"output.either.side.value" is required; it must be a number from 0.'],
    [
      { either: { kind: 'square', side: { value: 1, unit: 'm' } } },
      '"output.either.side.unit" must be "mm" or "cm"; received "m".',
    ],
    [{ either: { kind: 'star' } }, '"output.either.kind" must be "circle" or "square"; received "star".'],
    [{ either: { kind: 'toString' } }, '"output.either.kind" must be "circle" or "square"; received "toString".'],
    [{ either: 7 }, '"output.either" must be a string or an object whose kind is "circle" or "square"; received 7.'],
    [{ list: 7n }, '"output.list" must be an array in which each item is an object with the members id; received 7n.'],
    [null, '"output" must be an object with the members ; received null.'],
  ])('names the path, the value and what was expected: %#', (value, message) => {
    expect(() => checked(check, value, 'The driver', 'output')).toThrow(
      new InvalidInputError(`The driver: ${message}`),
    );
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
  ])('accepts what JSON represents without loss: %#', (value, expected) => {
    expect(isJSONValue(value)).toBe(expected);
  });

  it('rejects cycles', () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    expect(isJSONValue(circle)).toBe(false);
    expect([{}, [], null].map(isJSONObject)).toEqual([true, false, false]);
  });
});

describe('isMessage', () => {
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
    ['a user message', { role: 'user', content: 'Hi', metadata: { internal: true, kind: 'summary', mine: 1 } }, true],
    ['a user image', { role: 'user', content: [{ type: 'image', image: new URL('https://example.com/a.png') }] }, true],
    ['an assistant message with every part', { role: 'assistant', content: parts }, true],
    [
      'tool results',
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
      'an approval response',
      { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: '1', approved: true }] },
      true,
    ],
    ['an unknown role', { role: 'function', content: 'x' }, false],
    ['a system prompt in parts', { role: 'system', content: [] }, false],
    ['tool content that is a string', { role: 'tool', content: 'x' }, false],
    ['a call by the user', { role: 'user', content: [call('1')] }, false],
    [
      'a custom part without a provider',
      { role: 'assistant', content: [{ type: 'custom', kind: 'compaction' }] },
      false,
    ],
    [
      'an unknown output type',
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: '1', toolName: 'ls', output: { type: 'html', value: '' } }],
      },
      false,
    ],
    ...[
      { type: 'text' },
      { type: 'file', data: 'AAAA' },
      { type: 'file-data', data: 5, mediaType: 'image/png' },
      { type: 'image-url' },
      { type: 'file-id', fileId: 5 },
    ].map((part): [string, unknown, boolean] => [
      'an incomplete part of an output',
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: '1', toolName: 'ls', output: { type: 'content', value: [part] } }],
      },
      false,
    ]),
  ])('decides about %s: %#', (_, message, expected) => {
    expect(isMessage(message)).toBe(expected);
  });

  it('returns the text, and the calls that the client answers', () => {
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
  it.each(Object.entries(outcomes))('requires an output for the status %s', (_, outcome) => {
    expect(toolOutcome.accepts(outcome)).toBe(true);
    const { output: _output, ...rest } = outcome;
    expect(toolOutcome.accepts(rest), 'without output').toBe(false);
  });

  it('requires the members of each status', () => {
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
      expect(toolOutcome.accepts({ status, output }), status).toBe(false);
    }
    expect(toolOutcome.accepts({ status: 'fine', output })).toBe(false);
    expect(toolOutcome.accepts({ status: 'ok', output, durationMs: -1 })).toBe(false);
  });
});

describe('usage', () => {
  it('adds every member', () => {
    const usage = { input: 10, cacheRead: 4, cacheWrite: 2, output: 5, reasoning: 3 };
    expect(addUsage(noUsage, usage)).toEqual(usage);
    expect(addUsage(usage, usage)).toEqual({ input: 20, cacheRead: 8, cacheWrite: 4, output: 10, reasoning: 6 });
    expect(Object.isFrozen(noUsage)).toBe(true);
  });

  it('rejects anything but token counts', () => {
    for (const input of [-1, Number.NaN, Infinity, '7', undefined]) {
      expect(modelResponse.accepts({ content: [], finishReason: 'stop', usage: { ...noUsage, input } })).toBe(false);
    }
  });
});
