import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { outputOf } from './results.js';

describe('outputOf', () => {
  it.each<[string, CallToolResult, object]>([
    ['one text', { content: [{ type: 'text', text: 'x' }] }, { output: 'x', isError: false }],
    [
      'text and images',
      {
        content: [
          { type: 'text', text: 'x' },
          { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        ],
      },
      {
        output: [
          { type: 'text', text: 'x' },
          { type: 'file', data: 'AAAA', mediaType: 'image/png' },
        ],
      },
    ],
    [
      'a sound',
      { content: [{ type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }] },
      { output: [{ type: 'file', data: 'AAAA', mediaType: 'audio/wav' }] },
    ],
    [
      'a link',
      {
        content: [
          { type: 'resource_link', uri: 'file:///a', name: 'a', description: 'The a.', mimeType: 'text/plain' },
        ],
      },
      { output: '[Resource a: file:///a (text/plain) – The a.]' },
    ],
    [
      'a text resource',
      { content: [{ type: 'resource', resource: { uri: 'file:///a', text: 'inside' } }] },
      { output: 'inside' },
    ],
    [
      'a binary resource',
      {
        content: [
          { type: 'resource', resource: { uri: 'file:///dir/a.zip', blob: 'AAAA', mimeType: 'application/zip' } },
        ],
      },
      { output: [{ type: 'file', data: 'AAAA', mediaType: 'application/zip', filename: 'a.zip' }] },
    ],
    [
      'a resource without a name or a type',
      { content: [{ type: 'resource', resource: { uri: 'memory:/', blob: 'AAAA' } }] },
      { output: [{ type: 'file', data: 'AAAA', mediaType: 'application/octet-stream' }] },
    ],
    [
      'structured content beside text',
      { content: [{ type: 'text', text: 'sunny' }], structuredContent: { sky: 'clear' } },
      { output: 'sunny', details: { structuredContent: { sky: 'clear' } } },
    ],
    ['structured content alone', { content: [], structuredContent: { sky: 'clear' } }, { output: { sky: 'clear' } }],
    ['nothing', { content: [] }, { output: '(no output)' }],
    [
      'an error',
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
        isError: true,
      },
      { output: 'a\nb', isError: true },
    ],
  ])('tells %s', (_, result, expected) => {
    expect(outputOf(result)).toMatchObject(expected);
  });
});
