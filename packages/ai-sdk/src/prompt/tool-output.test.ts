import { describe, expect, it } from 'vitest';
import { toToolOutput } from './tool-output.js';

const only = (part: unknown) => {
  const output = toToolOutput({ type: 'content', value: [part as never] }, 'anthropic');
  return output.type === 'content' ? output.value[0] : undefined;
};
const url = 'https://a.example/b';

describe('toToolOutput', () => {
  it('passes supported outputs unchanged', () => {
    const output = { type: 'json', value: { sky: 'blue' }, providerOptions: { any: { thing: 1 } } } as const;
    expect(toToolOutput(output, 'anthropic')).toBe(output);
  });

  it.each([
    [
      { type: 'text', text: 'Hi' },
      { type: 'text', text: 'Hi' },
    ],
    [
      { type: 'custom', providerOptions: { anthropic: { type: 'tool-reference' } } },
      { type: 'custom', providerOptions: { anthropic: { type: 'tool-reference' } } },
    ],
    [
      { type: 'file', data: 'data:image/png;base64,AQID', mediaType: 'image', filename: 'a.png' },
      { type: 'file', data: { type: 'data', data: 'AQID' }, mediaType: 'image/png', filename: 'a.png' },
    ],
    [
      { type: 'media', data: 'AQID', mediaType: 'image/png' },
      { type: 'file', data: { type: 'data', data: 'AQID' }, mediaType: 'image/png' },
    ],
    [
      { type: 'image-data', data: 'AQID', mediaType: 'image/png' },
      { type: 'file', data: { type: 'data', data: 'AQID' }, mediaType: 'image/png' },
    ],
    [
      {
        type: 'file-data',
        data: 'AQID',
        mediaType: 'application/pdf',
        filename: 'a.pdf',
        providerOptions: { x: { y: 1 } },
      },
      {
        type: 'file',
        data: { type: 'data', data: 'AQID' },
        mediaType: 'application/pdf',
        filename: 'a.pdf',
        providerOptions: { x: { y: 1 } },
      },
    ],
    [
      { type: 'image-url', url },
      { type: 'file', data: { type: 'url', url: new URL(url) }, mediaType: 'image/*' },
    ],
    [
      { type: 'file-url', url },
      { type: 'file', data: { type: 'url', url: new URL(url) }, mediaType: 'application/octet-stream' },
    ],
    [
      { type: 'file-url', url, mediaType: 'text/csv' },
      { type: 'file', data: { type: 'url', url: new URL(url) }, mediaType: 'text/csv' },
    ],
    [
      { type: 'file-id', fileId: 'f1' },
      { type: 'file', data: { type: 'reference', reference: { anthropic: 'f1' } }, mediaType: 'application' },
    ],
    [
      { type: 'image-file-id', fileId: { openai: 'f1' } },
      { type: 'file', data: { type: 'reference', reference: { openai: 'f1' } }, mediaType: 'image' },
    ],
    [
      { type: 'file-reference', providerReference: { openai: 'f1' } },
      { type: 'file', data: { type: 'reference', reference: { openai: 'f1' } }, mediaType: 'application' },
    ],
    [
      { type: 'image-file-reference', providerReference: { openai: 'f1' } },
      { type: 'file', data: { type: 'reference', reference: { openai: 'f1' } }, mediaType: 'image' },
    ],
  ])('converts %j', (part, expected) => {
    expect(only(part)).toEqual(expected);
  });

  it('preserves options of the output', () => {
    expect(toToolOutput({ type: 'content', value: [], providerOptions: { x: { y: 1 } } }, 'anthropic')).toEqual({
      type: 'content',
      value: [],
      providerOptions: { x: { y: 1 } },
    });
  });
});
