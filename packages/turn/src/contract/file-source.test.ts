import { describe, expect, it } from 'vitest';
import { fileSource } from '../index.js';
import type { FileData } from './messages.js';

const bytes = new Uint8Array([0, 104, 105]).subarray(1);
const base64 = 'aGk=';
const url = 'https://example.com/a.png';

describe('fileSource', () => {
  it.each<[string, FileData, ReturnType<typeof fileSource>]>([
    ['base64', base64, { base64 }],
    ['bytes', bytes, { base64 }],
    ['a buffer', bytes.slice().buffer, { base64 }],
    ['tagged base64', { type: 'data', data: base64 }, { base64 }],
    ['tagged bytes', { type: 'data', data: bytes }, { base64 }],
    ['text', { type: 'text', text: 'hi' }, undefined],
    ['a URL', new URL(url), { url }],
    ['a tagged URL', { type: 'url', url: new URL(url) }, { url }],
    ['a URL that was stored as JSON', url, { url }],
    ['a data: URL', `data:text/plain;base64,${base64}`, { url: `data:text/plain;base64,${base64}` }],
    ['an id of a provider', { openai: 'file-1' }, undefined],
    ['a tagged id of a provider', { type: 'reference', reference: { openai: 'file-1' } }, undefined],
  ])('resolves %s', (_, data, expected) => {
    expect(fileSource(data)).toEqual(expected);
  });
});
