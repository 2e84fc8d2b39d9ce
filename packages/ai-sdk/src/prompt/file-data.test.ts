import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toFileData } from './file-data.js';

const bytes = new Uint8Array([1, 2, 3]);

describe('toFileData', () => {
  it.each([
    ['base64 text', 'AQID', { data: { type: 'data', data: 'AQID' } }],
    ['bytes', bytes, { data: { type: 'data', data: bytes } }],
    ['a buffer of bytes', bytes.buffer, { data: { type: 'data', data: bytes } }],
    ['a URL', new URL('https://a.example/b.png'), { data: { type: 'url', url: new URL('https://a.example/b.png') } }],
    [
      'the text of a URL',
      'https://a.example/b.png',
      { data: { type: 'url', url: new URL('https://a.example/b.png') } },
    ],
    ['tagged bytes', { type: 'data', data: bytes }, { data: { type: 'data', data: bytes } }],
    ['a tagged URL', { type: 'url', url: new URL('gs://a/b') }, { data: { type: 'url', url: new URL('gs://a/b') } }],
    ['tagged text', { type: 'text', text: 'Hi' }, { data: { type: 'text', text: 'Hi' } }],
    [
      'a tagged reference',
      { type: 'reference', reference: { openai: 'f1' } },
      { data: { type: 'reference', reference: { openai: 'f1' } } },
    ],
    ['a bare reference', { openai: 'f1' }, { data: { type: 'reference', reference: { openai: 'f1' } } }],
    ['a data: URL', 'data:image/png;base64,AQID', { data: { type: 'data', data: 'AQID' }, mediaType: 'image/png' }],
    ['a data: URL of text', 'data:,a%20b', { data: { type: 'data', data: 'YSBi' }, mediaType: 'text/plain' }],
    [
      'a data: URL within a tag',
      { type: 'data', data: 'data:image/gif;base64,AQID' },
      { data: { type: 'data', data: 'AQID' }, mediaType: 'image/gif' },
    ],
  ] as const)('takes %s', (_, given, expected) => {
    expect(toFileData(given as never)).toEqual(expected);
  });

  it('preserves the spelling of a URL that is not normalized', () => {
    expect(toFileData('HTTPS://A.example').data).toEqual({
      type: 'url',
      url: new URL('https://a.example/'),
      originalUrl: 'HTTPS://A.example',
    });
  });

  it('accepts a tagged URL that was stored as JSON', () => {
    const stored = JSON.parse(JSON.stringify({ type: 'url', url: new URL('https://a.example/b.png') })) as never;
    expect(toFileData(stored)).toEqual({ data: { type: 'url', url: new URL('https://a.example/b.png') } });
  });

  it('rejects unknown data and names its type', () => {
    expect(() => toFileData({ type: 'Buffer', data: [1] } as never)).toThrow(/"Buffer"/);
    expect(() => toFileData('data:image/png;base64')).toThrow(/comma/);
  });

  it('never treats base64 text as a URL', () => {
    fc.assert(
      fc.property(fc.base64String(), (text) => {
        expect(toFileData(text)).toEqual({ data: { type: 'data', data: text } });
      }),
    );
  });

  it('returns the bytes of any data: URL', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (content) => {
        const base64 = Buffer.from(content).toString('base64');
        expect(toFileData(`data:application/x-any;base64,${base64}`)).toEqual({
          data: { type: 'data', data: base64 },
          mediaType: 'application/x-any',
        });
      }),
    );
  });
});
